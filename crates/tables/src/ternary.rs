//! The engine of ternary and range tables: tuple-space search over a list.
//!
//! Entries with the same mask form a group. A group of more than `LOOSE_ENTRIES_MAX` entries is a *tuple*: a hash index
//! over its entries' values, so that it costs one probe however many entries it has. The entries of all smaller groups
//! share one list in order of rank, which is scanned up to the first match, several entries at a time: cheaper for few
//! entries, and the best known for many masks with few entries each. Tuples are tried in order of their greatest
//! priority, and no longer once the best match so far is above the rest. Of many tuples only those are tried that
//! [`crate::filters`] leave: few, as rules are in practice.
//!
//! A tuple's index holds, for each value, the entry of the greatest rank; others with the same value (they differ in
//! priority, or in their ranges) wait in a list of their own.
//!
//! A range field takes part in masks with the leading bits that its bounds share. That never excludes a match; whether
//! the rest of the range fits is checked on the candidate.
//!
//! # What entries can do that are meant to do harm
//!
//! A lookup compares at most all loose entries (a quarter to half a nanosecond each), and probes at most one slot run
//! for every [`LOOSE_ENTRIES_MAX`] other entries: with a mask for each entry it costs as much as going through all of
//! them, and never more. An insertion moves one chunk of the list at most and makes one group a tuple at most; the
//! order of tuples is sorted once a batch. Values cannot be chosen to collide, since hashes are disturbed by a seed.
//!
//! The tail of a cell: rows of value and mask, in a range table also of low and high; two words of rank; one word that
//! names the list of entries with the same value, plus one, or 0; it counts only while the cell is in an index.

#![allow(unsafe_code, reason = "calls what needs AVX2, where the caller says that it is there")]

use crate::cells::{Cell, Cells, prefetch};
use crate::filters::{Filters, Positions, SEGMENT};
#[cfg(target_arch = "x86_64")]
use crate::gather;
use crate::hash_index::{HashIndex, RowHash};
use crate::layout::Slot;
use crate::ranked::{Chunk, LANES, Rank, RankedList};
use base::limits::BURST_PACKETS_MAX;
use std::collections::BTreeMap;

/// Entries up to which a group stays in the common list.
const LOOSE_ENTRIES_MAX: usize = 32;

/// Tuples up to which all are tried.
const UNFILTERED_TUPLES_MAX: usize = 6;

#[derive(Clone, Debug)]
pub(crate) struct Ternary {
    key_words: usize,
    /// The range fields, in a range table.
    range_slots: Vec<Slot>,
    seed: u64,
    hash: RowHash,
    groups: BTreeMap<Box<[u64]>, Group>,
    loose: RankedList,
    tuples: Vec<Option<Tuple>>,
    filters: Filters,
    free_tuples: Vec<usize>,
    /// Greatest priority and number of each tuple, greatest first, as of the last `commit`.
    order: Vec<(u32, usize)>,
    order_is_stale: bool,
}

/// The entries of one mask.
#[derive(Clone, Debug)]
enum Group {
    Loose(Vec<Cell>),
    Tuple(usize),
}

#[derive(Clone, Debug)]
struct Tuple {
    mask: Box<[u64]>,
    /// The filter of each word.
    filters: Box<[usize]>,
    index: HashIndex,
    /// How many entries there are of each priority.
    priorities: BTreeMap<u32, usize>,
    lists: Vec<RankedList>,
    free_lists: Vec<usize>,
}

/// The best match of a key so far.
#[derive(Clone, Copy, Default)]
struct Best {
    rank: Rank,
    cell: Cell,
}

impl Best {
    /// Whether something of this priority might be better.
    #[inline(always)]
    fn may_be_below(&self, priority: u32) -> bool {
        (self.rank >> 64) as u32 <= priority
    }
}

/// A key in a tuple.
#[derive(Clone, Copy, Default)]
struct Try {
    /// Of the key in its burst.
    index: u8,
    tuple: u32,
    probe: Probe,
}

/// Takes the first out of a set of positions.
#[inline(always)]
fn take_first(positions: &mut [u64]) -> Option<usize> {
    for (word, positions) in positions.iter_mut().enumerate() {
        if *positions != 0 {
            let first = word * 64 + positions.trailing_zeros() as usize;
            *positions &= *positions - 1;
            return Some(first);
        }
    }
    None
}

