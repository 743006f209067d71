//! Lookups in the flat trie for x86 processors with AVX-512: sixteen keys at a time, from their words to the pointers
//! of their entries.
//!
//! What enters: keys of one field, the slots of a trie, and the cells that they refer to. What leaves: the entry of
//! each key, as the loops in [`crate::flat`] and [`crate::cells`] find it, and how many keys have one. A gather is
//! sixteen loads, and waits for all of them: slots of a large root have been prefetched ([`crate::abi::RootHandle`]).
//! Cells are prefetched here, unless they fit the nearest cache: entries share them, so that the routes of a router
//! have as many cells as next hops.

#![allow(unsafe_code, reason = "vector instructions take pointers, and slots without a check of their bounds")]

use crate::abi::EntryHeader;
use crate::cells::{Cells, prefetch};
use crate::flat::{CELL, NODE, NODES_MAX, SHORT_BITS, STRIDE_BITS, Slots};
use crate::gather::{self, bits};
use crate::lpm::Piece;
use std::arch::x86_64::{
    __m512i, __mmask8, __mmask16, _mm512_add_epi64, _mm512_and_si512, _mm512_castsi256_si512, _mm512_castsi512_si256,
    _mm512_cvtepi64_epi32, _mm512_cvtepu32_epi64, _mm512_extracti64x4_epi64, _mm512_inserti64x4,
    _mm512_mask_i32gather_epi32, _mm512_mask_storeu_epi64, _mm512_maskz_loadu_epi64, _mm512_mullo_epi32,
    _mm512_or_si512, _mm512_set1_epi32, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_sll_epi32, _mm512_slli_epi32,
    _mm512_slli_epi64, _mm512_srl_epi32, _mm512_srl_epi64, _mm512_srli_epi32, _mm512_test_epi32_mask,
    _mm512_testn_epi32_mask,
};

/// Keys that are looked up at once, and words in a vector.
const LANES: usize = 16;
const WORDS: usize = LANES / 2;

/// Bytes of cells that fit the nearest cache beside the other data of a burst.
const NEAR_BYTES: usize = 1 << 14;

/// Whether this processor should look up with [`find`].
pub(crate) fn is_useful() -> bool {
    gather::is_useful() && is_x86_feature_detected!("avx512f")
}

/// Whether [`find`] can search a trie: 32 bits can number its places in the trie and in the cells.
pub(crate) fn serves(slots: Slots<'_>, cells: &Cells) -> bool {
    let words = cells.count() * cells.stride_words();
    slots.nodes.len() <= NODES_MAX && u32::try_from(words).is_ok()
}

/// Finds all strings that are this piece of keys of one word; returns how many matched an entry.
///
/// # Safety
/// The processor has AVX-512 (F). The trie is one that is served, its slots lead to its nodes or name one of the cells.
#[target_feature(enable = "avx512f,popcnt")]
pub(crate) unsafe fn find(
    slots: &Slots<'_>,
    piece: Piece,
    cells: &Cells,
    keys: &[u64],
    results: &mut [*const EntryHeader],
) -> u32 {
    let (first, stride_words) = (cells.pointer(0), cells.stride_words() as u32);
    let mut hits = 0;
    for (keys, results) in keys.chunks(LANES).zip(results.chunks_mut(LANES)) {
        assert_eq!(keys.len(), results.len(), "a result for each key");
        let mask = (u32::MAX >> (u32::BITS as usize - keys.len())) as __mmask16;
        // SAFETY: masks name as many keys and results as there are; the slots are as the caller promises.
        unsafe {
            let strings = strings(keys, mask, piece.shift_bits, piece.width_bits);
            let found = cells_of(slots, strings, mask);
            hits += _mm512_test_epi32_mask(found, found).count_ones();
            store_pointers(first, stride_words, found, mask, results);
        }
    }
    if cells.bytes() > NEAR_BYTES {
        results.iter().for_each(|result| prefetch(*result));
    }
    hits
}

/// The masks of the first and the last eight lanes.
fn halves(mask: __mmask16) -> [__mmask8; 2] {
    [mask as __mmask8, (mask >> WORDS) as __mmask8]
}

/// The bit strings of up to sixteen keys, each with its first bit the highest; 0 for those that the mask does not name.
///
/// # Safety
/// The mask names no more than `keys`.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn strings(keys: &[u64], mask: __mmask16, shift_bits: u32, width_bits: u32) -> __m512i {
    let [first, last] = halves(mask);
    let start = keys.as_ptr().cast::<i64>();
    // SAFETY: only words are read that the mask names.
    let (low, high) =
        unsafe { (_mm512_maskz_loadu_epi64(first, start), _mm512_maskz_loadu_epi64(last, start.wrapping_add(WORDS))) };
    let shift = bits(shift_bits);
    let number = |words| _mm512_cvtepi64_epi32(_mm512_srl_epi64(words, shift));
    let numbers = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(number(low)), number(high));
    _mm512_sll_epi32(numbers, bits(32 - width_bits))
}

