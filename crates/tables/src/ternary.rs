//! The engine of ternary and range tables: tuple-space search over a list.
//!
//! Entries with the same mask form a group. A group of more than `LOOSE_ENTRIES_MAX` entries is a *tuple*: a hash index
//! over its entries' values, so that it costs one probe however many entries it has. The entries of all smaller groups
//! share one list in order of rank. If it is short, a burst of keys is compared with each of them ([`crate::linear`]);
//! if it is long, or for a single key, it is scanned up to the first match, several entries at a time, which is the
//! best method for many masks with few entries each. Tuples are tried in order of their greatest priority, until the
//! best match so far is above the rest. Of many tuples only those are tried that [`crate::filters`] do not exclude,
//! which are few in practice.
//!
//! A tuple's index holds, for each value, the entry of the greatest rank. If there are others with the same value (they
//! differ in priority, or in their ranges), all of them are in a bucket ([`crate::bucket`]).
//!
//! A range field takes part in masks with leading bits that its bounds share: all of them if the range is one value,
//! else a few, and none in a table with one range field ([`crate::canonical`]). That never excludes a match; whether
//! the range fits is compared. Where a table is matched by one range field alone, its ranges are one bucket of a tuple
//! without a mask, in which the winner for each value is known.
//!
//! # What entries can do that are meant to do harm
//!
//! A lookup compares at most all loose entries (a quarter to half a nanosecond each), and probes at most one slot run
//! for every [`LOOSE_ENTRIES_MAX`] other entries: with a mask for each entry it costs as much as going through all of
//! them, and never more. With several range fields it may compare all entries of a bucket, which are those of one
//! value. An insertion moves one chunk of the list at most and makes one group a tuple at most; the order of tuples is
//! sorted once a batch. With one range field, a change of a bucket with `n` entries moves arrays of up to `2 n`
//! numbers. Values cannot be chosen to collide, since hashes are disturbed by a seed.
//!
//! The tail of a cell: rows of value and mask, in a range table also of low and high; two words of rank; one word that
//! names the bucket of entries with the same value, plus one, or 0; it counts only while the cell is in an index.

#![allow(unsafe_code, reason = "calls what needs AVX2, where the caller says that it is there")]

use crate::bucket::Bucket;
use crate::cells::{Cell, Cells, prefetch};
use crate::filters::{Filters, Positions, SEGMENT};
#[cfg(target_arch = "x86_64")]
use crate::gather;
use crate::hash_index::{HashIndex, RowHash};
use crate::intervals::Intervals;
use crate::layout::Slot;
#[cfg(target_arch = "x86_64")]
use crate::linear;
use crate::ranked::{Chunk, LANES, RangeField, Rank, RankedList};
use base::OrderedMap;
use base::limits::BURST_PACKETS_MAX;

/// Entries up to which a group stays in the common list.
const LOOSE_ENTRIES_MAX: usize = 32;

/// Tuples up to which all are tried.
const UNFILTERED_TUPLES_MAX: usize = 6;

#[derive(Clone, Debug)]
pub(crate) struct Ternary {
    key_words: usize,
    /// Whether buckets compute the winner of each value in advance, if there is one range field.
    knows_winners: bool,
    /// The range fields, in a range table.
    range_slots: Vec<Slot>,
    /// Those of at most 64 bits, and the others.
    ranges: Vec<RangeField>,
    wide_slots: Vec<Slot>,
    seed: u64,
    hash: RowHash,
    groups: OrderedMap<Box<[u64]>, Group>,
    loose: RankedList,
    tuples: Vec<Option<Tuple>>,
    filters: Filters,
    free_tuples: Vec<usize>,
    /// Greatest priority and number of each tuple, greatest first, as of the last `commit`.
    order: Vec<(u32, usize)>,
    order_is_stale: bool,
    /// Tuples and their buckets that have changed since the last `commit`.
    changed: Vec<(usize, usize)>,
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
    /// Whether the mask is empty.
    is_any: bool,
    /// The filter of each word.
    filters: Box<[usize]>,
    index: HashIndex,
    /// The number of entries of each priority.
    priorities: OrderedMap<u32, usize>,
    buckets: Vec<Bucket>,
    free_buckets: Vec<usize>,
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

/// Removes the first of a set of positions.
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
    /// The position at which the search continues if that does not match.
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
    /// `knows_winners` is the result of [`crate::canonical::knows_winners`].
    pub fn new(key_words: usize, range_slots: Vec<Slot>, knows_winners: bool, seed: u64) -> Ternary {
        let (narrow, wide_slots): (Vec<Slot>, _) = range_slots.iter().partition(|slot| slot.width_bits <= 64);
        Ternary {
            key_words,
            knows_winners,
            range_slots,
            ranges: narrow.iter().map(RangeField::new).collect(),
            wide_slots,
            seed,
            hash: RowHash::new(seed, key_words),
            groups: OrderedMap::new(),
            loose: RankedList::new(key_words),
            tuples: Vec::new(),
            filters: Filters::new(key_words, seed),
            free_tuples: Vec::new(),
            order: Vec::new(),
            order_is_stale: false,
            changed: Vec::new(),
        }
    }

