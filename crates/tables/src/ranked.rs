//! A list of cells in order of rank, greatest first, with the rows they match.
//!
//! Kept in chunks of bounded length, so that an insertion into a long list moves little. In a chunk the rows are stored
//! by columns, all first words together, so that one instruction compares several entries with a key.
//!
//! A range field takes two more words: its low bound, and the difference between the bounds. A value is in a range if
//! it exceeds the low bound by at most that, which is one comparison.

use crate::cells::Cell;
use crate::layout::Slot;

/// Which of two matching entries wins: the greater one. The priority above, below it the age, older is greater.
/// Never 0.
pub(crate) type Rank = u128;

/// The rank of an entry.
pub(crate) fn rank_of(priority: i32, sequence: u64) -> Rank {
    u128::from(priority_bits(priority)) << 64 | u128::from(!sequence)
}

/// The priority as an unsigned number of the same order.
pub(crate) fn priority_bits(priority: i32) -> u32 {
    priority as u32 ^ 1 << 31
}

const CHUNK_ENTRIES_MAX: usize = 512;

/// Entries that are compared with a key at once.
pub(crate) const LANES: usize = 8;

/// A range field of at most 64 bits: which bits of which word of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RangeField {
    pub word: usize,
    pub mask: u64,
    pub shift_bits: u32,
}

impl RangeField {
    /// The field at this place, which lies in one word.
    pub fn new(slot: &Slot) -> RangeField {
        let mask = u64::MAX.checked_shr(u64::BITS - slot.width_bits).unwrap_or(0);
        RangeField { word: slot.word, mask: mask << slot.shift_bits, shift_bits: slot.shift_bits }
    }

    /// The field's bits in a key. A field of no bits may be in a key of no words.
    #[inline(always)]
    pub fn of(&self, key: &[u64]) -> u64 {
        key.get(self.word).map_or(0, |word| word & self.mask)
    }

    /// The field as a number.
    #[inline(always)]
    pub fn value(&self, key: &[u64]) -> u64 {
        self.of(key) >> self.shift_bits
    }
}

/// The padding of a column of values after the last entry; in the other columns it is 0. No key matches it.
const FILLING: u64 = u64::MAX;

#[derive(Clone, Debug, Default)]
pub(crate) struct RankedList {
    /// Columns of values, and as many of masks.
    key_words: usize,
    len: usize,
    chunks: Vec<Chunk>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Chunk {
    pub ranks: Vec<Rank>,
    pub cells: Vec<Cell>,
    /// For each word of a key the values of all entries, then for each word their masks, then for each range field
    /// their low bounds and what lies between the bounds. Filled up to a multiple of [`LANES`].
    pub columns: Vec<Vec<u64>>,
}

impl RankedList {
    /// An empty list of entries with values and masks of this many words; of none, if rows have no such.
    pub fn new(key_words: usize) -> RankedList {
        RankedList { key_words, len: 0, chunks: Vec::new() }
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        let of_chunk = |chunk: &Chunk| {
            size_of::<Chunk>()
                + chunk.ranks.capacity() * size_of::<Rank>()
                + chunk.cells.capacity() * size_of::<Cell>()
                + chunk.columns.iter().map(|column| column.capacity() * size_of::<u64>()).sum::<usize>()
        };
        self.chunks.iter().map(of_chunk).sum()
    }

    /// The parts of the list, in order; none is empty.
    #[inline(always)]
    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    /// Adds an entry; `row` is its value, then its mask, then two words for each range field.
    pub fn insert(&mut self, rank: Rank, cell: Cell, row: &[u64]) {
        debug_assert!(self.chunks.iter().all(|chunk| chunk.columns.len() == row.len()), "rows of a list are alike");
        let key_words = self.key_words;
        self.len += 1;
        if self.chunks.is_empty() {
            self.chunks.push(Chunk { columns: vec![Vec::new(); row.len()], ..Chunk::default() });
        }
        let at = self.chunk_of(rank);
        let chunk = &mut self.chunks[at];
        let (place, len) = (chunk.place(rank), chunk.ranks.len());
        chunk.ranks.insert(place, rank);
        chunk.cells.insert(place, cell);
        for (index, (column, word)) in chunk.columns.iter_mut().zip(row).enumerate() {
            if column.len() == len {
                column.resize(len + LANES, if index < key_words { FILLING } else { 0 });
            }
            column.copy_within(place..len, place + 1);
            column[place] = *word;
        }
        if chunk.ranks.len() > CHUNK_ENTRIES_MAX {
            let half = CHUNK_ENTRIES_MAX / 2;
            let columns = chunk.columns.iter_mut().map(|column| column.split_off(half)).collect();
            let rest = Chunk { ranks: chunk.ranks.split_off(half), cells: chunk.cells.split_off(half), columns };
            self.chunks.insert(at + 1, rest);
        }
    }

    /// Whether an entry has this rank.
    pub fn has(&self, rank: Rank) -> bool {
        let chunk = self.chunks.get(self.chunk_of(rank));
        chunk.is_some_and(|chunk| chunk.ranks.get(chunk.place(rank)) == Some(&rank))
    }

