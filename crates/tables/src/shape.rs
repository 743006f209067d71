//! The words of a key that entries of a ternary or range table test.

use crate::cells::{Cell, Cells};
use crate::layout::{KeyLayout, Slot};
use crate::ranked::{RangeField, Rank};

/// The fields of a table, as its engine sees them.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub key_words: usize,
    /// All range fields.
    pub range_slots: Vec<Slot>,
    /// Those of 1 to 64 bits.
    pub ranges: Vec<RangeField>,
    /// Their widths in bits.
    pub widths_bits: Vec<u32>,
    /// Whether there are others.
    pub has_wide_ranges: bool,
    /// For each word the bits that masks test.
    pub masked: Vec<u64>,
}

/// A row of an entry's match in its cell.
#[derive(Clone, Copy)]
pub(crate) struct Match<'a> {
    pub value: &'a [u64],
    pub mask: &'a [u64],
    low: &'a [u64],
    high: &'a [u64],
}

impl Match<'_> {
    /// The bounds of a range field of at most 64 bits, as numbers.
    #[inline(always)]
    pub fn bounds(&self, field: &RangeField) -> (u64, u64) {
        (field.value(self.low), field.value(self.high))
    }
}

impl Shape {
    pub fn new(layout: &KeyLayout, range_slots: Vec<Slot>) -> Shape {
        let narrow = range_slots.iter().filter(|slot| (1..=64).contains(&slot.width_bits));
        let ranges: Vec<RangeField> = narrow.clone().map(RangeField::new).collect();
        let mut masked = vec![0; layout.words()];
        for slot in layout.slots() {
            slot.store(&mut masked, &base::Bits::ones(slot.width_bits));
        }
        ranges.iter().for_each(|field| masked[field.word] &= !field.mask);
        Shape {
            key_words: layout.words(),
            widths_bits: narrow.map(|slot| slot.width_bits).collect(),
            has_wide_ranges: range_slots.iter().any(|slot| slot.width_bits > 64),
            range_slots,
            ranges,
            masked,
        }
    }

    /// Words of a cell's tail: rows of value and mask, in a range table also of low and high, and two words of rank.
    pub fn tail_words(key_words: usize, rows: usize) -> usize {
        rows * key_words + 2
    }

    /// The match of the entry in this cell.
    #[inline(always)]
    pub fn of<'c>(&self, cells: &'c Cells, cell: Cell) -> Match<'c> {
        let (tail, words) = (cells.tail(cell), self.key_words);
        let row = |index: usize| tail.get(index * words..(index + 1) * words).unwrap_or_default();
        let (low, high) = if self.range_slots.is_empty() { (&[][..], &[][..]) } else { (row(2), row(3)) };
        Match { value: row(0), mask: row(1), low, high }
    }

    /// Whether the key's range fields lie between the bounds of the entry in this cell.
    #[inline(always)]
    pub fn in_ranges(&self, cells: &Cells, cell: Cell, key: &[u64]) -> bool {
        let Match { low, high, .. } = self.of(cells, cell);
        self.range_slots.iter().all(|slot| not_above(slot, low, key) && not_above(slot, key, high))
    }

    /// The words of an entry in a list: value, mask, and for each range field a low bound and the difference of the
    /// bounds.
    pub fn row(&self, cells: &Cells, cell: Cell) -> Vec<u64> {
        let Match { value, mask, low, high } = self.of(cells, cell);
        let bounds = self.ranges.iter().flat_map(|field| [field.of(low), field.of(high) - field.of(low)]);
        value.iter().chain(mask).copied().chain(bounds).collect()
    }
}

/// The tail behind the rows.
pub(crate) fn tail_end(rank: Rank) -> [u64; 2] {
    [(rank >> 64) as u64, rank as u64]
}

/// The rank of the entry in a cell of a table whose tails end with it.
#[inline(always)]
pub(crate) fn rank_in(cells: &Cells, cell: Cell) -> Rank {
    rank_at(cells.tail(cell), 2)
}

/// The rank in a tail, `from_end` words before its end.
#[inline(always)]
pub(crate) fn rank_at(tail: &[u64], from_end: usize) -> Rank {
    let at = tail.len() - from_end;
    u128::from(tail[at]) << 64 | u128::from(tail[at + 1])
}

/// Whether a field's value in row `a` is not above its value in row `b`.
fn not_above(slot: &Slot, a: &[u64], b: &[u64]) -> bool {
    if slot.width_bits == 0 {
        return true;
    }
    if slot.width_bits <= 64 {
        let value = |row: &[u64]| row[slot.word] >> slot.shift_bits << (64 - slot.width_bits);
        return value(a) <= value(b);
    }
    let limbs = slot.word..slot.word + slot.words();
    a[limbs.clone()].iter().rev().le(b[limbs].iter().rev())
}
