//! A clean stop on SIGINT and SIGTERM, or after a given time.
//!
//! The first signal sets a flag that workers check between bursts: they stop receiving, deliver what was already
//! received, and finish. A later signal ends the process at once, for users who do not want to wait. Signals that
//! follow within half a second are taken for the same request: `timeout` and other supervisors signal a process and
//! its group, so that one Ctrl-C arrives twice.
#![allow(unsafe_code, reason = "a signal handler may only do what is safe at any moment")]

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Signals this close to the first belong to it.
const SAME_REQUEST: Duration = Duration::from_millis(500);

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
        let start = Instant::now();
        let first_ms = Arc::new(AtomicU64::new(u64::MAX));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            let (stop, first_ms) = (Arc::clone(&flag.0), Arc::clone(&first_ms));
            let handle = move || {
                let now_ms = start.elapsed().as_millis() as u64;
                let before = first_ms.fetch_min(now_ms, Ordering::SeqCst);
                stop.store(true, Ordering::SeqCst);
                if now_ms.saturating_sub(before) > SAME_REQUEST.as_millis() as u64 {
                    signal_hook::low_level::exit(FORCED_EXIT_STATUS);
                }
            };
            // SAFETY: the handler reads the monotonic clock, changes atomics and calls `_exit`, all of which are
            // async-signal-safe; it neither allocates nor locks.
            unsafe { signal_hook::low_level::register(signal, handle)? };
        }
        Ok(flag)
    }

    /// Requests the end of the run.
    pub fn stop(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Requests the end of the run after this time. Returns at once.
    pub fn stop_after(&self, duration: Duration) -> io::Result<()> {
        let flag = self.clone();
        let wait = move || {
            thread::sleep(duration);
            flag.stop();
        };
        // Nothing waits for the thread: it only has the flag, and ends with the process.
        thread::Builder::new().name("stop after a while".to_owned()).spawn(wait).map(|_| ())
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

    #[test]
    fn the_flag_is_set_when_the_time_is_over() {
        let flag = StopFlag::new();
        let start = Instant::now();
        flag.stop_after(Duration::from_millis(50)).unwrap();
        while !flag.stopped() {
            assert!(start.elapsed() < Duration::from_secs(20), "the flag is never set");
            thread::sleep(Duration::from_millis(1));
        }
        assert!(start.elapsed() >= Duration::from_millis(50));
    }
}