/// Where a key is in the index of a tuple.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Probe {
    /// The hash of its masked words.
    pub hash: u32,
    /// The first cell of this hash, or 0 if there is none.
    pub cell: Cell,
    /// Where the search goes on if that is not the one.
    pub next_position: u32,
}

/// Words of a cell's tail.
pub(crate) fn tail_words(key_words: usize, rows: usize) -> usize {
    rows * key_words + 3
}

/// The tail behind the rows.
pub(crate) fn tail_end(rank: Rank) -> [u64; 3] {
    [(rank >> 64) as u64, rank as u64, 0]
}

impl Ternary {
    pub fn new(key_words: usize, range_slots: Vec<Slot>, seed: u64) -> Ternary {
        Ternary {
            key_words,
            range_slots,
            seed,
            hash: RowHash::new(seed, key_words),
            groups: BTreeMap::new(),
            loose: RankedList::new(key_words),
            tuples: Vec::new(),
            filters: Filters::new(key_words, seed),
            free_tuples: Vec::new(),
            order: Vec::new(),
            order_is_stale: false,
        }
    }

    pub fn clear(&mut self) {
        *self = Ternary::new(self.key_words, std::mem::take(&mut self.range_slots), self.seed);
    }

    /// Must follow a batch of changes before the next lookup.
    pub fn commit(&mut self) {
        if std::mem::take(&mut self.order_is_stale) {
            let tuples = self.tuples.iter().enumerate();
            self.order = tuples.filter_map(|(id, tuple)| Some((tuple.as_ref()?.greatest_priority(), id))).collect();
            self.order.sort_unstable_by(|a, b| b.cmp(a));
            let tuples = self.order.iter().filter_map(|(_, id)| self.tuples[*id].as_ref());
            self.filters.order(self.order.len(), tuples.map(|tuple| &*tuple.filters));
        }
    }

    /// Adds a cell whose tail is set.
    pub fn insert(&mut self, cells: &mut Cells, cell: Cell) {
        let words = self.key_words;
        let rank = rank_in(cells, cell);
        let tail = cells.tail(cell);
        let (rows, mask) = (&tail[..2 * words], &tail[words..2 * words]);
        match self.groups.get_mut(mask) {
            Some(&mut Group::Tuple(id)) => return self.insert_in_tuple(cells, id, cell),
            Some(Group::Loose(group)) => group.push(cell),
            None => drop(self.groups.insert(mask.into(), Group::Loose(vec![cell]))),
        }
        self.loose.insert(rank, cell, rows);
        self.promote(cells, cell);
    }

    /// Makes the group of `cell` a tuple if it has become too large for the common list.
    fn promote(&mut self, cells: &mut Cells, cell: Cell) {
        let mask: Box<[u64]> = cells.tail(cell)[self.key_words..2 * self.key_words].into();
        let members = match self.groups.get_mut(&mask) {
            Some(Group::Loose(group)) if group.len() > LOOSE_ENTRIES_MAX => std::mem::take(group),
            _ => return,
        };
        let tuple = Tuple {
            mask: mask.clone(),
            filters: self.filters.join(&mask),
            index: HashIndex::new(),
            priorities: BTreeMap::new(),
            lists: Vec::new(),
            free_lists: Vec::new(),
        };
        let id = self.free_tuples.pop().unwrap_or_else(|| {
            self.tuples.push(None);
            self.tuples.len() - 1
        });
        self.tuples[id] = Some(tuple);
        self.order_is_stale = true;
        self.groups.insert(mask, Group::Tuple(id));
        for member in members {
            self.loose.remove(rank_in(cells, member));
            self.insert_in_tuple(cells, id, member);
        }
    }

