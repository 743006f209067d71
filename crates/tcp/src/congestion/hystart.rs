//! HyStart++ (RFC 9406): the initial slow start ends when round trips become longer, before packets are lost.
//!
//! What enters: round-trip times. What leaves: by how much slow start may grow. A longer round trip leads into
//! *conservative slow start*, a quarter as fast; if it was a coincidence, the round trip becomes shorter again and slow
//! start resumes.

use base::Time;

/// How much longer a round trip must be, as a part of it, within limits (section 4.3).
const RTT_DIVISOR: u64 = 8;
const MIN_RTT_THRESHOLD: Time = Time::from_ms(4);
const MAX_RTT_THRESHOLD: Time = Time::from_ms(16);
/// Round-trip times of a round before anything is decided.
const SAMPLES: u32 = 8;
/// By how much conservative slow start is slower, and how many rounds it lasts.
const GROWTH_DIVISOR: u64 = 4;
const CONSERVATIVE_ROUNDS: u32 = 5;

/// What slow start does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Growth {
    /// It grows by this many bytes.
    By(u64),
    /// It has ended.
    End,
}

/// The state of HyStart++.
#[derive(Clone, Debug)]
pub(crate) struct HyStart {
    round_end: i64,
    last_min: Time,
    current_min: Time,
    samples: u32,
    conservative: Option<Conservative>,
}

#[derive(Clone, Copy, Debug)]
struct Conservative {
    baseline: Time,
    rounds: u32,
}

impl Default for HyStart {
    fn default() -> HyStart {
        HyStart { round_end: 0, last_min: Time::MAX, current_min: Time::MAX, samples: 0, conservative: None }
    }
}

impl HyStart {
    /// An acknowledgment in slow start (section 4.2): up to `to`, with `end` behind everything that was sent.
    pub(super) fn on_ack(&mut self, bytes: u64, sample: Option<Time>, to: i64, end: i64) -> Growth {
        if to > self.round_end {
            if let Some(conservative) = &mut self.conservative {
                conservative.rounds += 1;
                if conservative.rounds > CONSERVATIVE_ROUNDS {
                    return Growth::End;
                }
            }
            self.round_end = end;
            self.last_min = self.current_min;
            self.current_min = Time::MAX;
            self.samples = 0;
        }
        if let Some(rtt) = sample {
            self.current_min = self.current_min.min(rtt);
            self.samples += 1;
            self.decide();
        }
        Growth::By(if self.conservative.is_some() { bytes / GROWTH_DIVISOR } else { bytes })
    }

    fn decide(&mut self) {
        if self.samples < SAMPLES || self.last_min == Time::MAX {
            return;
        }
        match self.conservative {
            None => {
                let threshold = self.last_min.divided(RTT_DIVISOR).clamp(MIN_RTT_THRESHOLD, MAX_RTT_THRESHOLD);
                if self.current_min >= self.last_min + threshold {
                    // The round in which this happens counts.
                    self.conservative = Some(Conservative { baseline: self.current_min, rounds: 1 });
                }
            }
            Some(Conservative { baseline, .. }) if self.current_min < baseline => self.conservative = None,
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten acknowledgments of a round with this round-trip time; what the last of them allows for 1000 bytes.
    fn round(hystart: &mut HyStart, number: i64, rtt: Time) -> Growth {
        let mut growth = Growth::By(0);
        for step in 1..=10 {
            growth = hystart.on_ack(1000, Some(rtt), number * 10 + step, (number + 1) * 10);
        }
        growth
    }

    #[test]
    fn longer_round_trips_end_slow_start_after_five_rounds() {
        let mut hystart = HyStart::default();
        let rtts = [100, 100, 112, 113, 130, 130, 130, 130, 130];
        let growth: Vec<Growth> =
            (0..).zip(rtts).map(|(number, ms)| round(&mut hystart, number, Time::from_ms(ms))).collect();
        // Each round is compared with the one before it: from 100 to 112 ms is less than an eighth, from 113 to 130 is
        // more.
        let (fast, slow) = (Growth::By(1000), Growth::By(250));
        assert_eq!(growth, [fast, fast, fast, fast, slow, slow, slow, slow, slow]);
        assert_eq!(hystart.on_ack(1000, None, 101, 110), Growth::End);
    }

    #[test]
    fn a_shorter_round_trip_resumes_slow_start() {
        let mut hystart = HyStart::default();
        for (number, (ms, bytes)) in (0..).zip([(100, 1000), (120, 250), (121, 250), (110, 1000), (111, 1000)]) {
            assert_eq!(round(&mut hystart, number, Time::from_ms(ms)), Growth::By(bytes), "{number}");
        }
    }

    #[test]
    fn thresholds_have_limits() {
        for (before, after, bytes) in [(1, 4, 1000), (1, 5, 250), (1000, 1015, 1000), (1000, 1016, 250)] {
            let mut hystart = HyStart::default();
            round(&mut hystart, 0, Time::from_ms(before));
            assert_eq!(round(&mut hystart, 1, Time::from_ms(after)), Growth::By(bytes), "{before} {after}");
        }
    }
}
