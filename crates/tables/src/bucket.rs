//! Entries that differ in their priority or in their range alone.
//!
//! What enters: insertions and removals of entries. What leaves: for a key, the entry of the greatest rank in whose
//! range it lies. The winner of every value of the field is computed in advance ([`crate::intervals`]), unless entries
//! are few: then a key is compared with eight at a time.

use crate::cells::Cell;
use crate::intervals::{Intervals, Ranged};
use crate::ranked::{LANES, RangeField, Rank, RankedList};

/// The numbers of entries from which winners are computed in advance, and below which they no longer are.
const KNOWN_ENTRIES_MIN: usize = 4;
const KNOWN_ENTRIES_LESS: usize = KNOWN_ENTRIES_MIN / 2;

/// The most changes of a batch for which winners are updated; with more of them they are recomputed.
const FOLLOWED_CHANGES_MAX: usize = 16;

#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    list: RankedList,
    intervals: Option<Intervals>,
    /// Changes since the last commit.
    changes: usize,
}

/// A range in a row of a list.
fn ranged(field: &RangeField, rank: Rank, cell: Cell, low: u64, span: u64) -> Ranged {
    let shift = field.shift_bits;
    Ranged { low: low >> shift, high: (low + span) >> shift, rank, cell }
}

/// The entries of a list, from the greatest rank on.
fn all<'l>(list: &'l RankedList, field: &'l RangeField) -> impl Iterator<Item = Ranged> + 'l {
    list.chunks().iter().flat_map(move |chunk| {
        let bounds = chunk.columns[0].iter().zip(&chunk.columns[1]);
        let entries = chunk.ranks.iter().zip(&chunk.cells).zip(bounds);
        entries.map(move |((rank, cell), (low, span))| ranged(field, *rank, *cell, *low, *span))
    })
}

impl Bucket {
    pub fn new() -> Bucket {
        Bucket { list: RankedList::new(0), intervals: None, changes: 0 }
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// The entry that wins over the others, whatever their ranges.
    pub fn first(&self) -> Option<(Rank, Cell)> {
        self.list.first()
    }

    /// The winners of all values, if they are known.
    #[inline(always)]
    pub fn intervals(&self) -> Option<&Intervals> {
        self.intervals.as_ref()
    }

    /// Adds an entry of this low bound, and what lies between the bounds. Returns whether it is the first change since
    /// the last commit.
    pub fn insert(&mut self, field: &RangeField, rank: Rank, cell: Cell, [low, span]: [u64; 2]) -> bool {
        self.list.insert(rank, cell, &[low, span]);
        self.count_change();
        if let Some(intervals) = &mut self.intervals {
            intervals.insert(ranged(field, rank, cell, low, span));
        }
        self.changes == 1
    }

    /// Removes an entry that is there, as [`Bucket::insert`] has it.
    pub fn remove(&mut self, field: &RangeField, rank: Rank, cell: Cell, [low, span]: [u64; 2]) -> bool {
        self.list.remove(rank);
        self.count_change();
        if let Some(intervals) = &mut self.intervals {
            intervals.remove(ranged(field, rank, cell, low, span), all(&self.list, field));
        }
        self.changes == 1
    }

    /// After too many changes winners are dropped.
    fn count_change(&mut self) {
        self.changes += 1;
        self.intervals.take_if(|_| self.changes > FOLLOWED_CHANGES_MAX);
    }

    /// Must follow a batch of changes.
    pub fn end_batch(&mut self, field: &RangeField) {
        self.changes = 0;
        let len = self.list.len();
        self.intervals.take_if(|_| len < KNOWN_ENTRIES_LESS);
        if self.intervals.is_none() && len >= KNOWN_ENTRIES_MIN {
            self.intervals = Some(Intervals::new(all(&self.list, field).collect()));
        }
    }

    /// The first entry in whose range a key lies, or 0.
    #[inline(always)]
    pub fn find(&self, field: &RangeField, key: &[u64]) -> Cell {
        if let Some(intervals) = &self.intervals {
            return intervals.cell(intervals.run_of(field.value(key)));
        }
        for chunk in self.list.chunks() {
            for start in (0..chunk.ranks.len()).step_by(LANES) {
                let inside = chunk.in_ranges(std::slice::from_ref(field), 0, key, start);
                if inside != 0 {
                    return chunk.cells[start + inside.trailing_zeros() as usize];
                }
            }
        }
        0
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        size_of::<Bucket>() + self.list.bytes() + self.intervals.as_ref().map_or(0, Intervals::bytes)
    }
}
