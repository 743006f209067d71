//! The time that bytes take at a rate.
//!
//! What enters: bytes, and bits per second. What leaves: picoseconds, exactly.

pub use base::Time;

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

    /// The time that the next `bytes` bytes take.
    #[inline]
    pub fn take(&mut self, bytes: u64) -> Time {
        if self.byte_ps != 0 {
            return Time::from_ps(bytes.saturating_mul(self.byte_ps));
        }
        if self.bits_per_s == 0 {
            return Time::ZERO;
        }
        let total = u128::from(bytes) * u128::from(8 * PS_PER_S) + u128::from(self.rest);
        let rate = u128::from(self.bits_per_s);
        self.rest = (total % rate) as u64;
        Time::from_ps(u64::try_from(total / rate).unwrap_or(u64::MAX))
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
