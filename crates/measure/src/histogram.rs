//! A histogram of times.
//!
//! Times below 64 ns are kept exactly, greater ones by their six leading bits: a quantile exceeds the true time by at
//! most one part in 32, and the memory does not depend on the number of times.

/// Buckets for each power of two.
const STEPS: u64 = 32;

/// How often each time occurred.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
    greatest: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { counts: vec![0; bucket(u64::MAX) + 1], total: 0, greatest: 0 }
    }
}

impl Histogram {
    /// Records that a time occurred `times` times.
    pub fn record(&mut self, time: u64, times: u64) {
        self.counts[bucket(time)] += times;
        self.total += times;
        if times > 0 {
            self.greatest = self.greatest.max(time);
        }
    }

    /// Adds all times of another histogram.
    pub fn add(&mut self, other: &Histogram) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, count)| *sum += count);
        self.total += other.total;
        self.greatest = self.greatest.max(other.greatest);
    }

    /// The number of recorded times.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The greatest recorded time.
    pub fn greatest(&self) -> u64 {
        self.greatest
    }

    /// The quantile `part`, from 0 to 1, of the recorded times; `None` if there are none.
    pub fn quantile(&self, part: f64) -> Option<u64> {
        let wanted = ((self.total as f64 * part).ceil() as u64).clamp(1, self.total.max(1));
        let mut seen = 0;
        let position = self.counts.iter().position(|count| {
            seen += count;
            seen >= wanted
        })?;
        Some(highest(position).min(self.greatest))
    }
}

/// The bucket of a time.
fn bucket(time: u64) -> usize {
    if time < 2 * STEPS {
        return time as usize;
    }
    let shift = u64::from(time.ilog2()) - u64::from(STEPS.ilog2());
    (shift * STEPS + (time >> shift)) as usize
}

/// The greatest time of a bucket.
fn highest(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 2 * STEPS {
        return bucket;
    }
    let shift = bucket / STEPS - 1;
    let leading = bucket - shift * STEPS;
    (leading << shift) + ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_has_a_bucket_that_ends_shortly_above_it() {
        for time in (0..5000).chain([1 << 20, (1 << 40) + 12345, u64::MAX - 1, u64::MAX]) {
            let end = highest(bucket(time));
            assert!(end >= time && end - time <= time / STEPS, "{time}: {end}");
            assert_eq!(bucket(end), bucket(time));
            assert_ne!(bucket(end.saturating_add(1)), bucket(time).wrapping_sub(usize::from(end == u64::MAX)));
        }
    }

    #[test]
    fn quantiles() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        (1..=50).for_each(|time| histogram.record(time, 2));
        histogram.record(1_000_000, 0);
        assert_eq!((histogram.quantile(0.5), histogram.quantile(0.99)), (Some(25), Some(50)));
        let mut both = Histogram::default();
        both.record(1_000_003, 100);
        both.add(&histogram);
        assert_eq!((both.total(), both.greatest()), (200, 1_000_003));
        assert_eq!((both.quantile(0.5), both.quantile(1.0)), (Some(50), Some(1_000_003)));
        assert_eq!(both.quantile(0.0), Some(1));
    }
}
