//! How many packets of subscribers the controller can take.
//!
//! What enters: each time it has taken messages, whether more wait, and the time. What leaves: the rate to which the
//! program is to limit packets of subscribers, when it changes.
//!
//! A controller that falls behind gets half as many; one that does not gets more again, step by step, up to the rate
//! of the file. So the queue on the way to it stays short: its packets are fresh, and answers of next hops arrive.

use std::time::Duration;

/// The rate changes once in this time.
const INTERVAL: Duration = Duration::from_millis(500);

/// The part of the file's rate by which it rises, and the least.
const STEPS: u32 = 16;

/// The controller is behind if more messages wait this many times in a row.
const BEHIND: u32 = 2;

/// A limit that follows what the controller can take.
#[derive(Debug)]
pub struct Pace {
    most: u32,
    rate: u32,
    changed: Duration,
    in_a_row: u32,
    was_behind: bool,
}

impl Pace {
    /// The rate of the file, for now.
    pub fn new(most: u32, now: Duration) -> Pace {
        Pace { most, rate: most, changed: now, in_a_row: 0, was_behind: false }
    }

    /// Messages were taken. Returns a new rate.
    pub fn note(&mut self, now: Duration, more_wait: bool) -> Option<u32> {
        self.in_a_row = if more_wait { self.in_a_row.saturating_add(1) } else { 0 };
        self.was_behind |= self.in_a_row >= BEHIND;
        if now.saturating_sub(self.changed) < INTERVAL {
            return None;
        }
        self.changed = now;
        let step = self.most.div_ceil(STEPS);
        let rate = match std::mem::take(&mut self.was_behind) {
            true => (self.rate / 2).max(step),
            false => self.rate.saturating_add(step).min(self.most),
        };
        (std::mem::replace(&mut self.rate, rate) != rate).then_some(rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_that_is_behind_gets_less_and_then_more_again() {
        let mut it = Pace::new(4000, Duration::ZERO);
        let mut at = |ms, more_wait| it.note(Duration::from_millis(ms), more_wait);
        assert_eq!([at(100, true), at(200, false), at(500, true)], [None; 3], "that was not two in a row");
        assert_eq!([at(600, true), at(1000, false)], [None, Some(2000)]);
        assert_eq!(at(1400, true), None);
        let behind = (0..12).filter_map(|half| at(1500 + 500 * half, true)).collect::<Vec<_>>();
        assert_eq!(behind, [1000, 500, 250]);
        let recovers = (0..20).filter_map(|half| at(7500 + 500 * half, false)).collect::<Vec<_>>();
        assert_eq!((recovers.len(), recovers[0], recovers[14]), (15, 500, 4000));
    }
}