    fn insert_in_tuple(&mut self, cells: &mut Cells, id: usize, cell: Cell) {
        let words = self.key_words;
        let rank = rank_in(cells, cell);
        let Some(tuple) = &mut self.tuples[id] else { unreachable!("a group names a tuple that exists") };
        let before = tuple.priorities.last_key_value().map(|(priority, _)| *priority);
        *tuple.priorities.entry((rank >> 64) as u32).or_default() += 1;
        self.order_is_stale |= before != tuple.priorities.last_key_value().map(|(priority, _)| *priority);

        let value = &cells.tail(cell)[..words];
        let hash = self.hash.of(value);
        let Some(head) = tuple.index.find(hash, |other| &cells.tail(other)[..words] == value) else {
            tuple.index.insert(hash, cell);
            let of_tuple = tuple.filters.clone();
            for word in self.filters.add(&of_tuple, value) {
                self.refill(cells, word, of_tuple[word]);
            }
            return;
        };
        let list = match list_of(cells, head) {
            Some(list) => list,
            None => tuple.new_list(),
        };
        let head_rank = rank_in(cells, head);
        if rank > head_rank {
            tuple.lists[list].insert(head_rank, head, &[]);
            tuple.index.replace(hash, head, cell);
            set_list(cells, cell, Some(list));
        } else {
            tuple.lists[list].insert(rank, cell, &[]);
            set_list(cells, head, Some(list));
        }
    }

    /// Makes a filter anew from the entries that there are.
    fn refill(&mut self, cells: &Cells, word: usize, filter: usize) {
        let of_filter = self.tuples.iter().flatten().filter(|tuple| tuple.filters[word] == filter);
        let all = of_filter.flat_map(|tuple| tuple.index.all());
        let values: Vec<u64> = all.filter(|slot| **slot != 0).map(|slot| cells.tail(*slot as Cell)[word]).collect();
        self.filters.refill(word, filter, &values);
    }

    /// Removes a cell whose tail is still set.
    pub fn remove(&mut self, cells: &mut Cells, cell: Cell) {
        let words = self.key_words;
        let rank = rank_in(cells, cell);
        let mask: Box<[u64]> = cells.tail(cell)[words..2 * words].into();
        match self.groups.get_mut(&mask) {
            Some(Group::Loose(group)) => {
                group.retain(|other| *other != cell);
                if group.is_empty() {
                    self.groups.remove(&mask);
                }
                self.loose.remove(rank);
            }
            Some(&mut Group::Tuple(id)) => {
                self.remove_from_tuple(cells, id, cell);
                if let Some(tuple) = self.tuples[id].take_if(|tuple| tuple.priorities.is_empty()) {
                    self.filters.leave(&tuple.filters);
                    self.free_tuples.push(id);
                    self.groups.remove(&mask);
                }
            }
            None => unreachable!("every entry is in the group of its mask"),
        }
    }

    fn remove_from_tuple(&mut self, cells: &mut Cells, id: usize, cell: Cell) {
        let words = self.key_words;
        let rank = rank_in(cells, cell);
        let Some(tuple) = &mut self.tuples[id] else { unreachable!("a group names a tuple that exists") };
        let priority = (rank >> 64) as u32;
        if let Some(count) = tuple.priorities.get_mut(&priority) {
            *count -= 1;
            if *count == 0 {
                self.order_is_stale |= tuple.priorities.last_key_value().is_some_and(|(last, _)| *last == priority);
                tuple.priorities.remove(&priority);
            }
        }
        let value = &cells.tail(cell)[..words];
        let hash = self.hash.of(value);
        let head = tuple.index.find(hash, |other| &cells.tail(other)[..words] == value);
        let Some(head) = head else { unreachable!("an entry's value is in its tuple's index") };
        let Some(list) = list_of(cells, head) else {
            tuple.index.remove(hash, cell);
            return;
        };
        if head == cell {
            let Some((next_rank, next)) = tuple.lists[list].first() else { unreachable!("a named list is not empty") };
            tuple.lists[list].remove(next_rank);
            tuple.index.replace(hash, cell, next);
            set_list(cells, next, Some(list));
            tuple.release_if_empty(cells, next, list);
        } else {
            tuple.lists[list].remove(rank);
            tuple.release_if_empty(cells, head, list);
        }
    }

    /// Bytes of memory that lookups read beside the cells.
    pub fn bytes(&self) -> usize {
        let of_tuple = |tuple: &Tuple| {
            size_of::<Tuple>() + tuple.index.bytes() + tuple.lists.iter().map(RankedList::bytes).sum::<usize>()
        };
        self.loose.bytes() + self.filters.bytes() + self.tuples.iter().flatten().map(of_tuple).sum::<usize>()
    }

