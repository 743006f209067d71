//! Entries of a tuple with one value, which differ in their priority or in their ranges.
//!
//! What enters: insertions and removals of entries. What leaves: for a key, the entry of the greatest rank in whose
//! ranges it lies. In a table with one range field the winner of every value of the field is computed in advance
//! ([`crate::intervals`]), unless entries are few; with several range fields a key is compared with eight entries at a
//! time.

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

    /// Adds an entry; `row` has two words for each range. Returns whether it is the first change since the last commit.
    pub fn insert(&mut self, ranges: &[RangeField], rank: Rank, cell: Cell, row: &[u64]) -> bool {
        self.list.insert(rank, cell, row);
        self.count_change();
        if let (Some(intervals), [field], [low, span]) = (&mut self.intervals, ranges, row) {
            intervals.insert(ranged(field, rank, cell, *low, *span));
        }
        self.changes == 1
    }

    /// Removes an entry that is there, as [`Bucket::insert`] has it.
    pub fn remove(&mut self, ranges: &[RangeField], rank: Rank, cell: Cell, row: &[u64]) -> bool {
        self.list.remove(rank);
        self.count_change();
        if let (Some(intervals), [field], [low, span]) = (&mut self.intervals, ranges, row) {
            intervals.remove(ranged(field, rank, cell, *low, *span), all(&self.list, field));
        }
        self.changes == 1
    }

    /// After too many changes winners are dropped.
    fn count_change(&mut self) {
        self.changes += 1;
        self.intervals.take_if(|_| self.changes > FOLLOWED_CHANGES_MAX);
    }

    /// Must follow a batch of changes. `field` is the only range field, if there is one.
    pub fn settle(&mut self, field: Option<&RangeField>) {
        self.changes = 0;
        let len = self.list.len();
        self.intervals.take_if(|_| len < KNOWN_ENTRIES_LESS);
        if let Some(field) = field
            && self.intervals.is_none()
            && len >= KNOWN_ENTRIES_MIN
        {
            self.intervals = Some(Intervals::new(all(&self.list, field).collect()));
        }
    }

    /// The first entry above `floor` in whose ranges a key lies and that `fits` accepts.
    #[inline(always)]
    pub fn find(
        &self,
        ranges: &[RangeField],
        key: &[u64],
        floor: Rank,
        fits: impl Fn(Cell) -> bool,
    ) -> Option<(Rank, Cell)> {
        if let (Some(intervals), [field]) = (&self.intervals, ranges) {
            let run = intervals.run_of(field.value(key));
            let rank = intervals.rank(run);
            return (rank > floor).then(|| (rank, intervals.cell(run)));
        }
        for chunk in self.list.chunks() {
            for start in (0..chunk.ranks.len()).step_by(LANES) {
                if chunk.ranks[start] <= floor {
                    return None;
                }
                let mut inside = chunk.in_ranges(ranges, 0, key, start);
                while inside != 0 {
                    let place = start + inside.trailing_zeros() as usize;
                    if fits(chunk.cells[place]) {
                        return Some((chunk.ranks[place], chunk.cells[place])).filter(|(rank, _)| *rank > floor);
                    }
                    inside &= inside - 1;
                }
            }
        }
        None
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        size_of::<Bucket>() + self.list.bytes() + self.intervals.as_ref().map_or(0, Intervals::bytes)
    }
}
