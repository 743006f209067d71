//! Lookups for x86 processors that gather: in the flat trie eight keys at a time, in the hash index of exact keys four.
//!
//! What enters: keys, and the slots of a trie or of an index. What leaves: the cell of each key, as the scalar loops in
//! [`crate::flat`] and [`crate::exact`] find it. A gather is eight loads at once, whose misses overlap like those of
//! eight turns of that loop; what is saved is the work around the loads.

#![allow(unsafe_code, reason = "vector instructions take pointers, and slots without a check of their bounds")]

use crate::cells::Cells;
use crate::flat::{CELL, NODE, SHORT_BITS, STRIDE_BITS, Slots};
use crate::hash_index::{WORD_FACTOR, WordHash};
use std::arch::x86_64::{
    __m256i, _mm_cvtsi32_si128, _mm_storeu_si128, _mm256_add_epi64, _mm256_and_si256, _mm256_andnot_si256,
    _mm256_blendv_epi8, _mm256_castps_si256, _mm256_castsi256_ps, _mm256_castsi256_si128, _mm256_cmpeq_epi32,
    _mm256_cmpeq_epi64, _mm256_i32gather_epi32, _mm256_loadu_si256, _mm256_mask_i32gather_epi32,
    _mm256_mask_i64gather_epi64, _mm256_movemask_ps, _mm256_mul_epu32, _mm256_or_si256, _mm256_permute4x64_epi64,
    _mm256_permutevar8x32_epi32, _mm256_set1_epi32, _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_shuffle_ps,
    _mm256_sll_epi32, _mm256_slli_epi32, _mm256_srl_epi32, _mm256_srl_epi64, _mm256_srli_epi32, _mm256_srli_epi64,
    _mm256_storeu_si256, _mm256_testz_si256, _mm256_xor_si256,
};
use std::sync::LazyLock;

/// Keys that are looked up at once.
const LANES: usize = 8;

/// The most nodes whose slots a 32-bit number names.
const NODES_MAX: usize = 1 << (31 - STRIDE_BITS);

/// Whether gathers are there, and fast: where the processor leaks what it gathers, its microcode makes them very slow.
static IS_USEFUL: LazyLock<bool> = LazyLock::new(|| {
    let says = std::fs::read_to_string("/sys/devices/system/cpu/vulnerabilities/gather_data_sampling");
    is_x86_feature_detected!("avx2") && says.map_or(true, |text| !text.contains("Mitigation"))
});

/// Whether this processor should look up with [`find`].
pub(crate) fn is_useful() -> bool {
    *IS_USEFUL
}

/// Finds as many keys as are a multiple of eight, each of one word, of which `shift_bits` are below the bit string and
/// `width_bits` are the string; returns how many that were.
///
/// # Safety
/// The processor has AVX2. Every slot that leads to a node names one of `slots.nodes`.
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn find(
    slots: &Slots<'_>,
    keys: &[u64],
    shift_bits: u32,
    width_bits: u32,
    found: &mut [u32],
) -> usize {
    if slots.nodes.len() > NODES_MAX {
        return 0;
    }
    let count = keys.len().min(found.len()) / LANES * LANES;
    for (keys, found) in keys[..count].chunks_exact(LANES).zip(found.chunks_exact_mut(LANES)) {
        let strings = strings(keys, shift_bits, width_bits);
        // SAFETY: as the caller promises; there is room for eight.
        unsafe { _mm256_storeu_si256(found.as_mut_ptr().cast(), cells(slots, strings)) };
    }
    count
}

/// A count of bits to shift by.
#[inline]
#[target_feature(enable = "avx2")]
fn bits(count: u32) -> std::arch::x86_64::__m128i {
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
    // SAFETY: the root has a slot for each value of so many bits.
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
        // of its bits, and the index is no negative number since the nodes are no more than `NODES_MAX`.
        slot = unsafe { _mm256_mask_i32gather_epi32::<4>(slot, slots.nodes.as_ptr().cast(), index, slot) };
        position += STRIDE_BITS;
    }
    let nothing = _mm256_cmpeq_epi32(slot, _mm256_setzero_si256());
    if _mm256_movemask_ps(_mm256_castsi256_ps(nothing)) == 0 {
        return cells_of(slot);
    }
    let first = _mm256_srli_epi32::<{ 32 - SHORT_BITS as i32 }>(strings);
    // SAFETY: there is a short answer for each value of so many bits.
    let short = unsafe { _mm256_i32gather_epi32::<4>(slots.short.as_ptr().cast(), first) };
    cells_of(_mm256_blendv_epi8(slot, short, nothing))
}

