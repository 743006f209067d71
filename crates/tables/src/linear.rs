//! A burst of keys against a short list of entries, for x86 processors with AVX-512 or AVX2: sixteen or eight keys at a
//! time, against one entry after the other.
//!
//! What enters: keys, entries with values, masks and ranges. What leaves: for each key the place of the first entry
//! that it matches. Entries are processed from the last to the first, and each overwrites the results of the keys that
//! it matches, without branches: matches are unpredictable, and a misprediction costs more than a dozen entries.

#![allow(unsafe_code, reason = "vector instructions take pointers, and columns without a check of their bounds")]

use crate::gather;
use crate::ranked::{Chunk, RangeField};
use std::arch::x86_64::{
    __m256i, __m512i, _mm256_and_si256, _mm256_blendv_epi8, _mm256_cmpeq_epi64, _mm256_cmpgt_epi64, _mm256_loadu_si256,
    _mm256_or_si256, _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_storeu_si256, _mm256_sub_epi64, _mm256_xor_si256,
    _mm512_and_si512, _mm512_loadu_si512, _mm512_mask_cmple_epu64_mask, _mm512_mask_mov_epi64,
    _mm512_mask_testn_epi64_mask, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_storeu_si512, _mm512_sub_epi64,
    _mm512_xor_si512,
};
use std::sync::LazyLock;

/// The most entries of a short list.
pub(crate) const ENTRIES_MAX: usize = 128;

/// Range fields that are compared here at most.
pub(crate) const RANGES_MAX: usize = 2;

static IS_WIDE: LazyLock<bool> = LazyLock::new(|| gather::is_useful() && is_x86_feature_detected!("avx512f"));

/// Of each key of a burst the place in a chunk of the first entry that it matches, plus one; or 0.
///
/// # Safety
/// The processor has AVX2.
#[inline(always)]
pub(crate) unsafe fn places<const WORDS: usize>(
    chunk: &Chunk,
    ranges: &[RangeField],
    keys: &[[u64; WORDS]],
    places: &mut [u32],
) {
    // SAFETY: as the caller promises, and the processor's features were checked for AVX-512.
    unsafe {
        match (ranges, *IS_WIDE) {
            ([], true) => places_wide::<WORDS, 0>(chunk, &[], keys, places),
            ([], false) => places_narrow::<WORDS, 0>(chunk, &[], keys, places),
            (&[one], true) => places_wide::<WORDS, 1>(chunk, &[one], keys, places),
            (&[one], false) => places_narrow::<WORDS, 1>(chunk, &[one], keys, places),
            (&[one, two], true) => places_wide::<WORDS, 2>(chunk, &[one, two], keys, places),
            (&[one, two], false) => places_narrow::<WORDS, 2>(chunk, &[one, two], keys, places),
            _ => unreachable!("more than {RANGES_MAX} range fields"),
        }
    }
}

/// The columns of a chunk: where values, masks, low bounds and spans begin.
struct Columns<const WORDS: usize, const RANGES: usize> {
    values: [*const u64; WORDS],
    masks: [*const u64; WORDS],
    lows: [*const u64; RANGES],
    spans: [*const u64; RANGES],
}

impl<const WORDS: usize, const RANGES: usize> Columns<WORDS, RANGES> {
    fn of(chunk: &Chunk) -> Columns<WORDS, RANGES> {
        let columns = &chunk.columns;
        assert!(columns.len() == 2 * (WORDS + RANGES), "a column for each part of a match");
        assert!(columns.iter().all(|column| column.len() >= chunk.ranks.len()), "columns have all entries");
        Columns {
            values: std::array::from_fn(|word| columns[word].as_ptr()),
            masks: std::array::from_fn(|word| columns[WORDS + word].as_ptr()),
            lows: std::array::from_fn(|range| columns[2 * (WORDS + range)].as_ptr()),
            spans: std::array::from_fn(|range| columns[2 * (WORDS + range) + 1].as_ptr()),
        }
    }
}

/// The words of as many keys, all first words together. Missing keys are zeros.
#[inline(always)]
fn transposed<const WORDS: usize, const LANES: usize>(keys: &[[u64; WORDS]]) -> [[u64; LANES]; WORDS] {
    let mut rows = [[0; LANES]; WORDS];
    for (lane, key) in keys.iter().enumerate() {
        for word in 0..WORDS {
            rows[word][lane] = key[word];
        }
    }
    rows
}

