//! How one worker wakes another that waits for packets, and how one halts the others.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Condvar, Mutex, PoisonError};

/// A worker's bell. Whoever brings something tells it with [`Bell::brought`]; the worker, before it waits, says so with
/// [`Bell::lies_down`] and then looks once more whether something was brought. Both go through the same order of all
/// threads (fences): either the worker sees what was brought, or who brings it sees that the worker sleeps, and rings.
/// While nobody sleeps, nobody writes here.
#[derive(Debug)]
#[repr(align(128))]
pub struct Bell {
    sleeps: AtomicBool,
    rope: UnixStream,
    heard: UnixStream,
}

impl Bell {
    pub fn new() -> io::Result<Bell> {
        let (rope, heard) = UnixStream::pair()?;
        rope.set_nonblocking(true)?;
        heard.set_nonblocking(true)?;
        Ok(Bell { sleeps: AtomicBool::new(false), rope, heard })
    }

    /// What becomes readable when it rings.
    pub fn fd(&self) -> RawFd {
        self.heard.as_raw_fd()
    }

    /// Something was brought, or there is other news: wakes the worker, if it sleeps.
    pub fn brought(&self) {
        fence(Ordering::SeqCst);
        if self.sleeps.load(Ordering::Relaxed) && self.sleeps.swap(false, Ordering::Relaxed) {
            // Full means that it has not answered yet, and so wakes anyway.
            let _heard_anyway = (&self.rope).write(&[1]);
        }
    }

    /// The worker is about to wait on the descriptor. What it sees from now on is not older than what it will be woken
    /// for. It calls [`Bell::awake`] afterwards.
    pub fn lies_down(&self) {
        self.sleeps.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// The worker is awake.
    pub fn awake(&self) {
        self.sleeps.store(false, Ordering::Relaxed);
        while (&self.heard).read(&mut [0; 64]).is_ok_and(|count| count > 0) {}
    }
}

/// What helpers pass before each round; while it is closed they wait.
#[derive(Debug, Default)]
#[repr(align(128))]
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
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn a_bell_rings_for_who_sleeps_and_only_then() {
        let bell = Bell::new().unwrap();
        let mut byte = [0];
        bell.brought();
        assert!((&bell.heard).read(&mut byte).is_err(), "nobody sleeps");
        bell.lies_down();
        bell.brought();
        bell.brought();
        assert_eq!((&bell.heard).read(&mut byte).unwrap(), 1);
        assert!((&bell.heard).read(&mut byte).is_err(), "it rings once");
    }

    #[test]
    fn nothing_that_is_brought_is_slept_over() {
        let (bell, there) = (Bell::new().unwrap(), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..10_000 {
                    there.fetch_add(1, Ordering::Relaxed);
                    bell.brought();
                }
            });
            let mut taken = 0;
            while taken < 10_000 {
                bell.lies_down();
                if there.load(Ordering::Relaxed) == taken {
                    let mut wait = libc_poll(bell.fd());
                    while !wait() {}
                }
                bell.awake();
                taken = there.load(Ordering::Relaxed);
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
