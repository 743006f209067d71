//! How many workers a load requires.
//!
//! What enters: periodically, how busy each worker was since the last call. What leaves: how many workers there
//! should be. One is added when all of them together have been near their limit for a while; one is removed when the
//! others would have had spare capacity for longer. Loads in between change nothing, and after each change the load
//! is measured anew, so the number does not oscillate. This module reads no clock; time is an argument.

/// A worker that is busy for a greater share of its time is near its limit.
const BUSY: f64 = 0.8;

/// Workers that would be busy for a smaller share have spare capacity.
const SPARE: f64 = 0.5;

/// How long workers are near their limit before one is added.
const GROW_AFTER_NS: u64 = 300_000_000;

/// How long a worker has been superfluous before it is removed.
const SHRINK_AFTER_NS: u64 = 3_000_000_000;

/// Follows the load.
#[derive(Debug, Default)]
pub struct Policy {
    near_limit_since_ns: Option<u64>,
    spare_since_ns: Option<u64>,
}

impl Policy {
    /// Adds a measurement: `busy` has for each worker the share of the time, since the last call, in which it had
    /// work, from 0 to 1. Returns how many there should be, at least one and at most `max`.
    pub fn observe(&mut self, now_ns: u64, busy: &[f64], max: usize) -> usize {
        let count = busy.len().max(1);
        let sum: f64 = busy.iter().sum();
        let is_near_limit = sum / count as f64 > BUSY && count < max;
        let has_spare = count > 1 && sum / ((count - 1) as f64) < SPARE;
        let lasts = |since_ns: &mut Option<u64>, holds: bool, for_ns: u64| {
            if !holds {
                *since_ns = None;
                return false;
            }
            now_ns.saturating_sub(*since_ns.get_or_insert(now_ns)) >= for_ns
        };
        let grows = lasts(&mut self.near_limit_since_ns, is_near_limit, GROW_AFTER_NS);
        let shrinks = lasts(&mut self.spare_since_ns, has_spare, SHRINK_AFTER_NS);
        let wanted = if count > max { max.max(1) } else { count + usize::from(grows) - usize::from(shrinks) };
        if wanted != count {
            *self = Policy::default();
        }
        wanted
    }
}

/// Frames are distributed over workers if processing one takes more than the first number of nanoseconds, and no
/// longer if it takes less than the second: handing a frame over and taking it back costs the first worker 30 to 40.
const SPREAD_FROM_NS: u64 = 100;
const SPREAD_TO_NS: u64 = 60;

/// Bursts with fewer frames are not representative.
const TOLD_FRAMES_MIN: u64 = 16;

/// Frames in a measurement.
const JUDGED_FRAMES_MIN: u64 = 1_000;

/// Whether handing frames to other workers is worthwhile, from the time that the first one takes for its own frames.
#[derive(Debug, Default)]
pub struct Worth {
    pays: bool,
    /// Frames in bursts with a low and a high time per frame, since the last decision.
    cheap: u64,
    dear: u64,
}

impl Worth {
    /// Adds a burst: its frames and its time.
    #[inline]
    pub fn note(&mut self, frames: usize, spent_ns: u64) {
        let frames = frames as u64;
        if frames < TOLD_FRAMES_MIN {
            return;
        }
        let limit_ns = if self.pays { SPREAD_TO_NS } else { SPREAD_FROM_NS };
        // Bursts are classified, not added up: a few that were delayed by something else must not dominate.
        *(if spent_ns < frames * limit_ns { &mut self.cheap } else { &mut self.dear }) += frames;
    }

    /// Whether it is worthwhile, decided anew if there were enough frames.
    pub fn judge(&mut self) -> bool {
        if self.cheap + self.dear >= JUDGED_FRAMES_MIN {
            self.pays = self.dear > self.cheap;
            (self.cheap, self.dear) = (0, 0);
        }
        self.pays
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates, every tenth of a second, workers that share this load, in workers, and returns how many there are
    /// after each second.
    fn follow(policy: &mut Policy, count: &mut usize, now_ns: &mut u64, load: f64, seconds: usize) -> Vec<usize> {
        let mut counts = Vec::new();
        for look in 1..=seconds * 10 {
            *now_ns += 100_000_000;
            let share = (load / *count as f64).min(1.0);
            *count = policy.observe(*now_ns, &vec![share; *count], 4);
            if look % 10 == 0 {
                counts.push(*count);
            }
        }
        counts
    }

    #[test]
    fn workers_come_with_the_load_and_go_with_it() {
        let (mut policy, mut count, mut now_ns) = (Policy::default(), 1, 0);
        assert_eq!(follow(&mut policy, &mut count, &mut now_ns, 0.5, 3), [1, 1, 1]);
        assert_eq!(follow(&mut policy, &mut count, &mut now_ns, 2.1, 3), [3, 3, 3]);
        assert_eq!(follow(&mut policy, &mut count, &mut now_ns, 9.0, 2), [4, 4]);
        assert_eq!(follow(&mut policy, &mut count, &mut now_ns, 0.1, 11), [4, 4, 4, 3, 3, 3, 2, 2, 2, 1, 1]);
    }

    #[test]
    fn a_steady_load_never_makes_the_number_swing() {
        for tenths in 0..50 {
            let (mut policy, mut count, mut now_ns) = (Policy::default(), 1, 0);
            follow(&mut policy, &mut count, &mut now_ns, f64::from(tenths) / 10.0, 20);
            let stable = count;
            let later = follow(&mut policy, &mut count, &mut now_ns, f64::from(tenths) / 10.0, 60);
            assert!(later.iter().all(|&count| count == stable), "{tenths}: {later:?}");
        }
    }

    #[test]
    fn a_short_burst_changes_nothing() {
        let mut policy = Policy::default();
        for look in 0..100 {
            let share = if look % 4 == 0 { 0.2 } else { 1.0 };
            assert_eq!(policy.observe(look * 100_000_000, &[share], 4), 1);
        }
    }

    #[test]
    fn frames_are_spread_where_they_take_long() {
        let mut worth = Worth::default();
        let mut judged = |frame_ns: u64, bursts: usize| {
            (0..bursts).for_each(|_| worth.note(64, 64 * frame_ns));
            // Delayed, with hardly any frames.
            worth.note(64, 4_000_000);
            (0..1000).for_each(|_| worth.note(1, 500));
            worth.judge()
        };
        assert_eq!([20, 70, 99].map(|ns| judged(ns, 30)), [false; 3]);
        assert!(judged(120, 30));
        assert_eq!([70, 61, 1000].map(|ns| judged(ns, 30)), [true; 3]);
        assert!(judged(20, 3), "too few to judge by");
        assert!(!judged(50, 30));
    }

    #[test]
    fn there_are_never_more_than_may_be() {
        let mut policy = Policy::default();
        assert_eq!(policy.observe(0, &[1.0, 1.0, 1.0], 2), 2);
        assert_eq!(policy.observe(10_000_000_000, &[1.0, 1.0], 2), 2);
        assert_eq!(policy.observe(20_000_000_000, &[], 2), 1);
    }
}
