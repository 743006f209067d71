//! Statistics that are exact where they can be, and the same on every machine.
//!
//! What enters: spans of time, and samples. What leaves: means, quantiles, confidence intervals.
//!
//! * [`Delays`]: a histogram of spans with their exact sum.
//! * [`Estimate`]: the mean of independent samples with its confidence interval.

use crate::time::Time;

/// Buckets for each power of two: a relative error below 1 in 128.
const STEP_BITS: u32 = 7;
const STEPS: u64 = 1 << STEP_BITS;

/// How often spans of each length occurred. The memory depends on the range of the spans, not on their number.
#[derive(Clone, Debug, Default)]
pub struct Delays {
    /// The first bucket of `counts`.
    first: usize,
    counts: Vec<u32>,
    count: u64,
    sum_ps: u128,
    least: u64,
    greatest: u64,
}

impl Delays {
    /// Records a span.
    pub fn record(&mut self, span: Time) {
        let ps = span.ps();
        let bucket = bucket(ps);
        if self.counts.is_empty() {
            self.first = bucket;
        }
        if bucket < self.first {
            let more = self.first - bucket;
            self.counts.splice(0..0, std::iter::repeat_n(0, more));
            self.first = bucket;
        }
        let index = bucket - self.first;
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] = self.counts[index].saturating_add(1);
        self.least = if self.count == 0 { ps } else { self.least.min(ps) };
        self.greatest = self.greatest.max(ps);
        self.count += 1;
        self.sum_ps += u128::from(ps);
    }

    /// Adds what others have recorded.
    pub fn merge(&mut self, other: &Delays) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = other.clone();
            return;
        }
        let first = self.first.min(other.first);
        let end = (self.first + self.counts.len()).max(other.first + other.counts.len());
        let mut counts = vec![0_u32; end - first];
        for (from, list) in [(self.first, &self.counts), (other.first, &other.counts)] {
            counts[from - first..].iter_mut().zip(list).for_each(|(sum, count)| *sum = sum.saturating_add(*count));
        }
        (self.first, self.counts) = (first, counts);
        self.least = self.least.min(other.least);
        self.greatest = self.greatest.max(other.greatest);
        self.count += other.count;
        self.sum_ps += other.sum_ps;
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean, rounded down to picoseconds.
    pub fn mean(&self) -> Option<Time> {
        let mean = self.sum_ps.checked_div(u128::from(self.count))?;
        Some(Time::from_ps(u64::try_from(mean).unwrap_or(u64::MAX)))
    }

    /// The shortest.
    pub fn least(&self) -> Option<Time> {
        (self.count > 0).then_some(Time::from_ps(self.least))
    }

    /// The longest.
    pub fn greatest(&self) -> Option<Time> {
        (self.count > 0).then_some(Time::from_ps(self.greatest))
    }

    /// The span that `part` of all (from 0 to 1) do not exceed: exact to one part in 128.
    pub fn quantile(&self, part: f64) -> Option<Time> {
        let rank = ((self.count as f64 * part).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        let index = self.counts.iter().position(|&count| {
            seen += u64::from(count);
            seen >= rank
        })?;
        Some(Time::from_ps(highest(self.first + index).clamp(self.least, self.greatest)))
    }
}

/// The bucket of a span: spans below `STEPS` have their own.
fn bucket(ps: u64) -> usize {
    let exponent = ps.max(1).ilog2().saturating_sub(STEP_BITS);
    (u64::from(exponent) * STEPS + (ps >> exponent)) as usize
}

/// The longest span of a bucket.
fn highest(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 2 * STEPS {
        return bucket;
    }
    let exponent = bucket / STEPS - 1;
    let leading = u128::from(bucket % STEPS + STEPS);
    u64::try_from(((leading + 1) << exponent) - 1).unwrap_or(u64::MAX)
}

