//! The engine of exact tables whose keys are one word: a hash table whose slots hold the keys themselves.
//!
//! A slot is sixteen bytes, a key and the place of its entry's cell, so that a lookup reads one cache line and compares
//! the key in it. Cells have no tail and may be shared by entries ([`crate::shared`]). Where actions have few and
//! narrow parameters, the slot also has a packed result ([`PackedLayout`]). [`crate::probing`] inserts and removes
//! slots.
//!
//! Generated code searches in the slots itself (`runtime/c/words.h`): a call would cost as much as the search.
//!
//! Narrow keys ([`KeyLayout::is_narrow`]: ports, VLANs, classes) are their own hashes, and there are never fewer slots
//! than key values: each has a slot of its own, which generated code reads without a search (`ws_find_narrow`).

use crate::abi::EntryHeader;
use crate::cells::{Cell, Cells, prefetch};
use crate::hash_index::fold;
use crate::layout::{KeyField, KeyLayout, PLACE_BITS, PackedLayout};
use crate::probing::{self, Probing};
use crate::spec::{Handle, TableKind};
use base::limits::BURST_PACKETS_MAX;

/// The number of slots above which searches prefetch: the table does not fit the nearest caches.
pub(crate) const NEAR_SLOTS: usize = 1 << 16;

/// Whether the engine serves a table.
pub(crate) fn serves(kind: TableKind, key: &[KeyField]) -> bool {
    kind == TableKind::Exact && KeyLayout::new(key).words() == 1
}

/// The hash of keys: their product with a secret odd number, whose upper bits depend on all of the key (multiplicative
/// hashing is universal: Dietzfelbinger et al. 1997), its bytes reversed, so that these are the lower ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WordHash {
    /// 0 if keys are narrow.
    factor: u64,
}

impl WordHash {
    const NARROW: WordHash = WordHash { factor: 0 };

    fn new(seed: u64) -> WordHash {
        WordHash { factor: fold(seed ^ 0x2545_f491_4f6c_dd1d, 0x9fb2_1c65_1e98_df25) | 1 }
    }

    /// The factor of keys; 0 if they are narrow, and their own hashes.
    pub fn factor(self) -> u64 {
        self.factor
    }

    #[inline(always)]
    fn of(self, key: u64) -> usize {
        match self.factor {
            0 => key as usize,
            factor => key.wrapping_mul(factor).swap_bytes() as usize,
        }
    }
}

/// A key; and words from the first cell to its cell, below the packed result. None if the slot is free. An array, so
/// that zeroed memory from the system needs no initialisation.
pub(crate) type Slot = [u64; 2];

impl probing::Slot for Slot {
    type Hasher = WordHash;

    #[inline(always)]
    fn is_free(&self) -> bool {
        self[ENTRY] == 0
    }

    #[inline(always)]
    fn hash(&self, hasher: &WordHash) -> usize {
        hasher.of(self[KEY])
    }

    #[inline(always)]
    fn is_same(&self, other: &Slot) -> bool {
        self[KEY] == other[KEY]
    }
}

/// The parts of a slot.
const KEY: usize = 0;
const ENTRY: usize = 1;

/// The engine.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    hash: WordHash,
    slots: Probing<Slot>,
    /// Words from one cell to the next.
    cell_words: u64,
    /// The layout of packed results, if they fit.
    packed_results: Option<PackedLayout>,
    /// By handle.
    keys: Vec<u64>,
}

impl Words {
    /// For cells of `cell_words` words. `packed_results` requires that cells in use do not change.
    pub fn new(seed: u64, key: &KeyLayout, cell_words: usize, packed_results: Option<PackedLayout>) -> Words {
        let (hash, slots) = match key.is_narrow() {
            true => (WordHash::NARROW, Probing::with_slots_min(1 << key.bits())),
            false => (WordHash::new(seed), Probing::new()),
        };
        Words { hash, slots, cell_words: cell_words as u64, packed_results, keys: Vec::new() }
    }

