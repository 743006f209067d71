//! The clock of live runs.
//!
//! Time is nanoseconds since 1970, comparable with the time stamps of captures and of the kernel, but it never steps
//! back and runs at the monotonic clock's pace: the wall clock is read once, at the start.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A clock that started once and never steps.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
    start_ns: u64,
}

impl Clock {
    /// Starts the clock at the wall clock's time.
    pub fn start() -> Clock {
        Clock { start: Instant::now(), start_ns: wall_clock_ns() }
    }

    /// The start, in nanoseconds since 1970.
    pub fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// Nanoseconds since the start.
    pub fn since_start_ns(&self) -> u64 {
        saturate_ns(self.start.elapsed().as_nanos())
    }
}

/// The wall clock's time, in nanoseconds since 1970. It may step.
pub fn wall_clock_ns() -> u64 {
    saturate_ns(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos())
}

fn saturate_ns(ns: u128) -> u64 {
    u64::try_from(ns).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_stands_beside_the_wall_clock_and_never_goes_back() {
        let clock = Clock::start();
        let wall_ns = wall_clock_ns();
        let now_ns = || clock.start_ns() + clock.since_start_ns();
        let (first, second) = (now_ns(), now_ns());
        assert!(first <= second);
        assert!(first.abs_diff(wall_ns) < 60_000_000_000, "{first} against {wall_ns}");
    }
}
