//! How one worker wakes another that waits for packets, and how the first halts the others.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Condvar, Mutex, PoisonError};

/// A worker's wake-up descriptor. A thread that hands something to the worker calls [`WakeUp::notify`] afterwards; the
/// worker calls [`WakeUp::begin_sleep`] before it waits, and then checks once more. Both use sequentially consistent
/// fences: either the worker sees the hand-over, or the other thread sees that the worker sleeps and wakes it. While
/// no worker sleeps, nothing is written here.
#[derive(Debug)]
#[repr(align(128))]
pub struct WakeUp {
    sleeps: AtomicBool,
    sender: UnixStream,
    receiver: UnixStream,
}

impl WakeUp {
    pub fn new() -> io::Result<WakeUp> {
        let (sender, receiver) = UnixStream::pair()?;
        sender.set_nonblocking(true)?;
        receiver.set_nonblocking(true)?;
        Ok(WakeUp { sleeps: AtomicBool::new(false), sender, receiver })
    }

    /// Becomes readable to wake the worker.
    pub fn fd(&self) -> RawFd {
        self.receiver.as_raw_fd()
    }

    /// Something was handed over, or a setting has changed: wakes the worker, if it sleeps.
    pub fn notify(&self) {
        fence(Ordering::SeqCst);
        if self.sleeps.load(Ordering::Relaxed) && self.sleeps.swap(false, Ordering::Relaxed) {
            // If the descriptor is full, the worker has not read it yet and wakes anyway.
            let _wakes_anyway = (&self.sender).write(&[1]);
        }
    }

    /// The worker is about to wait on the descriptor. What it sees from now on is not older than what it will be
    /// woken for. It calls [`WakeUp::end_sleep`] afterwards.
    pub fn begin_sleep(&self) {
        self.sleeps.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// The worker is awake.
    pub fn end_sleep(&self) {
        self.sleeps.store(false, Ordering::Relaxed);
        while (&self.receiver).read(&mut [0; 64]).is_ok_and(|count| count > 0) {}
    }
}

/// A pause of the worker threads: they check for it before each round, and wait until it ends.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Pause {
    /// For a check without the lock.
    is_on: AtomicBool,
    requested: Mutex<bool>,
    ended: Condvar,
}

impl Pause {
    pub fn begin(&self) {
        *self.requested.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.is_on.store(true, Ordering::SeqCst);
    }

    pub fn end(&self) {
        *self.requested.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.is_on.store(false, Ordering::SeqCst);
        self.ended.notify_all();
    }

    pub fn is_on(&self) -> bool {
        self.is_on.load(Ordering::SeqCst)
    }

    /// Waits while it is on; returns whether that took time.
    pub fn wait(&self) -> bool {
        if !self.is_on() {
            return false;
        }
        let mut requested = self.requested.lock().unwrap_or_else(PoisonError::into_inner);
        while *requested {
            requested = self.ended.wait(requested).unwrap_or_else(PoisonError::into_inner);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn a_sleeping_worker_is_woken_once() {
        let wake_up = WakeUp::new().unwrap();
        let mut byte = [0];
        wake_up.notify();
        assert!((&wake_up.receiver).read(&mut byte).is_err(), "no worker sleeps");
        wake_up.begin_sleep();
        wake_up.notify();
        wake_up.notify();
        assert_eq!((&wake_up.receiver).read(&mut byte).unwrap(), 1);
        assert!((&wake_up.receiver).read(&mut byte).is_err(), "one byte is written");
    }

    #[test]
    fn nothing_that_is_brought_is_slept_over() {
        let (wake_up, there) = (WakeUp::new().unwrap(), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..10_000 {
                    there.fetch_add(1, Ordering::Relaxed);
                    wake_up.notify();
                }
            });
            let mut taken = 0;
            while taken < 10_000 {
                wake_up.begin_sleep();
                if there.load(Ordering::Relaxed) == taken {
                    let mut wait = libc_poll(wake_up.fd());
                    while !wait() {}
                }
                wake_up.end_sleep();
                taken = there.load(Ordering::Relaxed);
            }
        });
    }

    /// Waits a while for the descriptor; panics after a timeout.
    fn libc_poll(fd: RawFd) -> impl FnMut() -> bool {
        let started = std::time::Instant::now();
        move || {
            let mut poller = crate::poll::Poller::new();
            assert!(started.elapsed().as_secs() < 20, "slept over what was brought");
            poller.gather(&[], &[fd]);
            poller.wait_gathered(std::time::Duration::from_secs(1)).unwrap()
        }
    }
}
