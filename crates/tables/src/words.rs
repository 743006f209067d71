//! The engine of exact tables whose keys are one word: a hash table whose slots hold the keys themselves.
//!
//! A slot is sixteen bytes, a key and the cell that its entry runs, so that a lookup reads one line and compares what
//! stands in it. Cells have no tail and may be shared by entries ([`crate::shared`]). Open addressing with linear
//! probing, half full at most, as in [`crate::hash_index`]; it grows and shrinks in the same way, a little with each
//! change, while lookups read the old slots alone.

use crate::cells::{Cell, prefetch};
use crate::hash_index::{COPIED_AT_ONCE, COPIED_WHOLE_MAX, RowHash, SPARSE_SLOTS_MAX, slots_for};
use crate::layout::{KeyField, KeyLayout};
use crate::memory::prefer_large_pages;
use crate::spec::{Handle, TableKind};
use base::limits::BURST_PACKETS_MAX;

/// Slots beyond which the nearest caches do not hold the table: what a search reads is asked for before it begins.
pub(crate) const NEAR_SLOTS: usize = 1 << 16;

/// Whether the engine serves a table.
pub(crate) fn serves(kind: TableKind, key: &[KeyField]) -> bool {
    kind == TableKind::Exact && KeyLayout::new(key).words() == 1
}

/// A key and its cell; no cell if the slot is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Slot {
    key: u64,
    cell: u64,
}

/// The engine.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    hash: RowHash,
    slots: Vec<Slot>,
    len: usize,
    successor: Option<Box<Successor>>,
    /// By handle.
    keys: Vec<u64>,
}

/// Slots that are to take over.
#[derive(Clone, Debug)]
struct Successor {
    slots: Vec<Slot>,
    /// Slots of the old table that have been copied. Others may be there too.
    copied: usize,
}

impl Words {
    pub fn new(seed: u64) -> Words {
        let slots = vec![Slot::default(); slots_for(0)];
        Words { hash: RowHash::new(seed, 1), slots, len: 0, successor: None, keys: Vec::new() }
    }

    pub fn clear(&mut self) {
        (self.slots, self.len) = (vec![Slot::default(); slots_for(0)], 0);
        (self.successor, self.keys) = (None, Vec::new());
    }

    /// Makes room for `additional` more entries at once.
    pub fn reserve(&mut self, additional: usize) {
        let wanted = slots_for(self.len + additional);
        if wanted > self.slots.len() {
            self.resize(wanted);
        }
    }

    /// Forgets entries with this handle and greater ones, which are gone.
    pub fn shrink(&mut self, handles: u32) {
        self.keys.truncate(handles as usize);
        self.keys.shrink_to_fit();
    }

    /// Bytes of memory that lookups read beside the cells.
    pub fn bytes(&self) -> usize {
        let successor = self.successor.as_ref().map_or(0, |successor| successor.slots.capacity());
        (self.slots.capacity() + successor) * size_of::<Slot>()
    }

    /// How keys are hashed, and the slots: a power of two, some of which are free.
    pub fn parts(&self) -> (&RowHash, &[Slot]) {
        (&self.hash, &self.slots)
    }

    /// Adds an entry with this key, which there is not yet, that runs a cell.
    pub fn insert(&mut self, handle: Handle, key: u64, cell: Cell) {
        let position = handle.0 as usize;
        self.keys.resize(self.keys.len().max(position + 1), 0);
        self.keys[position] = key;
        let wanted = slots_for(self.len + 1);
        self.successor.take_if(|successor| wanted > successor.slots.len());
        if wanted > self.slots.len() {
            self.change_to(wanted);
        }
        self.len += 1;
        self.write(key, cell);
        self.advance();
    }

    /// The cell that an entry runs.
    pub fn cell(&self, handle: Handle) -> Cell {
        self.find_one(self.keys[handle.0 as usize])
    }

    /// Makes an entry run another cell.
    pub fn modify(&mut self, handle: Handle, cell: Cell) {
        self.write(self.keys[handle.0 as usize], cell);
    }

    /// Removes an entry.
    pub fn remove(&mut self, handle: Handle) {
        let (key, hash) = (self.keys[handle.0 as usize], &self.hash);
        match &mut self.successor {
            None => remove(hash, &mut self.slots, key, |_, _| {}),
            Some(successor) => {
                remove(hash, &mut successor.slots, key, |_, _| {});
                // What moves to where copying has been is not met again.
                let (copied, target) = (successor.copied, &mut successor.slots);
                remove(hash, &mut self.slots, key, |to, moved| {
                    if to < copied {
                        place(hash, target, moved);
                    }
                });
            }
        }
        self.len -= 1;
        let wanted = slots_for(2 * self.len);
        if self.slots.len() > SPARSE_SLOTS_MAX && wanted <= self.slots.len() / 4 && self.successor.is_none() {
            self.change_to(wanted);
        }
        self.advance();
    }

    /// Writes the cell of a key that is there, or is to be.
    fn write(&mut self, key: u64, cell: Cell) {
        let slot = Slot { key, cell: u64::from(cell) };
        place(&self.hash, &mut self.slots, slot);
        if let Some(successor) = &mut self.successor {
            place(&self.hash, &mut successor.slots, slot);
        }
    }

