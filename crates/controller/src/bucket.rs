//! A rate that is not exceeded.
//!
//! What enters: the times at which something is to happen. What leaves: whether it may. A second's worth may happen at
//! once after a pause (a token bucket, as RFC 4443 demands of ICMPv6 errors).

use std::time::Duration;

/// The rate, and what was used up.
#[derive(Debug)]
pub struct Bucket {
    interval: Option<Duration>,
    /// When all that was used up is there again.
    full: Duration,
}

impl Bucket {
    /// So often a second.
    pub fn new(per_second: u32) -> Bucket {
        let interval = (per_second > 0).then(|| Duration::from_secs(1) / per_second);
        Bucket { interval, full: Duration::ZERO }
    }

    /// Whether it may happen, once.
    pub fn take(&mut self, now: Duration) -> bool {
        let Some(interval) = self.interval else { return false };
        let full = self.full.max(now) + interval;
        let may = full - now <= Duration::from_secs(1);
        if may {
            self.full = full;
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_is_at_once_and_then_the_rate() {
        let mut bucket = Bucket::new(10);
        let start = Duration::from_secs(5);
        assert_eq!((0..100).filter(|_| bucket.take(start)).count(), 10);
        let later = (1..=3000).filter(|ms| bucket.take(start + Duration::from_millis(*ms))).count();
        assert_eq!(later, 30);
        assert!(!Bucket::new(0).take(start));
    }
}
