//! Synthetic payload.
//!
//! What enters: the key of a stream and a position in it. What leaves: the bytes from there on, so that a receiver can
//! check what arrives without storing what was sent. Two streams with different keys have different bytes.

use crate::wire;

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

/// Writes the bytes of stream `key` from `position` on into `out`. The result is their sum, as [`wire::sum_of`] has it:
/// to add them up as they are made takes less than to read them again.
pub fn fill(key: u64, position: u64, out: &mut [u8]) -> u64 {
    let head = head_bytes(position, out.len());
    let (first, rest) = out.split_at_mut(head);
    let mut number = position / BLOCK_BYTES as u64;
    if head > 0 {
        let block = bytes_of(&block(key, number));
        first.copy_from_slice(&block[(position % BLOCK_BYTES as u64) as usize..][..head]);
        number += 1;
    }
    let (blocks, last) = rest.as_chunks_mut::<BLOCK_BYTES>();
    let mut sum = 0;
    for out in blocks {
        let words = block(key, number);
        *out = bytes_of(&words);
        sum += sum_of(&words);
        number += 1;
    }
    last.copy_from_slice(&bytes_of(&block(key, number))[..last.len()]);
    total(first, sum, last)
}

/// The sum of `bytes`, as [`wire::sum_of`] has it, if they are those of stream `key` from `position` on.
pub fn sum_if_expected(key: u64, position: u64, bytes: &[u8]) -> Option<u64> {
    let (first, rest) = bytes.split_at(head_bytes(position, bytes.len()));
    let mut number = position / BLOCK_BYTES as u64;
    if !first.is_empty() {
        let block = bytes_of(&block(key, number));
        let expected = &block[(position % BLOCK_BYTES as u64) as usize..][..first.len()];
        (first == expected).then_some(())?;
        number += 1;
    }
    let (blocks, last) = rest.as_chunks::<BLOCK_BYTES>();
    let (mut sum, mut difference) = (0, 0);
    for bytes in blocks {
        let words = block(key, number);
        let (have, _) = bytes.as_chunks::<8>();
        difference |= have.iter().zip(words).fold(0, |sum, (have, want)| sum | (u64::from_le_bytes(*have) ^ want));
        sum += sum_of(&words);
        number += 1;
    }
    let is_expected = difference == 0 && *last == bytes_of(&block(key, number))[..last.len()];
    is_expected.then(|| total(first, sum, last))
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

/// How many of `length` bytes come before the first whole block.
fn head_bytes(position: u64, length: usize) -> usize {
    let skip = (position % BLOCK_BYTES as u64) as usize;
    ((BLOCK_BYTES - skip) % BLOCK_BYTES).min(length)
}

/// The sum of whole blocks with what is before and behind them.
fn total(first: &[u8], blocks: u64, last: &[u8]) -> u64 {
    let rest = u64::from(u16::from_be(wire::folded(blocks))) + wire::sum_of(last);
    // Behind an odd number of bytes each byte has the other place in its word (RFC 1071, section 2, B).
    let rest = if first.len() % 2 == 1 { wire::folded(rest).swap_bytes() } else { wire::folded(rest) };
    u64::from(wire::folded(wire::sum_of(first) + u64::from(rest)))
}

/// A block of a stream, as words whose first byte is the lowest. The first word is a bijection of its number with good
/// avalanche (the finaliser of SplitMix64); to have one of them for each block is enough for streams to differ, and
/// takes little time.
#[inline]
fn block(key: u64, number: u64) -> [u64; BLOCK_BYTES / 8] {
    let mut z = key ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    WORDS.map(|word| z ^ word)
}

#[inline]
fn bytes_of(words: &[u64; BLOCK_BYTES / 8]) -> [u8; BLOCK_BYTES] {
    let mut bytes = [0; BLOCK_BYTES];
    bytes.as_chunks_mut::<8>().0.iter_mut().zip(words).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
    bytes
}

/// The sum of the 16-bit words of a block, in the order of bytes of this machine; below 2^36.
#[inline]
fn sum_of(words: &[u64; BLOCK_BYTES / 8]) -> u64 {
    words.iter().map(|word| wire::halves(word.to_le())).sum()
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
    fn sums_are_those_of_the_bytes() {
        for (start, length) in (0..70).flat_map(|start| [0, 1, 2, 63, 64, 65, 200, 1_448].map(|length| (start, length))) {
            let mut bytes = vec![0; length];
            let sum = fill(3, start, &mut bytes);
            assert_eq!(sum % 0xffff, wire::sum_of(&bytes) % 0xffff, "{start} {length}");
            assert_eq!(sum_if_expected(3, start, &bytes), Some(sum));
            for index in [0, length / 2, length.saturating_sub(1)] {
                if let Some(byte) = bytes.get_mut(index) {
                    *byte ^= 0x10;
                    assert_eq!(sum_if_expected(3, start, &bytes), None, "{start} {length} {index}");
                    bytes[index] ^= 0x10;
                }
            }
        }
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