    /// Finds the cells of up to a burst of keys. With `GATHERS` the processor has AVX2.
    #[inline(always)]
    pub fn find<const GATHERS: bool>(&self, cells: &Cells, keys: &[u64], found: &mut [Cell]) {
        match self.key_words {
            1 => self.find_sized::<GATHERS, 1>(cells, keys, found),
            2 => self.find_sized::<GATHERS, 2>(cells, keys, found),
            3 => self.find_sized::<GATHERS, 3>(cells, keys, found),
            4 => self.find_sized::<GATHERS, 4>(cells, keys, found),
            5 => self.find_sized::<GATHERS, 5>(cells, keys, found),
            words => {
                let key_of = |index: usize| &keys[index * words..(index + 1) * words];
                let scan = |chunk: &Chunk, key: &[u64], start| chunk.first_block(key, start);
                let probe = |tuple: &Tuple, open: &[u8], probes: &mut [Probe]| self.probe(tuple, key_of, open, probes);
                let filtered = |best: &mut [Best]| self.find_filtered::<0>(cells, keys, best);
                self.find_each(cells, key_of, scan, probe, filtered, found);
            }
        }
    }

    #[inline(always)]
    fn find_sized<const GATHERS: bool, const WORDS: usize>(&self, cells: &Cells, keys: &[u64], found: &mut [Cell]) {
        let filtered = |best: &mut [Best]| self.find_filtered::<WORDS>(cells, keys, best);
        let (keys, _) = keys.as_chunks::<WORDS>();
        let key_of = |index: usize| &keys[index][..];
        #[cfg(target_arch = "x86_64")]
        if GATHERS {
            // SAFETY: only who has AVX2 asks for this, and keys have `WORDS` words.
            let scan = |chunk: &Chunk, key: &[u64], start| unsafe { gather::first_block::<WORDS>(chunk, key, start) };
            let probe = |tuple: &Tuple, open: &[u8], probes: &mut [Probe]| {
                let Tuple { mask, index, .. } = tuple;
                // SAFETY: as above.
                unsafe { gather::probe_tuple::<WORDS>((&self.hash, index.all(), mask), keys, open, probes) }
            };
            return self.find_each(cells, key_of, scan, probe, filtered, found);
        }
        let scan = |chunk: &Chunk, key: &[u64], start| chunk.first_block(key, start);
        let probe = |tuple: &Tuple, open: &[u8], probes: &mut [Probe]| self.probe(tuple, key_of, open, probes);
        self.find_each(cells, key_of, scan, probe, filtered, found);
    }

