//! How long a driver waits for a ring that the other side must empty. What enters: a limit, and what is to be tried.
//! What leaves: whether it was done in time. Ports of all kinds wait alike.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

/// How long a full ring may hold up the worker before frames are dropped.
pub(crate) const FULL_WAIT: Duration = Duration::from_millis(5);
/// How long the last frames may take to leave.
pub(crate) const FINISH_WAIT: Duration = Duration::from_millis(500);
/// How long an interface may be taken by a port that is going.
const BUSY_WAIT: Duration = Duration::from_millis(300);
/// The pause between two looks at a ring that makes no progress.
const PAUSE: Duration = Duration::from_micros(50);

/// Tries at least once, and until it is done or the limit has passed; false if it is not done then.
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

/// Tries until what is wanted is not busy, for a bounded time. A port that was closed may hold its interface for a
/// moment more: a process that is being started has copies of all descriptors until it begins its own program.
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
