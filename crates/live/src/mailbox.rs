//! The command queue of a worker: jobs of other threads that it runs between bursts.
//!
//! What enters: [`Job`]s through a [`Mailbox`], from any thread. What leaves: the jobs in the same order, received by
//! the worker that has the [`Inbox`]. A worker that waits for packets is woken: the first job in an empty queue makes
//! the inbox's descriptor readable. The queue is bounded; a thread that adds to a full one waits. Once the inbox is
//! dropped, jobs are refused, and those that were not run are dropped, which their owners notice.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use switch::Switch;
use switch::command_queue::{Closed, CommandQueue, Job};

/// The capacity of the queue.
const JOBS_MAX: usize = 1024;

/// How long a worker runs jobs while packets may be waiting. A job that has begun is finished.
const ROUND_MAX: Duration = Duration::from_micros(50);

#[derive(Default)]
struct Jobs {
    waiting: VecDeque<Job>,
    is_closed: bool,
}

struct Shared {
    jobs: Mutex<Jobs>,
    /// Notified when jobs were taken or the queue was closed.
    has_room: Condvar,
    /// The number of waiting jobs, for a check without the lock.
    count: AtomicUsize,
    /// Written to when the first job is added, so that the inbox's end is readable; read when the last is taken. Both
    /// under the lock: it contains a byte exactly while jobs wait.
    wake_up: UnixStream,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Jobs> {
        // Each change of the queue is a single step, so a panic elsewhere leaves it consistent.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sending end of the queue; clones share the queue.
#[derive(Clone)]
pub struct Mailbox(Arc<Shared>);

/// The worker's end. Dropping it closes the queue.
pub struct Inbox {
    shared: Arc<Shared>,
    wake_up: UnixStream,
}

/// An empty queue and its inbox, which is passed to [`crate::worker::run`].
pub fn mailbox() -> io::Result<(Mailbox, Inbox)> {
    let (wake_up, receiver) = UnixStream::pair()?;
    wake_up.set_nonblocking(true)?;
    receiver.set_nonblocking(true)?;
    let shared = Arc::new(Shared {
        jobs: Mutex::new(Jobs::default()),
        has_room: Condvar::new(),
        count: AtomicUsize::new(0),
        wake_up,
    });
    Ok((Mailbox(Arc::clone(&shared)), Inbox { shared, wake_up: receiver }))
}

impl CommandQueue for Mailbox {
    fn send(&self, job: Job) -> Result<(), Closed> {
        let mut jobs = self.0.lock();
        while jobs.waiting.len() >= JOBS_MAX && !jobs.is_closed {
            jobs = self.0.has_room.wait(jobs).unwrap_or_else(PoisonError::into_inner);
        }
        if jobs.is_closed {
            return Err(Closed);
        }
        jobs.waiting.push_back(job);
        let count = jobs.waiting.len();
        self.0.count.store(count, Ordering::Release);
        if count == 1 {
            // The queue was empty, so there is room for this byte.
            let _woken = (&self.0.wake_up).write(&[1]);
        }
        Ok(())
    }
}

impl Inbox {
    /// The descriptor that is readable while there are jobs.
    pub(crate) fn fd(&self) -> RawFd {
        self.wake_up.as_raw_fd()
    }

    /// Whether there are jobs.
    pub(crate) fn has_jobs(&self) -> bool {
        self.shared.count.load(Ordering::Acquire) != 0
    }

    /// Runs jobs on the switch, whose time is set to `now_ns`: at least one if there are any, and no more than fit
    /// into a short time.
    pub(crate) fn work(&mut self, switch: &mut Switch, now_ns: u64) {
        let start = Instant::now();
        while let Some(job) = self.take() {
            switch.advance(now_ns);
            job(switch);
            if start.elapsed() >= ROUND_MAX {
                break;
            }
        }
        // The job may have replaced the switch's program.
        switch.advance(now_ns);
    }

    fn take(&self) -> Option<Job> {
        let mut jobs = self.shared.lock();
        let was_full = jobs.waiting.len() >= JOBS_MAX;
        let job = jobs.waiting.pop_front();
        self.shared.count.store(jobs.waiting.len(), Ordering::Release);
        if job.is_some() && jobs.waiting.is_empty() {
            // Wake-ups that arrived while jobs were run are consumed; a descriptor that stays readable would keep the
            // worker from sleeping.
            let _answered = (&self.wake_up).read(&mut [0]);
        }
        drop(jobs);
        if was_full {
            self.shared.has_room.notify_all();
        }
        job
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        let mut jobs = self.shared.lock();
        jobs.is_closed = true;
        let left = std::mem::take(&mut jobs.waiting);
        self.shared.count.store(0, Ordering::Release);
        drop(jobs);
        // Without the lock: dropping a job may run arbitrary code.
        drop(left);
        self.shared.has_room.notify_all();
    }
}