    #[inline(always)]
    fn find_each<'k>(
        &self,
        cells: &Cells,
        key_of: impl Fn(usize) -> &'k [u64],
        scan: impl Fn(&Chunk, &[u64], usize) -> Option<(usize, u32)>,
        probe: impl Fn(&Tuple, &[u8], &mut [Probe]),
        filtered: impl Fn(&mut [Best]),
        found: &mut [Cell],
    ) {
        let count = found.len();
        let mut best = [Best::default(); BURST_PACKETS_MAX];
        for (index, best) in best[..count].iter_mut().enumerate() {
            *best = self.scan(cells, key_of(index), &scan);
        }
        if self.order.len() > UNFILTERED_TUPLES_MAX {
            filtered(&mut best[..count]);
        } else {
            self.find_in_all(cells, key_of, probe, &mut best[..count]);
        }
        for (found, best) in found.iter_mut().zip(&best) {
            *found = best.cell;
        }
    }

    /// Tries all tuples, one after the other.
    #[inline(always)]
    fn find_in_all<'k>(
        &self,
        cells: &Cells,
        key_of: impl Fn(usize) -> &'k [u64],
        probe: impl Fn(&Tuple, &[u8], &mut [Probe]),
        best: &mut [Best],
    ) {
        let mut probes = [Probe::default(); BURST_PACKETS_MAX];
        let mut open = [0u8; BURST_PACKETS_MAX];
        for &(priority, id) in &self.order {
            let Some(tuple) = &self.tuples[id] else { continue };
            let mut open_len = 0;
            for (index, best) in best.iter().enumerate() {
                open[open_len] = index as u8;
                open_len += usize::from(best.may_be_below(priority));
            }
            if open_len == 0 {
                break;
            }
            let (open, probes) = (&open[..open_len], &mut probes[..open_len]);
            probe(tuple, open, probes);
            let is_candidate = |(_, probe): &(&u8, &Probe)| probe.cell != 0;
            for (_, probe) in open.iter().zip(&*probes).filter(is_candidate) {
                cells.prefetch(probe.cell);
            }
            for (index, probe) in open.iter().zip(&*probes).filter(is_candidate) {
                let index = usize::from(*index);
                self.check(cells, tuple, key_of(index), *probe, &mut best[index]);
            }
        }
    }

    /// Tries the tuples that filters leave: of each key one, then of each key the next, so that what they wait for
    /// overlaps. Keys have `WORDS` words, or, if that is 0, as many as the table's.
    #[inline(never)]
    fn find_filtered<const WORDS: usize>(&self, cells: &Cells, keys: &[u64], best: &mut [Best]) {
        let words = if WORDS == 0 { self.key_words } else { WORDS };
        let key_of = |index: usize| &keys[index * words..(index + 1) * words];
        let mut admitted: [Positions; BURST_PACKETS_MAX] = [[0; SEGMENT / 64]; BURST_PACKETS_MAX];
        let mut tried = [Try::default(); BURST_PACKETS_MAX];
        for (segment, order) in self.order.chunks(SEGMENT).enumerate() {
            let len = order.len().div_ceil(64);
            let mut open = 0;
            for (index, best) in best.iter().enumerate() {
                if best.may_be_below(order[0].0) {
                    admitted[index] = self.filters.admitted(key_of(index), segment, len);
                    tried[open].index = index as u8;
                    open += 1;
                }
            }
            if open == 0 {
                return;
            }
            while open > 0 {
                let mut still = 0;
                for place in 0..open {
                    let index = usize::from(tried[place].index);
                    let Some(position) = take_first(&mut admitted[index][..len]) else { continue };
                    let (priority, id) = order[position];
                    let Some(tuple) = self.tuples[id].as_ref().filter(|_| best[index].may_be_below(priority)) else {
                        continue;
                    };
                    let masked = key_of(index).iter().zip(&tuple.mask).map(|(key, mask)| key & mask);
                    let probe = Probe { hash: self.hash.of_words(masked), ..Probe::default() };
                    prefetch(tuple.index.home(probe.hash));
                    tried[still] = Try { index: index as u8, tuple: id as u32, probe };
                    still += 1;
                }
                open = still;
                self.try_all(cells, &key_of, &mut tried[..open], best);
            }
        }
    }

    /// Looks each of these keys up in its tuple.
    #[inline(always)]
    fn try_all<'k>(&self, cells: &Cells, key_of: &impl Fn(usize) -> &'k [u64], tried: &mut [Try], best: &mut [Best]) {
        for Try { tuple, probe, .. } in &mut *tried {
            let Some(tuple) = &self.tuples[*tuple as usize] else { continue };
            let (cell, position) = tuple.index.probe(probe.hash, probe.hash as usize);
            (probe.cell, probe.next_position) = (cell, position as u32);
            if cell != 0 {
                cells.prefetch(cell);
            }
        }
        for Try { index, tuple, probe } in tried.iter().filter(|tried| tried.probe.cell != 0) {
            let Some(tuple) = &self.tuples[*tuple as usize] else { continue };
            let index = usize::from(*index);
            self.check(cells, tuple, key_of(index), *probe, &mut best[index]);
        }
    }

    /// Finds the first candidate in a tuple for each of the keys that are still open.
    #[inline(always)]
    fn probe<'k>(&self, tuple: &Tuple, key_of: impl Fn(usize) -> &'k [u64], open: &[u8], probes: &mut [Probe]) {
        for (index, probe) in open.iter().zip(&mut *probes) {
            let key = key_of(usize::from(*index));
            probe.hash = self.hash.of_words(key.iter().zip(&tuple.mask).map(|(key, mask)| key & mask));
            prefetch(tuple.index.home(probe.hash));
        }
        for probe in probes {
            let (cell, position) = tuple.index.probe(probe.hash, probe.hash as usize);
            (probe.cell, probe.next_position) = (cell, position as u32);
        }
    }

    /// Follows one key through a tuple from its first candidate.
    #[inline(always)]
    fn check(&self, cells: &Cells, tuple: &Tuple, key: &[u64], probe: Probe, best: &mut Best) {
        let (mut cell, mut position) = (probe.cell, probe.next_position as usize);
        let is_value = |cell: Cell| {
            let values = cells.tail(cell)[..key.len()].iter();
            key.iter().zip(&tuple.mask).zip(values).all(|((key, mask), value)| key & mask == *value)
        };
        while cell != 0 && !is_value(cell) {
            (cell, position) = tuple.index.probe(probe.hash, position);
        }
        if cell == 0 {
            return;
        }
        let rank = rank_in(cells, cell);
        if rank <= best.rank {
            return;
        }
        if self.in_ranges(cells, cell, key) {
            *best = Best { rank, cell };
        } else if let Some(list) = list_of(cells, cell) {
            let other = self.first_in_ranges(cells, &tuple.lists[list], key, best.rank);
            if other.rank > best.rank {
                *best = other;
            }
        }
    }

    /// The first match among the loose entries.
    #[inline(always)]
    fn scan(
        &self,
        cells: &Cells,
        key: &[u64],
        first_block: &impl Fn(&Chunk, &[u64], usize) -> Option<(usize, u32)>,
    ) -> Best {
        for chunk in self.loose.chunks() {
            let mut start = 0;
            while let Some((block, mut matches)) = first_block(chunk, key, start) {
                while matches != 0 {
                    let place = block + matches.trailing_zeros() as usize;
                    let cell = chunk.cells[place];
                    if self.in_ranges(cells, cell, key) {
                        return Best { rank: chunk.ranks[place], cell };
                    }
                    matches &= matches - 1;
                }
                start = block + LANES;
            }
        }
        Best::default()
    }

    /// The first in a list of entries of one value, above `floor`, whose ranges fit.
    #[inline(always)]
    fn first_in_ranges(&self, cells: &Cells, list: &RankedList, key: &[u64], floor: Rank) -> Best {
        for chunk in list.chunks() {
            for (&cell, &rank) in chunk.cells.iter().zip(&chunk.ranks) {
                if rank <= floor {
                    return Best::default();
                }
                if self.in_ranges(cells, cell, key) {
                    return Best { rank, cell };
                }
            }
        }
        Best::default()
    }

    /// Whether the key's range fields lie between the entry's bounds.
    #[inline(always)]
    fn in_ranges(&self, cells: &Cells, cell: Cell, key: &[u64]) -> bool {
        let words = key.len();
        self.range_slots.is_empty() || {
            let tail = cells.tail(cell);
            let (low, high) = (&tail[2 * words..3 * words], &tail[3 * words..4 * words]);
            self.range_slots.iter().all(|slot| not_above(slot, low, key) && not_above(slot, key, high))
        }
    }
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

impl Tuple {
    fn greatest_priority(&self) -> u32 {
        self.priorities.last_key_value().map_or(0, |(priority, _)| *priority)
    }

    fn new_list(&mut self) -> usize {
        self.free_lists.pop().unwrap_or_else(|| {
            self.lists.push(RankedList::new(0));
            self.lists.len() - 1
        })
    }

    fn release_if_empty(&mut self, cells: &mut Cells, head: Cell, list: usize) {
        if self.lists[list].is_empty() {
            self.free_lists.push(list);
            set_list(cells, head, None);
        }
    }
}

#[inline(always)]
fn rank_in(cells: &Cells, cell: Cell) -> Rank {
    let tail = cells.tail(cell);
    let at = tail.len() - 3;
    u128::from(tail[at]) << 64 | u128::from(tail[at + 1])
}

fn list_of(cells: &Cells, cell: Cell) -> Option<usize> {
    let tail = cells.tail(cell);
    (tail[tail.len() - 1] as usize).checked_sub(1)
}

fn set_list(cells: &mut Cells, cell: Cell, list: Option<usize>) {
    cells.set_last_tail_word(cell, list.map_or(0, |list| list as u64 + 1));
}
