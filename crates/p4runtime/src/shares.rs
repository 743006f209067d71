//! The share of a connection in common resources: memory of requests and of responses, turns to read.
//!
//! What enters: the connection, and how much is left. What leaves: whether the request is granted. A connection may
//! hold at most three times as much as is left for the others. So a single one can have most of a pool, and however
//! many hold their maximum, as clients do that never read their responses, something is left for the next one. A
//! primary controller may take all that is left, and a part of each pool is reserved for primaries.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tokio::sync::Semaphore;

/// How many times as much as is left a connection may hold.
const TIMES_MAX: usize = 3;

/// A pool is scarce if less than this part of what is not reserved is left. One connection alone leaves a quarter.
const SCARCE_PART: usize = 8;

/// The most short and the most long responses of a connection that are collected at once, so that those of other
/// connections do not wait for all of them.
const COLLECTING_MAX: usize = 4;

/// The most responses of a connection that are collected or wait to be read.
const ANSWERS_MAX: usize = 32;

/// The resources that a connection holds.
#[derive(Debug)]
pub(crate) struct Shares {
    /// Bytes of its requests.
    pub requests: Arc<Share>,
    /// Bytes of responses that wait for it.
    pub answers: Arc<Share>,
    /// A permit of one of these is held until a response is collected, of the first if it is short.
    pub collecting_short: Arc<Semaphore>,
    pub collecting: Arc<Semaphore>,
    /// When a long response was last collected: the number of the turn.
    pub last_turn: Arc<AtomicU64>,
    /// A permit of this is held until a response was read.
    pub unread: Arc<Semaphore>,
}

impl Default for Shares {
    fn default() -> Shares {
        Shares {
            requests: Arc::default(),
            answers: Arc::default(),
            collecting_short: Arc::new(Semaphore::new(COLLECTING_MAX)),
            collecting: Arc::new(Semaphore::new(COLLECTING_MAX)),
            last_turn: Arc::default(),
            unread: Arc::new(Semaphore::new(ANSWERS_MAX)),
        }
    }
}

/// The bytes that a connection holds of a pool.
#[derive(Debug, Default)]
pub(crate) struct Share(AtomicUsize);

/// Memory for all connections.
#[derive(Debug)]
pub(crate) struct Pool {
    left: AtomicUsize,
    /// Bytes that are reserved for primaries.
    reserved: usize,
    /// It is scarce if less is left.
    scarce: usize,
}

impl Pool {
    /// A pool of this many bytes, part of which is reserved for primaries.
    pub const fn new(bytes: usize, reserved: usize) -> Pool {
        Pool { left: AtomicUsize::new(bytes), reserved, scarce: reserved + (bytes - reserved) / SCARCE_PART }
    }

    /// Whether so little is left that several connections must have their share, or more than that.
    pub fn is_scarce(&self) -> bool {
        self.left.load(Ordering::Relaxed) < self.scarce
    }

    /// Reserves bytes for a connection. False if there are too few, or it has its share.
    pub fn take(&self, share: &Share, is_primary: bool, bytes: usize) -> bool {
        let held = share.0.fetch_add(bytes, Ordering::Relaxed);
        let less = |left: usize| {
            let after = left.checked_sub(bytes)?;
            let free = after.checked_sub(self.reserved);
            (is_primary || free.is_some_and(|free| held + bytes <= free.saturating_mul(TIMES_MAX))).then_some(after)
        };
        let is_taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok();
        if !is_taken {
            share.0.fetch_sub(bytes, Ordering::Relaxed);
        }
        is_taken
    }

    /// Releases bytes.
    pub fn give_back(&self, share: &Share, bytes: usize) {
        share.0.fetch_sub(bytes, Ordering::Relaxed);
        self.left.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The bytes that are free.
    #[cfg(test)]
    pub fn left(&self) -> usize {
        self.left.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How much a connection gets, a byte at a time.
    fn all_that_it_gets(pool: &Pool, share: &Share, is_primary: bool) -> usize {
        (0..).take_while(|_| pool.take(share, is_primary, 1)).count()
    }

    #[test]
    fn something_is_left_however_many_take_what_they_can() {
        let pool = Pool::new(1_000_000, 100_000);
        let hogs: Vec<Share> = (0..100).map(|_| Share::default()).collect();
        let taken: Vec<usize> = hogs.iter().map(|hog| all_that_it_gets(&pool, hog, false)).collect();
        assert_eq!(taken[0], 675_000, "one alone gets three quarters of what is not reserved");
        let mut late = 0;
        for hog in &hogs {
            late += all_that_it_gets(&pool, hog, false);
        }
        assert_eq!(late, 0, "repeating a request gains nothing");
        let small = Share::default();
        pool.give_back(&hogs[1], taken[1] / 2);
        assert!(all_that_it_gets(&pool, &small, false) > 10_000, "who comes next has a share of what there is");
        let primary = Share::default();
        assert!(all_that_it_gets(&pool, &primary, true) >= 100_000, "the primary has what is reserved");
        pool.give_back(&primary, 100_000);
        assert!(pool.take(&primary, true, 100_000));
    }

    #[test]
    fn what_was_refused_is_not_held() {
        let (pool, share) = (Pool::new(100, 0), Share::default());
        assert!(!pool.take(&share, false, 80) && !pool.take(&share, true, 101));
        assert!(pool.take(&share, false, 75) && pool.left() == 25);
        pool.give_back(&share, 75);
        assert!(pool.take(&share, false, 75));
    }
}