    /// Removes the entry of this rank, which must be there.
    pub fn remove(&mut self, rank: Rank) {
        let at = self.chunk_of(rank);
        let chunk = &mut self.chunks[at];
        let (place, len) = (chunk.place(rank), chunk.ranks.len());
        assert_eq!(chunk.ranks[place], rank, "the entry is in the list");
        chunk.ranks.remove(place);
        chunk.cells.remove(place);
        self.len -= 1;
        let key_words = self.key_words;
        for (index, column) in chunk.columns.iter_mut().enumerate() {
            column.copy_within(place + 1..len, place);
            column[len - 1] = if index < key_words { FILLING } else { 0 };
            column.truncate((len - 1).next_multiple_of(LANES));
        }
        if chunk.ranks.is_empty() {
            self.chunks.remove(at);
        }
    }

    /// The entry that wins over the others.
    pub fn first(&self) -> Option<(Rank, Cell)> {
        self.chunks.first().map(|chunk| (chunk.ranks[0], chunk.cells[0]))
    }

    /// The chunk that this rank belongs to: the last one whose first entry is not below it.
    fn chunk_of(&self, rank: Rank) -> usize {
        self.chunks.partition_point(|chunk| chunk.ranks.first().is_some_and(|first| *first >= rank)).saturating_sub(1)
    }
}

impl Chunk {
    /// The first of the blocks of [`LANES`] entries from `start` on in which some match a key, and which: bit 0 is the
    /// block's first entry.
    #[inline(always)]
    pub fn first_block(&self, key: &[u64], mut start: usize) -> Option<(usize, u32)> {
        let (values, masks) = self.columns[..2 * key.len()].split_at(key.len());
        while start < self.ranks.len() {
            let mut unlike = [0; LANES];
            for ((key, values), masks) in key.iter().zip(values).zip(masks) {
                let (values, masks) = (&values[start..start + LANES], &masks[start..start + LANES]);
                for lane in 0..LANES {
                    unlike[lane] |= key & masks[lane] ^ values[lane];
                }
            }
            if unlike.contains(&0) {
                let bits = unlike.iter().enumerate().map(|(lane, unlike)| u32::from(*unlike == 0) << lane);
                return Some((start, bits.sum()));
            }
            start += LANES;
        }
        None
    }

    /// Which of a block's entries have ranges in which a key lies. `first_column` is that of the first range.
    #[inline(always)]
    pub fn in_ranges(&self, ranges: &[RangeField], first_column: usize, key: &[u64], start: usize) -> u32 {
        let mut outside = [false; LANES];
        for (field, columns) in ranges.iter().zip(self.columns[first_column..].chunks_exact(2)) {
            let value = field.of(key);
            let (lows, spans) = (&columns[0][start..start + LANES], &columns[1][start..start + LANES]);
            for lane in 0..LANES {
                outside[lane] |= value.wrapping_sub(lows[lane]) > spans[lane];
            }
        }
        let entries = u32::MAX >> (u32::BITS as usize - (self.ranks.len() - start).min(LANES));
        entries & outside.iter().enumerate().map(|(lane, outside)| u32::from(!outside) << lane).sum::<u32>()
    }

    /// Whether the entry at this place has the key.
    #[inline(always)]
    pub fn matches(&self, place: usize, ranges: &[RangeField], key: &[u64]) -> bool {
        let (exact, bounds) = self.columns.split_at(2 * key.len());
        let (values, masks) = exact.split_at(key.len());
        let mut words = key.iter().zip(values).zip(masks);
        let in_range = |(field, columns): (&RangeField, &[Vec<u64>])| {
            field.of(key).wrapping_sub(columns[0][place]) <= columns[1][place]
        };
        words.all(|((key, values), masks)| key & masks[place] == values[place])
            && ranges.iter().zip(bounds.chunks_exact(2)).all(in_range)
    }

    fn place(&self, rank: Rank) -> usize {
        self.ranks.partition_point(|other| *other > rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{OrderedMap, Rng};

    #[test]
    fn stays_in_order_through_insertions_and_removals() {
        let mut rng = Rng::new(3);
        let mut list = RankedList::new(1);
        let mut model: OrderedMap<Rank, Cell> = OrderedMap::new();
        for step in 1..20_000u32 {
            let rank = rank_of(rng.between(0, 3000) as i32 - 1500, 7);
            if model.remove(&rank).is_some() {
                list.remove(rank);
            } else {
                model.insert(rank, step);
                list.insert(rank, step, &[u64::from(step), u64::MAX]);
            }
            assert_eq!(list.first(), model.last_key_value().map(|(rank, cell)| (*rank, *cell)));
        }
        let listed: Vec<_> = list.chunks().iter().flat_map(|chunk| chunk.cells.iter().zip(&chunk.columns[0])).collect();
        let wanted: Vec<_> = model.values().rev().copied().collect();
        assert!(listed.iter().zip(&wanted).all(|((cell, row), wanted)| *cell == wanted && **row == u64::from(*wanted)));
        for chunk in list.chunks() {
            assert!(chunk.columns.iter().all(|column| column.len() == chunk.ranks.len().next_multiple_of(LANES)));
            assert!(chunk.columns[0][chunk.ranks.len()..].iter().all(|value| *value == FILLING));
        }
        assert_eq!((listed.len(), list.len()), (wanted.len(), wanted.len()));
        assert!(list.chunks().len() > 2);
    }

    #[test]
    fn greater_priority_wins_then_the_older_entry() {
        assert!(rank_of(1, 9) > rank_of(0, 0));
        assert!(rank_of(0, 0) > rank_of(-1, 0));
        assert!(rank_of(5, 1) > rank_of(5, 2));
        assert!(rank_of(i32::MIN, u64::MAX - 1) > 0);
    }
}