    pub fn clear(&mut self) {
        self.slots.clear();
        self.keys = Vec::new();
    }

    /// Makes room for `additional` more entries at once.
    pub fn reserve(&mut self, additional: usize) {
        self.slots.reserve(&self.hash, additional);
    }

    /// Forgets entries with this handle and greater ones, which are gone.
    pub fn shrink(&mut self, handles: u32) {
        self.keys.truncate(handles as usize);
        self.keys.shrink_to_fit();
    }

    /// Bytes of memory that lookups read beside the cells.
    pub fn bytes(&self) -> usize {
        self.slots.bytes()
    }

    /// How keys are hashed, and the slots: a power of two, some of which are free.
    pub fn parts(&self) -> (WordHash, &[Slot]) {
        (self.hash, self.slots.all())
    }

    /// Adds an entry with this key, which is not there yet, and this cell.
    pub fn insert(&mut self, handle: Handle, key: u64, cells: &Cells, cell: Cell) {
        let position = handle.0 as usize;
        self.keys.resize(self.keys.len().max(position + 1), 0);
        self.keys[position] = key;
        self.slots.insert(&self.hash, self.slot(key, cells, cell));
    }

    /// The cell of an entry.
    pub fn cell(&self, handle: Handle) -> Cell {
        self.find_cell(self.keys[handle.0 as usize])
    }

    /// Changes the cell of an entry.
    pub fn modify(&mut self, handle: Handle, cells: &Cells, cell: Cell) {
        let slot = self.slot(self.keys[handle.0 as usize], cells, cell);
        self.slots.replace(&self.hash, slot, slot);
    }

    /// Removes an entry.
    pub fn remove(&mut self, handle: Handle) {
        self.slots.remove(&self.hash, [self.keys[handle.0 as usize], 0]);
    }

    fn slot(&self, key: u64, cells: &Cells, cell: Cell) -> Slot {
        let place = u64::from(cell) * self.cell_words;
        assert!(place < 1 << PLACE_BITS, "entries take less than {} GiB", (8u64 << PLACE_BITS) >> 30);
        let packed_result = |layout: &PackedLayout| layout.packed_result(cells.header(cell).action, cells.data(cell));
        [key, place | self.packed_results.as_ref().map_or(0, packed_result) << PLACE_BITS]
    }

    /// Finds keys: the entry of each, the first cell if it has none. Returns how many have one.
    #[inline(always)]
    pub fn find(&self, cells: &Cells, keys: &[u64], found: &mut [*const EntryHeader]) -> u32 {
        let slots = self.slots.all();
        if slots.len() > NEAR_SLOTS && keys.len() > 1 {
            for key in keys.iter().take(BURST_PACKETS_MAX) {
                prefetch(&raw const slots[self.hash.of(*key) & (slots.len() - 1)]);
            }
        }
        let first = cells.pointer(0).cast::<u64>();
        let mut hits = 0;
        for (key, found) in keys.iter().zip(found) {
            let entry = self.find_one(*key);
            *found = first.wrapping_add(entry as usize).cast();
            hits += u32::from(entry != 0);
        }
        hits
    }

    /// The cell of a key; the first if it has none.
    pub fn find_cell(&self, key: u64) -> Cell {
        (self.find_one(key) / self.cell_words) as Cell
    }

