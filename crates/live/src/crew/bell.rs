//! How one worker wakes another that waits for packets, and how one halts the others.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// A worker's bell. Whoever brings something tells it with [`Bell::brought`]; the worker asks [`Bell::may_sleep`]
/// before it waits. Both go through the same order of all threads (`SeqCst`): either the worker sees that something was
/// brought, or who brings it sees that the worker sleeps, and rings.
#[derive(Debug)]
pub struct Bell {
    brought: AtomicUsize,
    sleeps: AtomicBool,
    rope: UnixStream,
    heard: UnixStream,
}

impl Bell {
    pub fn new() -> io::Result<Bell> {
        let (rope, heard) = UnixStream::pair()?;
        rope.set_nonblocking(true)?;
        heard.set_nonblocking(true)?;
        Ok(Bell { brought: AtomicUsize::new(0), sleeps: AtomicBool::new(false), rope, heard })
    }

    /// What becomes readable when it rings.
    pub fn fd(&self) -> RawFd {
        self.heard.as_raw_fd()
    }

    /// Something was brought.
    pub fn brought(&self) {
        self.brought.fetch_add(1, Ordering::SeqCst);
        self.ring();
    }

    /// One of the things that were brought was taken.
    pub fn taken(&self) {
        self.brought.fetch_sub(1, Ordering::SeqCst);
    }

    /// Wakes the worker, if it sleeps.
    pub fn ring(&self) {
        if self.sleeps.swap(false, Ordering::SeqCst) {
            // Full means that it has not answered yet, and so wakes anyway.
            let _heard_anyway = (&self.rope).write(&[1]);
        }
    }

    /// Whether nothing is there, so that the worker may wait on the descriptor. It calls [`Bell::awake`] afterwards.
    pub fn may_sleep(&self) -> bool {
        self.sleeps.store(true, Ordering::SeqCst);
        self.brought.load(Ordering::SeqCst) == 0
    }

    /// The worker is awake.
    pub fn awake(&self) {
        self.sleeps.store(false, Ordering::SeqCst);
        while (&self.heard).read(&mut [0; 64]).is_ok_and(|count| count > 0) {}
    }
}

/// What helpers pass before each round; while it is closed they wait.
#[derive(Debug, Default)]
pub struct Gate {
    /// For a look without the lock.
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

    /// Waits until it is open; says whether that took time.
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

    #[test]
    fn a_bell_rings_for_who_sleeps_and_only_then() {
        let bell = Bell::new().unwrap();
        bell.brought();
        assert!(!bell.may_sleep(), "something is there");
        bell.awake();
        bell.taken();
        assert!(bell.may_sleep());
        bell.ring();
        let mut byte = [0];
        assert_eq!((&bell.heard).read(&mut byte).unwrap(), 1);
        bell.ring();
        assert!((&bell.heard).read(&mut byte).is_err(), "nobody sleeps");
    }

    #[test]
    fn nothing_that_is_brought_is_slept_over() {
        let bell = Bell::new().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| (0..10_000).for_each(|_| bell.brought()));
            let mut taken = 0;
            while taken < 10_000 {
                if bell.may_sleep() {
                    let mut wait = libc_poll(bell.fd());
                    while !wait() {}
                }
                bell.awake();
                while bell.brought.load(Ordering::SeqCst) > 0 {
                    bell.taken();
                    taken += 1;
                }
            }
        });
    }

    /// Waits a while for the descriptor; panics if nothing comes at all.
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
