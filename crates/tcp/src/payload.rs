//! Synthetic payload.
//!
//! What enters: the key of a stream and a position in it. What leaves: the bytes from there on, so that a receiver can
//! check what arrives without storing what was sent. Two streams with different keys have different bytes.

use crate::wire;

/// The bytes that are made at once.
const BLOCK_BYTES: usize = 64;

/// What the words of a block differ in: the first fractional bits of the square roots of the first four primes, and
/// their complements. So half of a block is the complement of the other, and the sum of a whole block does not depend
/// on its contents: a checksum needs the first and the last block of a payload only.
const WORDS: [u64; BLOCK_BYTES / 8] = [
    0x6a09_e667_f3bc_c908,
    0xbb67_ae85_84ca_a73b,
    0x3c6e_f372_fe94_f82b,
    0xa54f_f53a_5f1d_36f1,
    !0x6a09_e667_f3bc_c908,
    !0xbb67_ae85_84ca_a73b,
    !0x3c6e_f372_fe94_f82b,
    !0xa54f_f53a_5f1d_36f1,
];

/// Writes the bytes of stream `key` from `position` on into `out`.
pub fn fill(key: u64, position: u64, out: &mut [u8]) {
    let (first, rest) = out.split_at_mut(head_bytes(position, out.len()));
    let mut number = position / BLOCK_BYTES as u64;
    if !first.is_empty() {
        first.copy_from_slice(&block(key, number)[skipped(position)..][..first.len()]);
        number += 1;
    }
    let (blocks, last) = rest.as_chunks_mut::<BLOCK_BYTES>();
    for out in blocks {
        *out = block(key, number);
        number += 1;
    }
    last.copy_from_slice(&block(key, number)[..last.len()]);
}

/// The sum of `length` bytes of stream `key` from `position` on, as [`wire::sum_of`] has it, without making them.
pub fn sum(key: u64, position: u64, length: usize) -> u64 {
    let first = head_bytes(position, length);
    let mut number = position / BLOCK_BYTES as u64;
    let mut sum = 0;
    if first > 0 {
        sum += wire::sum_of(&block(key, number)[skipped(position)..][..first]);
        number += 1;
    }
    // The sum of a word and its complement is no sum at all (RFC 1071).
    let (blocks, last) = ((length - first) / BLOCK_BYTES, (length - first) % BLOCK_BYTES);
    let rest = wire::sum_of(&block(key, number + blocks as u64)[..last]);
    // Behind an odd number of bytes each byte has the other place in its word (RFC 1071, section 2, B).
    sum + if first % 2 == 1 { u64::from((rest as u16).swap_bytes()) } else { rest }
}

/// Whether `bytes` are those of stream `key` from `position` on.
pub fn is_expected(key: u64, position: u64, bytes: &[u8]) -> bool {
    let (first, rest) = bytes.split_at(head_bytes(position, bytes.len()));
    let mut number = position / BLOCK_BYTES as u64;
    if !first.is_empty() {
        if *first != block(key, number)[skipped(position)..][..first.len()] {
            return false;
        }
        number += 1;
    }
    let (blocks, last) = rest.as_chunks::<BLOCK_BYTES>();
    let mut difference = 0;
    for bytes in blocks {
        difference |= difference_of(bytes, &block(key, number));
        number += 1;
    }
    difference == 0 && *last == block(key, number)[..last.len()]
}

/// The index of the first of `bytes` that is not the one of stream `key` from `position` on.
pub fn first_difference(key: u64, position: u64, bytes: &[u8]) -> Option<usize> {
    let mut expected = [0; 8 * BLOCK_BYTES];
    let mut checked = 0;
    for chunk in bytes.chunks(expected.len()) {
        let expected = &mut expected[..chunk.len()];
        fill(key, position + checked as u64, expected);
        if chunk != expected {
            return chunk
                .iter()
                .zip(expected)
                .position(|(byte, expected_byte)| *byte != *expected_byte)
                .map(|index| checked + index);
        }
        checked += chunk.len();
    }
    None
}

/// Zero if two blocks are equal. A comparison of slices would call a function for each block.
#[inline]
fn difference_of(block: &[u8; BLOCK_BYTES], other: &[u8; BLOCK_BYTES]) -> u64 {
    let pairs = block.as_chunks::<8>().0.iter().zip(other.as_chunks::<8>().0);
    pairs.fold(0, |sum, (a, b)| sum | (u64::from_ne_bytes(*a) ^ u64::from_ne_bytes(*b)))
}

/// How many of `length` bytes come before the first whole block.
fn head_bytes(position: u64, length: usize) -> usize {
    ((BLOCK_BYTES - skipped(position)) % BLOCK_BYTES).min(length)
}

/// How many bytes of its block come before a position.
fn skipped(position: u64) -> usize {
    (position % BLOCK_BYTES as u64) as usize
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
    for (chunk, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(WORDS) {
        *chunk = (z ^ word).to_le_bytes();
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
    fn sums_are_those_of_the_bytes() {
        let lengths = [0, 1, 2, 63, 64, 65, 200, 1_448];
        for (start, length) in (0..70).flat_map(|start| lengths.map(|length| (start, length))) {
            let mut bytes = vec![0; length];
            fill(3, start, &mut bytes);
            assert_eq!(sum(3, start, length) % 0xffff, wire::sum_of(&bytes) % 0xffff, "{start} {length}");
            assert!(is_expected(3, start, &bytes));
            for index in [0, length / 2, length.saturating_sub(1)].into_iter().filter(|index| *index < length) {
                bytes[index] ^= 0x10;
                assert!(!is_expected(3, start, &bytes), "{start} {length} {index}");
                bytes[index] ^= 0x10;
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
