//! Lookups for x86 processors that gather: in the flat trie eight keys at a time, in the hash index of exact keys four;
//! and a key against eight ternary entries at a time.
//!
//! What enters: keys, and the slots of a trie or of an index. What leaves: the cell of each key, as the scalar loops in
//! [`crate::flat`], [`crate::exact`] and [`crate::ternary`] find it. A gather is eight loads at once, whose misses
//! overlap like those of eight iterations of that loop; it saves the work around the loads.

#![allow(unsafe_code, reason = "vector instructions take pointers, and slots without a check of their bounds")]

use crate::cells::{Cells, prefetch};
use crate::exact::{Exact, ROW_WORDS_MAX};
use crate::flat::{CELL, NODE, NODES_MAX, SHORT_BITS, STRIDE_BITS, Slots};
use crate::hash_index::ROW_FACTOR;
use crate::lpm::Piece;
use crate::ranked::{self, Chunk};
use base::limits::BURST_PACKETS_MAX;
use std::arch::x86_64::{
    __m256i, _mm_cvtsi32_si128, _mm_storeu_si128, _mm256_add_epi64, _mm256_and_si256, _mm256_andnot_si256,
    _mm256_blendv_epi8, _mm256_castps_si256, _mm256_castsi256_pd, _mm256_castsi256_ps, _mm256_castsi256_si128,
    _mm256_cmpeq_epi32, _mm256_cmpeq_epi64, _mm256_i32gather_epi32, _mm256_i64gather_epi64, _mm256_loadu_si256,
    _mm256_mask_i32gather_epi32, _mm256_mask_i64gather_epi64, _mm256_movemask_pd, _mm256_movemask_ps, _mm256_mul_epu32,
    _mm256_or_si256, _mm256_permute4x64_epi64, _mm256_permutevar8x32_epi32, _mm256_set1_epi32, _mm256_set1_epi64x,
    _mm256_setr_epi64x, _mm256_setzero_si256, _mm256_shuffle_ps, _mm256_sll_epi32, _mm256_slli_epi32, _mm256_srl_epi32,
    _mm256_srl_epi64, _mm256_srli_epi32, _mm256_srli_epi64, _mm256_storeu_si256, _mm256_testz_si256, _mm256_xor_si256,
};
use std::sync::LazyLock;

/// Keys that are looked up at once.
const LANES: usize = 8;

/// Whether gathers exist and are fast: the microcode fix for processors with a data leak in gathers makes them very
/// slow.
static IS_USEFUL: LazyLock<bool> = LazyLock::new(|| {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/vulnerabilities/gather_data_sampling");
    is_x86_feature_detected!("avx2") && text.map_or(true, |it| !it.contains("Mitigation"))
});

/// Whether this processor should look up with [`find`].
pub(crate) fn is_useful() -> bool {
    *IS_USEFUL
}

/// Finds as many keys as are a multiple of eight, each of one word, of which a piece is the bit string; returns how
/// many that were.
///
/// # Safety
/// The processor has AVX2. Every slot that leads to a node names one of `slots.nodes`.
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn find(slots: &Slots<'_>, piece: Piece, keys: &[u64], found: &mut [u32]) -> usize {
    if slots.nodes.len() > NODES_MAX {
        return 0;
    }
    let count = keys.len().min(found.len()) / LANES * LANES;
    for (keys, found) in keys[..count].chunks_exact(LANES).zip(found.chunks_exact_mut(LANES)) {
        let strings = strings(keys, piece.shift_bits, piece.width_bits);
        // SAFETY: as the caller promises; there is room for eight.
        unsafe { _mm256_storeu_si256(found.as_mut_ptr().cast(), cells(slots, strings)) };
    }
    count
}

/// A count of bits to shift by.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) fn bits(count: u32) -> std::arch::x86_64::__m128i {
    _mm_cvtsi32_si128(count as i32)
}

