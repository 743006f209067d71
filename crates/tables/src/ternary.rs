//! The engine of ternary and range tables: decision trees, and a list of what they do not take.
//!
//! Up to [`LIST_ENTRIES_MAX`] entries are in a list in order of rank, with whose entries a burst of keys is compared at
//! once ([`crate::linear`]). More are in trees ([`crate::trees`]), which are built of all of them, and then changed
//! entry by entry. When there are twice as many entries, or a quarter, or many that no tree takes, other cuts have
//! become better: each of the following changes does some of the work for new trees ([`crate::building`]), which then
//! replace the old ones. A batch of very many entries builds them at once. What trees would have to copy too often
//! remains in the list, which is scanned up to the first match if it is long.
//!
//! Keys are looked up in trees first, from the one with the most specific entries on. A key continues with the next
//! tree and the list only if something there has a priority as high as what it has found.
//!
//! # What entries can do that are meant to do harm
//!
//! A lookup descends in [`crate::trees::TREES_MAX`] trees at most, whose depth is bounded, and compares 64 entries of a
//! leaf at most in each. Entries that no tree takes, since each tests other bits, cost a quarter to half a
//! nanosecond each, as if there were no trees. An insertion changes 64 leaves at most, or moves one chunk of the list;
//! a removal may find more leaves, when leaves have become nodes since, but entries have no more than four copies on
//! average. Trees are built in about 4 µs for each entry, on the copy that packets do not use, so that forwarding does
//! not wait, and only after the number of entries or of those in the list has changed by a part of it. No change waits
//! for more than a small part of that.

#![allow(unsafe_code, reason = "calls what needs AVX2, where the caller guarantees it")]

use crate::building::Building;
use crate::cells::{Cell, Cells};
#[cfg(target_arch = "x86_64")]
use crate::gather;
use crate::leaves::Candidate;
#[cfg(target_arch = "x86_64")]
use crate::linear;
use crate::ranked::{Chunk, LANES, Rank, RankedList};
use crate::shape::{Shape, rank_in};
use crate::snapshot::Part;
#[cfg(target_arch = "x86_64")]
use crate::trees::still_open;
use crate::trees::{Trees, better};
use base::limits::BURST_PACKETS_MAX;

/// Entries up to which there are no trees, and below which there are none any more.
const LIST_ENTRIES_MAX: usize = 128;
const LIST_ENTRIES_LESS: usize = LIST_ENTRIES_MAX / 2;

/// A single key is compared with the entries one by one if they are no more than these.
const FEW_ENTRIES: usize = 4;

/// The work that each change does for new trees ([`Building::advance`]).
const WORK_AT_ONCE: usize = 512;

#[derive(Clone, Debug)]
pub(crate) struct Ternary {
    shape: Shape,
    len: usize,
    /// The entries that are in no tree.
    list: RankedList,
    trees: Trees,
    /// Whether everything must be built again at once: until then, only the number of entries is right.
    is_stale: bool,
    /// Trees that will replace the present ones.
    building: Option<Box<Building>>,
    /// What there was when it was built: entries, or 0 if all of them are in the list, and entries in the list.
    built_len: usize,
    built_list: usize,
    /// Changes since then.
    changes: usize,
}

impl Ternary {
    pub fn new(shape: Shape) -> Ternary {
        Ternary {
            len: 0,
            list: RankedList::new(shape.key_words),
            trees: Trees::new(&shape),
            shape,
            is_stale: false,
            building: None,
            built_len: 0,
            built_list: 0,
            changes: 0,
        }
    }

    pub fn clear(&mut self) {
        *self = Ternary::new(self.shape.clone());
    }

    /// Prepares for `additional` more entries: many are built in one go.
    pub fn reserve(&mut self, additional: usize) {
        self.is_stale |= additional > LIST_ENTRIES_MAX && additional > self.len / 4;
    }

    /// Must follow a batch of changes before the next lookup.
    pub fn commit(&mut self, cells: &Cells) {
        if std::mem::take(&mut self.is_stale) {
            self.building = None;
            if self.len > LIST_ENTRIES_MAX {
                let mut building = Building::new(&self.shape);
                while !building.advance(&self.shape, cells, usize::MAX) {}
                self.replace(building, true);
            } else {
                self.trees = Trees::new(&self.shape);
                self.list = RankedList::new(self.shape.key_words);
                cells.live_from(1).for_each(|cell| self.add_to_list(cells, cell));
                (self.changes, self.built_len, self.built_list) = (0, 0, self.list.len());
            }
        }
    }

    /// Replaces trees and list by new ones.
    fn replace(&mut self, building: Building, at_once: bool) {
        (self.trees, self.list) = building.finish(at_once);
        (self.changes, self.built_len, self.built_list) = (0, self.len, self.list.len());
    }

    /// Continues with new trees.
    fn advance(&mut self, cells: &Cells) {
        if let Some(mut building) = self.building.take() {
            match building.advance(&self.shape, cells, WORK_AT_ONCE) {
                true => self.replace(*building, false),
                false => self.building = Some(building),
            }
        }
    }

