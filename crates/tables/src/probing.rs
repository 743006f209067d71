//! Slots of a hash table with open addressing: what [`crate::hash_index`] and [`crate::words`] have in common.
//!
//! What enters: slots to be inserted, replaced and removed. What leaves: the slots, which lookups search themselves. A
//! slot is at its home, the low part of its hash, or at one of the following places (linear probing, wrapping around),
//! with no free slot between. So growing, shrinking and deleting (which moves later slots back, no tombstones) need
//! only the slots. The load is at most a half (a little more while the table grows), at most an eighth in a small
//! table, and at most a quarter in one that fits the nearest caches, so that nearly every search ends at its first slot
//! and branches are predicted. The cost is memory that is not read.
//!
//! # Growing without a pause
//!
//! A table that has become too small, or far too large, is resized incrementally. The following insertions and removals
//! fill its successor a few slots at a time, and it replaces the table when it has all slots. Until then searches use
//! the old table only. Two rules keep the successor correct: it has all slots of the old table before `copied`, and
//! replacements and removals in the old table are made in it, too. Slots inserted after `copied` are copied later; so
//! new memory is touched from its begin on, and not everywhere at once.

use crate::memory::Large;

/// A slot. The default is a free one.
pub(crate) trait Slot: Copy + Default {
    /// The function that returns a slot's hash.
    type Hasher;

    /// Whether the place is free.
    fn is_free(&self) -> bool;

    /// The hash whose low part is the home.
    fn hash(&self, hasher: &Self::Hasher) -> usize;

    /// Whether both are for the same key, which has at most one slot.
    fn is_same(&self, other: &Self) -> bool;
}

/// The slots.
#[derive(Clone, Debug)]
pub(crate) struct Probing<S: Slot> {
    slots: Large<S>,
    slots_min: usize,
    len: usize,
    successor: Option<Box<Successor<S>>>,
}

/// The successor's slots.
#[derive(Clone, Debug)]
struct Successor<S: Slot> {
    slots: Large<S>,
    /// Places of the old table that have been copied. The successor may have others, too.
    copied: usize,
}

const SLOTS_MIN: usize = 8;

/// The number of slots up to which a table is at most an eighth full.
pub(crate) const SPARSE_SLOTS_MAX: usize = 2048;

/// Slots up to which a table is at most a quarter full.
const LOOSE_SLOTS_MAX: usize = 1 << 16;

/// Slots up to which a table is copied at once, which takes some microseconds.
const COPIED_WHOLE_MAX: usize = 1 << 14;

/// Slots that each change copies. A table gets fuller by no more than a 64th of its slots while it is being copied.
const COPIED_AT_ONCE: usize = 64;

/// The number of slots for `len` of them in use.
fn slots_for(len: usize) -> usize {
    let sparse = (len * 8).next_power_of_two().clamp(SLOTS_MIN, SPARSE_SLOTS_MAX);
    let loose = (len * 4).next_power_of_two().min(LOOSE_SLOTS_MAX);
    sparse.max(loose).max((len * 2).next_power_of_two())
}

impl<S: Slot> Probing<S> {
    pub fn new() -> Probing<S> {
        Probing::with_slots_min(slots_for(0))
    }

    /// Slots that are never fewer than this, a power of two.
    pub fn with_slots_min(slots_min: usize) -> Probing<S> {
        Probing { slots: free_slots(slots_min), slots_min, len: 0, successor: None }
    }

    /// The number of slots for `len` of them in use.
    fn slots_for(&self, len: usize) -> usize {
        slots_for(len).max(self.slots_min)
    }

    /// Removes all slots.
    pub fn clear(&mut self) {
        *self = Probing::with_slots_min(self.slots_min);
    }

    /// The slots, a power of two, some of which are free.
    #[inline(always)]
    pub fn all(&self) -> &[S] {
        &self.slots
    }

    /// Whether there is a successor.
    #[cfg(test)]
    pub fn is_copied(&self) -> bool {
        self.successor.is_some()
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        let successor = self.successor.as_ref().map_or(0, |successor| successor.slots.capacity());
        (self.slots.capacity() + successor) * size_of::<S>()
    }

    /// Makes room for `additional` more: at once, if they are many compared to the present ones.
    pub fn reserve(&mut self, hasher: &S::Hasher, additional: usize) {
        let wanted = self.slots_for(self.len + additional);
        if wanted > self.slots.len() && (additional > self.len || self.slots.len() <= COPIED_WHOLE_MAX) {
            self.resize(hasher, wanted);
        }
    }