/// The bit strings of eight keys, each with its first bit the highest.
#[inline]
#[target_feature(enable = "avx2")]
fn strings(keys: &[u64], shift_bits: u32, width_bits: u32) -> __m256i {
    assert_eq!(keys.len(), LANES, "a row of keys");
    // SAFETY: the keys are 64 bytes.
    let (low, high) =
        unsafe { (_mm256_loadu_si256(keys.as_ptr().cast()), _mm256_loadu_si256(keys.as_ptr().add(LANES / 2).cast())) };
    let shift = bits(shift_bits);
    let (low, high) = (_mm256_srl_epi64(low, shift), _mm256_srl_epi64(high, shift));
    // The lower half of each word, pairs from each lane in turn, then put in order.
    const EVEN: i32 = 0b10_00_10_00;
    let halves = _mm256_shuffle_ps::<EVEN>(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
    const IN_ORDER: i32 = 0b11_01_10_00;
    let words = _mm256_permute4x64_epi64::<IN_ORDER>(_mm256_castps_si256(halves));
    _mm256_sll_epi32(words, bits(32 - width_bits))
}

/// The cells of eight strings.
///
/// # Safety
/// As [`find`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn cells(slots: &Slots<'_>, strings: __m256i) -> __m256i {
    let root = slots.root.as_ptr().cast::<i32>();
    let first = _mm256_srl_epi32(strings, bits(32 - slots.root_bits));
    // SAFETY: the root has a slot for each value of this many bits.
    let mut slot = unsafe { _mm256_i32gather_epi32::<4>(root, first) };
    let mut position = slots.root_bits;
    // A slot that leads to a node has its highest bit set.
    while _mm256_movemask_ps(_mm256_castsi256_ps(slot)) != 0 {
        let node = _mm256_and_si256(slot, _mm256_set1_epi32(!NODE as i32));
        let rest = _mm256_sll_epi32(strings, bits(position));
        let index = _mm256_or_si256(
            _mm256_slli_epi32::<{ STRIDE_BITS as i32 }>(node),
            _mm256_srli_epi32::<{ 32 - STRIDE_BITS as i32 }>(rest),
        );
        // SAFETY: only those are loaded that lead to a node, which the caller vouches for; it has a slot for each value
        // of its bits, and the index is not negative, since there are at most `NODES_MAX` nodes.
        slot = unsafe { _mm256_mask_i32gather_epi32::<4>(slot, slots.nodes.as_ptr().cast(), index, slot) };
        position += STRIDE_BITS;
    }
    let nothing = _mm256_cmpeq_epi32(slot, _mm256_setzero_si256());
    if _mm256_movemask_ps(_mm256_castsi256_ps(nothing)) == 0 {
        return cells_of(slot);
    }
    let first = _mm256_srli_epi32::<{ 32 - SHORT_BITS as i32 }>(strings);
    // SAFETY: there is a slot of short entries for each value of this many bits.
    let short = unsafe { _mm256_i32gather_epi32::<4>(slots.short.as_ptr().cast(), first) };
    cells_of(_mm256_blendv_epi8(slot, short, nothing))
}

/// The cells in eight slots.
#[inline]
#[target_feature(enable = "avx2")]
fn cells_of(slots: __m256i) -> __m256i {
    _mm256_and_si256(slots, _mm256_set1_epi32(CELL as i32))
}

/// Rows that are looked up at once in an index.
const ROW_LANES: usize = 4;

/// The number of index slots above which searches prefetch: the table does not fit the nearest caches.
const NEAR_SLOTS: usize = 1 << 15;

/// The data that a search among exact keys reads. Some slots are free, so that every search ends.
#[derive(Clone, Copy)]
struct Index<'a, const WORDS: usize> {
    secrets: &'a [u64; WORDS],
    slots: &'a [u64],
    /// Where the tail of cell 0 lies, which begins with its key.
    tails: *const u64,
    stride_bytes: u32,
}

