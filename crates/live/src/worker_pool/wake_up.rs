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
    rope: UnixStream,
    heard: UnixStream,
}

impl WakeUp {
    pub fn new() -> io::Result<WakeUp> {
        let (rope, heard) = UnixStream::pair()?;
        rope.set_nonblocking(true)?;
        heard.set_nonblocking(true)?;
        Ok(WakeUp { sleeps: AtomicBool::new(false), rope, heard })
    }

    /// Becomes readable to wake the worker.
    pub fn fd(&self) -> RawFd {
        self.heard.as_raw_fd()
    }

    /// Something was handed over, or a setting has changed: wakes the worker, if it sleeps.
    pub fn notify(&self) {
        fence(Ordering::SeqCst);
        if self.sleeps.load(Ordering::Relaxed) && self.sleeps.swap(false, Ordering::Relaxed) {
            // If the descriptor is full, the worker has not read it yet and wakes anyway.
            let _heard_anyway = (&self.rope).write(&[1]);
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
        while (&self.heard).read(&mut [0; 64]).is_ok_and(|count| count > 0) {}
    }
}

/// Worker threads pass it before each round; while it is closed they wait.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Gate {
    /// For a check without the lock.
    is_closed: AtomicBool,
    closed: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    pub fn close(&self) {
        *self.closed.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.is_closed.store(true, Ordering::SeqCst);
    }

    pub fn open(&self) {
        *self.closed.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.is_closed.store(false, Ordering::SeqCst);
        self.opened.notify_all();
    }

    pub fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::SeqCst)
    }

    /// Waits until it is open; returns whether that took time.
    pub fn pass(&self) -> bool {
        if !self.is_closed() {
            return false;
        }
        let mut closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        while *closed {
            closed = self.opened.wait(closed).unwrap_or_else(PoisonError::into_inner);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn a_bell_rings_for_who_sleeps_and_only_then() {
        let wake_up = WakeUp::new().unwrap();
        let mut byte = [0];
        wake_up.notify();
        assert!((&wake_up.heard).read(&mut byte).is_err(), "nobody sleeps");
        wake_up.begin_sleep();
        wake_up.notify();
        wake_up.notify();
        assert_eq!((&wake_up.heard).read(&mut byte).unwrap(), 1);
        assert!((&wake_up.heard).read(&mut byte).is_err(), "it rings once");
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