/// The cells of sixteen strings, 0 for those that the mask does not name.
///
/// # Safety
/// As [`find`].
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn cells_of(slots: &Slots<'_>, strings: __m512i, mask: __mmask16) -> __m512i {
    let mut position = slots.root_bits;
    let first = _mm512_srl_epi32(strings, bits(32 - position));
    let (root, nodes, short) = (slots.root.as_ptr(), slots.nodes.as_ptr(), slots.short.as_ptr());
    // SAFETY: the root has a slot for each value of this many bits.
    let mut slot = unsafe { _mm512_mask_i32gather_epi32::<4>(_mm512_setzero_si512(), mask, first, root.cast()) };
    loop {
        let down = _mm512_test_epi32_mask(slot, _mm512_set1_epi32(NODE as i32));
        if down == 0 {
            break;
        }
        let rest = _mm512_sll_epi32(strings, bits(position));
        // The shift removes the node flag: there are at most `NODES_MAX` nodes.
        let node = _mm512_slli_epi32::<STRIDE_BITS>(slot);
        let index = _mm512_or_si512(node, _mm512_srli_epi32::<{ 32 - STRIDE_BITS }>(rest));
        // SAFETY: only those are loaded that lead to a node, which the caller vouches for; it has a slot for each value
        // of its bits.
        slot = unsafe { _mm512_mask_i32gather_epi32::<4>(slot, down, index, nodes.cast()) };
        position += STRIDE_BITS;
    }
    let left = _mm512_testn_epi32_mask(slot, slot) & mask;
    if left != 0 {
        let first = _mm512_srli_epi32::<{ 32 - SHORT_BITS }>(strings);
        // SAFETY: there is a slot of short entries for each value of this many bits.
        slot = unsafe { _mm512_mask_i32gather_epi32::<4>(slot, left, first, short.cast()) };
    }
    _mm512_and_si512(slot, _mm512_set1_epi32(CELL as i32))
}

/// Stores the pointers to cells.
///
/// # Safety
/// The mask names no more than `results`.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn store_pointers(
    first: *const EntryHeader,
    stride_words: u32,
    cells: __m512i,
    mask: __mmask16,
    results: &mut [*const EntryHeader],
) {
    let words = _mm512_mullo_epi32(cells, _mm512_set1_epi32(stride_words as i32));
    let start = results.as_mut_ptr().cast::<i64>();
    let pointers = |words| {
        let bytes = _mm512_slli_epi64::<3>(_mm512_cvtepu32_epi64(words));
        _mm512_add_epi64(bytes, _mm512_set1_epi64(first.addr() as i64))
    };
    let (low, high) = (_mm512_castsi512_si256(words), _mm512_extracti64x4_epi64::<1>(words));
    let [of_first, of_last] = halves(mask);
    // SAFETY: only words are written that the mask names.
    unsafe {
        _mm512_mask_storeu_epi64(start, of_first, pointers(low));
        _mm512_mask_storeu_epi64(start.wrapping_add(WORDS), of_last, pointers(high));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flat::Flat;
    use crate::layout::{KeyField, KeyLayout};
    use crate::spec::Handle;
    use base::MatchKind;
    use base::Rng;

    /// Prefixes of all lengths, more of those that need nodes.
    fn engine(rng: &mut Rng, width_bits: u32, entries: u32) -> Flat {
        let key = [KeyField { name: String::new(), width_bits, kind: MatchKind::Lpm }];
        let mut engine = Flat::new(&key, &KeyLayout::new(&key));
        for handle in 0..entries {
            let len = rng.between(0, width_bits.into()).max(rng.below(u64::from(width_bits) + 1)) as u32;
            let network = rng.below(1 << width_bits) >> (width_bits - len) << (width_bits - len);
            engine.insert(Handle(handle), &[network], len, rng.between(1, 99) as u32);
        }
        engine
    }

    #[test]
    fn vectors_find_what_loops_find() {
        let mut rng = Rng::new(21);
        let mut cells = Cells::new(2, 0);
        (1..100).for_each(|cell| cells.set_shared(cell, 0, &[u64::from(cell), 0]));
        for round in 0..300 {
            let width_bits = [rng.between(1, 32), 32][round % 2] as u32;
            let entries = rng.below(200) as u32;
            let engine = engine(&mut rng, width_bits, entries);
            let piece = engine.one_piece().expect("the key is one field");
            let count = rng.below(70) as usize;
            let keys: Vec<u64> = (0..count).map(|_| rng.below(1 << width_bits)).collect();
            let (mut wanted, mut found) = (vec![0; count], vec![0; count]);
            engine.find(&keys, &mut wanted);
            if gather::is_useful() {
                // SAFETY: the processor's features were checked; the trie's slots are valid.
                let done = unsafe { gather::find(&engine.slots(), piece, &keys, &mut found) };
                assert_eq!((done, &found[..done]), (count / 8 * 8, &wanted[..done]));
            }
            if is_useful() && serves(engine.slots(), &cells) {
                let mut results = vec![std::ptr::null(); count];
                // SAFETY: as above, and they name the cells.
                let hits = unsafe { find(&engine.slots(), piece, &cells, &keys, &mut results) };
                let pointers: Vec<_> = wanted.iter().map(|cell| cells.pointer(*cell)).collect();
                assert_eq!(results, pointers, "{width_bits} bits, {entries} entries");
                assert_eq!(hits as usize, wanted.iter().filter(|cell| **cell != 0).count());
            }
        }
    }
}
