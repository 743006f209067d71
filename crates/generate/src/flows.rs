//! Which flow the next packet belongs to, and how long the packet is.
//!
//! What enters: a distribution and a seed. What leaves: numbers of flows, lengths of frames. Weights are computed with
//! the four operations alone, so that all machines draw the same.

use base::Rng;
use std::str::FromStr;

/// The most flows: there is a number of 8 bytes for each of a Zipf distribution.
pub const FLOWS_MAX: u64 = 16 << 20;

/// Lengths of Ethernet frames without their checksum.
const FRAME_BYTES: [usize; 2] = [14, 9_000];

/// The simple mix of the Internet: lengths without the checksum, and their shares.
const IMIX: [(usize, u64); 3] = [(60, 7), (590, 4), (1_514, 1)];

/// How packets are distributed over flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// One packet of each in turn.
    InTurn,
    /// All flows are equally likely.
    Uniform,
    /// The n-th flow has a share proportional to n to the power of minus this exponent.
    Zipf(f64),
}

impl FromStr for Distribution {
    type Err = String;

    fn from_str(text: &str) -> Result<Distribution, String> {
        match (text, text.strip_prefix("zipf:")) {
            ("turn", _) => Ok(Distribution::InTurn),
            ("uniform", _) => Ok(Distribution::Uniform),
            ("zipf", _) => Ok(Distribution::Zipf(1.0)),
            (_, Some(exponent)) => match exponent.parse() {
                Ok(exponent) if (0.0..=10.0).contains(&exponent) => Ok(Distribution::Zipf(exponent)),
                _ => Err(format!("`{text}`: the exponent is a number from 0 to 10")),
            },
            _ => Err(format!("`{text}`: a distribution is turn, uniform, zipf or zipf:EXPONENT")),
        }
    }
}

/// Lengths of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// Between two, both included.
    Between(usize, usize),
    /// The simple mix of the Internet.
    Imix,
}

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Sizes, String> {
        if text == "imix" {
            return Ok(Sizes::Imix);
        }
        let [least, most] = FRAME_BYTES;
        let number = |text: &str| text.parse().ok().filter(|bytes| (least..=most).contains(bytes));
        let range = match text.split_once('-') {
            Some((low, high)) => number(low).zip(number(high)),
            None => number(text).map(|bytes| (bytes, bytes)),
        };
        let range = range.filter(|(low, high)| low <= high);
        range.map(|(low, high)| Sizes::Between(low, high)).ok_or_else(|| {
            format!("`{text}`: a length is imix, a number from {least} to {most}, or a range of them as 60-1514")
        })
    }
}

impl Sizes {
    /// The length of the next frame.
    pub fn draw(self, rng: &mut Rng) -> usize {
        match self {
            Sizes::Between(low, high) if low == high => low,
            Sizes::Between(low, high) => rng.between(low as u64, high as u64) as usize,
            Sizes::Imix => {
                let mut share = rng.below(IMIX.iter().map(|(_, weight)| weight).sum());
                let of = |(_, weight): &&(usize, u64)| {
                    let is_it = share < *weight;
                    share = share.saturating_sub(*weight);
                    is_it
                };
                IMIX.iter().find(of).map_or(IMIX[0].0, |(bytes, _)| *bytes)
            }
        }
    }
}

/// Draws flows.
#[derive(Clone, Debug)]
pub struct Draw {
    flows: u64,
    next: u64,
    is_random: bool,
    /// Sums of the weights of all flows so far, of a Zipf distribution.
    sums: Vec<u64>,
}

impl Draw {
    /// Draws from this many flows, at least one.
    pub fn new(distribution: Distribution, flows: u64) -> Draw {
        let flows = flows.clamp(1, FLOWS_MAX);
        let mut sums = Vec::new();
        if let Distribution::Zipf(exponent) = distribution {
            let mut sum = 0u64;
            sums.extend((1..=flows).map(|rank| {
                sum += ((power(rank as f64, -exponent) * (1u64 << 36) as f64) as u64).max(1);
                sum
            }));
        }
        Draw { flows, next: 0, is_random: distribution != Distribution::InTurn, sums }
    }