    pub fn clear(&mut self) {
        let range_slots = std::mem::take(&mut self.range_slots);
        *self = Ternary::new(self.key_words, range_slots, self.knows_winners, self.seed);
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
        let field = self.only_field().copied();
        for (id, bucket) in std::mem::take(&mut self.changed) {
            if let Some(tuple) = &mut self.tuples[id] {
                tuple.buckets[bucket].settle(field.as_ref());
            }
        }
    }

    /// The range field, if there is one, it has at most 64 bits, and winners are known.
    fn only_field(&self) -> Option<&RangeField> {
        match (&self.ranges[..], &self.wide_slots[..]) {
            ([field], []) if self.knows_winners => Some(field),
            _ => None,
        }
    }

    /// The words of an entry's range fields: two for each field of at most 64 bits.
    fn bounds<'a>(&'a self, tail: &'a [u64]) -> impl Iterator<Item = u64> + 'a {
        bounds_of(&self.ranges, self.key_words, tail)
    }

    /// Adds a cell whose tail is set.
    pub fn insert(&mut self, cells: &mut Cells, cell: Cell) {
        let words = self.key_words;
        let rank = rank_in(cells, cell);
        let tail = cells.tail(cell);
        let mask = &tail[words..2 * words];
        let row: Vec<u64> = tail[..2 * words].iter().copied().chain(self.bounds(tail)).collect();
        match self.groups.get_mut(mask) {
            Some(&mut Group::Tuple(id)) => return self.insert_in_tuple(cells, id, cell),
            Some(Group::Loose(group)) => group.push(cell),
            None => drop(self.groups.insert(mask.into(), Group::Loose(vec![cell]))),
        }
        self.loose.insert(rank, cell, &row);
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
            is_any: mask.iter().all(|word| *word == 0),
            filters: self.filters.join(&mask),
            index: HashIndex::new(),
            priorities: OrderedMap::new(),
            buckets: Vec::new(),
            free_buckets: Vec::new(),
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
        let bounds: Vec<u64> = self.bounds(cells.tail(cell)).collect();
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
        let (head_rank, bucket) = (rank_in(cells, head), bucket_of(cells, head));
        let bucket = bucket.unwrap_or_else(|| tuple.new_bucket());
        let mut is_first_change = false;
        if tuple.buckets[bucket].len() == 0 {
            let of_head: Vec<u64> = bounds_of(&self.ranges, words, cells.tail(head)).collect();
            is_first_change |= tuple.buckets[bucket].insert(&self.ranges, head_rank, head, &of_head);
        }
        is_first_change |= tuple.buckets[bucket].insert(&self.ranges, rank, cell, &bounds);
        if is_first_change {
            self.changed.push((id, bucket));
        }
        if rank > head_rank {
            tuple.index.replace(hash, head, cell);
            set_bucket(cells, cell, Some(bucket));
        } else {
            set_bucket(cells, head, Some(bucket));
        }
    }