/// The mean of samples, and how exact it is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half of the interval in which the true mean is with a probability of 95 %; infinite for a single sample.
    pub half_width: f64,
}

/// Quantiles 0.975 of Student's distribution for 1 to 30 degrees of freedom.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

impl Estimate {
    /// Of independent samples, as the means of several seeds or of long batches of a run; `None` without samples.
    pub fn of(samples: &[f64]) -> Option<Estimate> {
        let count = samples.len() as f64;
        let mean = samples.iter().sum::<f64>() / count;
        let squares: f64 = samples.iter().map(|sample| (sample - mean) * (sample - mean)).sum();
        let half_width = match samples.len() {
            0 => return None,
            1 => f64::INFINITY,
            freedom => student(freedom - 1) * (squares / (count - 1.0) / count).sqrt(),
        };
        Some(Estimate { mean, half_width })
    }

    /// Whether the interval has this value in it.
    pub fn covers(&self, value: f64) -> bool {
        (value - self.mean).abs() <= self.half_width
    }
}

/// For more degrees of freedom than the table has, the next lower of a few, which makes intervals wider.
fn student(freedom: usize) -> f64 {
    match freedom {
        0..=30 => STUDENT[freedom.max(1) - 1],
        31..=59 => 2.042,
        60..=119 => 2.000,
        _ => 1.980,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_exact_to_one_part_in_128() {
        let mut delays = Delays::default();
        let spans: Vec<u64> = (0..10_000u64).map(|n| 1_000 + n * n * 37).collect();
        spans.iter().rev().for_each(|&ps| delays.record(Time::from_ps(ps)));
        for part in [0.0, 0.5, 0.95, 0.99, 0.999, 1.0] {
            let exact = spans[((10_000.0 * part) as usize).clamp(1, 10_000) - 1];
            let found = delays.quantile(part).unwrap().ps();
            assert!(found >= exact && found - exact <= exact / 128, "{part}: {found} {exact}");
        }
        let mean = spans.iter().sum::<u64>() / 10_000;
        assert_eq!((delays.mean(), delays.count()), (Some(Time::from_ps(mean)), 10_000));
        assert_eq!(delays.least(), Some(Time::from_ps(1_000)));
        assert_eq!(Delays::default().quantile(0.5), None);
    }

    #[test]
    fn merged_delays_are_those_of_all() {
        let of = |spans: &[u64]| {
            let mut delays = Delays::default();
            spans.iter().for_each(|&ps| delays.record(Time::from_ps(ps)));
            delays
        };
        let (few, many) = ([5_000, 70_000], [3, 9_000_000, 5_001]);
        let mut merged = Delays::default();
        [&of(&few), &of(&[]), &of(&many)].into_iter().for_each(|it| merged.merge(it));
        let all = of(&[few.as_slice(), &many].concat());
        for part in [0.0, 0.3, 0.5, 0.7, 1.0] {
            assert_eq!(merged.quantile(part), all.quantile(part));
        }
        assert_eq!((merged.mean(), merged.count(), merged.least()), (all.mean(), 5, all.least()));
    }

    #[test]
    fn buckets_follow_each_other() {
        for ps in (0..100_000).chain([1 << 40, u64::MAX / 3, u64::MAX]) {
            let bucket = bucket(ps);
            assert!(highest(bucket) >= ps && (bucket == 0 || highest(bucket - 1) < ps), "{ps}");
        }
    }

    #[test]
    fn intervals_are_those_of_student() {
        let estimate = Estimate::of(&[1.0, 2.0, 3.0]).unwrap();
        // 4.303 / sqrt(3).
        assert!((estimate.mean - 2.0).abs() < 1e-12 && (estimate.half_width - 2.4843).abs() < 1e-3, "{estimate:?}");
        assert!(estimate.covers(4.4) && !estimate.covers(4.5));
        assert_eq!((Estimate::of(&[]), Estimate::of(&[5.0]).unwrap().covers(-1e9)), (None, true));
    }
}