    /// The next flow.
    pub fn draw(&mut self, rng: &mut Rng) -> u64 {
        match self.sums.last() {
            Some(&total) => {
                let share = rng.below(total);
                self.sums.partition_point(|sum| *sum <= share) as u64
            }
            None if self.is_random => rng.below(self.flows),
            None => {
                let flow = self.next;
                self.next = (flow + 1) % self.flows;
                flow
            }
        }
    }
}

/// `base` to the power of `exponent`, for a base of at least 1.
fn power(base: f64, exponent: f64) -> f64 {
    // base = 2^twos * rest, with rest from 1 to 2.
    let (mut twos, mut rest) = (0.0, base);
    while rest >= 2.0 {
        rest /= 2.0;
        twos += 1.0;
    }
    // ln(rest) = 2 artanh((rest - 1) / (rest + 1)).
    let ratio = (rest - 1.0) / (rest + 1.0);
    let (mut term, mut sum) = (ratio, 0.0);
    for odd in 0..20 {
        sum += term / f64::from(2 * odd + 1);
        term *= ratio * ratio;
    }
    let logarithm = exponent * (twos * std::f64::consts::LN_2 + 2.0 * sum);
    // e^x = (e^(x / 1024))^1024.
    let small = logarithm / 1024.0;
    let (mut term, mut result) = (1.0, 1.0);
    for step in 1..12 {
        term *= small / f64::from(step);
        result += term;
    }
    for _ in 0..10 {
        result *= result;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_those_of_mathematics() {
        for (base, exponent) in [(1.0, -1.0), (2.0, -1.0), (10.0, -0.5), (1e6, -1.2), (12_345.0, -2.0)] {
            let exact = f64::powf(base, exponent);
            assert!((power(base, exponent) / exact - 1.0).abs() < 1e-9, "{base}^{exponent}");
        }
    }

    #[test]
    fn flows_have_their_shares() {
        let drawn = |text: &str| {
            let (mut draw, mut rng) = (Draw::new(text.parse().unwrap(), 4), Rng::new(1));
            let mut counts = [0u32; 4];
            (0..12_000).for_each(|_| counts[draw.draw(&mut rng) as usize] += 1);
            counts
        };
        assert_eq!(drawn("turn"), [3_000; 4]);
        assert!(drawn("uniform").iter().all(|count| count.abs_diff(3_000) < 200));
        // Shares of 12, 6, 4 and 3 of 25.
        let zipf = drawn("zipf:1");
        let near = zipf.iter().zip([5_760, 2_880, 1_920, 1_440]).all(|(count, share)| count.abs_diff(share) < 200);
        assert!(near, "{zipf:?}");
    }

    #[test]
    fn lengths_are_as_they_are_described() {
        let mut rng = Rng::new(1);
        let sizes: Sizes = "60-62".parse().unwrap();
        assert!((0..100).all(|_| (60..=62).contains(&sizes.draw(&mut rng))));
        let mut counts = base::OrderedMap::new();
        (0..12_000).for_each(|_| *counts.entry(Sizes::Imix.draw(&mut rng)).or_insert(0u32) += 1);
        let near = counts.iter().zip([7_000, 4_000, 1_000]).all(|((_, count), share)| count.abs_diff(share) < 300);
        assert!(near && counts.keys().eq([&60, &590, &1_514]), "{counts:?}");
        for wrong in ["13", "9001", "100-60", "x", ""] {
            assert!(wrong.parse::<Sizes>().is_err(), "{wrong}");
        }
        assert!("zipf:-1".parse::<Distribution>().is_err() && "zip".parse::<Distribution>().is_err());
    }
}