    /// Makes the number of slots another, now or soon.
    fn change_to(&mut self, slots: usize) {
        if self.slots.len() <= COPIED_WHOLE_MAX {
            self.resize(slots);
        } else if self.successor.is_none() {
            self.successor = Some(Box::new(Successor { slots: free_slots(slots), copied: 0 }));
        }
    }

    /// Goes on with copying.
    fn advance(&mut self) {
        let Some(successor) = &mut self.successor else { return };
        let end = (successor.copied + COPIED_AT_ONCE).min(self.slots.len());
        for &slot in self.slots[successor.copied..end].iter().filter(|slot| slot.cell != 0) {
            place(&self.hash, &mut successor.slots, slot);
        }
        successor.copied = end;
        if end == self.slots.len() {
            self.slots = std::mem::take(&mut successor.slots);
            self.successor = None;
        }
    }

    fn resize(&mut self, slots: usize) {
        let mut larger = free_slots(slots);
        for &slot in self.slots.iter().filter(|slot| slot.cell != 0) {
            place(&self.hash, &mut larger, slot);
        }
        self.slots = larger;
        self.successor = None;
    }

    /// Finds keys.
    #[inline(always)]
    pub fn find(&self, keys: &[u64], found: &mut [Cell]) {
        if self.slots.len() > NEAR_SLOTS && keys.len() > 1 {
            for key in keys.iter().take(BURST_PACKETS_MAX) {
                prefetch(&raw const self.slots[self.hash.of(&[*key]) as usize & (self.slots.len() - 1)]);
            }
        }
        for (key, found) in keys.iter().zip(found) {
            *found = self.find_one(*key);
        }
    }

    #[inline(always)]
    fn find_one(&self, key: u64) -> Cell {
        let last = self.slots.len() - 1;
        let mut position = self.hash.of(&[key]) as usize;
        loop {
            let slot = self.slots[position & last];
            if slot.cell == 0 || slot.key == key {
                return slot.cell as Cell;
            }
            position += 1;
        }
    }
}

fn free_slots(count: usize) -> Vec<Slot> {
    let slots = vec![Slot::default(); count];
    prefer_large_pages(&slots);
    slots
}

/// Where a key is, or the free slot where it would be.
fn position(hash: &RowHash, slots: &[Slot], key: u64) -> usize {
    let last = slots.len() - 1;
    let mut position = hash.of(&[key]) as usize & last;
    while slots[position].cell != 0 && slots[position].key != key {
        position = (position + 1) & last;
    }
    position
}

/// Writes a slot in the place of its key.
fn place(hash: &RowHash, slots: &mut [Slot], slot: Slot) {
    let position = position(hash, slots, slot.key);
    slots[position] = slot;
}

/// Takes a key out, if it is there, and tells which others move where to close the gap.
fn remove(hash: &RowHash, slots: &mut [Slot], key: u64, mut moves: impl FnMut(usize, Slot)) {
    let last = slots.len() - 1;
    let mut free = position(hash, slots, key);
    if slots[free].cell == 0 {
        return;
    }
    let mut next = free;
    loop {
        next = (next + 1) & last;
        let slot = slots[next];
        if slot.cell == 0 {
            break;
        }
        // A slot may move back to the free place if its home is not behind that place.
        let home = hash.of(&[slot.key]) as usize & last;
        if next.wrapping_sub(home) & last >= next.wrapping_sub(free) & last {
            slots[free] = slot;
            moves(free, slot);
            free = next;
        }
    }
    slots[free] = Slot::default();
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rng;
    use std::collections::BTreeMap;

    /// Entries come, change and go while the table grows and shrinks.
    #[test]
    fn agrees_with_a_map_while_it_is_copied() {
        let mut rng = Rng::new(12);
        let mut words = Words::new(5);
        let mut there: BTreeMap<u32, (u64, Cell)> = BTreeMap::new();
        let (mut copied, mut next) = (0, 0u32);
        for (insertions, rounds) in [(9, 30_000), (2, 30_000), (8, 60_000), (1, 40_000)] {
            for _ in 0..rounds {
                copied += u32::from(words.successor.is_some());
                let cell = rng.between(1, 9) as Cell;
                if rng.below(10) < insertions || there.is_empty() {
                    // Odd factors keep keys distinct; key 0 is one like others.
                    let key = u64::from(next).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                    words.insert(Handle(next), key, cell);
                    there.insert(next, (key, cell));
                    next += 1;
                    continue;
                }
                let from = rng.below(u64::from(next)) as u32;
                let handle = there.range(from..).chain(&there).map(|(handle, _)| *handle).next().unwrap_or(0);
                assert_eq!(words.cell(Handle(handle)), there[&handle].1);
                if rng.chance(1, 5) {
                    words.modify(Handle(handle), cell);
                    there.insert(handle, (there[&handle].0, cell));
                } else {
                    words.remove(Handle(handle));
                    let (key, _) = there.remove(&handle).unwrap_or_default();
                    assert_eq!(words.find_one(key), 0);
                }
            }
            assert!(there.values().all(|&(key, cell)| words.find_one(key) == cell));
            assert_eq!(words.slots.iter().filter(|slot| slot.cell != 0).count(), there.len());
        }
        assert!(copied > 1000, "{copied} steps while copying");
    }
}
