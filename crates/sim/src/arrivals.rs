//! When packets are generated, and how long they are.
//!
//! What enters: a rate or a mean, and random numbers. What leaves: the span until the next packet, and its length.

use crate::random::{self, exponential, exponential_time, uniform_time};
use crate::time::{Serialiser, Time};
use base::Rng;
use std::sync::Arc;

/// The times between packets.
#[derive(Clone, Debug)]
pub enum Arrivals {
    /// As a line of this rate would carry packets of this many bytes one after the other.
    Constant {
        /// The line.
        line: Serialiser,
        /// The bytes of a packet.
        bytes: u64,
    },
    /// Independent, exponentially distributed.
    Poisson {
        /// Their mean.
        mean: Time,
    },
    /// Constant during phases, which alternate with pauses. Both are exponentially distributed.
    OnOff {
        /// As in [`Arrivals::Constant`].
        line: Serialiser,
        /// As in [`Arrivals::Constant`].
        bytes: u64,
        /// The mean length of a phase.
        on: Time,
        /// The mean length of a pause.
        off: Time,
        /// What is left of this phase.
        left: Time,
    },
    /// One in each interval, at a time that varies.
    Periodic {
        /// From one nominal time to the next.
        interval: Time,
        /// A packet is up to this span later than its nominal time, evenly distributed.
        jitter: Time,
        /// How much later the last one was.
        last: Time,
    },
    /// As they were recorded.
    Trace {
        /// The span before each packet.
        gaps: Arc<[Time]>,
        /// How many have passed.
        passed: usize,
    },
}

impl Arrivals {
    /// Packets of this many bytes at a rate in bits per second.
    pub fn constant(bits_per_s: u64, bytes: u64) -> Arrivals {
        Arrivals::Constant { line: Serialiser::new(bits_per_s), bytes }
    }

    /// Packets of this many bytes, as many on average as a rate in bits per second has.
    pub fn poisson(bits_per_s: u64, bytes: u64) -> Arrivals {
        Arrivals::Poisson { mean: Serialiser::new(bits_per_s).duration(bytes) }
    }

    /// Packets of this many bytes at a rate in bits per second, in phases.
    pub fn on_off(bits_per_s: u64, bytes: u64, on: Time, off: Time) -> Arrivals {
        Arrivals::OnOff { line: Serialiser::new(bits_per_s), bytes, on, off, left: Time::ZERO }
    }

    /// One packet in each interval, up to `jitter` after its nominal time.
    pub fn periodic(interval: Time, jitter: Time) -> Arrivals {
        Arrivals::Periodic { interval, jitter, last: Time::ZERO }
    }

    /// After these spans, the first of which is before the first packet.
    pub fn trace(gaps: Arc<[Time]>) -> Arrivals {
        Arrivals::Trace { gaps, passed: 0 }
    }

    /// The span until the first packet. Those of a constant rate begin at once; periodic ones at a random phase.
    pub fn first(&mut self, rng: &mut Rng) -> Time {
        match self {
            Arrivals::Constant { .. } => Time::ZERO,
            Arrivals::Periodic { interval, jitter, last } => {
                *last = uniform_time(rng, *jitter);
                uniform_time(rng, *interval) + *last
            }
            random => random.next(rng),
        }
    }

    /// The span until the next packet; [`Time::MAX`] if there is none.
    pub fn next(&mut self, rng: &mut Rng) -> Time {
        match self {
            Arrivals::Constant { line, bytes } => line.take(*bytes),
            Arrivals::Poisson { mean } => exponential_time(rng, *mean),
            Arrivals::OnOff { line, bytes, on, off, left } => {
                let interval = line.take(*bytes);
                if interval <= *left {
                    *left = left.since(interval);
                    return interval;
                }
                let pause = exponential_time(rng, *off);
                *left = exponential_time(rng, *on);
                interval + pause
            }
            Arrivals::Periodic { interval, jitter, last } => {
                let before = std::mem::replace(last, uniform_time(rng, *jitter));
                (*interval + *last).since(before)
            }
            Arrivals::Trace { gaps, passed } => {
                *passed += 1;
                gaps.get(*passed - 1).copied().unwrap_or(Time::MAX)
            }
        }
    }
}