/// Finds as many keys as are a multiple of four by the slots of their index; returns how many that were: none if keys
/// have no words, or too many.
///
/// # Safety
/// The processor has AVX2. The slots are those of [`crate::hash_index::HashIndex::all`], and each refers to a cell
/// whose tail begins with its key.
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn find_rows(engine: &Exact, cells: &Cells, keys: &[u64], found: &mut [u32]) -> usize {
    // SAFETY: as the caller promises.
    unsafe {
        match engine.key_words() {
            2 => find_rows_of::<2>(engine, cells, keys, found),
            3 => find_rows_of::<3>(engine, cells, keys, found),
            4 => find_rows_of::<4>(engine, cells, keys, found),
            ROW_WORDS_MAX => find_rows_of::<ROW_WORDS_MAX>(engine, cells, keys, found),
            _ => 0,
        }
    }
}

/// # Safety
/// As [`find_rows`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn find_rows_of<const WORDS: usize>(engine: &Exact, cells: &Cells, keys: &[u64], found: &mut [u32]) -> usize {
    let (hash, slots) = engine.parts();
    let Ok(secrets) = hash.secrets().try_into() else { return 0 };
    let (tails, stride_bytes) = cells.tails();
    let index = Index::<WORDS> { secrets, slots, tails, stride_bytes };
    let (keys, _) = keys.as_chunks::<WORDS>();
    let (keys, _) = keys.as_chunks::<ROW_LANES>();
    let (found, _) = found.as_chunks_mut::<ROW_LANES>();
    let is_far = slots.len() > NEAR_SLOTS;
    let mut hashes = [_mm256_setzero_si256(); BURST_PACKETS_MAX / ROW_LANES];
    for (keys, hashes) in keys.iter().zip(&mut hashes) {
        *hashes = row_hashes(index.secrets, rows(keys));
        if is_far {
            for position in lanes(*hashes) {
                prefetch(slots.as_ptr().wrapping_add(position as usize & (slots.len() - 1)));
            }
        }
    }
    if is_far {
        for hashes in &hashes[..keys.len().min(BURST_PACKETS_MAX / ROW_LANES)] {
            // SAFETY: as the caller promises.
            let first = unsafe { first_numbers(&index, *hashes) };
            for number in lanes(first) {
                prefetch(tails.wrapping_byte_add(number as u32 as usize * stride_bytes as usize));
            }
        }
    }
    let mut count = 0;
    for ((keys, found), hashes) in keys.iter().zip(found).zip(&hashes) {
        // SAFETY: as the caller promises; there is room for four numbers of 32 bits.
        unsafe {
            let numbers = row_cells(&index, rows(keys), *hashes);
            const LOWER_HALVES: [i32; 8] = [0, 2, 4, 6, 0, 0, 0, 0];
            let order = _mm256_loadu_si256(LOWER_HALVES.as_ptr().cast());
            let numbers = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(numbers, order));
            _mm_storeu_si128(found.as_mut_ptr().cast(), numbers);
        }
        count += ROW_LANES;
    }
    count
}

/// Four words one by one.
#[inline]
#[target_feature(enable = "avx2")]
fn lanes(words: __m256i) -> [u64; ROW_LANES] {
    let mut lanes = [0; ROW_LANES];
    // SAFETY: there is room for four words.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), words) };
    lanes
}

/// The first words of four keys, their second words, and so on.
#[inline]
#[target_feature(enable = "avx2")]
fn rows<const WORDS: usize>(keys: &[[u64; WORDS]; ROW_LANES]) -> [__m256i; WORDS] {
    each_word(|word| match WORDS {
        // SAFETY: four keys of one word are 32 bytes.
        1 => unsafe { _mm256_loadu_si256(keys.as_ptr().cast()) },
        _ => four(|lane| keys[lane][word]),
    })
}