    /// Inserts a slot whose key has none yet.
    pub fn insert(&mut self, hasher: &S::Hasher, slot: S) {
        let wanted = self.slots_for(self.len + 1);
        self.successor.take_if(|successor| wanted > successor.slots.len());
        if wanted > self.slots.len() {
            self.change_to(hasher, wanted);
        }
        self.len += 1;
        let position = place(hasher, &mut self.slots, slot);
        if let Some(successor) = &mut self.successor
            && position < successor.copied
        {
            place(hasher, &mut successor.slots, slot);
        }
        self.advance(hasher);
    }

    /// Replaces `old`, which must be there, by `new`, of the same hash.
    pub fn replace(&mut self, hasher: &S::Hasher, old: S, new: S) {
        replace(hasher, &mut self.slots, old, new);
        if let Some(successor) = &mut self.successor {
            // A slot that the successor does not have yet will be copied.
            replace(hasher, &mut successor.slots, old, new);
        }
    }

    /// Removes a slot, which must be there.
    pub fn remove(&mut self, hasher: &S::Hasher, slot: S) {
        match &mut self.successor {
            None => remove(hasher, &mut self.slots, slot, |_, _| {}),
            Some(successor) => {
                remove(hasher, &mut successor.slots, slot, |_, _| {});
                // A slot that moves to a copied place would not be copied again.
                let (copied, target) = (successor.copied, &mut successor.slots);
                remove(hasher, &mut self.slots, slot, |to, moved| {
                    if to < copied {
                        place(hasher, target, moved);
                    }
                });
            }
        }
        self.len -= 1;
        // Far from the number at which it grows, so that it does not alternate.
        let wanted = self.slots_for(2 * self.len);
        if self.slots.len() > SPARSE_SLOTS_MAX && wanted <= self.slots.len() / 4 && self.successor.is_none() {
            self.change_to(hasher, wanted);
        }
        self.advance(hasher);
    }

    /// Changes the number of slots, at once or incrementally.
    fn change_to(&mut self, hasher: &S::Hasher, slots: usize) {
        if self.slots.len() <= COPIED_WHOLE_MAX {
            self.resize(hasher, slots);
        } else if self.successor.is_none() {
            self.successor = Some(Box::new(Successor { slots: free_slots(slots), copied: 0 }));
        }
    }

    /// Continues copying.
    fn advance(&mut self, hasher: &S::Hasher) {
        let Some(successor) = &mut self.successor else { return };
        let end = (successor.copied + COPIED_AT_ONCE).min(self.slots.len());
        for &slot in self.slots[successor.copied..end].iter().filter(|slot| !slot.is_free()) {
            place(hasher, &mut successor.slots, slot);
        }
        successor.copied = end;
        if end == self.slots.len() {
            self.slots = std::mem::take(&mut successor.slots);
            self.successor = None;
        }
    }

    fn resize(&mut self, hasher: &S::Hasher, slots: usize) {
        let mut other = free_slots(slots);
        for &slot in self.slots.iter().filter(|slot| !slot.is_free()) {
            place(hasher, &mut other, slot);
        }
        self.slots = other;
        self.successor = None;
    }
}

/// Free slots. For zero numbers and arrays of them, the library takes zeroed memory from the system.
fn free_slots<S: Slot>(count: usize) -> Large<S> {
    vec![S::default(); count].into()
}

/// Where a slot is, or the free place where it would be.
fn position<S: Slot>(hasher: &S::Hasher, slots: &[S], slot: &S) -> usize {
    let last = slots.len() - 1;
    let mut position = slot.hash(hasher) & last;
    while !slots[position].is_free() && !slots[position].is_same(slot) {
        position = (position + 1) & last;
    }
    position
}

/// Stores a slot and returns its place.
fn place<S: Slot>(hasher: &S::Hasher, slots: &mut [S], slot: S) -> usize {
    let position = position(hasher, slots, &slot);
    slots[position] = slot;
    position
}

fn replace<S: Slot>(hasher: &S::Hasher, slots: &mut [S], old: S, new: S) {
    let position = position(hasher, slots, &old);
    if !slots[position].is_free() {
        slots[position] = new;
    }
}

/// Removes a slot, if it is there, and reports the moves of others that close the gap.
fn remove<S: Slot>(hasher: &S::Hasher, slots: &mut [S], slot: S, mut moves: impl FnMut(usize, S)) {
    let last = slots.len() - 1;
    let mut free = position(hasher, slots, &slot);
    if slots[free].is_free() {
        return;
    }
    let mut next = free;
    loop {
        next = (next + 1) & last;
        let slot = slots[next];
        if slot.is_free() {
            break;
        }
        // A slot may move back to the free place if its home is not after that place.
        let home = slot.hash(hasher) & last;
        if next.wrapping_sub(home) & last >= next.wrapping_sub(free) & last {
            slots[free] = slot;
            moves(free, slot);
            free = next;
        }
    }
    slots[free] = S::default();
}
