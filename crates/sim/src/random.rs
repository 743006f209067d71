//! Random numbers that are the same on every machine.
//!
//! What enters: the seed of a run and the name of who needs random numbers. What leaves: a stream of its own for each
//! purpose, probabilities, exponential and uniform values. A part that is added to a network does not change the
//! numbers of another one.
//!
//! Only the four basic operations on floating-point numbers are used: IEEE 754 defines their results to the last bit,
//! while logarithms of C libraries differ.

use crate::time::Time;
use base::Rng;

/// The stream of one purpose, as `"h1>s1 loss"`, in the run of this seed.
pub fn stream(seed: u64, purpose: &str) -> Rng {
    // FNV-1a, then the generator's own mixing.
    let hash = purpose
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let mut rng = Rng::new(seed);
    Rng::new(rng.next_u64() ^ hash.rotate_left(17))
}

/// A probability.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Chance {
    /// Times 2^64; the greatest value means always.
    threshold: u64,
}

impl Chance {
    /// Never.
    pub const NEVER: Chance = Chance { threshold: 0 };

    /// A probability from 0 to 1; `None` for other numbers.
    pub fn new(probability: f64) -> Option<Chance> {
        // The conversion saturates, so 1 becomes the greatest value.
        let threshold = (probability * 18_446_744_073_709_551_616.0) as u64;
        (0.0..=1.0).contains(&probability).then_some(Chance { threshold })
    }

    /// Whether it can happen at all.
    pub fn is_possible(self) -> bool {
        self.threshold > 0
    }

    /// Whether it happens this time.
    pub fn happens(self, rng: &mut Rng) -> bool {
        self.is_possible() && (self.threshold == u64::MAX || rng.next_u64() < self.threshold)
    }
}

/// A uniform value from 0 to 1, without 0.
pub fn unit(rng: &mut Rng) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
}

/// A value of the exponential distribution of mean 1.
pub fn exponential(rng: &mut Rng) -> f64 {
    -ln(unit(rng))
}

/// A span of the exponential distribution with this mean.
pub fn exponential_time(rng: &mut Rng, mean: Time) -> Time {
    Time::from_ps((exponential(rng) * mean.ps() as f64 + 0.5) as u64)
}

/// A uniform span from 0 to `most`, both included.
pub fn uniform_time(rng: &mut Rng, most: Time) -> Time {
    Time::from_ps(rng.between(0, most.ps()))
}

/// The natural logarithm of a positive, normal number, to about one unit in the last place.
pub fn ln(x: f64) -> f64 {
    const MANTISSA_BITS: u32 = 52;
    const BIAS: i64 = 1023;
    let bits = x.to_bits();
    let mut exponent = (bits >> MANTISSA_BITS) as i64 - BIAS;
    let mut mantissa = f64::from_bits((bits & ((1 << MANTISSA_BITS) - 1)) | ((BIAS as u64) << MANTISSA_BITS));
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    // ln m = 2 artanh((m - 1) / (m + 1)), whose series ends soon: the square is below 0.03.
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let square = ratio * ratio;
    let series = (0..12).rev().fold(0.0, |sum, term| sum * square + 1.0 / f64::from(2 * term + 1));
    exponent as f64 * std::f64::consts::LN_2 + 2.0 * ratio * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_depend_on_seed_and_purpose_only() {
        let first = |seed, purpose| stream(seed, purpose).next_u64();
        assert_eq!(first(1, "a loss"), first(1, "a loss"));
        assert_ne!(first(1, "a loss"), first(1, "a jitter"));
        assert_ne!(first(1, "a loss"), first(2, "a loss"));
    }

    #[test]
    fn the_logarithm_is_exact_to_the_last_digits() {
        let mut rng = Rng::new(5);
        for _ in 0..100_000 {
            let x = unit(&mut rng) * if rng.chance(1, 2) { 1.0 } else { 1e-9 };
            let (ours, theirs) = (ln(x), x.ln());
            assert!((ours - theirs).abs() <= 4.0 * f64::EPSILON * theirs.abs().max(1e-300), "{x}: {ours} {theirs}");
        }
        assert_eq!((ln(1.0), ln(0.5)), (0.0, -std::f64::consts::LN_2));
    }

    #[test]
    fn values_are_the_same_on_every_machine() {
        let mut rng = stream(42, "test");
        let bits: Vec<u64> = (0..3).map(|_| exponential(&mut rng).to_bits()).collect();
        assert_eq!(bits, EXPECTED_BITS);
    }
    const EXPECTED_BITS: [u64; 3] = [0x3fe1_f939_cbd4_4eae, 0x3fdf_810a_8b84_d0d8, 0x3fbc_222a_59d7_020f];

    #[test]
    fn the_exponential_distribution_has_its_moments() {
        let mut rng = stream(1, "moments");
        let count = 1_000_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..count {
            let value = exponential(&mut rng);
            sum += value;
            squares += value * value;
        }
        let (mean, second) = (sum / f64::from(count), squares / f64::from(count));
        // Four standard errors: 1 / 1000 and sqrt(20) / 1000.
        assert!((mean - 1.0).abs() < 0.004 && (second - 2.0).abs() < 0.018, "{mean} {second}");
    }

    #[test]
    fn probabilities_are_from_0_to_1() {
        let mut rng = Rng::new(1);
        assert_eq!([-0.1, 1.1, f64::NAN].map(Chance::new), [None; 3]);
        let mut count = |p| (0..10_000).filter(|_| Chance::new(p).unwrap().happens(&mut rng)).count();
        assert_eq!((count(0.0), count(1.0)), (0, 10_000));
        assert!((count(0.25) as i64 - 2_500).abs() < 200);
    }
}
