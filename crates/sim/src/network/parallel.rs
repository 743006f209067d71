//! Several partitions, each on a thread, window by window.
//!
//! What enters: partitions, and the least latency between two of them. What leaves: the same state that one thread
//! would have reached. In each window a partition runs the events before the earliest event of all plus that latency:
//! what others send in the window arrives after it.

use crate::network::fabric::Mail;
use crate::network::partition::Partition;
use crate::time::Time;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

/// How often a thread looks for the others before it sleeps.
const SPINS: u32 = 2_000;

/// Runs all events before `end`.
pub(super) fn run_until(partitions: &mut [Partition], look_ahead: Time, end: Time) {
    let meeting = Meeting::new(partitions.len());
    thread::scope(|scope| {
        let mut threads: Vec<_> = partitions.iter_mut().enumerate().collect();
        let first = threads.remove(0);
        for (index, partition) in threads {
            scope.spawn({
                let meeting = &meeting;
                move || meeting.run(index, partition, look_ahead, end)
            });
        }
        meeting.run(first.0, first.1, look_ahead, end);
    });
}

/// What a thread shows the others. It has a line of the cache of its own, so that a thread that writes disturbs no
/// other.
#[derive(Default)]
#[repr(align(128))]
struct Board {
    /// Its earliest event in picoseconds.
    next_event: AtomicU64,
    /// The events that it has run in the present window.
    events: AtomicU64,
}

/// What the threads share.
struct Meeting {
    barrier: Barrier,
    /// By partition.
    boards: Vec<Board>,
    /// By receiving and sending partition: packets of the last window.
    mail: Vec<Vec<Mutex<Vec<Mail>>>>,
}

impl Meeting {
    fn new(count: usize) -> Meeting {
        let boxes = || (0..count).map(|_| Mutex::default()).collect();
        Meeting {
            barrier: Barrier::new(count),
            boards: (0..count).map(|_| Board::default()).collect(),
            mail: (0..count).map(|_| boxes()).collect(),
        }
    }

    fn run(&self, index: usize, partition: &mut Partition, look_ahead: Time, end: Time) {
        // If a node panics, the others must not wait for its thread.
        let _departure = Departure(&self.barrier);
        loop {
            let board = &self.boards[index];
            board.next_event.store(partition.next_event().ps(), Ordering::Relaxed);
            if !self.barrier.wait() {
                return;
            }
            let boards = || self.boards.iter();
            let earliest = boards().map(|it| it.next_event.load(Ordering::Relaxed)).min().unwrap_or(u64::MAX);
            if Time::from_ps(earliest) >= end {
                return;
            }
            let before = partition.events();
            partition.run_until(end.min(Time::from_ps(earliest) + look_ahead));
            board.events.store(partition.events() - before, Ordering::Relaxed);
            if partition.is_exhausted() {
                return self.barrier.leave_for_good();
            }
            self.post(index, partition);
            if !self.barrier.wait() {
                return;
            }
            if index == 0 {
                partition.windows.count(boards().map(|it| it.events.load(Ordering::Relaxed)));
            }
            self.collect(index, partition);
        }
    }

    fn post(&self, index: usize, partition: &mut Partition) {
        for (receiver, outbox) in partition.fabric.outboxes.iter_mut().enumerate().filter(|(_, it)| !it.is_empty()) {
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

/// Where threads wait for each other, often and shortly. What they look at is apart from what those who arrive change.
struct Barrier {
    count: usize,
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
    fn new(count: usize) -> Barrier {
        Barrier {
            count,
            arrived: Apart::default(),
            round: Apart::default(),
            is_broken: AtomicBool::new(false),
            sleeping: AtomicUsize::new(0),
            mutex: Mutex::new(()),
            condvar: Condvar::new(),
        }
    }

    /// Has the others return from `wait`, now and whenever they come to it.
    fn leave_for_good(&self) {
        self.is_broken.store(true, Ordering::SeqCst);
        self.wake_all();
    }

    /// Wakes the threads that sleep. Such a thread counts itself before it looks at what it waits for, and this looks
    /// at the count after that has changed: one of the two sees the other.
    fn wake_all(&self) {
        if self.sleeping.load(Ordering::SeqCst) > 0 {
            drop(self.mutex.lock().unwrap_or_else(PoisonError::into_inner));
            self.condvar.notify_all();
        }
    }

    /// Sleeps until the round is over. A thread that kept looking would take the processor from those that it waits
    /// for, if there are more threads than processors.
    fn sleep(&self, round: usize) {
        self.sleeping.fetch_add(1, Ordering::SeqCst);
        let waits =
            |(): &mut ()| self.round.0.load(Ordering::SeqCst) == round && !self.is_broken.load(Ordering::SeqCst);
        let guard = self.mutex.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.condvar.wait_while(guard, waits).unwrap_or_else(PoisonError::into_inner));
        self.sleeping.fetch_sub(1, Ordering::SeqCst);
    }

    /// Waits for all threads; returns false if one of them is gone for good.
    fn wait(&self) -> bool {
        let (arrived, shown) = (&self.arrived.0, &self.round.0);
        let round = shown.load(Ordering::Acquire);
        if arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.count {
            arrived.store(0, Ordering::Relaxed);
            shown.store(round + 1, Ordering::SeqCst);
            self.wake_all();
            return true;
        }
        let mut spins = 0;
        while shown.load(Ordering::Acquire) == round {
            if self.is_broken.load(Ordering::Acquire) {
                return false;
            }
            spins += 1;
            if spins < SPINS { std::hint::spin_loop() } else { self.sleep(round) }
        }
        true
    }
}

/// Breaks the barrier when a thread ends by a panic.
struct Departure<'a>(&'a Barrier);

impl Drop for Departure<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.leave_for_good();
        }
    }
}
