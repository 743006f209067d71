//! Synthetic payload.
//!
//! What enters: the key of a stream and a position in it. What leaves: the bytes from there on, so that a receiver can
//! check what arrives without storing what was sent. Two streams with different keys have different bytes.

/// Writes the bytes of stream `key` from `position` on into `out`.
pub fn fill(key: u64, position: u64, out: &mut [u8]) {
    let skip = (position % 8) as usize;
    let head = (8 - skip).min(out.len()) % 8;
    let (first, rest) = out.split_at_mut(head);
    first.copy_from_slice(&word(key, position / 8)[skip..skip + head]);
    let start = (position + head as u64) / 8;
    for (index, chunk) in rest.chunks_mut(8).enumerate() {
        chunk.copy_from_slice(&word(key, start + index as u64)[..chunk.len()]);
    }
}

/// The index of the first of `bytes` that is not the one of stream `key` from `position` on.
pub fn first_difference(key: u64, position: u64, bytes: &[u8]) -> Option<usize> {
    let mut expected = [0; 512];
    let mut checked = 0;
    for chunk in bytes.chunks(expected.len()) {
        let expected = &mut expected[..chunk.len()];
        fill(key, position + checked as u64, expected);
        if chunk != expected {
            return chunk.iter().zip(expected).position(|(have, want)| *have != *want).map(|index| checked + index);
        }
        checked += chunk.len();
    }
    None
}

/// Eight bytes of a stream: a bijection of the index with good avalanche (the finaliser of SplitMix64).
fn word(key: u64, index: u64) -> [u8; 8] {
    let mut z = key ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_depend_on_key_and_position_only() {
        let mut whole = [0; 200];
        fill(7, 0, &mut whole);
        for start in 0..40 {
            for length in [0, 1, 3, 7, 8, 9, 16, 100] {
                let mut part = vec![0; length];
                fill(7, start as u64, &mut part);
                assert_eq!(part, whole[start..start + length], "{start} {length}");
            }
        }
        let mut other = [0; 200];
        fill(8, 0, &mut other);
        assert!(whole.iter().zip(other).filter(|(a, b)| **a == *b).count() < 10);
    }

    #[test]
    fn differences_are_found_where_they_are() {
        let mut bytes = vec![0; 2000];
        fill(1, 12_345, &mut bytes);
        assert_eq!(first_difference(1, 12_345, &bytes), None);
        for index in [0, 1, 511, 512, 1999] {
            let mut changed = bytes.clone();
            changed[index] ^= 1;
            assert_eq!(first_difference(1, 12_345, &changed), Some(index));
        }
        assert!(first_difference(1, 12_346, &bytes).is_some());
    }
}