/// # Safety
/// The processor has AVX-512 (F).
#[target_feature(enable = "avx512f")]
unsafe fn places_wide<const WORDS: usize, const RANGES: usize>(
    chunk: &Chunk,
    ranges: &[RangeField; RANGES],
    keys: &[[u64; WORDS]],
    places: &mut [u32],
) {
    const LANES: usize = 16;
    let columns = Columns::<WORDS, RANGES>::of(chunk);
    for (keys, places) in keys.chunks(LANES).zip(places.chunks_mut(LANES)) {
        let rows = transposed::<WORDS, LANES>(keys);
        // SAFETY: a row has sixteen words.
        let load = |row: &[u64; LANES], half: usize| unsafe { _mm512_loadu_si512(row[half * 8..].as_ptr().cast()) };
        let mut words = [[_mm512_setzero_si512(); 2]; WORDS];
        for (words, row) in words.iter_mut().zip(&rows) {
            *words = [load(row, 0), load(row, 1)];
        }
        let mut fields = [[_mm512_setzero_si512(); 2]; RANGES];
        for (fields, RangeField { word, mask, .. }) in fields.iter_mut().zip(ranges) {
            let (word, mask) = (*word, _mm512_set1_epi64(*mask as i64));
            *fields = [_mm512_and_si512(load(&rows[word], 0), mask), _mm512_and_si512(load(&rows[word], 1), mask)];
        }
        let mut best = [_mm512_setzero_si512(); 2];
        for entry in (0..chunk.ranks.len()).rev() {
            let mut like = [0xff; 2];
            // SAFETY: columns have as many words as there are entries.
            let all = |column: *const u64| -> __m512i { unsafe { _mm512_set1_epi64(*column.add(entry) as i64) } };
            for (word, words) in words.iter().enumerate() {
                let (value, mask) = (all(columns.values[word]), all(columns.masks[word]));
                for half in 0..2 {
                    let unlike = _mm512_xor_si512(words[half], value);
                    like[half] = _mm512_mask_testn_epi64_mask(like[half], unlike, mask);
                }
            }
            for (range, fields) in fields.iter().enumerate() {
                let (low, span) = (all(columns.lows[range]), all(columns.spans[range]));
                for half in 0..2 {
                    let above = _mm512_sub_epi64(fields[half], low);
                    like[half] = _mm512_mask_cmple_epu64_mask(like[half], above, span);
                }
            }
            let place = _mm512_set1_epi64(entry as i64 + 1);
            for half in 0..2 {
                best[half] = _mm512_mask_mov_epi64(best[half], like[half], place);
            }
        }
        let mut found = [0u64; LANES];
        // SAFETY: there is room for sixteen words.
        unsafe {
            _mm512_storeu_si512(found.as_mut_ptr().cast(), best[0]);
            _mm512_storeu_si512(found[8..].as_mut_ptr().cast(), best[1]);
        }
        places.iter_mut().zip(found).for_each(|(place, found)| *place = found as u32);
    }
}

