//! Modelled time, and rates.
//!
//! What enters: numbers and texts such as `10us` and `2.5Gbps`. What leaves: picoseconds and bits per second, exactly.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A time since the start of the run, or a span: picoseconds. The greatest, 213 days, means "never"; sums stop there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Hash)]
pub struct Time(u64);

/// Units of time by the length of a text's number, and their picoseconds.
const UNITS: [(&str, u64); 5] =
    [("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];

/// Units of rates, and their bits per second.
const RATE_UNITS: [(&str, u64); 5] =
    [("Tbps", 1_000_000_000_000), ("Gbps", 1_000_000_000), ("Mbps", 1_000_000), ("kbps", 1_000), ("bps", 1)];

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Never.
    pub const MAX: Time = Time(u64::MAX);

    /// So many picoseconds.
    pub const fn from_ps(ps: u64) -> Time {
        Time(ps)
    }

    /// So many nanoseconds.
    pub const fn from_ns(ns: u64) -> Time {
        Time(ns.saturating_mul(1_000))
    }

    /// So many microseconds.
    pub const fn from_us(us: u64) -> Time {
        Time(us.saturating_mul(1_000_000))
    }

    /// So many milliseconds.
    pub const fn from_ms(ms: u64) -> Time {
        Time(ms.saturating_mul(1_000_000_000))
    }

    /// So many seconds.
    pub const fn from_s(s: u64) -> Time {
        Time(s.saturating_mul(1_000_000_000_000))
    }

    /// In picoseconds.
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// In whole nanoseconds, rounded down.
    pub const fn ns(self) -> u64 {
        self.0 / 1_000
    }

    /// In seconds, for people and for statistics.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e12
    }

    /// The span from an earlier time to this one; zero if it is later.
    pub const fn since(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }

    /// So many times this span.
    pub const fn times(self, count: u64) -> Time {
        Time(self.0.saturating_mul(count))
    }

    /// Reads a span such as `10us`, `1.5 ms` or `0`. A fraction of a picosecond is not a time.
    pub fn parse(text: &str) -> Result<Time, String> {
        if text.trim() == "0" {
            return Ok(Time::ZERO);
        }
        let (number, unit) = split_unit(text);
        let ps = UNITS.iter().find(|(name, _)| *name == unit).and_then(|(_, ps)| scaled(number, *ps));
        let wrong = || format!("`{text}` is not a time: write a number with ps, ns, us, ms or s, as in \"10us\"");
        ps.map(Time).ok_or_else(wrong)
    }
}

impl Add for Time {
    type Output = Time;
    fn add(self, span: Time) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, span: Time) {
        *self = *self + span;
    }
}

impl Sub for Time {
    type Output = Time;
    fn sub(self, earlier: Time) -> Time {
        self.since(earlier)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Time::MAX {
            return f.write_str("never");
        }
        let (unit, ps) = UNITS.iter().rev().find(|(_, ps)| self.0 >= *ps).copied().unwrap_or(("s", 1_000_000_000_000));
        let (whole, rest) = (self.0 / ps, self.0 % ps);
        if rest == 0 {
            return write!(f, "{whole}{unit}");
        }
        let digits = ps.ilog10() as usize;
        let fraction = format!("{rest:0digits$}");
        write!(f, "{whole}.{}{unit}", fraction.trim_end_matches('0'))
    }
}

/// Reads a rate such as `10Gbps` in bits per second.
pub fn parse_rate(text: &str) -> Result<u64, String> {
    let (number, unit) = split_unit(text);
    let bits = RATE_UNITS.iter().find(|(name, _)| *name == unit).and_then(|(_, bits)| scaled(number, *bits));
    bits.filter(|&bits| bits > 0).ok_or_else(|| {
        format!("`{text}` is not a rate: write a number with bps, kbps, Mbps, Gbps or Tbps, as in \"10Gbps\"")
    })
}

/// A number and the letters behind it.
fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (number.trim_end(), unit)
}

