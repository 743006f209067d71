//! The winner among many ranges of one field for each value: the runs of values that have the same winner.
//!
//! What enters: insertions and removals of ranges with their ranks. What leaves: for a value, the cell of the greatest
//! rank among the ranges that it lies in. Winners are computed when a range is inserted or removed, so that a search
//! only finds the run of a value: an array over equal parts of all values limits it to a few runs, usually one or two,
//! and a binary search without branches does the rest. However ranges overlap, `n` of them make at most `2 n + 1` runs.
//!
//! A change moves the later items of four arrays, and visits the runs that a range covers; a removal also finds, in
//! order of rank, the winners where the range won.

use crate::cells::Cell;
use crate::ranked::Rank;
use base::OrderedMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A range of values, both ends included, and its place among others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ranged {
    pub low: u64,
    pub high: u64,
    pub rank: Rank,
    pub cell: Cell,
}

/// Values with the same winner, up to the start of the next run. Rank and cell are 0 if there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    start: u64,
    rank: Rank,
    cell: Cell,
}

/// The runs of all values.
#[derive(Clone, Debug)]
pub(crate) struct Intervals {
    /// Where runs begin, ascending; the first at 0. Neighbours have different winners.
    starts: Vec<u64>,
    cells: Vec<Cell>,
    ranks: Vec<Rank>,
    /// The value that the first part begins with; what lies below belongs to it too.
    first_value: u64,
    /// A part has two to this power values; the last one has all that follow.
    shift: u32,
    /// For each part the run of its first value, then the last run. That of the first part is run 0.
    firsts: Vec<u32>,
    /// The most steps of the binary search between two parts.
    steps: u32,
    /// Runs that there were when the parts were chosen.
    fitted_runs: usize,
}

/// Parts for each run, and the most parts that there are: 256 KiB.
const RUN_PARTS: usize = 4;
const PARTS_MAX: usize = 1 << 16;

/// The steps of a binary search among this many runs.
fn steps_for(runs: usize) -> u32 {
    runs.next_power_of_two().ilog2()
}

/// Adds a run, unless the one before it has the same winner.
fn push(runs: &mut Vec<Run>, run: Run) {
    if runs.last().is_none_or(|last| last.cell != run.cell) {
        runs.push(run);
    }
}

impl Intervals {
    /// The runs of these ranges.
    pub fn new(mut ranges: Vec<Ranged>) -> Intervals {
        ranges.sort_unstable_by_key(|range| range.low);
        let ends = ranges.iter().filter_map(|range| range.high.checked_add(1));
        let mut points: Vec<u64> = ranges.iter().map(|range| range.low).chain(ends).chain([0]).collect();
        points.sort_unstable();
        points.dedup();
        let mut runs = Vec::new();
        let mut coming = ranges.iter().peekable();
        // The greatest rank first; what has ended is taken out when it comes first.
        let mut open: BinaryHeap<(Rank, Reverse<u64>, Cell)> = BinaryHeap::new();
        for start in points {
            while let Some(range) = coming.next_if(|range| range.low == start) {
                open.push((range.rank, Reverse(range.high), range.cell));
            }
            while open.peek().is_some_and(|(_, Reverse(high), _)| *high < start) {
                open.pop();
            }
            let (rank, cell) = open.peek().map_or((0, 0), |&(rank, _, cell)| (rank, cell));
            push(&mut runs, Run { start, rank, cell });
        }
        let mut intervals = Intervals {
            starts: runs.iter().map(|run| run.start).collect(),
            cells: runs.iter().map(|run| run.cell).collect(),
            ranks: runs.iter().map(|run| run.rank).collect(),
            first_value: 0,
            shift: 0,
            firsts: Vec::new(),
            steps: 0,
            fitted_runs: 0,
        };
        intervals.fit();
        intervals
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        self.starts.capacity() * size_of::<u64>()
            + self.cells.capacity() * size_of::<Cell>()
            + self.ranks.capacity() * size_of::<Rank>()
            + self.firsts.capacity() * size_of::<u32>()
    }

    /// The run that a value lies in.
    #[inline(always)]
    pub fn run_of(&self, value: u64) -> usize {
        let part = (value.saturating_sub(self.first_value) >> self.shift) as usize;
        let part = part.min(self.firsts.len() - 2);
        let mut run = self.firsts[part] as usize;
        let mut count = self.firsts[part + 1] as usize - run + 1;
        for _ in 0..self.steps {
            let half = count / 2;
            run += if self.starts[run + half] <= value { half } else { 0 };
            count -= half;
        }
        run
    }

    /// The winner of a run, 0 if there is none.
    #[inline(always)]
    pub fn cell(&self, run: usize) -> Cell {
        self.cells[run]
    }

