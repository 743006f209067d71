//! The entries of a table by their handles, in chunks that copies share until one changes.
//!
//! What enters: entries. What leaves: the same, also as a copy of all of them at some moment, while the table changes:
//! copying a million entries takes a few microseconds, and each chunk that changes later is copied once.

use crate::spec::Entry;
use std::sync::Arc;

/// Entries of a chunk.
const CHUNK: usize = 256;

/// Entries by handle; handles that are free have none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    /// All full but the last.
    chunks: Vec<Arc<Vec<Option<Entry>>>>,
}

impl Slots {
    /// Every handle in use is below this.
    pub fn len(&self) -> usize {
        self.chunks.last().map_or(0, |last| (self.chunks.len() - 1) * CHUNK + last.len())
    }

    pub fn get(&self, index: usize) -> Option<&Entry> {
        self.chunks.get(index / CHUNK)?.get(index % CHUNK)?.as_ref()
    }

    pub fn get_mut(&mut self, index: usize) -> Option<&mut Entry> {
        self.slot_mut(index)?.as_mut()
    }

    fn slot_mut(&mut self, index: usize) -> Option<&mut Option<Entry>> {
        Arc::make_mut(self.chunks.get_mut(index / CHUNK)?).get_mut(index % CHUNK)
    }

    /// Adds a slot that is free.
    pub fn push_free(&mut self) {
        match self.chunks.last_mut() {
            Some(last) if last.len() < CHUNK => Arc::make_mut(last).push(None),
            _ => {
                let mut chunk = Vec::with_capacity(if self.chunks.is_empty() { 1 } else { CHUNK });
                chunk.push(None);
                self.chunks.push(Arc::new(chunk));
            }
        }
    }

    /// Stores an entry in an existing slot.
    pub fn put(&mut self, index: usize, entry: Entry) {
        if let Some(slot) = self.slot_mut(index) {
            *slot = Some(entry);
        }
    }

    pub fn take(&mut self, index: usize) -> Option<Entry> {
        self.get(index)?;
        self.slot_mut(index)?.take()
    }

    /// Whether the last slot is free; not if there is none.
    pub fn ends_free(&self) -> bool {
        self.chunks.last().and_then(|last| last.last()).is_some_and(Option::is_none)
    }

    /// Removes the last slot.
    pub fn pop(&mut self) {
        let Some(last) = self.chunks.last_mut() else { return };
        if last.len() == 1 {
            self.chunks.pop();
        } else {
            Arc::make_mut(last).pop();
        }
    }

    /// The entries from a handle on.
    pub fn iter_from(&self, index: usize) -> impl Iterator<Item = &Entry> {
        let within = self.chunks.get(index / CHUNK).map_or(&[][..], |chunk| chunk.get(index % CHUNK..).unwrap_or(&[]));
        let behind = self.chunks.iter().skip(index / CHUNK + 1).flat_map(|chunk| chunk.iter());
        within.iter().chain(behind).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{EntrySpec, Handle};
    use base::Rng;

    fn entry(handle: usize, priority: i32) -> Entry {
        let spec = EntrySpec { key: Vec::new(), priority, action: 0, args: Vec::new() };
        Entry { handle: Handle(handle as u32), spec, sequence: 0, is_const: false, attributes: None }
    }

    fn contents(slots: &Slots) -> Vec<(u32, i32)> {
        slots.iter_from(0).map(|entry| (entry.handle.0, entry.spec.priority)).collect()
    }

    /// Against a plain vector; and copies stay what they were.
    #[test]
    fn copies_are_of_their_moment() {
        let mut rng = Rng::new(5);
        let (mut slots, mut plain) = (Slots::default(), Vec::<Option<i32>>::new());
        let mut copies = Vec::new();
        for step in 0..20_000 {
            let index = rng.below(plain.len() as u64 + 1) as usize;
            match rng.below(8) {
                0..=2 => {
                    slots.push_free();
                    slots.put(plain.len(), entry(plain.len(), step));
                    plain.push(Some(step));
                }
                3 if index < plain.len() => {
                    assert_eq!(slots.take(index).map(|entry| entry.spec.priority), plain[index].take());
                    while slots.ends_free() {
                        slots.pop();
                        assert_eq!(plain.pop(), Some(None));
                    }
                }
                4 => {
                    let slot = slots.get_mut(index);
                    assert_eq!(slot.is_some(), plain.get(index).is_some_and(Option::is_some));
                    if let (Some(entry), Some(Some(value))) = (slot, plain.get_mut(index)) {
                        (entry.spec.priority, *value) = (step, step);
                    }
                }
                _ => {}
            }
            assert_eq!(slots.len(), plain.len());
            let found: Vec<i32> = slots.iter_from(index).map(|entry| entry.spec.priority).take(5).collect();
            assert_eq!(found, plain.iter().skip(index).flatten().copied().take(5).collect::<Vec<_>>());
            if step % 1000 == 0 {
                copies.push((slots.clone(), contents(&slots)));
            }
        }
        assert!(plain.len() > 2 * CHUNK);
        for (copy, then) in copies {
            assert_eq!(contents(&copy), then);
        }
    }
}
