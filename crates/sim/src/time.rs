//! Rates, and the time that bytes take at them.
//!
//! What enters: texts such as `2.5Gbps`, and bytes. What leaves: bits per second and picoseconds, exactly.

pub use base::Time;
use base::time::{scaled, split_unit};

/// Units of rates, and their bits per second.
const RATE_UNITS: [(&str, u64); 5] =
    [("Tbps", 1_000_000_000_000), ("Gbps", 1_000_000_000), ("Mbps", 1_000_000), ("kbps", 1_000), ("bps", 1)];

/// Units of packet rates, and their packets per second.
const PACKET_RATE_UNITS: [(&str, u64); 4] = [("Gpps", 1_000_000_000), ("Mpps", 1_000_000), ("kpps", 1_000), ("pps", 1)];

/// Reads a rate such as `10kpps` in packets per second.
pub fn parse_packet_rate(text: &str) -> Result<u64, String> {
    let (number, unit) = split_unit(text);
    let of_unit = PACKET_RATE_UNITS.iter().find(|(name, _)| *name == unit);
    let packets = of_unit.and_then(|(_, packets)| scaled(number, *packets));
    packets.filter(|&packets| packets > 0).ok_or_else(|| {
        format!("`{text}` is not a rate of packets: write a number with pps, kpps, Mpps or Gpps, as in \"10kpps\"")
    })
}

/// Reads a rate such as `10Gbps` in bits per second.
pub fn parse_rate(text: &str) -> Result<u64, String> {
    let (number, unit) = split_unit(text);
    let bits = RATE_UNITS.iter().find(|(name, _)| *name == unit).and_then(|(_, bits)| scaled(number, *bits));
    bits.filter(|&bits| bits > 0).ok_or_else(|| {
        format!("`{text}` is not a rate: write a number with bps, kbps, Mbps, Gbps or Tbps, as in \"10Gbps\"")
    })
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
    fn rates_have_units() {
        assert_eq!(parse_rate("10Gbps"), Ok(10_000_000_000));
        assert_eq!(parse_rate("2.5 Mbps"), Ok(2_500_000));
        for text in ["0Gbps", "10", "10G", "-1bps", "0.5bps"] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
        assert_eq!((parse_packet_rate("2.5kpps"), parse_packet_rate("1Gpps")), (Ok(2_500), Ok(1_000_000_000)));
        for text in ["0pps", "10", "10kbps", "0.5pps"] {
            assert!(parse_packet_rate(text).is_err(), "{text}");
        }
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