    /// Adds a range.
    pub fn insert(&mut self, range: Ranged) {
        let Ranged { low, high, rank, cell } = range;
        let (first, last) = self.window(low, high);
        let mut runs = Vec::new();
        for (run, end) in self.runs(first, last) {
            let (from, to) = (run.start.max(low), end.min(high));
            if from > to || run.rank > rank {
                push(&mut runs, run);
                continue;
            }
            if run.start < from {
                push(&mut runs, run);
            }
            push(&mut runs, Run { start: from, rank, cell });
            if to < end {
                push(&mut runs, Run { start: to + 1, ..run });
            }
        }
        self.replace(first, last, &runs);
    }

    /// Removes a range; `others` are those that remain, from the greatest rank on.
    pub fn remove(&mut self, range: Ranged, others: impl Iterator<Item = Ranged>) {
        let (first, last) = self.window(range.low, range.high);
        // The parts that it won and that have no new winner yet: their ends, by their starts.
        let won = self.runs(first, last).filter(|(run, _)| run.cell == range.cell);
        let mut open: OrderedMap<u64, u64> = won.map(|(run, end)| (run.start, end)).collect();
        // The parts that others have won of it: their ends, by their starts.
        let mut taken: OrderedMap<u64, Run> = OrderedMap::new();
        for other in others.filter(|other| other.rank < range.rank) {
            if open.is_empty() {
                break;
            }
            while let Some((&start, &end)) = open.range(..=other.high).next_back().filter(|(_, end)| **end >= other.low)
            {
                open.remove(&start);
                let (from, to) = (start.max(other.low), end.min(other.high));
                taken.insert(from, Run { start: from, rank: other.rank, cell: other.cell });
                if to < end {
                    open.insert(to + 1, end);
                }
                if start < from {
                    open.insert(start, from - 1);
                    break;
                }
            }
        }
        let without_entry = open.keys().map(|&start| (start, Run { start, rank: 0, cell: 0 }));
        taken.extend(without_entry);
        let mut runs = Vec::new();
        for (run, end) in self.runs(first, last) {
            if run.cell == range.cell {
                taken.range(run.start..=end).for_each(|(_, run)| push(&mut runs, *run));
            } else {
                push(&mut runs, run);
            }
        }
        self.replace(first, last, &runs);
    }

    /// The runs between two values, and their neighbours.
    fn window(&self, low: u64, high: u64) -> (usize, usize) {
        (self.run_of(low).saturating_sub(1), (self.run_of(high) + 1).min(self.starts.len() - 1))
    }

    /// Runs, each with its last value.
    fn runs(&self, first: usize, last: usize) -> impl Iterator<Item = (Run, u64)> {
        (first..=last).map(|index| {
            let end = self.starts.get(index + 1).map_or(u64::MAX, |next| next - 1);
            (Run { start: self.starts[index], rank: self.ranks[index], cell: self.cells[index] }, end)
        })
    }

    /// Replaces some runs by others.
    fn replace(&mut self, first: usize, last: usize, runs: &[Run]) {
        let more = runs.len().wrapping_sub(last + 1 - first);
        self.starts.splice(first..=last, runs.iter().map(|run| run.start));
        self.cells.splice(first..=last, runs.iter().map(|run| run.cell));
        self.ranks.splice(first..=last, runs.iter().map(|run| run.rank));
        let count = self.starts.len();
        if count > 2 * self.fitted_runs || count < self.fitted_runs / 4 {
            return self.fit();
        }
        let behind = first + runs.len();
        let end = self.starts.get(behind).map_or(self.firsts.len() - 1, |start| self.parts_below(*start));
        for run in &mut self.firsts[end..] {
            *run = run.wrapping_add(more as u32);
        }
        self.firsts[0] = 0;
        self.find_firsts(self.parts_below(self.starts[first]), end, first);
    }

    /// Parts that begin below a value.
    fn parts_below(&self, value: u64) -> usize {
        let above = value.saturating_sub(self.first_value);
        let parts = (above >> self.shift) + u64::from(above & ((1 << self.shift) - 1) != 0);
        usize::try_from(parts).unwrap_or(usize::MAX).min(self.firsts.len() - 1)
    }

    /// Finds the runs that parts `begin` to `end` begin with, none of which is before `run`.
    fn find_firsts(&mut self, begin: usize, end: usize, mut run: usize) {
        for part in begin.max(1)..end {
            let start = self.first_value + ((part as u64) << self.shift);
            while self.starts.get(run + 1).is_some_and(|next| *next <= start) {
                run += 1;
            }
            self.firsts[part] = run as u32;
        }
        let of_parts = self.firsts[begin.saturating_sub(1)..=end.max(1)].windows(2);
        let most = of_parts.map(|pair| (pair[1] - pair[0]) as usize + 1).max().unwrap_or(1);
        self.steps = self.steps.max(steps_for(most));
    }