/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
unsafe fn places_narrow<const WORDS: usize, const RANGES: usize>(
    chunk: &Chunk,
    ranges: &[RangeField; RANGES],
    keys: &[[u64; WORDS]],
    places: &mut [u32],
) {
    const LANES: usize = 8;
    // Words are compared as signed numbers: both sides have their highest bit inverted.
    let sign = _mm256_set1_epi64x(i64::MIN);
    let columns = Columns::<WORDS, RANGES>::of(chunk);
    for (keys, places) in keys.chunks(LANES).zip(places.chunks_mut(LANES)) {
        let rows = transposed::<WORDS, LANES>(keys);
        // SAFETY: a row has eight words.
        let load = |row: &[u64; LANES], half: usize| unsafe { _mm256_loadu_si256(row[half * 4..].as_ptr().cast()) };
        let mut words = [[_mm256_setzero_si256(); 2]; WORDS];
        for (words, row) in words.iter_mut().zip(&rows) {
            *words = [load(row, 0), load(row, 1)];
        }
        let mut fields = [[_mm256_setzero_si256(); 2]; RANGES];
        for (fields, RangeField { word, mask, .. }) in fields.iter_mut().zip(ranges) {
            let mask = _mm256_set1_epi64x(*mask as i64);
            let field = |half| _mm256_xor_si256(_mm256_and_si256(load(&rows[*word], half), mask), sign);
            *fields = [field(0), field(1)];
        }
        let mut best = [_mm256_setzero_si256(); 2];
        for entry in (0..chunk.ranks.len()).rev() {
            let mut unlike = [_mm256_setzero_si256(); 2];
            let mut outside = [_mm256_setzero_si256(); 2];
            // SAFETY: columns have as many words as there are entries.
            let all = |column: *const u64| -> __m256i { unsafe { _mm256_set1_epi64x(*column.add(entry) as i64) } };
            for (word, words) in words.iter().enumerate() {
                let (value, mask) = (all(columns.values[word]), all(columns.masks[word]));
                for half in 0..2 {
                    let other = _mm256_and_si256(_mm256_xor_si256(words[half], value), mask);
                    unlike[half] = _mm256_or_si256(unlike[half], other);
                }
            }
            for (range, fields) in fields.iter().enumerate() {
                let (low, span) = (all(columns.lows[range]), _mm256_xor_si256(all(columns.spans[range]), sign));
                for half in 0..2 {
                    let above = _mm256_cmpgt_epi64(_mm256_sub_epi64(fields[half], low), span);
                    outside[half] = _mm256_or_si256(outside[half], above);
                }
            }
            let place = _mm256_set1_epi64x(entry as i64 + 1);
            for half in 0..2 {
                let like = _mm256_cmpeq_epi64(_mm256_or_si256(unlike[half], outside[half]), _mm256_setzero_si256());
                best[half] = _mm256_blendv_epi8(best[half], place, like);
            }
        }
        let mut found = [0u64; LANES];
        // SAFETY: there is room for eight words.
        unsafe {
            _mm256_storeu_si256(found.as_mut_ptr().cast(), best[0]);
            _mm256_storeu_si256(found[4..].as_mut_ptr().cast(), best[1]);
        }
        places.iter_mut().zip(found).for_each(|(place, found)| *place = found as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranked::{LANES, RankedList, rank_of};
    use base::Rng;

    type Function<const WORDS: usize, const RANGES: usize> =
        unsafe fn(&Chunk, &[RangeField; RANGES], &[[u64; WORDS]], &mut [u32]);

    /// Entries and keys of few values, so that many match, against the loops for all processors.
    fn check<const WORDS: usize, const RANGES: usize>(rng: &mut Rng, functions: &[Function<WORDS, RANGES>]) {
        let whole = rng.chance(1, 8);
        let ranges: [RangeField; RANGES] = std::array::from_fn(|range| RangeField {
            word: (WORDS - 1).saturating_sub(range),
            mask: if whole { u64::MAX } else { 0xff << (8 * range) },
            shift_bits: 0,
        });
        let edge = if whole { u64::MAX << 16 } else { 0 };
        let mut few = |count: usize| -> Vec<u64> {
            (0..count).map(|_| rng.below(4) | rng.below(4) << 8 | (edge * rng.below(2))).collect()
        };
        for len in [1, 2, 9, 60] {
            let mut list = RankedList::new(WORDS);
            for number in 1..=len {
                let mask: Vec<u64> = few(WORDS).iter().map(|word| word & 0x303).collect();
                let mut row: Vec<u64> = few(WORDS).iter().zip(&mask).map(|(value, mask)| value & mask).collect();
                row.extend(mask);
                for field in &ranges {
                    let bounds = few(2);
                    let [low, high] =
                        [bounds[0].min(bounds[1]), bounds[0].max(bounds[1])].map(|bound| bound & field.mask);
                    row.extend([low.min(high), low.max(high) - low.min(high)]);
                }
                list.insert(rank_of(0, number), number as u32, &row);
            }
            let chunk = &list.chunks()[0];
            let keys: Vec<[u64; WORDS]> = (0..37).map(|_| few(WORDS).try_into().expect("as many words")).collect();
            let first = |key: &[u64; WORDS]| {
                let mut start = 0;
                while let Some((block, bits)) = chunk.first_block(key, start) {
                    let bits = bits & chunk.in_ranges(&ranges, 2 * WORDS, key, block);
                    if bits != 0 {
                        return block as u32 + bits.trailing_zeros() + 1;
                    }
                    start = block + LANES;
                }
                0
            };
            let wanted: Vec<u32> = keys.iter().map(first).collect();
            for function in functions {
                let mut found = vec![7; keys.len()];
                // SAFETY: the processor's features were checked before.
                unsafe { function(chunk, &ranges, &keys, &mut found) };
                assert_eq!(found, wanted, "{len} entries of {WORDS} words and {RANGES} ranges");
            }
        }
    }

    fn check_all<const WORDS: usize, const RANGES: usize>(rng: &mut Rng) {
        let mut functions: Vec<Function<WORDS, RANGES>> = Vec::new();
        if is_x86_feature_detected!("avx2") {
            functions.push(places_narrow::<WORDS, RANGES>);
        }
        if is_x86_feature_detected!("avx512f") {
            functions.push(places_wide::<WORDS, RANGES>);
        }
        check(rng, &functions);
    }

    #[test]
    fn bursts_find_what_single_keys_do() {
        let mut rng = Rng::new(4);
        for _ in 0..100 {
            check_all::<1, 0>(&mut rng);
            check_all::<1, 1>(&mut rng);
            check_all::<1, 2>(&mut rng);
            check_all::<2, 1>(&mut rng);
            check_all::<3, 2>(&mut rng);
            check_all::<5, 0>(&mut rng);
        }
    }
}
