//! Where the threads of a run wait for each other, often and shortly.
//!
//! What enters: threads that have come to the end of a window. What leaves: all of them together, or the news that one
//! is gone for good. A thread spins for a while, which is quicker than to sleep, but only if each has a processor
//! of its own: otherwise it would take the processor from those that it waits for.

use std::hint;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

/// How often a thread spins before it sleeps: about as long as it takes to sleep and to be woken, some 20 us where a
/// spin takes 140 cycles. Other processes on the machine may delay the other threads for much longer, and would get the
/// processor later.
const SPINS: u32 = 300;

/// The threads of all networks of this process that run now: a sweep has several networks.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// This many threads more run as long as this exists.
pub(super) struct Running(usize);

impl Running {
    pub(super) fn new(threads: usize) -> Running {
        RUNNING.fetch_add(threads, Ordering::Relaxed);
        Running(threads)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// How often a thread spins if this many threads run on this many processors.
fn spin_budget(threads: usize, processors: usize) -> u32 {
    if threads > processors { 0 } else { SPINS }
}

/// A barrier. What waiting threads read is in other cache lines than what arriving threads write.
pub(super) struct Barrier {
    count: usize,
    processors: usize,
    arrived: Apart<AtomicUsize>,
    round: Apart<AtomicUsize>,
    is_broken: AtomicBool,
    /// The threads that sleep, or are about to.
    sleeping: AtomicUsize,
    mutex: Mutex<()>,
    condvar: Condvar,
}

/// A value with a line of the cache of its own.
#[derive(Default)]
#[repr(align(128))]
struct Apart<T>(T);

impl Barrier {
    /// A barrier for this many threads.
    pub(super) fn new(count: usize) -> Barrier {
        Barrier {
            count,
            processors: thread::available_parallelism().map_or(1, usize::from),
            arrived: Apart::default(),
            round: Apart::default(),
            is_broken: AtomicBool::new(false),
            sleeping: AtomicUsize::new(0),
            mutex: Mutex::new(()),
            condvar: Condvar::new(),
        }
    }

    /// Waits for all threads; returns false if one of them is gone for good.
    pub(super) fn wait(&self) -> bool {
        self.wait_with(spin_budget(RUNNING.load(Ordering::Relaxed), self.processors), hint::spin_loop)
    }

    /// Has the others return from `wait`, now and whenever they come to it.
    pub(super) fn leave_for_good(&self) {
        self.is_broken.store(true, Ordering::SeqCst);
        self.wake_all();
    }

    /// Waits for all threads, and spins at most `spin_budget` times before it sleeps; calls `spin` each time.
    fn wait_with(&self, spin_budget: u32, spin: impl Fn()) -> bool {
        let (arrived, shown) = (&self.arrived.0, &self.round.0);
        let round = shown.load(Ordering::Acquire);
        if arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.count {
            arrived.store(0, Ordering::Relaxed);
            shown.store(round + 1, Ordering::SeqCst);
            self.wake_all();
            return true;
        }
        let mut left = spin_budget;
        while shown.load(Ordering::Acquire) == round {
            if self.is_broken.load(Ordering::Acquire) {
                return false;
            }
            match left.checked_sub(1) {
                Some(less) => {
                    left = less;
                    spin();
                }
                None => self.sleep(round),
            }
        }
        true
    }

    /// Sleeps until the round is over.
    fn sleep(&self, round: usize) {
        self.sleeping.fetch_add(1, Ordering::SeqCst);
        let must_wait =
            |(): &mut ()| self.round.0.load(Ordering::SeqCst) == round && !self.is_broken.load(Ordering::SeqCst);
        let guard = self.mutex.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.condvar.wait_while(guard, must_wait).unwrap_or_else(PoisonError::into_inner));
        self.sleeping.fetch_sub(1, Ordering::SeqCst);
    }

    /// Wakes the threads that sleep. Such a thread counts itself before it reads the round, and this reads
    /// the count after the round has changed: one of the two sees the other.
    fn wake_all(&self) {
        if self.sleeping.load(Ordering::SeqCst) > 0 {
            drop(self.mutex.lock().unwrap_or_else(PoisonError::into_inner));
            self.condvar.notify_all();
        }
    }
}

/// Breaks the barrier when a thread ends by a panic.
pub(super) struct PanicGuard<'a>(pub(super) &'a Barrier);

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.leave_for_good();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Threads that meet `rounds` times and spin at most `allowed` times before they sleep; returns the sum of all
    /// spins.
    fn meet(threads: usize, rounds: usize, allowed: u32) -> usize {
        let (barrier, spins) = (Barrier::new(threads), AtomicUsize::new(0));
        let spin = || {
            spins.fetch_add(1, Ordering::Relaxed);
        };
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| (0..rounds).for_each(|_| assert!(barrier.wait_with(allowed, spin))));
            }
        });
        assert_eq!((barrier.round.0.into_inner(), barrier.sleeping.into_inner()), (rounds, 0));
        spins.into_inner()
    }

    #[test]
    fn threads_without_a_processor_of_their_own_sleep_at_once() {
        assert_eq!([spin_budget(2, 2), spin_budget(3, 2), spin_budget(8, 64), spin_budget(2, 1)], [SPINS, 0, SPINS, 0]);
        for threads in [2, 3, 17] {
            assert_eq!(meet(threads, 500, spin_budget(threads, 1)), 0);
        }
        assert!(meet(3, 500, 1) <= 1_000, "two of three wait, each spins once");
    }

    #[test]
    fn all_networks_of_a_process_are_counted() {
        let (_one, _two) = (Running::new(1_000), Running::new(500));
        // Others may run beside this test.
        assert!(RUNNING.load(Ordering::Relaxed) >= 1_500);
    }

    #[test]
    fn a_thread_that_is_gone_holds_no_other_up() {
        for allowed in [0, 10] {
            let barrier = Barrier::new(3);
            thread::scope(|scope| {
                let waiting: Vec<_> = (0..2).map(|_| scope.spawn(|| barrier.wait_with(allowed, || {}))).collect();
                barrier.leave_for_good();
                // A panic ends a thread as well.
                assert!(waiting.into_iter().all(|it| !it.join().unwrap()));
            });
        }
    }
}