    /// Decides whether trees must be built again: other cuts are better for other numbers of entries.
    fn count_change(&mut self) {
        self.changes += 1;
        let built = self.built_len;
        self.is_stale |= if built == 0 { self.len > LIST_ENTRIES_MAX } else { self.len < LIST_ENTRIES_LESS };
        let is_due = self.len > 2 * built
            || self.len < built / 4
            || self.changes > built / 2 && self.list.len() > 2 * self.built_list + LIST_ENTRIES_MAX;
        if built > 0 && is_due && self.building.is_none() {
            self.building = Some(Box::new(Building::new(&self.shape)));
        }
    }

    /// Adds a cell whose tail is set.
    pub fn insert(&mut self, cells: &Cells, cell: Cell) {
        self.len += 1;
        self.count_change();
        if self.is_stale {
            return;
        }
        if !self.trees.insert(&self.shape, cells, cell) {
            self.add_to_list(cells, cell);
        }
        self.building.iter_mut().for_each(|building| building.insert(cell));
        self.advance(cells);
    }

    fn add_to_list(&mut self, cells: &Cells, cell: Cell) {
        self.list.insert(rank_in(cells, cell), cell, &self.shape.row(cells, cell));
    }

    /// Removes a cell whose tail is still set.
    pub fn remove(&mut self, cells: &Cells, cell: Cell) {
        self.len -= 1;
        self.count_change();
        if self.is_stale {
            return;
        }
        // Before the removal: the cell still looks as if it held the entry.
        self.advance(cells);
        self.building.iter_mut().for_each(|building| building.remove(&self.shape, cells, cell));
        if self.trees.has(cell) {
            self.trees.remove(&self.shape, cells, cell);
        } else {
            self.list.remove(rank_in(cells, cell));
        }
    }

    /// What finds an entry.
    pub fn part_of(&self, cell: Cell) -> Part {
        self.trees.tree_of(cell).map_or(Part::List, Part::Tree)
    }

    /// Whether new trees are being built.
    pub fn is_building(&self) -> bool {
        self.building.is_some()
    }

    /// Bytes of memory that lookups read beside the cells.
    pub fn bytes(&self) -> usize {
        self.list.bytes() + self.trees.bytes() + self.building.as_ref().map_or(0, |building| building.bytes())
    }

    /// Finds the cells of up to a burst of keys. With `GATHERS` the processor has AVX2.
    #[inline(always)]
    pub fn find<const GATHERS: bool>(&self, cells: &Cells, keys: &[u64], found: &mut [Cell]) {
        match self.shape.key_words {
            1 => self.find_sized::<GATHERS, 1>(cells, keys, found),
            2 => self.find_sized::<GATHERS, 2>(cells, keys, found),
            3 => self.find_sized::<GATHERS, 3>(cells, keys, found),
            4 => self.find_sized::<GATHERS, 4>(cells, keys, found),
            5 => self.find_sized::<GATHERS, 5>(cells, keys, found),
            _ => {
                let mut best = [0; BURST_PACKETS_MAX];
                let best = &mut best[..found.len()];
                self.trees.find::<GATHERS, 0>(&self.shape, cells, keys, best);
                self.scan_each(cells, keys, &|chunk, key, start| chunk.first_block(key, start), best);
                found.iter_mut().zip(best).for_each(|(found, best)| *found = *best as Cell);
            }
        }
    }

    /// Finds the cell of one key.
    pub fn find_one(&self, cells: &Cells, key: &[u64]) -> Cell {
        let is_short = self.trees.is_empty() && self.list.len() <= FEW_ENTRIES;
        if is_short { self.find_among_few(cells, key) } else { self.find_one_of_many(cells, key) }
    }

    /// The same in a short list, entry by entry.
    fn find_among_few(&self, cells: &Cells, key: &[u64]) -> Cell {
        let Shape { ranges, has_wide_ranges, .. } = &self.shape;
        for chunk in self.list.chunks() {
            for (place, &cell) in chunk.cells.iter().enumerate().take(chunk.ranks.len()) {
                if chunk.matches(place, ranges, key) && (!has_wide_ranges || self.shape.in_ranges(cells, cell, key)) {
                    return cell;
                }
            }
        }
        0
    }

    /// The same in any. It is compiled once, for any processor: the function is long, and bursts gain more from the
    /// instructions of newer ones.
    #[inline(never)]
    fn find_one_of_many(&self, cells: &Cells, key: &[u64]) -> Cell {
        let mut found = [0];
        self.find::<false>(cells, key, &mut found);
        found[0]
    }

    #[inline(always)]
    fn find_sized<const GATHERS: bool, const WORDS: usize>(&self, cells: &Cells, keys: &[u64], found: &mut [Cell]) {
        let mut best = [0; BURST_PACKETS_MAX];
        let best = &mut best[..found.len()];
        if !self.trees.is_empty() {
            self.trees.find::<GATHERS, WORDS>(&self.shape, cells, keys, best);
        }
        if !self.list.is_empty() {
            self.find_in_list::<GATHERS, WORDS>(cells, keys, best);
        }
        found.iter_mut().zip(best).for_each(|(found, best)| *found = *best as Cell);
    }