/// The cells in eight slots.
#[inline]
#[target_feature(enable = "avx2")]
fn cells_of(slots: __m256i) -> __m256i {
    _mm256_and_si256(slots, _mm256_set1_epi32(CELL as i32))
}

/// Keys of one word that are looked up at once in an index.
const WORD_LANES: usize = 4;

/// Finds as many keys of one word as are a multiple of four by the slots of their index; returns how many that were.
///
/// # Safety
/// The processor has AVX2. The slots are as [`crate::hash_index::HashIndex::all`] says, and each names a cell whose
/// tail begins with its key.
#[target_feature(enable = "avx2")]
pub(crate) unsafe fn find_words(
    hash: WordHash,
    slots: &[u64],
    cells: &Cells,
    keys: &[u64],
    found: &mut [u32],
) -> usize {
    let count = keys.len().min(found.len()) / WORD_LANES * WORD_LANES;
    for (keys, found) in keys[..count].chunks_exact(WORD_LANES).zip(found.chunks_exact_mut(WORD_LANES)) {
        // SAFETY: as the caller promises; the keys are 32 bytes, and there is room for four numbers of 32 bits.
        unsafe {
            let numbers = word_cells(hash, slots, cells, _mm256_loadu_si256(keys.as_ptr().cast()));
            const LOWER_HALVES: [i32; 8] = [0, 2, 4, 6, 0, 0, 0, 0];
            let order = _mm256_loadu_si256(LOWER_HALVES.as_ptr().cast());
            let numbers = _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(numbers, order));
            _mm_storeu_si128(found.as_mut_ptr().cast(), numbers);
        }
    }
    count
}

/// The hashes of four words, as [`WordHash::of`] has them.
#[inline]
#[target_feature(enable = "avx2")]
fn word_hashes(hash: WordHash, words: __m256i) -> __m256i {
    let [low, high] = hash.secrets.map(|secret| _mm256_set1_epi64x(i64::from(secret)));
    let halves = |product| _mm256_xor_si256(product, _mm256_srli_epi64::<32>(product));
    // Each multiplication takes the lower half of its words.
    let low = _mm256_xor_si256(words, low);
    let high = _mm256_xor_si256(_mm256_srli_epi64::<32>(words), high);
    let mixed = halves(_mm256_mul_epu32(low, high));
    let mixed = halves(_mm256_mul_epu32(mixed, _mm256_set1_epi64x(i64::from(WORD_FACTOR))));
    _mm256_and_si256(mixed, _mm256_set1_epi64x(i64::from(u32::MAX)))
}

/// The cells of four keys, in the lower halves of four words.
///
/// # Safety
/// As [`find_words`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn word_cells(hash: WordHash, slots: &[u64], cells: &Cells, keys: __m256i) -> __m256i {
    let (tails, stride_bytes) = cells.tails();
    let hashes = word_hashes(hash, keys);
    let last = _mm256_set1_epi64x(slots.len() as i64 - 1);
    let zero = _mm256_setzero_si256();
    let mut position = _mm256_and_si256(hashes, last);
    let (mut pending, mut numbers) = (_mm256_cmpeq_epi64(zero, zero), zero);
    // At least half of the slots are free, so that every search ends.
    loop {
        // SAFETY: positions are below the number of slots.
        let slot = unsafe { _mm256_mask_i64gather_epi64::<8>(zero, slots.as_ptr().cast(), position, pending) };
        let is_free = _mm256_cmpeq_epi64(slot, zero);
        let is_like = _mm256_andnot_si256(is_free, _mm256_cmpeq_epi64(_mm256_srli_epi64::<32>(slot), hashes));
        let number = _mm256_and_si256(slot, _mm256_set1_epi64x(i64::from(u32::MAX)));
        let offset = _mm256_mul_epu32(number, _mm256_set1_epi64x(i64::from(stride_bytes)));
        // SAFETY: only cells are read that a slot names, which the caller vouches for.
        let key = unsafe { _mm256_mask_i64gather_epi64::<1>(zero, tails.cast(), offset, is_like) };
        let is_found = _mm256_and_si256(is_like, _mm256_cmpeq_epi64(key, keys));
        numbers = _mm256_or_si256(numbers, _mm256_and_si256(number, is_found));
        pending = _mm256_andnot_si256(_mm256_or_si256(is_found, is_free), pending);
        if _mm256_testz_si256(pending, pending) != 0 {
            return numbers;
        }
        position = _mm256_and_si256(_mm256_add_epi64(position, _mm256_set1_epi64x(1)), last);
    }
}
