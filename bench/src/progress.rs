//! Says on a terminal what a benchmark is at. Where standard error is none, it says nothing.

use std::io::{IsTerminal as _, Write as _, stderr};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Steps of which some are done.
pub struct Progress {
    what: &'static str,
    all: usize,
    done: AtomicUsize,
    is_shown: bool,
}

impl Progress {
    /// So many steps lie ahead, called `what` in the plural.
    pub fn new(what: &'static str, all: usize) -> Progress {
        let progress = Progress { what, all, done: AtomicUsize::new(0), is_shown: stderr().is_terminal() };
        progress.show(0);
        progress
    }

    /// One more is done.
    pub fn step(&self) {
        self.show(self.done.fetch_add(1, Ordering::Relaxed) + 1);
    }

    fn show(&self, done: usize) {
        if self.is_shown {
            // Whoever cannot be told goes on without.
            let _untold = write!(stderr(), "\r\x1b[K{done} of {} {}", self.all, self.what);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_shown {
            let _untold = write!(stderr(), "\r\x1b[K");
        }
    }
}
