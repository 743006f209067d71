//! A list of cells in order of rank, greatest first, with the rows they match.
//!
//! Kept in chunks of bounded length, so that an insertion into a long list moves little.

use crate::cells::Cell;

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

#[derive(Clone, Debug, Default)]
pub(crate) struct RankedList {
    row_words: usize,
    chunks: Vec<Chunk>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Chunk {
    pub ranks: Vec<Rank>,
    pub cells: Vec<Cell>,
    pub rows: Vec<u64>,
}

impl RankedList {
    /// An empty list whose rows have this many words.
    pub fn new(row_words: usize) -> RankedList {
        RankedList { row_words, chunks: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// The parts of the list, in order; none is empty.
    #[inline(always)]
    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }

    pub fn insert(&mut self, rank: Rank, cell: Cell, row: &[u64]) {
        debug_assert_eq!(row.len(), self.row_words, "rows of a list have one length");
        if self.chunks.is_empty() {
            self.chunks.push(Chunk::default());
        }
        let at = self.chunk_of(rank);
        let chunk = &mut self.chunks[at];
        let place = chunk.place(rank);
        chunk.ranks.insert(place, rank);
        chunk.cells.insert(place, cell);
        let start = place * self.row_words;
        chunk.rows.splice(start..start, row.iter().copied());
        if chunk.ranks.len() > CHUNK_ENTRIES_MAX {
            let half = CHUNK_ENTRIES_MAX / 2;
            let rows = chunk.rows.split_off(half * self.row_words);
            let rest = Chunk { ranks: chunk.ranks.split_off(half), cells: chunk.cells.split_off(half), rows };
            self.chunks.insert(at + 1, rest);
        }
    }

    /// Removes the entry of this rank, which must be there.
    pub fn remove(&mut self, rank: Rank) {
        let at = self.chunk_of(rank);
        let chunk = &mut self.chunks[at];
        let place = chunk.place(rank);
        assert_eq!(chunk.ranks[place], rank, "the entry is in the list");
        chunk.ranks.remove(place);
        chunk.cells.remove(place);
        chunk.rows.drain(place * self.row_words..(place + 1) * self.row_words);
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
    fn place(&self, rank: Rank) -> usize {
        self.ranks.partition_point(|other| *other > rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rng;
    use std::collections::BTreeMap;

    #[test]
    fn stays_in_order_through_insertions_and_removals() {
        let mut rng = Rng::new(3);
        let mut list = RankedList::new(1);
        let mut model: BTreeMap<Rank, Cell> = BTreeMap::new();
        for step in 1..20_000u32 {
            let rank = rank_of(rng.between(0, 3000) as i32 - 1500, 7);
            if model.remove(&rank).is_some() {
                list.remove(rank);
            } else {
                model.insert(rank, step);
                list.insert(rank, step, &[u64::from(step)]);
            }
            assert_eq!(list.first(), model.last_key_value().map(|(rank, cell)| (*rank, *cell)));
        }
        let listed: Vec<_> = list.chunks().iter().flat_map(|chunk| chunk.cells.iter().zip(&chunk.rows)).collect();
        let wanted: Vec<_> = model.values().rev().copied().collect();
        assert!(listed.iter().zip(&wanted).all(|((cell, row), wanted)| *cell == wanted && **row == u64::from(*wanted)));
        assert_eq!(listed.len(), wanted.len());
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