/// The lengths of packets.
#[derive(Clone, PartialEq, Debug)]
pub enum Sizes {
    /// All the same.
    Fixed(usize),
    /// Uniform between two lengths, both included.
    Uniform(usize, usize),
    /// A least length and an exponentially distributed rest, to whole bytes.
    Exponential {
        /// The least length.
        least: usize,
        /// The mean length, `least` included.
        mean: f64,
    },
    /// As they were recorded; 0 for those that follow.
    Trace(Arc<[usize]>),
}

impl Sizes {
    /// The length of the packet of this number, from 0.
    pub fn next(&self, number: u64, rng: &mut Rng) -> usize {
        match *self {
            Sizes::Fixed(bytes) => bytes,
            Sizes::Uniform(low, high) => rng.between(low as u64, high as u64) as usize,
            Sizes::Exponential { least, mean } => {
                least + (exponential(rng) * (mean - least as f64).max(0.0) + 0.5) as usize
            }
            Sizes::Trace(ref sizes) => {
                usize::try_from(number).ok().and_then(|number| sizes.get(number)).copied().unwrap_or(0)
            }
        }
    }
}

/// The stream for a generator.
pub(crate) fn stream(seed: u64, name: &str) -> Rng {
    random::stream(seed, &format!("{name} generator"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(mut arrivals: Arrivals, count: u32) -> Time {
        let mut rng = Rng::new(1);
        (0..count).fold(Time::ZERO, |sum, _| sum + arrivals.next(&mut rng))
    }

    #[test]
    fn generators_keep_their_rates() {
        // 1,000 bytes at 3 Gb/s: 375,000 packets a second.
        assert_eq!(total(Arrivals::constant(3_000_000_000, 1_000), 375_000), Time::from_s(1));
        let poisson = total(Arrivals::poisson(3_000_000_000, 1_000), 375_000).seconds();
        // Four standard errors of 1 / sqrt(375,000).
        assert!((poisson - 1.0).abs() < 0.0066, "{poisson}");
        let on_off = Arrivals::on_off(3_000_000_000, 1_000, Time::from_ms(1), Time::from_ms(3));
        let on_off = total(on_off, 375_000).seconds();
        // A phase and a pause take 4 ms; about 1,000 of them, with a deviation of sqrt(10) ms each.
        assert!((on_off - 4.0).abs() < 0.4, "{on_off}");
    }

    #[test]
    fn periodic_packets_do_not_drift() {
        let mut rng = Rng::new(1);
        let (interval, jitter) = (Time::from_ms(10), Time::from_ms(4));
        let mut arrivals = Arrivals::periodic(interval, jitter);
        let mut now = arrivals.first(&mut rng);
        let Arrivals::Periodic { last, .. } = arrivals else { panic!("they are periodic") };
        let phase = now.since(last);
        assert!(phase < interval && last <= jitter);
        let mut late = Vec::new();
        for number in 1..1_000 {
            now += arrivals.next(&mut rng);
            late.push(now.since(phase + interval.times(number)));
        }
        assert!(late.iter().all(|late| *late <= jitter) && late.iter().any(|late| *late > Time::from_ms(3)));
    }

    #[test]
    fn recorded_packets_come_as_they_were_and_end() {
        let mut rng = Rng::new(1);
        let mut arrivals = Arrivals::trace([Time::ZERO, Time::from_ms(3)].into());
        let spans = [arrivals.first(&mut rng), arrivals.next(&mut rng), arrivals.next(&mut rng)];
        assert_eq!(spans, [Time::ZERO, Time::from_ms(3), Time::MAX]);
        let sizes = Sizes::Trace([7, 9].into());
        assert_eq!([0, 1, 2].map(|number| sizes.next(number, &mut rng)), [7, 9, 0]);
    }

    #[test]
    fn sizes_are_in_their_range() {
        let mut rng = Rng::new(1);
        assert!((0..1_000).map(|_| Sizes::Uniform(3, 5).next(0, &mut rng)).all(|size| (3..=5).contains(&size)));
        assert_eq!(Sizes::Fixed(9).next(0, &mut rng), 9);
        for least in [0, 1_000] {
            let exponential = Sizes::Exponential { least, mean: 4_000.0 };
            let drawn: Vec<usize> = (0..100_000).map(|_| exponential.next(0, &mut rng)).collect();
            let mean = drawn.iter().sum::<usize>() / drawn.len();
            assert!((3_950..4_050).contains(&mean) && drawn.iter().all(|bytes| *bytes >= least), "{mean}");
        }
    }
}
