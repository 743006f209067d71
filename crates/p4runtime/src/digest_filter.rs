//! Digests that controllers have already, or that are queued for the server, so that the worker need not send them
//! again.
//!
//! What enters: marks of digests, from the task that groups digests into lists and, for those in the queue, from the
//! worker. What leaves: whether a mark is present, for the worker, without a lock: a program that sends the same digest
//! with each of many packets would wake the server with each, and on a busy machine they would crowd others out of the
//! queue. A mark is a hash of a digest with a secret key. A mark may replace another one; the other
//! digest is then sent again, and suppressed when lists are made. Two digests with the same mark are too rare to
//! matter.

use base::Bits;
use base::index::Id as _;
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
    /// A bit for each of the first digests of a program: whether repetitions of its messages are suppressed.
    suppressed: AtomicU64,
}

impl Default for DigestFilter {
    fn default() -> DigestFilter {
        let slots = (0..SLOTS).map(|_| AtomicU64::new(0)).collect();
        DigestFilter { slots, key: RandomState::new(), suppressed: AtomicU64::new(0) }
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

    /// Whether repetitions of a digest are suppressed, which the server sets: its lists are acknowledged.
    pub fn suppresses(&self, digest: DigestId) -> bool {
        self.suppressed.load(Ordering::Relaxed) & bit(digest) != 0
    }

    /// Sets whether they are.
    pub fn set_suppresses(&self, digest: DigestId, suppresses: bool) {
        match suppresses {
            true => self.suppressed.fetch_or(bit(digest), Ordering::Relaxed),
            false => self.suppressed.fetch_and(!bit(digest), Ordering::Relaxed),
        };
    }

    /// Whether controllers have it, or the queue.
    pub fn has(&self, mark: Mark) -> bool {
        self.slot(mark).load(Ordering::Relaxed) == mark
    }

    /// Controllers, or the queue, have it from now on.
    pub fn add(&self, mark: Mark) {
        self.slot(mark).store(mark, Ordering::Relaxed);
    }

    /// It must be sent again.
    pub fn remove(&self, mark: Mark) {
        // Another mark may have replaced it.
        let _other = self.slot(mark).compare_exchange(mark, 0, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Removes all marks, and forgets which digests are suppressed: they are those of another program.
    pub fn clear(&self) {
        self.suppressed.store(0, Ordering::Relaxed);
        self.slots.iter().for_each(|slot| slot.store(0, Ordering::Relaxed));
    }

    fn slot(&self, mark: Mark) -> &AtomicU64 {
        &self.slots[mark as usize % SLOTS]
    }
}

/// The bit of a digest; none for those that have no bit.
fn bit(digest: DigestId) -> u64 {
    1u64.checked_shl(digest.index() as u32).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn repetitions_are_suppressed_for_each_digest() {
        let filter = DigestFilter::default();
        let [first, second, far] = [0, 1, 64].map(DigestId::from_index);
        filter.set_suppresses(first, true);
        filter.set_suppresses(far, true);
        assert!(filter.suppresses(first) && !filter.suppresses(second) && !filter.suppresses(far));
        filter.set_suppresses(first, false);
        assert!(!filter.suppresses(first));
        filter.set_suppresses(first, true);
        filter.clear();
        assert!(!filter.suppresses(first), "another program has others");
    }
}
