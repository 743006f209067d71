//! The engine of tables with one range field whose other fields are exact: the winner of each value, computed in
//! advance.
//!
//! A hash index over the exact fields leads to an entry. If there are others with the same values there, all of them
//! are in a bucket ([`crate::bucket`]), which knows the winner for each value of the range field, and the index has the
//! one of the greatest rank. Trees are worse at this: ranges that overlap much would be in many of their leaves.
//!
//! # What entries can do that are meant to do harm
//!
//! A lookup is a search in a hash index, whose seed is secret, and a binary search. A change of a bucket with `n`
//! entries moves arrays of up to `2 n` numbers, which is why larger tables have trees.
//!
//! The tail of a cell: rows of value, mask, low and high; two words of rank; one word that names the bucket of entries
//! with the same value, plus one, or 0; it counts only while the cell is in the index.

use crate::bucket::Bucket;
use crate::cells::{Cell, Cells, prefetch};
use crate::hash_index::{HashIndex, RowHash};
use crate::layout::Slot;
use crate::ranked::{RangeField, Rank};
use crate::shape;
use crate::spec::{TableKind, TableSpec};
use base::MatchKind;
use base::limits::BURST_PACKETS_MAX;

/// The largest size of a table: a change moves all later runs, which takes long if there are many.
const ENTRIES_MAX: usize = 1 << 14;

#[derive(Clone, Debug)]
pub(crate) struct Ranges {
    key_words: usize,
    field: RangeField,
    /// The bits of exact fields.
    mask: Box<[u64]>,
    /// Whether there are none.
    is_alone: bool,
    hash: RowHash,
    index: HashIndex,
    buckets: Vec<Bucket>,
    free_buckets: Vec<usize>,
    /// Buckets that have changed since the last `commit`.
    changed: Vec<usize>,
}

/// Whether the engine serves a table.
pub(crate) fn serves(spec: &TableSpec) -> bool {
    let ranges = spec.key.iter().filter(|field| field.kind == MatchKind::Range);
    let fits = ranges.clone().all(|field| (1..=64).contains(&field.width_bits));
    let others_are_exact = spec.key.iter().all(|field| matches!(field.kind, MatchKind::Range | MatchKind::Exact));
    let is_small = spec.size.max(spec.initial_entries.len()) <= ENTRIES_MAX;
    TableKind::of(&spec.key) == TableKind::Range && ranges.count() == 1 && fits && others_are_exact && is_small
}

/// Words of a cell's tail.
pub(crate) fn tail_words(key_words: usize) -> usize {
    4 * key_words + 3
}

/// The tail behind the rows.
pub(crate) fn tail_end(rank: Rank) -> [u64; 3] {
    [(rank >> 64) as u64, rank as u64, 0]
}

impl Ranges {
    /// `exact` are the bits of the exact fields, `slot` is the range field.
    pub fn new(exact: &[u64], slot: &Slot, seed: u64) -> Ranges {
        Ranges {
            key_words: exact.len(),
            field: RangeField::new(slot),
            mask: exact.into(),
            is_alone: exact.iter().all(|word| *word == 0),
            hash: RowHash::new(seed, exact.len()),
            index: HashIndex::new(),
            buckets: Vec::new(),
            free_buckets: Vec::new(),
            changed: Vec::new(),
        }
    }

    pub fn clear(&mut self) {
        self.index = HashIndex::new();
        self.buckets.clear();
        self.free_buckets.clear();
        self.changed.clear();
    }

    pub fn reserve(&mut self, additional: usize) {
        if !self.is_alone {
            self.index.reserve(additional);
        }
    }

    /// Must follow a batch of changes before the next lookup.
    pub fn commit(&mut self) {
        for bucket in std::mem::take(&mut self.changed) {
            self.buckets[bucket].end_batch(&self.field);
        }
    }

    /// The low bound in a cell, and what lies between the bounds.
    fn bounds(&self, cells: &Cells, cell: Cell) -> [u64; 2] {
        let (tail, words, field) = (cells.tail(cell), self.key_words, &self.field);
        let low = field.of(&tail[2 * words..3 * words]);
        [low, field.of(&tail[3 * words..4 * words]) - low]
    }

    /// The entry in the index that has the exact fields of `cell`, and the hash of these.
    fn head(&self, cells: &Cells, cell: Cell) -> (u32, Option<Cell>) {
        let value = &cells.tail(cell)[..self.key_words];
        let hash = self.hash.of(value);
        (hash, self.index.find(hash, |other| &cells.tail(other)[..self.key_words] == value))
    }

