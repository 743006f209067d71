//! How long a driver waits for a ring that the other side must drain. What enters: a time limit, and a function to
//! try. What leaves: whether it succeeded in time. Drivers of all kinds wait alike.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

/// How long a full ring may block the worker before frames are dropped.
pub(crate) const FULL_WAIT: Duration = Duration::from_millis(5);
/// How long the last frames may take to be sent.
pub(crate) const FINISH_WAIT: Duration = Duration::from_millis(500);
/// How long an interface may be held by a port that is closing.
const BUSY_WAIT: Duration = Duration::from_millis(300);
/// The pause between two checks of a ring that makes no progress.
const PAUSE: Duration = Duration::from_micros(50);

/// Tries at least once, and until it succeeds or the limit has passed; false if it has not succeeded.
pub(crate) fn retry(limit: Duration, mut attempt: impl FnMut() -> io::Result<bool>) -> io::Result<bool> {
    let deadline = Instant::now() + limit;
    loop {
        if attempt()? {
            return Ok(true);
        }
        if Instant::now() >= deadline {
            return Ok(false);
        }
        thread::sleep(PAUSE);
    }
}

/// Tries until the resource is not busy, for a bounded time. A port that was closed may hold its interface for a
/// moment more: a process that is being started has copies of all descriptors until it executes its own program.
pub(crate) fn when_free<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let deadline = Instant::now() + BUSY_WAIT;
    loop {
        match attempt() {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) && Instant::now() < deadline => {
                thread::sleep(PAUSE);
            }
            answer => return answer,
        }
    }
}
