//! Shows the progress of a benchmark on a terminal. If standard error is not a terminal, nothing is shown.

use std::io::{IsTerminal as _, Write as _, stderr};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A number of steps, some of which are done.
pub struct Progress {
    what: &'static str,
    all: usize,
    done: AtomicUsize,
    is_shown: bool,
}

impl Progress {
    /// Begins with `all` steps, called `what` in the plural.
    pub fn new(what: &'static str, all: usize) -> Progress {
        let progress = Progress { what, all, done: AtomicUsize::new(0), is_shown: stderr().is_terminal() };
        progress.show(0);
        progress
    }

    /// One more step is done.
    pub fn step(&self) {
        self.show(self.done.fetch_add(1, Ordering::Relaxed) + 1);
    }

    fn show(&self, done: usize) {
        if self.is_shown {
            // A failed write does not matter.
            let _ignored = write!(stderr(), "\r\x1b[K{done} of {} {}", self.all, self.what);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_shown {
            let _ignored = write!(stderr(), "\r\x1b[K");
        }
    }
}