/// An array with a vector for each word. The standard library's functions for arrays are compiled without these
/// instructions, so the closure that makes the vectors is not inlined into them: without link-time optimisation it is
/// called for each, and passes them through memory.
#[inline]
#[target_feature(enable = "avx2")]
fn each_word<const WORDS: usize>(vector: impl Fn(usize) -> __m256i) -> [__m256i; WORDS] {
    let mut vectors = [_mm256_setzero_si256(); WORDS];
    for (word, place) in vectors.iter_mut().enumerate() {
        *place = vector(word);
    }
    vectors
}

/// A vector of four words.
#[inline]
#[target_feature(enable = "avx2")]
fn four(word: impl Fn(usize) -> u64) -> __m256i {
    _mm256_setr_epi64x(word(0) as i64, word(1) as i64, word(2) as i64, word(3) as i64)
}

/// The hashes of four keys, as [`crate::hash_index::RowHash::of`] has them.
#[inline]
#[target_feature(enable = "avx2")]
fn row_hashes<const WORDS: usize>(secrets: &[u64; WORDS], words: [__m256i; WORDS]) -> __m256i {
    let halves = |product| _mm256_xor_si256(product, _mm256_srli_epi64::<32>(product));
    let mut sum = _mm256_setzero_si256();
    for (words, secret) in words.into_iter().zip(secrets) {
        let disturbed = _mm256_xor_si256(words, _mm256_set1_epi64x(*secret as i64));
        // The multiplication takes the lower half of its words.
        sum = _mm256_add_epi64(sum, _mm256_mul_epu32(disturbed, _mm256_srli_epi64::<32>(disturbed)));
    }
    let mixed = halves(_mm256_mul_epu32(halves(sum), _mm256_set1_epi64x(i64::from(ROW_FACTOR))));
    _mm256_and_si256(mixed, _mm256_set1_epi64x(i64::from(u32::MAX)))
}

/// The numbers in the slots where four searches begin, if their hashes agree.
///
/// # Safety
/// As [`find_rows`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn first_numbers<const WORDS: usize>(index: &Index<'_, WORDS>, hashes: __m256i) -> __m256i {
    let position = _mm256_and_si256(hashes, _mm256_set1_epi64x(index.slots.len() as i64 - 1));
    // SAFETY: positions are below the number of slots.
    let slot = unsafe { _mm256_i64gather_epi64::<8>(index.slots.as_ptr().cast(), position) };
    let is_like = _mm256_cmpeq_epi64(_mm256_srli_epi64::<32>(slot), hashes);
    _mm256_and_si256(slot, _mm256_and_si256(is_like, _mm256_set1_epi64x(i64::from(u32::MAX))))
}

/// The cells of four keys, in the lower halves of four words.
///
/// # Safety
/// As [`find_rows`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn row_cells<const WORDS: usize>(index: &Index<'_, WORDS>, keys: [__m256i; WORDS], hashes: __m256i) -> __m256i {
    let last = _mm256_set1_epi64x(index.slots.len() as i64 - 1);
    let zero = _mm256_setzero_si256();
    let mut position = _mm256_and_si256(hashes, last);
    let (mut pending, mut numbers) = (_mm256_cmpeq_epi64(zero, zero), zero);
    // Some slots are free, so that every search ends.
    loop {
        // SAFETY: positions are below the number of slots.
        let slot = unsafe { _mm256_mask_i64gather_epi64::<8>(zero, index.slots.as_ptr().cast(), position, pending) };
        let is_free = _mm256_cmpeq_epi64(slot, zero);
        let is_like = _mm256_andnot_si256(is_free, _mm256_cmpeq_epi64(_mm256_srli_epi64::<32>(slot), hashes));
        let number = _mm256_and_si256(slot, _mm256_set1_epi64x(i64::from(u32::MAX)));
        let offset = _mm256_mul_epu32(number, _mm256_set1_epi64x(i64::from(index.stride_bytes)));
        let mut is_found = is_like;
        for (word, keys) in keys.into_iter().enumerate() {
            let tails = index.tails.wrapping_add(word);
            // SAFETY: only cells are read that a slot names, which the caller vouches for; their tails have `WORDS`
            // words.
            let of_cells = unsafe { _mm256_mask_i64gather_epi64::<1>(zero, tails.cast(), offset, is_like) };
            is_found = _mm256_and_si256(is_found, _mm256_cmpeq_epi64(of_cells, keys));
        }
        numbers = _mm256_or_si256(numbers, _mm256_and_si256(number, is_found));
        pending = _mm256_andnot_si256(_mm256_or_si256(is_found, is_free), pending);
        if _mm256_testz_si256(pending, pending) != 0 {
            return numbers;
        }
        position = _mm256_and_si256(_mm256_add_epi64(position, _mm256_set1_epi64x(1)), last);
    }
}

