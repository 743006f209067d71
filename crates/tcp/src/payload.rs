//! Synthetic payload.
//!
//! What enters: the key of a stream and a position in it. What leaves: the bytes from there on, so that a receiver can
//! check what arrives without storing what was sent. Two streams with different keys have different bytes.

/// The bytes that are made at once.
const BLOCK_BYTES: usize = 64;

/// What the words of a block differ in: the first fractional bits of the square roots of the first eight primes.
const WORDS: [u64; BLOCK_BYTES / 8] = [
    0x6a09_e667_f3bc_c908,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    0x510e_527f_ade6_82d1,
    0x9b05_688c_2b3e_6c1f,
    0x1f83_d9ab_fb41_bd6b,
    0x5be0_cd19_137e_2179,
];

/// Writes the bytes of stream `key` from `position` on into `out`.
pub fn fill(key: u64, position: u64, out: &mut [u8]) {
    let (number, skip) = (position / BLOCK_BYTES as u64, (position % BLOCK_BYTES as u64) as usize);
    let head = ((BLOCK_BYTES - skip) % BLOCK_BYTES).min(out.len());
    let (first, rest) = out.split_at_mut(head);
    first.copy_from_slice(&block(key, number)[skip..][..head]);
    let mut numbers = number + u64::from(skip > 0)..;
    let mut chunks = rest.chunks_exact_mut(BLOCK_BYTES);
    for (chunk, number) in chunks.by_ref().zip(&mut numbers) {
        chunk.copy_from_slice(&block(key, number));
    }
    let last = chunks.into_remainder();
    if let Some(number) = numbers.next() {
        last.copy_from_slice(&block(key, number)[..last.len()]);
    }
}

/// The index of the first of `bytes` that is not the one of stream `key` from `position` on.
pub fn first_difference(key: u64, position: u64, bytes: &[u8]) -> Option<usize> {
    let mut expected = [0; 8 * BLOCK_BYTES];
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

/// A block of a stream. Its first word is a bijection of its number with good avalanche (the finaliser of SplitMix64);
/// to have one of them for each block is enough for streams to differ, and takes little time.
#[inline]
fn block(key: u64, number: u64) -> [u8; BLOCK_BYTES] {
    let mut z = key ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    let mut bytes = [0; BLOCK_BYTES];
    for (chunk, word) in bytes.chunks_exact_mut(8).zip(WORDS) {
        chunk.copy_from_slice(&(z ^ word).to_le_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_depend_on_key_and_position_only() {
        let mut whole = [0; 200];
        fill(7, 0, &mut whole);
        for start in 0..80 {
            for length in [0, 1, 3, 8, 63, 64, 65, 120] {
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
