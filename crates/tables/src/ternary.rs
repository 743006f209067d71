//! The engine of ternary and range tables: tuple-space search over a list.
//!
//! Entries with the same mask form a group. A group of more than `LOOSE_ENTRIES_MAX` entries is a *tuple*: a hash index
//! over its entries' values, so that it costs one probe however many entries it has. The entries of all smaller groups
//! share one list in order of rank, which is scanned up to the first match: cheaper for few entries, and the best known
//! for many masks with few entries each. Tuples are tried in order of their greatest priority, and no longer once the
//! best match so far is above the rest.
//!
//! A tuple's index holds, for each value, the entry of the greatest rank; others with the same value (they differ in
//! priority, or in their ranges) wait in a list of their own.
//!
//! A range field takes part in masks with the leading bits that its bounds share. That never excludes a match; whether
//! the rest of the range fits is checked on the candidate.
//!
//! The tail of a cell: rows of value and mask, in a range table also of low and high; two words of rank; one word that
//! names the list of entries with the same value, plus one, or 0; it counts only while the cell is in an index.

use crate::cells::{Cell, Cells, prefetch};
use crate::hash_index::{HashIndex, hash_words};
use crate::layout::Slot;
use crate::ranked::{Rank, RankedList};
use base::limits::BURST_PACKETS_MAX;
use std::collections::BTreeMap;

/// Entries up to which a group stays in the common list.
const LOOSE_ENTRIES_MAX: usize = 16;

#[derive(Clone, Debug)]
pub(crate) struct Ternary {
    key_words: usize,
    /// The range fields, in a range table.
    range_slots: Vec<Slot>,
    seed: u64,
    groups: BTreeMap<Box<[u64]>, Group>,
    loose: RankedList,
    tuples: Vec<Option<Tuple>>,
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
            groups: BTreeMap::new(),
            loose: RankedList::new(2 * key_words),
            tuples: Vec::new(),
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
        let (words, seed) = (self.key_words, self.seed);
        let rank = rank_in(cells, cell);
        let Some(tuple) = &mut self.tuples[id] else { unreachable!("a group names a tuple that exists") };
        let before = tuple.priorities.last_key_value().map(|(priority, _)| *priority);
        *tuple.priorities.entry((rank >> 64) as u32).or_default() += 1;
        self.order_is_stale |= before != tuple.priorities.last_key_value().map(|(priority, _)| *priority);

        let value = &cells.tail(cell)[..words];
        let hash = hash_words(seed, value.iter().copied());
        let Some(head) = tuple.index.find(hash, |other| &cells.tail(other)[..words] == value) else {
            tuple.index.insert(hash, cell);
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
                if self.tuples[id].as_ref().is_some_and(|tuple| tuple.priorities.is_empty()) {
                    self.tuples[id] = None;
                    self.free_tuples.push(id);
                    self.groups.remove(&mask);
                }
            }
            None => unreachable!("every entry is in the group of its mask"),
        }
    }

    fn remove_from_tuple(&mut self, cells: &mut Cells, id: usize, cell: Cell) {
        let (words, seed) = (self.key_words, self.seed);
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
        let hash = hash_words(seed, value.iter().copied());
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

    /// Finds the cells of up to a burst of keys.
    #[inline(always)]
    pub fn find(&self, cells: &Cells, keys: &[u64], found: &mut [Cell]) {
        match self.key_words {
            1 => self.find_sized::<1>(cells, keys, found),
            2 => self.find_sized::<2>(cells, keys, found),
            3 => self.find_sized::<3>(cells, keys, found),
            4 => self.find_sized::<4>(cells, keys, found),
            5 => self.find_sized::<5>(cells, keys, found),
            words => {
                let key_of = |index: usize| &keys[index * words..(index + 1) * words];
                self.find_each(cells, key_of, found);
            }
        }
    }

    #[inline(always)]
    fn find_sized<const WORDS: usize>(&self, cells: &Cells, keys: &[u64], found: &mut [Cell]) {
        let (keys, _) = keys.as_chunks::<WORDS>();
        self.find_each(cells, |index| &keys[index][..], found);
    }

    #[inline(always)]
    fn find_each<'k>(&self, cells: &Cells, key_of: impl Fn(usize) -> &'k [u64], found: &mut [Cell]) {
        let count = found.len();
        let mut best = [Best::default(); BURST_PACKETS_MAX];
        for (index, best) in best[..count].iter_mut().enumerate() {
            *best = self.scan(cells, &self.loose, key_of(index), 0);
        }
        let mut hashes = [0u32; BURST_PACKETS_MAX];
        let mut positions = [0usize; BURST_PACKETS_MAX];
        let mut open = [0u8; BURST_PACKETS_MAX];
        for &(priority, id) in &self.order {
            let Some(tuple) = &self.tuples[id] else { continue };
            let mut open_len = 0;
            for (index, best) in best[..count].iter().enumerate() {
                open[open_len] = index as u8;
                open_len += usize::from((best.rank >> 64) as u32 <= priority);
            }
            if open_len == 0 {
                break;
            }
            for &index in &open[..open_len] {
                let masked = key_of(index.into()).iter().zip(&tuple.mask).map(|(key, mask)| key & mask);
                hashes[index as usize] = hash_words(self.seed, masked);
                prefetch(tuple.index.home(hashes[index as usize]));
            }
            for &index in &open[..open_len] {
                let hash = hashes[index as usize];
                (found[index as usize], positions[index as usize]) = tuple.index.probe(hash, hash as usize);
                cells.prefetch(found[index as usize]);
            }
            for &index in &open[..open_len] {
                let index = index as usize;
                let at = (hashes[index], found[index], positions[index]);
                self.check(cells, tuple, key_of(index), at, &mut best[index]);
            }
        }
        for (found, best) in found.iter_mut().zip(&best) {
            *found = best.cell;
        }
    }

    /// Follows one key through a tuple from its first candidate.
    #[inline(always)]
    fn check(&self, cells: &Cells, tuple: &Tuple, key: &[u64], at: (u32, Cell, usize), best: &mut Best) {
        let (hash, mut cell, mut position) = at;
        let is_value = |cell: Cell| {
            let values = cells.tail(cell)[..key.len()].iter();
            key.iter().zip(&tuple.mask).zip(values).all(|((key, mask), value)| key & mask == *value)
        };
        while cell != 0 && !is_value(cell) {
            (cell, position) = tuple.index.probe(hash, position);
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
            let other = self.scan(cells, &tuple.lists[list], key, best.rank);
            if other.rank > best.rank {
                *best = other;
            }
        }
    }

    /// The first match in a list among the entries above `floor`.
    #[inline(always)]
    fn scan(&self, cells: &Cells, list: &RankedList, key: &[u64], floor: Rank) -> Best {
        let words = key.len();
        for chunk in list.chunks() {
            let with_rows = !chunk.rows.is_empty();
            for (place, (&cell, &rank)) in chunk.cells.iter().zip(&chunk.ranks).enumerate() {
                if rank <= floor {
                    return Best::default();
                }
                let matches = !with_rows || {
                    let (value, mask) = chunk.rows[2 * words * place..][..2 * words].split_at(words);
                    key.iter().zip(mask).zip(value).all(|((key, mask), value)| key & mask == *value)
                };
                if matches && self.in_ranges(cells, cell, key) {
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
    if let Some(word) = cells.tail_mut(cell).last_mut() {
        *word = list.map_or(0, |list| list as u64 + 1);
    }
}