/// The first of the blocks of eight entries from `start` on in which some match a key, and which, as
/// [`Chunk::first_block`] has it.
///
/// # Safety
/// The processor has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn first_block<const WORDS: usize>(
    chunk: &Chunk,
    key: &[u64],
    mut start: usize,
) -> Option<(usize, u32)> {
    let end = chunk.ranks.len().next_multiple_of(ranked::LANES);
    assert!(chunk.columns.len() >= 2 * WORDS && chunk.columns.iter().all(|column| column.len() == end));
    let keys: [__m256i; WORDS] = each_word(|word| _mm256_set1_epi64x(key[word] as i64));
    let (mut values, mut masks) = ([std::ptr::null(); WORDS], [std::ptr::null(); WORDS]);
    for word in 0..WORDS {
        (values[word], masks[word]) = (chunk.columns[word].as_ptr(), chunk.columns[WORDS + word].as_ptr());
    }
    let zero = _mm256_setzero_si256();
    while start < end {
        let mut unlike = [zero; 2];
        for word in 0..WORDS {
            for (half, unlike) in unlike.iter_mut().enumerate() {
                // SAFETY: columns have `end` words, a multiple of eight, and so is `start`.
                let (value, mask) = unsafe {
                    let at = start + half * ranked::LANES / 2;
                    (_mm256_loadu_si256(values[word].add(at).cast()), _mm256_loadu_si256(masks[word].add(at).cast()))
                };
                let other = _mm256_xor_si256(_mm256_and_si256(keys[word], mask), value);
                *unlike = if word == 0 { other } else { _mm256_or_si256(*unlike, other) };
            }
        }
        let equal = |unlike| _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(unlike, zero)));
        let bits = equal(unlike[0]) | equal(unlike[1]) << 4;
        if bits != 0 {
            return Some((start, bits as u32));
        }
        start += ranked::LANES;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranked::{RankedList, rank_of};
    use base::Rng;

    /// Entries of few values and masks against keys of few values, so that many match.
    fn check_blocks<const WORDS: usize>(rng: &mut Rng) {
        let mut few = |bits: u64| (0..WORDS).map(|_| rng.below(1 << bits)).collect::<Vec<_>>();
        for len in [1, 7, 8, 9, 100] {
            let mut list = RankedList::new(WORDS);
            for number in 1..=len {
                let mask = few(2);
                let value: Vec<u64> = few(2).iter().zip(&mask).map(|(value, mask)| value & mask).collect();
                list.insert(rank_of(0, number), number as u32, &[value, mask].concat());
            }
            for start in [0, 8, 96] {
                let key = few(2);
                let chunk = &list.chunks()[0];
                // SAFETY: the processor's features were checked before.
                let found = unsafe { first_block::<WORDS>(chunk, &key, start) };
                assert_eq!(found, chunk.first_block(&key, start), "{len} entries of {WORDS} words from {start}");
            }
        }
    }

    #[test]
    fn vectors_do_what_loops_do() {
        if !is_x86_feature_detected!("avx2") {
            return;
        }
        let mut rng = Rng::new(8);
        for _ in 0..200 {
            check_blocks::<1>(&mut rng);
            check_blocks::<2>(&mut rng);
            check_blocks::<3>(&mut rng);
            check_blocks::<5>(&mut rng);
        }
    }
}