    /// Words from the first cell to that of a key; 0 if it has none.
    #[inline(always)]
    fn find_one(&self, key: u64) -> u64 {
        let slots = self.slots.all();
        let last = slots.len() - 1;
        let mut position = self.hash.of(key);
        loop {
            let slot = slots[position & last];
            if slot[ENTRY] == 0 || slot[KEY] == key {
                return slot[ENTRY] & ((1 << PLACE_BITS) - 1);
            }
            position += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::NARROW_BITS_MAX;
    use base::{MatchKind, OrderedMap, Rng};

    fn key(width_bits: u32) -> KeyLayout {
        KeyLayout::new(&[KeyField { name: String::new(), width_bits, kind: MatchKind::Exact }])
    }

    /// However many entries are inserted and removed, a narrow key is in its slot or absent.
    #[test]
    fn narrow_keys_are_at_their_places() {
        for width_bits in [1, 9, NARROW_BITS_MAX] {
            let keys = 1u64 << width_bits;
            let mut words = Words::new(5, &key(width_bits), 4, None);
            let cells = Cells::new(1, 0);
            let is_at = |words: &Words, number: u64, entry: u64| words.slots.all()[number as usize] == [number, entry];
            (0..keys).rev().for_each(|number| words.insert(Handle(number as u32), number, &cells, number as Cell + 1));
            assert!((0..keys).all(|number| is_at(&words, number, 4 * (number + 1))));
            (0..keys - 1).for_each(|number| words.remove(Handle(number as u32)));
            assert!((1..keys - 1).all(|number| words.slots.all()[number as usize] == [0, 0]));
            assert!(is_at(&words, keys - 1, 4 * keys), "{width_bits} bits");
            words.clear();
            assert!(words.slots.all().len() as u64 >= keys);
            assert_eq!(words.find_cell(keys - 1), 0);
        }
    }

    /// A slot has the entry's packed result, before and after a change.
    #[test]
    fn slots_say_in_brief_what_cells_do() {
        let mut cells = Cells::new(1, 0);
        cells.set_shared(1, 0, &[0x1ff]);
        cells.set_shared(2, 1, &[]);
        let mut words = Words::new(5, &key(NARROW_BITS_MAX), 4, PackedLayout::new(&[vec![9], vec![]]));
        words.insert(Handle(0), 3, &cells, 1);
        assert_eq!(words.slots.all()[3], [3, (0x1ff << 5 | 0x10) << PLACE_BITS | 4]);
        assert_eq!(words.find_cell(3), 1);
        words.modify(Handle(0), &cells, 2);
        assert_eq!(words.slots.all()[3], [3, 0x11 << PLACE_BITS | 8]);
        assert_eq!(words.find_cell(3), 2);
    }

    /// Entries come, change and go while the table grows and shrinks.
    #[test]
    fn agrees_with_a_map_while_it_is_copied() {
        let mut rng = Rng::new(12);
        let (mut words, cells) = (Words::new(5, &key(64), 4, None), Cells::new(1, 0));
        let mut there: OrderedMap<u32, (u64, Cell)> = OrderedMap::new();
        let (mut copied, mut next) = (0, 0u32);
        for (insertions, rounds) in [(9, 30_000), (2, 30_000), (8, 60_000), (1, 40_000)] {
            for _ in 0..rounds {
                copied += u32::from(words.slots.is_copied());
                let cell = rng.between(1, 9) as Cell;
                if rng.below(10) < insertions || there.is_empty() {
                    // Odd factors keep keys distinct; key 0 is one like others.
                    let key = u64::from(next).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                    words.insert(Handle(next), key, &cells, cell);
                    there.insert(next, (key, cell));
                    next += 1;
                    continue;
                }
                let from = rng.below(u64::from(next)) as u32;
                let handle = there.range(from..).chain(&there).map(|(handle, _)| *handle).next().unwrap_or(0);
                assert_eq!(words.cell(Handle(handle)), there[&handle].1);
                if rng.chance(1, 5) {
                    words.modify(Handle(handle), &cells, cell);
                    there.insert(handle, (there[&handle].0, cell));
                } else {
                    words.remove(Handle(handle));
                    let (key, _) = there.remove(&handle).unwrap_or_default();
                    assert_eq!(words.find_one(key), 0);
                }
            }
            assert!(there.values().all(|&(key, cell)| words.find_cell(key) == cell));
            assert_eq!(words.slots.all().iter().filter(|slot| slot[ENTRY] != 0).count(), there.len());
        }
        assert!(copied > 1000, "{copied} steps while copying");
    }
}