    /// Recomputes the parts.
    fn fit(&mut self) {
        let count = self.starts.len();
        let (low, high) = (self.starts.get(1).copied().unwrap_or(0), self.starts[count - 1]);
        let parts = (count * RUN_PARTS).next_power_of_two().min(PARTS_MAX);
        let mut shift = 0;
        while (high - low) >> shift >= parts as u64 {
            shift += 1;
        }
        let parts = ((high - low) >> shift) as usize + 1;
        (self.first_value, self.shift, self.fitted_runs, self.steps) = (low, shift, count, 0);
        self.firsts = vec![0; parts + 1];
        self.firsts[parts] = count as u32 - 1;
        self.find_firsts(1, parts, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rng;

    /// The winner, by the definition.
    fn winner(ranges: &[Ranged], value: u64) -> (Rank, Cell) {
        let of_value = ranges.iter().filter(|range| range.low <= value && value <= range.high);
        of_value.map(|range| (range.rank, range.cell)).max().unwrap_or((0, 0))
    }

    fn check(intervals: &Intervals, ranges: &[Ranged], greatest: u64, rng: &mut Rng) {
        let bounds = ranges.iter().flat_map(|range| {
            [range.low.saturating_sub(1), range.low, range.high, range.high.saturating_add(1).min(greatest)]
        });
        let random: Vec<u64> = (0..20).map(|_| rng.next_u64() & greatest).collect();
        for value in bounds.chain(random).chain([0, greatest]) {
            let run = intervals.run_of(value);
            let found = (intervals.ranks[run], intervals.cell(run));
            assert_eq!(found, winner(ranges, value), "{value:#x} of {ranges:x?}");
        }
        assert!(intervals.starts.len() <= 2 * ranges.len() + 1, "{} ranges", ranges.len());
        assert!(intervals.cells.windows(2).all(|pair| pair[0] != pair[1]), "runs are as long as can be");
        assert!(intervals.starts.is_sorted() && intervals.starts[0] == 0);
    }

    fn random_range(rng: &mut Rng, greatest: u64, step: u32) -> Ranged {
        let few = rng.chance(1, 3);
        let mut value = || if few { rng.below(40) << (greatest.count_ones() / 2) } else { rng.next_u64() } & greatest;
        let (a, b) = (value(), value());
        let narrow = rng.chance(1, 2);
        let high = if narrow { a.min(b).saturating_add(rng.below(9)).min(greatest) } else { a.max(b) };
        Ranged { low: a.min(b), high, rank: Rank::from(rng.between(1, 5)) << 64 | Rank::from(!step), cell: step }
    }

    #[test]
    fn ranges_that_come_and_go_are_as_a_list_of_them() {
        let mut rng = Rng::new(7);
        for greatest in [0x3f, 0xffff, 0xffff_ffff, u64::MAX] {
            for most in [8, 60, 300] {
                let mut ranges: Vec<Ranged> = Vec::new();
                let mut intervals = Intervals::new(Vec::new());
                for step in 1..1200u32 {
                    let is_growing = step / 400 != 1;
                    if ranges.len() < most && rng.chance(if is_growing { 3 } else { 1 }, 4) || ranges.is_empty() {
                        let range = random_range(&mut rng, greatest, step);
                        ranges.push(range);
                        intervals.insert(range);
                    } else {
                        let range = ranges.swap_remove(rng.below(ranges.len() as u64) as usize);
                        ranges.sort_unstable_by_key(|range| Reverse(range.rank));
                        intervals.remove(range, ranges.iter().copied());
                    }
                    if step % 10 == 0 || ranges.len() < 8 {
                        check(&intervals, &ranges, greatest, &mut rng);
                        check(&Intervals::new(ranges.clone()), &ranges, greatest, &mut rng);
                    }
                }
            }
        }
    }

    /// Each range lies within the one before it: the most runs that there can be.
    #[test]
    fn nested_ranges_make_two_runs_each() {
        let nested = |depth: u64| Ranged { low: depth, high: 10_000 - depth, rank: depth.into(), cell: depth as u32 };
        let mut ranges: Vec<Ranged> = (1..=1000).map(nested).collect();
        let mut intervals = Intervals::new(ranges.clone());
        assert_eq!(intervals.starts.len(), 2001);
        ranges.reverse();
        while let Some(range) = ranges.pop() {
            intervals.remove(range, ranges.iter().copied());
        }
        assert_eq!((intervals.starts.len(), intervals.cell(intervals.run_of(5000))), (1, 0));
    }

    #[test]
    fn a_value_is_found_in_few_steps_where_ranges_are_alike() {
        let even = |index: u32| {
            let low = u64::from(index) * 65;
            Ranged { low, high: low + 64, rank: (index + 1).into(), cell: index + 1 }
        };
        assert!(Intervals::new((0..1000).map(even).collect()).steps <= 1);
    }
}
