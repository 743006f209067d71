//! The command queue: how other threads reach a switch that a worker runs.
//!
//! What enters: a [`Job`], from any thread. What leaves: its answer, once the worker has run it between two bursts. No
//! packet is being processed while a job runs; packets in queues stay there.

use crate::switch::Switch;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};

/// Something to do with a switch between two bursts. It must be quick: it delays packets.
pub type Job = Box<dyn FnOnce(&mut Switch) + Send>;

/// The worker has ended, or ends: the job was not run and never will be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the switch has stopped")
    }
}

impl std::error::Error for Closed {}

/// Where jobs are handed in. They are run in the order in which one thread hands them in.
pub trait CommandQueue: Send + Sync {
    /// Hands a job in; blocks while the queue is full. A job must not hand in others: it would deadlock.
    fn send(&self, job: Job) -> Result<(), Closed>;
}

impl dyn CommandQueue + '_ {
    /// Hands a job in and waits for its answer. The same holds for it as for [`CommandQueue::send`].
    pub fn ask<T: Send + 'static>(&self, job: impl FnOnce(&mut Switch) -> T + Send + 'static) -> Result<T, Closed> {
        // The answer has a place of its own and the channel only signals that it is there: so one kind of channel is
        // compiled, and not one for each kind of answer.
        let place = Arc::new(Mutex::new(None));
        let (done, is_done) = mpsc::sync_channel::<()>(1);
        let answer = Arc::clone(&place);
        self.send(Box::new(move |switch| {
            let given = job(switch);
            *answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(given);
            // Sending fails only if the calling thread is gone.
            let _sent = done.send(());
        }))?;
        is_done.recv().map_err(|_| Closed)?;
        let given = place.lock().unwrap_or_else(PoisonError::into_inner).take();
        given.ok_or(Closed)
    }
}

/// The command queue of a switch that no worker runs: jobs run immediately, in the thread that hands them in. It is
/// closed while no switch is here.
#[derive(Default)]
pub struct IdleOwner(Mutex<Option<Switch>>);

impl IdleOwner {
    /// Puts a switch here.
    pub fn park(&self, switch: Switch) {
        *self.lock() = Some(switch);
    }

    /// Takes the switch away; the queue is closed from then on.
    pub fn take(&self) -> Option<Switch> {
        self.lock().take()
    }

    /// Works with the switch, if it is here.
    pub fn with<T>(&self, work: impl FnOnce(&mut Switch) -> T) -> Option<T> {
        self.lock().as_mut().map(work)
    }

    /// Does the job, or gives it back if no switch is here.
    pub fn offer(&self, job: Job) -> Result<(), Job> {
        match self.lock().as_mut() {
            Some(switch) => {
                job(switch);
                Ok(())
            }
            None => Err(job),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Switch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CommandQueue for IdleOwner {
    fn send(&self, job: Job) -> Result<(), Closed> {
        self.offer(job).map_err(|_| Closed)
    }
}
