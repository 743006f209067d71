//! Which digests controllers have been told of, so that the worker need not say them again.
//!
//! What enters: marks of digests, from who makes lists of them. What leaves: whether a mark is there, for the worker,
//! without a lock: a program that sends the same digest with each of many packets would wake the server with each. A
//! mark stands for a digest by a hash whose key nobody outside knows. One mark may push another out, and then a digest
//! is said again, which whoever makes lists finds out; two digests that have the same mark are too seldom to count.

use base::Bits;
use ir::DigestId;
use std::hash::{BuildHasher as _, Hash as _, Hasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

/// Marks that there is room for.
const SLOTS: usize = 4096;

/// What stands for a digest; never 0.
pub(crate) type Mark = u64;

/// The marks of what controllers know.
#[derive(Debug)]
pub(crate) struct Told {
    slots: Vec<AtomicU64>,
    key: RandomState,
}

impl Default for Told {
    fn default() -> Told {
        Told { slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect(), key: RandomState::new() }
    }
}

impl Told {
    /// What stands for this digest.
    pub fn mark(&self, digest: DigestId, values: &[Bits]) -> Mark {
        let mut hasher = self.key.build_hasher();
        digest.hash(&mut hasher);
        values.iter().for_each(|value| value.limbs().hash(&mut hasher));
        hasher.finish().max(1)
    }

    /// Whether controllers know it.
    pub fn has(&self, mark: Mark) -> bool {
        self.slot(mark).load(Ordering::Relaxed) == mark
    }

    /// They know it from now on.
    pub fn add(&self, mark: Mark) {
        self.slot(mark).store(mark, Ordering::Relaxed);
    }

    /// They are to be told of it again.
    pub fn remove(&self, mark: Mark) {
        // Another may be there by now.
        let _other = self.slot(mark).compare_exchange(mark, 0, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// They know nothing.
    pub fn clear(&self) {
        self.slots.iter().for_each(|slot| slot.store(0, Ordering::Relaxed));
    }

    fn slot(&self, mark: Mark) -> &AtomicU64 {
        &self.slots[mark as usize % SLOTS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::index::Id as _;

    #[test]
    fn a_mark_is_there_until_it_is_taken_away_or_pushed_out() {
        let told = Told::default();
        let mark = |value| told.mark(DigestId::from_index(0), &[Bits::from_u64(64, value)]);
        assert!(!told.has(mark(1)));
        told.add(mark(1));
        assert!(told.has(mark(1)) && !told.has(mark(2)));
        assert_ne!(mark(1), told.mark(DigestId::from_index(1), &[Bits::from_u64(64, 1)]));
        let other = mark(1) + SLOTS as u64;
        told.add(other);
        assert!(told.has(other) && !told.has(mark(1)), "it is pushed out");
        told.remove(mark(1));
        assert!(told.has(other), "only who is there is taken away");
        told.clear();
        assert!(!told.has(other));
    }
}