    #[inline(always)]
    fn find_in_list<const GATHERS: bool, const WORDS: usize>(
        &self,
        cells: &Cells,
        keys: &[u64],
        best: &mut [Candidate],
    ) {
        #[cfg(target_arch = "x86_64")]
        if GATHERS {
            let Shape { ranges, range_slots, .. } = &self.shape;
            let is_short = self.list.len() <= linear::ENTRIES_MAX && ranges.len() <= linear::RANGES_MAX;
            if is_short && range_slots.len() == ranges.len() {
                // SAFETY: callers have checked for AVX2.
                return unsafe { self.compare_all::<WORDS>(cells, keys, best) };
            }
            // SAFETY: callers have checked for AVX2, and keys have `WORDS` words.
            let scan = |chunk: &Chunk, key: &[u64], start| unsafe { gather::first_block::<WORDS>(chunk, key, start) };
            return self.scan_each(cells, keys, &scan, best);
        }
        self.scan_each(cells, keys, &|chunk, key, start| chunk.first_block(key, start), best);
    }

    /// The first match of each key in the list, for all keys at once, which are compared with all entries.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn compare_all<const WORDS: usize>(&self, cells: &Cells, keys: &[u64], best: &mut [Candidate]) {
        let (keys, _) = keys.as_chunks::<WORDS>();
        let Some((rank, _)) = self.list.first() else { return };
        if self.trees.is_empty() {
            let mut places = [0; BURST_PACKETS_MAX];
            for chunk in self.list.chunks() {
                // SAFETY: as the caller promises.
                unsafe { linear::places::<WORDS>(chunk, &self.shape.ranges, keys, &mut places[..best.len()]) };
                for (best, place) in best.iter_mut().zip(&places) {
                    if *place != 0 && *best == 0 {
                        *best = candidate(chunk.ranks[*place as usize - 1], chunk.cells[*place as usize - 1]);
                    }
                }
            }
            return;
        }
        let mut open = [0; BURST_PACKETS_MAX];
        let open = still_open(best, (rank >> 64) as u32, &mut open);
        let mut of_open = [[0; WORDS]; BURST_PACKETS_MAX];
        open.iter().zip(&mut of_open).for_each(|(index, key)| *key = keys[usize::from(*index)]);
        let (of_open, mut places) = (&of_open[..open.len()], [0; BURST_PACKETS_MAX]);
        // From the last chunk on: those before it have greater ranks.
        let mut found = [0; BURST_PACKETS_MAX];
        for chunk in self.list.chunks().iter().rev() {
            // SAFETY: as the caller promises.
            unsafe { linear::places::<WORDS>(chunk, &self.shape.ranges, of_open, &mut places[..open.len()]) };
            for (found, place) in found.iter_mut().zip(&places[..open.len()]) {
                if let Some(place) = place.checked_sub(1) {
                    *found = candidate(chunk.ranks[place as usize], chunk.cells[place as usize]);
                }
            }
        }
        for (index, found) in open.iter().zip(found) {
            let best = &mut best[usize::from(*index)];
            *best = better(cells, *best, found);
        }
    }

    /// The same one key at a time, up to its first match.
    #[inline(always)]
    fn scan_each(
        &self,
        cells: &Cells,
        keys: &[u64],
        first_block: &impl Fn(&Chunk, &[u64], usize) -> Option<(usize, u32)>,
        best: &mut [Candidate],
    ) {
        let words = self.shape.key_words;
        for (index, best) in best.iter_mut().enumerate() {
            let found = self.scan(cells, &keys[index * words..(index + 1) * words], *best, first_block);
            *best = better(cells, *best, found);
        }
    }

    #[inline(always)]
    fn scan(
        &self,
        cells: &Cells,
        key: &[u64],
        best: Candidate,
        first_block: &impl Fn(&Chunk, &[u64], usize) -> Option<(usize, u32)>,
    ) -> Candidate {
        let Shape { ranges, has_wide_ranges, .. } = &self.shape;
        for chunk in self.list.chunks() {
            if ((chunk.ranks[0] >> 64) as u32) < (best >> 32) as u32 {
                break;
            }
            let mut start = 0;
            while let Some((block, mut matches)) = first_block(chunk, key, start) {
                if !ranges.is_empty() {
                    matches &= chunk.in_ranges(ranges, 2 * key.len(), key, block);
                }
                while matches != 0 {
                    let place = block + matches.trailing_zeros() as usize;
                    let cell = chunk.cells[place];
                    if !has_wide_ranges || self.shape.in_ranges(cells, cell, key) {
                        return candidate(chunk.ranks[place], cell);
                    }
                    matches &= matches - 1;
                }
                start = block + LANES;
            }
        }
        0
    }
}

fn candidate(rank: Rank, cell: Cell) -> Candidate {
    u64::from((rank >> 64) as u32) << 32 | u64::from(cell)
}
