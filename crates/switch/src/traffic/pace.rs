//! The pace of a queue, a port or a wire: an exact number of units a second.
//!
//! What enters: times, and the units that go, packets or bits. What leaves: when the next may go. A unit takes a
//! fraction of a nanosecond at today's rates, so what a whole number of nanoseconds leaves over is carried over to the
//! next one: however short the units are, a second carries as many as it should.

/// A pace. None is as good as an endless one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// Units a second; 0 for no limit.
    per_s: u64,
    /// When the next unit may go: whole nanoseconds, and `rest / per_s` of one.
    next_ns: u64,
    rest: u64,
}

impl Pace {
    /// A pace of `per_s` units a second; 0 for no limit.
    pub fn new(per_s: u64) -> Pace {
        Pace { per_s, next_ns: 0, rest: 0 }
    }

    /// The units a second; 0 for no limit.
    pub fn per_s(&self) -> u64 {
        self.per_s
    }

    /// Changes the pace. What has gone already takes the time that it takes.
    pub fn set(&mut self, per_s: u64) {
        if self.per_s != per_s {
            *self = Pace { per_s, next_ns: self.due_ns(), rest: 0 };
        }
    }

    /// Whether there is a limit.
    pub fn is_limited(&self) -> bool {
        self.per_s != 0
    }

    /// When the last unit has gone, without the fraction of a nanosecond that it takes beyond.
    pub fn gone_ns(&self) -> u64 {
        self.next_ns
    }

    /// When the next unit may go, in whole nanoseconds: not before.
    pub fn due_ns(&self) -> u64 {
        match self.is_limited() {
            true => self.next_ns.saturating_add(u64::from(self.rest > 0)),
            false => 0,
        }
    }

    /// Whether the next unit may go now.
    pub fn is_due(&self, now_ns: u64) -> bool {
        self.due_ns() <= now_ns
    }

    /// Nothing has gone lately: the next unit may go now, and what could have gone is not made up for.
    pub fn begin_at(&mut self, now_ns: u64) {
        if self.next_ns < now_ns {
            (self.next_ns, self.rest) = (now_ns, 0);
        }
    }

    /// How long `units` units take, in whole nanoseconds.
    pub fn span_ns(&self, units: u64) -> u64 {
        match self.is_limited() {
            true => u64::try_from(u128::from(units) * 1_000_000_000 / u128::from(self.per_s)).unwrap_or(u64::MAX),
            false => 0,
        }
    }

    /// Takes `units` units, from when the first of them might go.
    pub fn take(&mut self, units: u64) {
        if self.is_limited() {
            let (rate, taken) = (u128::from(self.per_s), u128::from(units) * 1_000_000_000 + u128::from(self.rest));
            self.next_ns = self.next_ns.saturating_add(u64::try_from(taken / rate).unwrap_or(u64::MAX));
            self.rest = (taken % rate) as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many pieces of `units` units go within this time.
    fn within(time_ns: u64, per_s: u64, units: u64) -> usize {
        let mut pace = Pace::new(per_s);
        pace.begin_at(5);
        (0..).take_while(|_| pace.is_due(4 + time_ns).then(|| pace.take(units)).is_some()).count()
    }

    #[test]
    fn as_much_goes_as_should() {
        // 12.8 nanoseconds each, and 1.28.
        assert_eq!(within(1_000_000, 40_000_000_000, 512), 78_125);
        assert_eq!(within(1_000_000, 400_000_000_000, 512), 781_250);
        assert_eq!(within(1_000_000_000, 3, 1), 3);
        assert_eq!(within(10_000_000, 7_000_000, 1), 70_000);
        assert_eq!(within(100_000, 1_000_000_007, 1), 100_000);
    }

    #[test]
    fn nothing_goes_before_its_time() {
        let mut pace = Pace::new(400_000_000_000);
        let mut times = Vec::new();
        for _ in 0..6 {
            times.push(pace.due_ns());
            pace.take(512);
        }
        // 1.28, 2.56, 3.84, 5.12 and 6.4 nanoseconds.
        assert_eq!(times, [0, 2, 3, 4, 6, 7]);
        pace.begin_at(100);
        assert_eq!(pace.due_ns(), 100);
        pace.take(512);
        pace.set(1);
        assert_eq!(pace.due_ns(), 102);
        pace.take(u64::MAX);
        assert_eq!(pace.due_ns(), u64::MAX);
    }

    #[test]
    fn without_a_limit_everything_may_go() {
        let mut pace = Pace::new(0);
        pace.take(u64::MAX);
        assert!(pace.is_due(0) && !pace.is_limited());
    }
}
