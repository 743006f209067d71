//! The engine of exact tables whose keys have several words ([`crate::words`] serves the others): one hash index over
//! the whole key.
//!
//! The tail of a cell is the key. A burst is looked up in three steps, each of which prefetches the memory of the next:
//! hash all keys, find each one's first candidate in the index, compare the candidates' keys.

use crate::cells::{Cell, Cells, prefetch};
use crate::hash_index::{HashIndex, RowHash};
use base::limits::BURST_PACKETS_MAX;

/// The number of index slots up to which the table is assumed to fit the nearest caches, so that the steps cost more
/// than they save.
const SMALL_SLOTS: usize = 2048;

/// The number of words up to which lookups are specialised for the key's length.
pub const ROW_WORDS_MAX: usize = 5;

#[derive(Clone, Debug)]
pub(crate) struct Exact {
    index: HashIndex,
    key_words: usize,
    hash: RowHash,
}

impl Exact {
    pub fn new(key_words: usize, seed: u64) -> Exact {
        Exact { index: HashIndex::new(), key_words, hash: RowHash::new(seed, key_words) }
    }

    pub fn clear(&mut self) {
        self.index = HashIndex::new();
    }

    pub fn reserve(&mut self, additional: usize) {
        self.index.reserve(additional);
    }

    /// Adds a cell whose tail is set.
    pub fn insert(&mut self, cells: &Cells, cell: Cell) {
        self.index.insert(self.hash.of(cells.tail(cell)), cell);
    }

    pub fn remove(&mut self, cells: &Cells, cell: Cell) {
        self.index.remove(self.hash.of(cells.tail(cell)), cell);
    }

    /// Words of a key.
    pub fn key_words(&self) -> usize {
        self.key_words
    }

    /// The hash of keys and its index.
    pub fn parts(&self) -> (&RowHash, &[u64]) {
        (&self.hash, self.index.all())
    }

    /// Bytes of memory beside the cells.
    pub fn bytes(&self) -> usize {
        self.index.bytes()
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
            // A key without bits has only one value.
            0 => found.fill(self.index.find(self.hash.of(&[]), |_| true).unwrap_or(0)),
            words => {
                for (key, found) in keys.chunks_exact(words).zip(found) {
                    *found = self.index.find(self.hash.of(key), |cell| cells.tail(cell) == key).unwrap_or(0);
                }
            }
        }
    }

    #[inline(always)]
    fn find_sized<const WORDS: usize>(&self, cells: &Cells, keys: &[u64], found: &mut [Cell]) {
        let (keys, _) = keys.as_chunks::<WORDS>();
        let equal = |cell: Cell, key: &[u64; WORDS]| cells.tail(cell)[..WORDS] == key[..];
        if self.index.slots() <= SMALL_SLOTS || keys.len() == 1 {
            for (key, found) in keys.iter().zip(found) {
                *found = self.index.find(self.hash.of(key), |cell| equal(cell, key)).unwrap_or(0);
            }
            return;
        }
        let mut hashes = [0u32; BURST_PACKETS_MAX];
        let mut positions = [0usize; BURST_PACKETS_MAX];
        for (key, hash) in keys.iter().zip(&mut hashes) {
            *hash = self.hash.of(key);
            prefetch(self.index.home(*hash));
        }
        for ((hash, position), found) in hashes.iter().zip(&mut positions).zip(&mut *found) {
            (*found, *position) = self.index.probe(*hash, *hash as usize);
            cells.prefetch(*found);
        }
        for (((key, hash), position), found) in keys.iter().zip(&hashes).zip(&positions).zip(found) {
            let mut position = *position;
            while *found != 0 && !equal(*found, key) {
                (*found, position) = self.index.probe(*hash, position);
            }
        }
    }
}
