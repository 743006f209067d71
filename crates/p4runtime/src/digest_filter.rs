//! Digests that controllers have already, so that the worker need not send them again.
//!
//! What enters: marks of digests, from the task that groups digests into lists. What leaves: whether a mark is
//! present, for the worker, without a lock: a program that sends the same digest with each of many packets would wake
//! the server with each. A mark is a hash of a digest with a secret key. A mark may replace another one; the other
//! digest is then sent again, and suppressed when lists are made. Two digests with the same mark are too rare to
//! matter.

use base::Bits;
use ir::DigestId;
use std::hash::{BuildHasher as _, Hash as _, Hasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of marks.
const SLOTS: usize = 4096;

/// The mark of a digest; never 0.
pub(crate) type Mark = u64;

/// The marks of digests that controllers have.
#[derive(Debug)]
pub(crate) struct DigestFilter {
    slots: Vec<AtomicU64>,
    key: RandomState,
}

impl Default for DigestFilter {
    fn default() -> DigestFilter {
        DigestFilter { slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect(), key: RandomState::new() }
    }
}

impl DigestFilter {
    /// The mark of this digest.
    pub fn mark(&self, digest: DigestId, values: &[Bits]) -> Mark {
        let mut hasher = self.key.build_hasher();
        digest.hash(&mut hasher);
        values.iter().for_each(|value| value.limbs().hash(&mut hasher));
        hasher.finish().max(1)
    }

    /// Whether controllers have it.
    pub fn has(&self, mark: Mark) -> bool {
        self.slot(mark).load(Ordering::Relaxed) == mark
    }

    /// Controllers have it from now on.
    pub fn add(&self, mark: Mark) {
        self.slot(mark).store(mark, Ordering::Relaxed);
    }

    /// It must be sent again.
    pub fn remove(&self, mark: Mark) {
        // Another mark may have replaced it.
        let _other = self.slot(mark).compare_exchange(mark, 0, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Removes all marks.
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
        let filter = DigestFilter::default();
        let mark = |value| filter.mark(DigestId::from_index(0), &[Bits::from_u64(64, value)]);
        assert!(!filter.has(mark(1)));
        filter.add(mark(1));
        assert!(filter.has(mark(1)) && !filter.has(mark(2)));
        assert_ne!(mark(1), filter.mark(DigestId::from_index(1), &[Bits::from_u64(64, 1)]));
        let other = mark(1) + SLOTS as u64;
        filter.add(other);
        assert!(filter.has(other) && !filter.has(mark(1)), "it is pushed out");
        filter.remove(mark(1));
        assert!(filter.has(other), "only who is there is taken away");
        filter.clear();
        assert!(!filter.has(other));
    }
}