    /// Adds a cell whose tail is set.
    pub fn insert(&mut self, cells: &mut Cells, cell: Cell) {
        let (hash, head) = self.head(cells, cell);
        let Some(head) = head else { return self.index.insert(hash, cell) };
        let (rank, head_rank) = (rank_in(cells, cell), rank_in(cells, head));
        let bucket = bucket_of(cells, head).unwrap_or_else(|| self.new_bucket());
        if self.buckets[bucket].len() == 0 {
            self.add(cells, bucket, head);
        }
        self.add(cells, bucket, cell);
        if rank > head_rank {
            self.index.replace(hash, head, cell);
            set_bucket(cells, cell, Some(bucket));
        } else {
            set_bucket(cells, head, Some(bucket));
        }
    }

    fn add(&mut self, cells: &Cells, bucket: usize, cell: Cell) {
        let bounds = self.bounds(cells, cell);
        if self.buckets[bucket].insert(&self.field, rank_in(cells, cell), cell, bounds) {
            self.changed.push(bucket);
        }
    }

    fn new_bucket(&mut self) -> usize {
        self.free_buckets.pop().unwrap_or_else(|| {
            self.buckets.push(Bucket::new());
            self.buckets.len() - 1
        })
    }

    /// Removes a cell whose tail is still set.
    pub fn remove(&mut self, cells: &mut Cells, cell: Cell) {
        let (hash, head) = self.head(cells, cell);
        let Some(head) = head else { unreachable!("an entry's value is in the index") };
        let Some(bucket) = bucket_of(cells, head) else { return self.index.remove(hash, cell) };
        let bounds = self.bounds(cells, cell);
        if self.buckets[bucket].remove(&self.field, rank_in(cells, cell), cell, bounds) {
            self.changed.push(bucket);
        }
        let first = self.buckets[bucket].first();
        let Some((_, first)) = first else { unreachable!("a bucket has two entries at least") };
        if head == cell {
            self.index.replace(hash, cell, first);
            set_bucket(cells, first, Some(bucket));
        }
        if self.buckets[bucket].len() == 1 {
            self.buckets[bucket] = Bucket::new();
            self.free_buckets.push(bucket);
            set_bucket(cells, first, None);
        }
    }

    /// Bytes of memory that lookups read beside the cells.
    pub fn bytes(&self) -> usize {
        self.index.bytes() + self.buckets.iter().map(Bucket::bytes).sum::<usize>()
    }

    /// Finds the cells of up to a burst of keys.
    #[inline(always)]
    pub fn find(&self, cells: &Cells, keys: &[u64], found: &mut [Cell]) {
        let field = &self.field;
        let key_of = |index: usize| &keys[index * self.key_words..(index + 1) * self.key_words];
        if self.is_alone
            && let Some(intervals) = self.buckets.first().and_then(Bucket::intervals)
        {
            for (index, found) in found.iter_mut().enumerate() {
                *found = intervals.cell(intervals.run_of(field.value(key_of(index))));
            }
            return;
        }
        let masked = |index: usize| key_of(index).iter().zip(&self.mask).map(|(key, mask)| key & mask);
        let mut hashes = [0; BURST_PACKETS_MAX];
        for (index, hash) in hashes[..found.len()].iter_mut().enumerate() {
            *hash = self.hash.of_words(masked(index));
            prefetch(self.index.home(*hash));
        }
        for hash in &hashes[..found.len()] {
            let (cell, _) = self.index.probe(*hash, *hash as usize);
            cells.prefetch(cell);
        }
        for (index, (found, hash)) in found.iter_mut().zip(&hashes).enumerate() {
            let is_value = |cell: Cell| cells.tail(cell)[..self.key_words].iter().copied().eq(masked(index));
            let head = self.index.find(*hash, is_value).unwrap_or(0);
            *found = if head == 0 { 0 } else { self.winner(cells, head, key_of(index)) };
        }
    }

    /// The winner among the entries with the exact fields of `head`.
    #[inline(always)]
    fn winner(&self, cells: &Cells, head: Cell, key: &[u64]) -> Cell {
        let field = &self.field;
        match bucket_of(cells, head) {
            Some(bucket) => self.buckets[bucket].find(field, key),
            None => {
                let [low, span] = self.bounds(cells, head);
                if field.of(key).wrapping_sub(low) <= span { head } else { 0 }
            }
        }
    }
}

#[inline(always)]
fn rank_in(cells: &Cells, cell: Cell) -> Rank {
    shape::rank_at(cells.tail(cell), 3)
}

fn bucket_of(cells: &Cells, cell: Cell) -> Option<usize> {
    let tail = cells.tail(cell);
    (tail[tail.len() - 1] as usize).checked_sub(1)
}

fn set_bucket(cells: &mut Cells, cell: Cell, bucket: Option<usize>) {
    cells.set_last_tail_word(cell, bucket.map_or(0, |bucket| bucket as u64 + 1));
}