    /// Rebuilds a filter from the present entries.
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
        let bounds: Vec<u64> = self.bounds(cells.tail(cell)).collect();
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
        let Some(bucket) = bucket_of(cells, head) else {
            tuple.index.remove(hash, cell);
            return;
        };
        if tuple.buckets[bucket].remove(&self.ranges, rank, cell, &bounds) {
            self.changed.push((id, bucket));
        }
        let first = tuple.buckets[bucket].first();
        let Some((_, first)) = first else { unreachable!("a bucket has two entries at least") };
        if head == cell {
            tuple.index.replace(hash, cell, first);
            set_bucket(cells, first, Some(bucket));
        }
        if tuple.buckets[bucket].len() == 1 {
            tuple.buckets[bucket] = Bucket::new();
            tuple.free_buckets.push(bucket);
            set_bucket(cells, first, None);
        }
    }

    /// Bytes of memory that lookups read beside the cells.
    pub fn bytes(&self) -> usize {
        let of_tuple = |tuple: &Tuple| {
            size_of::<Tuple>() + tuple.index.bytes() + tuple.buckets.iter().map(Bucket::bytes).sum::<usize>()
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
                let scan = |best: &mut [Best]| self.scan_each(cells, key_of, &scan, best);
                self.find_each(cells, key_of, scan, probe, filtered, found);
            }
        }
    }

    /// Finds the cell of one key. It is compiled once, for any processor: the function is long, and bursts gain more
    /// from the instructions of newer ones.
    #[inline(never)]
    pub fn find_one(&self, cells: &Cells, key: &[u64]) -> Cell {
        let mut found = [0];
        self.find::<false>(cells, key, &mut found);
        found[0]
    }

    #[inline(always)]
    fn find_sized<const GATHERS: bool, const WORDS: usize>(&self, cells: &Cells, keys: &[u64], found: &mut [Cell]) {
        let filtered = |best: &mut [Best]| self.find_filtered::<WORDS>(cells, keys, best);
        let (keys, _) = keys.as_chunks::<WORDS>();
        let key_of = |index: usize| &keys[index][..];
        #[cfg(target_arch = "x86_64")]
        if GATHERS {
            // SAFETY: callers have checked for AVX2, and keys have `WORDS` words.
            let scan = |chunk: &Chunk, key: &[u64], start| unsafe { gather::first_block::<WORDS>(chunk, key, start) };
            let probe = |tuple: &Tuple, open: &[u8], probes: &mut [Probe]| {
                let Tuple { mask, index, .. } = tuple;
                // SAFETY: as above.
                unsafe { gather::probe_tuple::<WORDS>((&self.hash, index.all(), mask), keys, open, probes) }
            };
            let is_short = self.loose.len() <= linear::ENTRIES_MAX && self.ranges.len() <= linear::RANGES_MAX;
            let scan = |best: &mut [Best]| match is_short && self.wide_slots.is_empty() {
                // SAFETY: as above.
                true => unsafe { self.compare_all::<WORDS>(keys, best) },
                false => self.scan_each(cells, key_of, &scan, best),
            };
            return self.find_each(cells, key_of, scan, probe, filtered, found);
        }
        let scan = |chunk: &Chunk, key: &[u64], start| chunk.first_block(key, start);
        let probe = |tuple: &Tuple, open: &[u8], probes: &mut [Probe]| self.probe(tuple, key_of, open, probes);
        let scan = |best: &mut [Best]| self.scan_each(cells, key_of, &scan, best);
        self.find_each(cells, key_of, scan, probe, filtered, found);
    }

    #[inline(always)]
    fn find_each<'k>(
        &self,
        cells: &Cells,
        key_of: impl Fn(usize) -> &'k [u64],
        scan: impl Fn(&mut [Best]),
        probe: impl Fn(&Tuple, &[u8], &mut [Probe]),
        filtered: impl Fn(&mut [Best]),
        found: &mut [Cell],
    ) {
        let count = found.len();
        if self.loose.is_empty()
            && let [(_, id)] = self.order[..]
            && let (Some(intervals), [field]) = (self.tuples[id].as_ref().and_then(Tuple::intervals), &self.ranges[..])
        {
            for (index, found) in found.iter_mut().enumerate() {
                *found = intervals.cell(intervals.run_of(field.value(key_of(index))));
            }
            return;
        }
        let mut best = [Best::default(); BURST_PACKETS_MAX];
        if !self.loose.is_empty() {
            scan(&mut best[..count]);
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
            if let (Some(intervals), [field]) = (tuple.intervals(), &self.ranges[..]) {
                for (index, best) in best.iter_mut().enumerate() {
                    let run = intervals.run_of(field.value(key_of(index)));
                    let other = Best { rank: intervals.rank(run), cell: intervals.cell(run) };
                    *best = if other.rank > best.rank { other } else { *best };
                }
                continue;
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

    /// Tries the tuples that filters leave: one for each key, then the next for each key, so that cache misses overlap.
    /// Keys have `WORDS` words, or, if that is 0, as many as the table's.
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
        let Some(bucket) = bucket_of(cells, cell) else {
            if self.in_ranges(cells, cell, key) {
                *best = Best { rank, cell };
            }
            return;
        };
        let fits = |cell| self.in_wide_ranges(cells, cell, key);
        if let Some((rank, cell)) = tuple.buckets[bucket].find(&self.ranges, key, best.rank, fits) {
            *best = Best { rank, cell };
        }
    }

    /// The first match of each key among the loose entries, one key at a time.
    #[inline(always)]
    fn scan_each<'k>(
        &self,
        cells: &Cells,
        key_of: impl Fn(usize) -> &'k [u64],
        first_block: &impl Fn(&Chunk, &[u64], usize) -> Option<(usize, u32)>,
        best: &mut [Best],
    ) {
        for (index, best) in best.iter_mut().enumerate() {
            *best = self.scan(cells, key_of(index), first_block);
        }
    }

    /// The same for all keys at once, which are compared with all entries.
    ///
    /// # Safety
    /// The processor has AVX2.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn compare_all<const WORDS: usize>(&self, keys: &[[u64; WORDS]], best: &mut [Best]) {
        let mut places = [0; BURST_PACKETS_MAX];
        for chunk in self.loose.chunks() {
            // SAFETY: as the caller promises.
            unsafe { linear::places::<WORDS>(chunk, &self.ranges, keys, &mut places[..best.len()]) };
            for (best, place) in best.iter_mut().zip(&places) {
                if *place != 0 && best.cell == 0 {
                    let place = *place as usize - 1;
                    *best = Best { rank: chunk.ranks[place], cell: chunk.cells[place] };
                }
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
                if !self.ranges.is_empty() {
                    matches &= chunk.in_ranges(&self.ranges, 2 * key.len(), key, block);
                }
                while matches != 0 {
                    let place = block + matches.trailing_zeros() as usize;
                    let cell = chunk.cells[place];
                    if self.in_wide_ranges(cells, cell, key) {
                        return Best { rank: chunk.ranks[place], cell };
                    }
                    matches &= matches - 1;
                }
                start = block + LANES;
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

    /// The same for fields of more than 64 bits.
    #[inline(always)]
    fn in_wide_ranges(&self, cells: &Cells, cell: Cell, key: &[u64]) -> bool {
        self.wide_slots.is_empty() || self.in_ranges(cells, cell, key)
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

    fn new_bucket(&mut self) -> usize {
        self.free_buckets.pop().unwrap_or_else(|| {
            self.buckets.push(Bucket::new());
            self.buckets.len() - 1
        })
    }

    /// The winners of all values of the range field, if the key has no other bits: then there is one bucket.
    #[inline(always)]
    fn intervals(&self) -> Option<&Intervals> {
        self.is_any.then(|| self.buckets.first()?.intervals()).flatten()
    }
}

#[inline(always)]
fn rank_in(cells: &Cells, cell: Cell) -> Rank {
    let tail = cells.tail(cell);
    let at = tail.len() - 3;
    u128::from(tail[at]) << 64 | u128::from(tail[at + 1])
}

/// The words of an entry for these range fields: a low bound and the difference of the bounds.
fn bounds_of<'a>(ranges: &'a [RangeField], words: usize, tail: &'a [u64]) -> impl Iterator<Item = u64> + 'a {
    ranges.iter().flat_map(move |field| {
        let low = field.of(&tail[2 * words..3 * words]);
        [low, field.of(&tail[3 * words..4 * words]) - low]
    })
}

fn bucket_of(cells: &Cells, cell: Cell) -> Option<usize> {
    let tail = cells.tail(cell);
    (tail[tail.len() - 1] as usize).checked_sub(1)
}

fn set_bucket(cells: &mut Cells, cell: Cell, bucket: Option<usize>) {
    cells.set_last_tail_word(cell, bucket.map_or(0, |bucket| bucket as u64 + 1));
}