/// A decimal number times `unit`, if that is a whole number that fits.
fn scaled(number: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) || number.ends_with('.') {
        return None;
    }
    let digits = |text: &str| text.replace('_', "");
    let (whole, fraction) = (digits(whole), digits(fraction));
    let fraction = fraction.trim_end_matches('0');
    let denominator = 10u64.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let part = if fraction.is_empty() { 0 } else { fraction.parse::<u64>().ok()?.checked_mul(unit)? };
    if part % denominator != 0 {
        return None;
    }
    whole.parse::<u64>().ok()?.checked_mul(unit)?.checked_add(part / denominator)
}

/// How long bytes occupy a line of a given rate, without error in the long run: what is left of a picosecond is
/// carried to the next packet.
#[derive(Clone, Debug)]
pub struct Serialiser {
    bits_per_s: u64,
    /// Picoseconds per byte, if that is a whole number; 0 if not.
    byte_ps: u64,
    /// Parts of a picosecond that the last packet left, in units of `1 / bits_per_s`.
    rest: u64,
}

const PS_PER_S: u64 = 1_000_000_000_000;

impl Serialiser {
    /// A line of this rate in bits per second; 0 for one that takes no time.
    pub fn new(bits_per_s: u64) -> Serialiser {
        let is_whole = bits_per_s != 0 && (8 * PS_PER_S).is_multiple_of(bits_per_s);
        let byte_ps = if is_whole { 8 * PS_PER_S / bits_per_s } else { 0 };
        Serialiser { bits_per_s, byte_ps, rest: 0 }
    }

    /// The rate in bits per second; 0 for no limit.
    pub fn bits_per_s(&self) -> u64 {
        self.bits_per_s
    }

    /// The time that the next so many bytes take.
    #[inline]
    pub fn take(&mut self, bytes: u64) -> Time {
        if self.byte_ps != 0 {
            return Time(bytes.saturating_mul(self.byte_ps));
        }
        if self.bits_per_s == 0 {
            return Time::ZERO;
        }
        let total = u128::from(bytes) * u128::from(8 * PS_PER_S) + u128::from(self.rest);
        let rate = u128::from(self.bits_per_s);
        self.rest = (total % rate) as u64;
        Time(u64::try_from(total / rate).unwrap_or(u64::MAX))
    }

    /// The same without taking it.
    pub fn duration(&self, bytes: u64) -> Time {
        self.clone().take(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_printed_exactly() {
        for (text, ps) in [("10us", 10_000_000), ("1.5 ms", 1_500_000_000), ("0", 0), ("7ps", 7), ("0.001ns", 1)] {
            assert_eq!(Time::parse(text), Ok(Time(ps)), "{text}");
        }
        for text in ["", "10", "us", "-1s", "1.5ps", "1e3s", "1..2s", "1.s", "99999999999s", "10 m", "१s"] {
            assert!(Time::parse(text).is_err(), "{text}");
        }
        for text in ["10us", "1.5ms", "0s", "999ps", "1.000000000001s"] {
            assert_eq!(Time::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Time::MAX.to_string(), "never");
    }

    #[test]
    fn rates_have_units() {
        assert_eq!(parse_rate("10Gbps"), Ok(10_000_000_000));
        assert_eq!(parse_rate("2.5 Mbps"), Ok(2_500_000));
        for text in ["0Gbps", "10", "10G", "-1bps", "0.5bps"] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_never_wrap() {
        assert_eq!(Time::MAX + Time::from_s(1), Time::MAX);
        assert_eq!(Time::from_s(1) - Time::from_s(2), Time::ZERO);
        assert_eq!(Time::from_s(u64::MAX), Time::MAX);
    }

    #[test]
    fn a_second_carries_exactly_the_bytes_of_its_rate() {
        // 3 Gb/s: a byte takes 2,666.6 ps.
        let mut line = Serialiser::new(3_000_000_000);
        let total = (0..375_000).fold(Time::ZERO, |sum, _| sum + line.take(1_000));
        assert_eq!(total, Time::from_s(1));
        let mut line = Serialiser::new(400_000_000_000);
        assert_eq!((line.take(84), line.byte_ps), (Time::from_ps(1_680), 20));
        assert_eq!(Serialiser::new(0).take(1_000_000), Time::ZERO);
        assert_eq!(Serialiser::new(1).take(u64::MAX), Time::MAX);
    }
}
