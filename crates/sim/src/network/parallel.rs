//! Several partitions, each on a thread, window by window.
//!
//! What enters: partitions, and the least latency between two of them. What leaves: the same state that one thread
//! would have reached. In each window a partition runs the events before the earliest event of all plus that latency:
//! what others send in the window arrives after it.
//!
//! * [`barrier`]: where the threads wait for each other.

mod barrier;

use self::barrier::{Barrier, PanicGuard, Running};
use crate::network::partition::Partition;
use crate::network::shared_state::Mail;
use crate::time::Time;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Runs all events before `end`.
pub(super) fn run_until(partitions: &mut [Partition], look_ahead: Time, end: Time) {
    let _running = Running::new(partitions.len());
    let synchroniser = Synchroniser::new(partitions.len());
    thread::scope(|scope| {
        let mut threads: Vec<_> = partitions.iter_mut().enumerate().collect();
        let first = threads.remove(0);
        for (index, partition) in threads {
            scope.spawn({
                let synchroniser = &synchroniser;
                move || synchroniser.run(index, partition, look_ahead, end)
            });
        }
        synchroniser.run(first.0, first.1, look_ahead, end);
    });
}

/// What a thread shows the others. It has a line of the cache of its own, so that a thread that writes disturbs no
/// other.
#[derive(Default)]
#[repr(align(128))]
struct Progress {
    /// Its earliest event in picoseconds.
    next_event: AtomicU64,
    /// The events that it has run in the present window.
    events: AtomicU64,
}

/// What the threads share.
struct Synchroniser {
    barrier: Barrier,
    /// By partition.
    progress: Vec<Progress>,
    /// By receiving and sending partition: packets of the last window.
    mail: Vec<Vec<Mutex<Vec<Mail>>>>,
}

impl Synchroniser {
    fn new(count: usize) -> Synchroniser {
        let boxes = || (0..count).map(|_| Mutex::default()).collect();
        Synchroniser {
            barrier: Barrier::new(count),
            progress: (0..count).map(|_| Progress::default()).collect(),
            mail: (0..count).map(|_| boxes()).collect(),
        }
    }

    fn run(&self, index: usize, partition: &mut Partition, look_ahead: Time, end: Time) {
        // If a node panics, the others must not wait for its thread.
        let _panic_guard = PanicGuard(&self.barrier);
        loop {
            let own = &self.progress[index];
            own.next_event.store(partition.next_event().ps(), Ordering::Relaxed);
            if !self.barrier.wait() {
                return;
            }
            let progress = || self.progress.iter();
            let earliest = progress().map(|it| it.next_event.load(Ordering::Relaxed)).min().unwrap_or(u64::MAX);
            if Time::from_ps(earliest) >= end {
                return;
            }
            let before = partition.events();
            partition.run_until(end.min(Time::from_ps(earliest) + look_ahead));
            own.events.store(partition.events() - before, Ordering::Relaxed);
            if partition.is_exhausted() {
                return self.barrier.leave_for_good();
            }
            self.post(index, partition);
            if !self.barrier.wait() {
                return;
            }
            if index == 0 {
                partition.windows.count(progress().map(|it| it.events.load(Ordering::Relaxed)));
            }
            self.collect(index, partition);
        }
    }

    fn post(&self, index: usize, partition: &mut Partition) {
        for (receiver, outbox) in partition.shared.outboxes.iter_mut().enumerate().filter(|(_, it)| !it.is_empty()) {
            let mut mail = self.mail[receiver][index].lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::swap(&mut *mail, outbox);
        }
    }

    fn collect(&self, index: usize, partition: &mut Partition) {
        for sender in &self.mail[index] {
            let mut mail = sender.lock().unwrap_or_else(PoisonError::into_inner);
            partition.accept(mail.drain(..));
        }
    }
}

/// What was counted of windows: how evenly the work was divided.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Windows {
    /// How many.
    pub count: u64,
    /// The sum of all threads' events.
    pub events: u64,
    /// The sum over the windows of the most events that a thread had: no faster can all be than these one after the
    /// other.
    pub longest: u64,
}

impl Windows {
    fn count(&mut self, events: impl Iterator<Item = u64> + Clone) {
        self.count += 1;
        self.events += events.clone().sum::<u64>();
        self.longest += events.max().unwrap_or(0);
    }
}
