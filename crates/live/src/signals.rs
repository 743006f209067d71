//! A clean stop on SIGINT and SIGTERM.
//!
//! The first signal sets a flag that workers look at between bursts: they stop receiving, deliver what was already
//! received, and finish. A second signal ends the process at once, for whoever does not want to wait.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The exit status after a second signal, as shells report death by SIGINT.
const FORCED_EXIT_STATUS: i32 = 130;

/// Set once the run is to end; clones share it.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// A flag that only [`StopFlag::stop`] sets.
    pub fn new() -> StopFlag {
        StopFlag::default()
    }

    /// A flag that SIGINT and SIGTERM set. The handlers stay for the life of the process.
    pub fn on_signals() -> io::Result<StopFlag> {
        let flag = StopFlag::new();
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            // Handlers run in the order of registration: the first signal finds the flag unset and only sets it.
            signal_hook::flag::register_conditional_shutdown(signal, FORCED_EXIT_STATUS, Arc::clone(&flag.0))?;
            signal_hook::flag::register(signal, Arc::clone(&flag.0))?;
        }
        Ok(flag)
    }

    /// Asks the run to end.
    pub fn stop(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// True once the run is to end.
    pub fn stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_sets_the_flag_of_every_clone() {
        let flag = StopFlag::on_signals().unwrap();
        let clone = flag.clone();
        assert!(!clone.stopped());
        signal_hook::low_level::raise(signal_hook::consts::SIGTERM).unwrap();
        assert!(clone.stopped() && flag.stopped());
    }
}
