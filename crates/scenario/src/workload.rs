//! Workloads: flows whose sizes and starts are random.
//!
//! What enters: a distribution of sizes, a load, senders and receivers. What leaves: flows, in the order of their
//! starts. All of them are drawn before the run, so they are a part of the input like flows that are written down.

use base::Rng;
use sim::random::{exponential, unit};
use sim::time::Time;

/// A distribution of flow sizes: points of its distribution function, with straight lines between them.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeDistribution {
    /// Bytes and the probability that a flow has no more, both rising; from 0 to 1.
    points: Vec<(f64, f64)>,
}

impl SizeDistribution {
    /// Flows that all have the same size.
    pub fn fixed(bytes: u64) -> SizeDistribution {
        SizeDistribution { points: vec![(bytes as f64, 0.0), (bytes as f64, 1.0)] }
    }

    /// Reads a table of sizes and probabilities, `SIZE,PROBABILITY` in each line; a line of names may be the first, and
    /// `#` begins a comment. Sizes are bytes, or packets of `packet_bytes` bytes. A table whose names show that it has
    /// packets needs these. The error has the number of its line.
    pub fn parse(text: &str, packet_bytes: Option<u64>) -> Result<SizeDistribution, String> {
        let unit = packet_bytes.unwrap_or(1) as f64;
        let mut points: Vec<(f64, f64)> = Vec::new();
        let mut may_be_names = true;
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim();
            let is_header = may_be_names && line.starts_with(|first: char| first.is_ascii_alphabetic());
            if is_header && packet_bytes.is_none() && (line.contains("pkt") || line.contains("packet")) {
                return Err(format!("line {number}: sizes are in packets: add `packet_bytes`, as in 1460"));
            }
            may_be_names &= line.is_empty();
            if line.is_empty() || is_header {
                continue;
            }
            let values = line.split_once([',', ' ', '\t']);
            let point = values
                .and_then(|(size, part)| Some((size.trim().parse::<f64>().ok()? * unit, part.trim().parse().ok()?)));
            let Some((size, part)): Option<(f64, f64)> = point else {
                return Err(format!("line {number}: `{line}` is not SIZE,PROBABILITY"));
            };
            let last = points.last().copied().unwrap_or((0.0, 0.0));
            if !(last.0..1e15).contains(&size) || !(last.1..=1.0).contains(&part) {
                return Err(format!("line {number}: sizes and probabilities rise, and the last probability is 1"));
            }
            points.push((size, part));
        }
        let is_complete = points.last().is_some_and(|(size, part)| *part == 1.0 && *size >= 1.0);
        if is_complete { Ok(SizeDistribution { points }) } else { Err("the last probability is not 1".to_owned()) }
    }

    /// The mean size in bytes.
    pub fn mean(&self) -> f64 {
        let first = self.points.first().map_or(0.0, |(size, part)| size * part);
        let between = |pair: &[(f64, f64)]| (pair[1].1 - pair[0].1) * (pair[0].0 + pair[1].0) / 2.0;
        first + self.points.windows(2).map(between).sum::<f64>()
    }

    /// The size of a flow: at least one byte.
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        let part = unit(rng);
        let index = self.points.partition_point(|(_, until)| *until < part).min(self.points.len() - 1);
        let (size, until) = self.points[index];
        let bytes = match index.checked_sub(1).map(|before| self.points[before]) {
            Some((smaller, from)) if until > from => smaller + (size - smaller) * (part - from) / (until - from),
            _ => size,
        };
        ((bytes + 0.5) as u64).max(1)
    }
}

/// Starts and sizes of the flows of one sender: Poisson arrivals that load a link of this rate to this part.
pub fn draw(
    sizes: &SizeDistribution,
    load: f64,
    bits_per_s: u64,
    (start, end): (Time, Time),
    rng: &mut Rng,
) -> Vec<(Time, u64)> {
    let mean_ps = sizes.mean() * 8.0 / (load * bits_per_s as f64) * 1e12;
    let mut flows = Vec::new();
    let mut next = start;
    loop {
        next += Time::from_ps((exponential(rng) * mean_ps + 0.5) as u64);
        if next >= end {
            return flows;
        }
        flows.push((next, sizes.draw(rng)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "size_bytes,cdf\n0,0\n10000,0.5 # half\n\n30000,1\n";

    #[test]
    fn sizes_have_their_distribution() {
        let sizes = SizeDistribution::parse(TABLE, None).unwrap();
        assert_eq!(sizes.mean(), 0.5 * 5_000.0 + 0.5 * 20_000.0);
        let mut rng = Rng::new(1);
        let drawn: Vec<u64> = (0..100_000).map(|_| sizes.draw(&mut rng)).collect();
        let mean = drawn.iter().sum::<u64>() / 100_000;
        let small = drawn.iter().filter(|&&size| size <= 5_000).count();
        assert!(mean.abs_diff(12_500) < 120 && small.abs_diff(25_000) < 600, "{mean} {small}");
        assert!(drawn.iter().all(|size| (1..=30_000).contains(size)));
        // A first point with a probability is that size.
        let sizes = SizeDistribution::parse("1 0.5\n3 1", None).unwrap();
        assert_eq!(sizes.mean(), 0.5 + 0.5 * 2.0);
        let packets = SizeDistribution::parse("size_pkts,cdf\n1,0.5\n3,1\n", Some(1_000)).unwrap();
        assert_eq!(packets.mean(), 1_000.0 * sizes.mean());
        assert_eq!(SizeDistribution::fixed(7).draw(&mut rng), 7);
    }

    #[test]
    fn damaged_tables_are_refused() {
        for (text, message) in [
            ("", "the last probability is not 1"),
            ("0,0\n10,0.5\n", "the last probability is not 1"),
            ("a,b\nc,d\n", "line 2: `c,d` is not SIZE,PROBABILITY"),
            ("0,0\nx,1\n", "line 2: `x,1` is not SIZE,PROBABILITY"),
            ("5,0\n4,1\n", "line 2: sizes and probabilities rise, and the last probability is 1"),
            ("5,0.5\n6,0.4\n", "line 2: sizes and probabilities rise, and the last probability is 1"),
            ("5,NaN\n", "line 1: sizes and probabilities rise, and the last probability is 1"),
            ("size_pkts,cdf\n1,1\n", "line 1: sizes are in packets: add `packet_bytes`, as in 1460"),
            ("1e300,1\n", "line 1: sizes and probabilities rise, and the last probability is 1"),
        ] {
            assert_eq!(SizeDistribution::parse(text, None), Err(message.to_owned()), "{text}");
        }
    }

    #[test]
    fn arrivals_load_the_link() {
        let sizes = SizeDistribution::parse(TABLE, None).unwrap();
        let mut rng = Rng::new(2);
        let flows = draw(&sizes, 0.4, 1_000_000_000, (Time::from_s(1), Time::from_s(11)), &mut rng);
        let load = flows.iter().map(|(_, bytes)| bytes * 8).sum::<u64>() as f64 / 10e9;
        assert!((load - 0.4).abs() < 0.012, "{load}");
        assert!(flows.is_sorted_by_key(|(start, _)| *start) && flows[0].0 > Time::from_s(1));
    }
}
