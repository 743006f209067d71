//! Modelled time.
//!
//! Picoseconds since the start of a run. State machines that read no clock (TCP endpoints, nodes of a simulated
//! network) take the time as an argument of this type.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A time since the start of the run, or a span: picoseconds. The greatest, 213 days, means "never"; sums stop there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Hash)]
pub struct Time(u64);

/// Units of time and their picoseconds.
const UNITS: [(&str, u64); 5] =
    [("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Never.
    pub const MAX: Time = Time(u64::MAX);

    /// A span in picoseconds.
    pub const fn from_ps(ps: u64) -> Time {
        Time(ps)
    }

    /// A span in nanoseconds.
    pub const fn from_ns(ns: u64) -> Time {
        Time(ns.saturating_mul(1_000))
    }

    /// A span in microseconds.
    pub const fn from_us(us: u64) -> Time {
        Time(us.saturating_mul(1_000_000))
    }

    /// A span in milliseconds.
    pub const fn from_ms(ms: u64) -> Time {
        Time(ms.saturating_mul(1_000_000_000))
    }

    /// A span in seconds.
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

    /// A multiple of this span.
    pub const fn times(self, count: u64) -> Time {
        Time(self.0.saturating_mul(count))
    }

    /// A part of this span. `count` must not be 0.
    pub const fn divided(self, count: u64) -> Time {
        Time(self.0 / count)
    }

    /// Reads a span such as `10us`, `1.5 ms` or `0`. A fraction of a picosecond is not a time.
    pub fn parse(text: &str) -> Result<Time, String> {
        if text.trim() == "0" {
            return Ok(Time::ZERO);
        }
        let (number, unit) = split_unit(text);
        let ps = UNITS.iter().find(|(name, _)| *name == unit).and_then(|(_, ps)| scaled(number, *ps));
        // A whole number with a unit can only be too large.
        let is_too_long = number.bytes().all(|byte| byte.is_ascii_digit()) && !number.is_empty();
        let is_too_long = is_too_long && UNITS.iter().any(|(name, _)| *name == unit);
        ps.map(Time).ok_or_else(|| match is_too_long {
            true => format!("`{text}` is too long: times are up to {}", Time(u64::MAX - 1)),
            false => format!("`{text}` is not a time: write a number with ps, ns, us, ms or s, as in \"10us\""),
        })
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

/// A number and the letters behind it.
pub fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (number.trim_end(), unit)
}

/// A decimal number times `unit`, if that is a whole number that fits.
pub fn scaled(number: &str, unit: u64) -> Option<u64> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_exactly() {
        for (text, ps) in [("10us", 10_000_000), ("1.5 ms", 1_500_000_000), ("0", 0), ("7ps", 7), ("0.001ns", 1)] {
            assert_eq!(Time::parse(text), Ok(Time(ps)), "{text}");
        }
        for text in ["", "10", "us", "-1s", "1.5ps", "1e3s", "1..2s", "1.s", "99999999999s", "10 m", "\u{967}s"] {
            assert!(Time::parse(text).is_err(), "{text}");
        }
        let refused = Time::parse("99999999999s");
        assert_eq!(refused.unwrap_err(), "`99999999999s` is too long: times are up to 18446744.073709551614s");
    }

    #[test]
    fn times_are_printed_exactly() {
        for (time, text) in [
            (Time::from_us(10), "10us"),
            (Time::from_us(1_500), "1.5ms"),
            (Time::ZERO, "0s"),
            (Time::from_ps(999), "999ps"),
            (Time::from_ps(1_000_000_000_001), "1.000000000001s"),
            (Time::MAX, "never"),
        ] {
            assert_eq!(time.to_string(), text);
        }
    }

    #[test]
    fn times_never_wrap() {
        assert_eq!(Time::MAX + Time::from_s(1), Time::MAX);
        assert_eq!(Time::from_s(1) - Time::from_s(2), Time::ZERO);
        assert_eq!(Time::from_s(u64::MAX), Time::MAX);
    }
}
