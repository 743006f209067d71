//! The mailbox of a worker: jobs of other threads that it runs between bursts.
//!
//! What enters: [`Job`]s through [`Mailbox`], the door, from any thread. What leaves: the jobs in the same order, taken
//! by the worker that has the [`Inbox`]. A worker that waits for packets is woken: the first job of an empty mailbox
//! makes the inbox's descriptor readable. A mailbox holds a bounded number of jobs; whoever brings more waits. Once the
//! inbox is gone, jobs are refused, and those that were not run are dropped, which their askers notice.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use switch::Switch;
use switch::door::{Closed, Door, Job};

/// Jobs that a mailbox holds.
const JOBS_MAX: usize = 1024;

/// How long a worker goes on with jobs while packets may be waiting. The job that it has begun is finished.
const ROUND_MAX: Duration = Duration::from_micros(50);

#[derive(Default)]
struct Jobs {
    waiting: VecDeque<Job>,
    is_closed: bool,
}

struct Shared {
    jobs: Mutex<Jobs>,
    /// Told when jobs were taken or the mailbox was closed.
    has_room: Condvar,
    /// How many jobs wait, for a look without the lock.
    count: AtomicUsize,
    /// Written to when the first job comes, so that the inbox's end is readable; read when the last is taken. Both
    /// under the lock: it holds a byte as long as jobs wait, and no longer.
    bell: UnixStream,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Jobs> {
        // Each change of the queue is one step, so that a panic elsewhere leaves it whole.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The door to a worker's switch; clones lead to the same.
#[derive(Clone)]
pub struct Mailbox(Arc<Shared>);

/// The worker's side. Dropping it closes the mailbox.
pub struct Inbox {
    shared: Arc<Shared>,
    bell: UnixStream,
}

/// An empty mailbox and its inbox, which goes to [`crate::worker::run`].
pub fn mailbox() -> io::Result<(Mailbox, Inbox)> {
    let (bell, heard) = UnixStream::pair()?;
    bell.set_nonblocking(true)?;
    heard.set_nonblocking(true)?;
    let shared = Arc::new(Shared {
        jobs: Mutex::new(Jobs::default()),
        has_room: Condvar::new(),
        count: AtomicUsize::new(0),
        bell,
    });
    Ok((Mailbox(Arc::clone(&shared)), Inbox { shared, bell: heard }))
}

impl Door for Mailbox {
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
            // It is empty, so that this one byte has room.
            let _heard = (&self.0.bell).write(&[1]);
        }
        Ok(())
    }
}

impl Inbox {
    /// What becomes readable when there are jobs.
    pub(crate) fn fd(&self) -> RawFd {
        self.bell.as_raw_fd()
    }

    /// Whether there are jobs.
    pub(crate) fn has_jobs(&self) -> bool {
        self.shared.count.load(Ordering::Acquire) != 0
    }

    /// Runs jobs on the switch, whose time is set to `now_ns`: at least one if there are any, and no more than fit into
    /// a short while.
    pub(crate) fn work(&mut self, switch: &mut Switch, now_ns: u64) {
        let start = Instant::now();
        while let Some(job) = self.take() {
            switch.advance(now_ns);
            job(switch);
            if start.elapsed() >= ROUND_MAX {
                break;
            }
        }
        // The switch may be another one now.
        switch.advance(now_ns);
    }

    fn take(&self) -> Option<Job> {
        let mut jobs = self.shared.lock();
        let was_full = jobs.waiting.len() >= JOBS_MAX;
        let job = jobs.waiting.pop_front();
        self.shared.count.store(jobs.waiting.len(), Ordering::Release);
        if job.is_some() && jobs.waiting.is_empty() {
            // What rang while jobs were run is answered with them: a bell that goes on keeps the worker from waiting.
            let _answered = (&self.bell).read(&mut [0]);
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
        // Without the lock: what a job holds may do anything when it is dropped.
        drop(left);
        self.shared.has_room.notify_all();
    }
}
