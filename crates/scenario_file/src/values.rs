//! Values in scenarios: times, rates, probabilities, and names of nodes.

use base::Time;
use base::time::{scaled, split_unit};
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use std::fmt;
use tcp::Congestion;

/// A span such as `"10us"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub Time);

/// A rate such as `"10Gbps"`, in bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(pub u64);

/// A rate such as `"10kpps"`, in packets per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRate(pub u64);

/// A probability from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probability(pub f64);

/// What a packet costs a core: a span, or `"measured"` for what it costs on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// This much.
    Fixed(Time),
    /// The result of a measurement before the run.
    Measured,
}

/// A congestion control of TCP, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionName(pub Congestion);

/// One name, or a list of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names(pub Vec<String>);

/// Units of rates, and their bits per second.
const RATE_UNITS: [(&str, u64); 5] =
    [("Tbps", 1_000_000_000_000), ("Gbps", 1_000_000_000), ("Mbps", 1_000_000), ("kbps", 1_000), ("bps", 1)];

/// Units of packet rates, and their packets per second.
const PACKET_RATE_UNITS: [(&str, u64); 4] = [("Gpps", 1_000_000_000), ("Mpps", 1_000_000), ("kpps", 1_000), ("pps", 1)];

/// Reads a rate such as `10kpps` in packets per second.
fn parse_packet_rate(text: &str) -> Result<u64, String> {
    let (number, unit) = split_unit(text);
    let of_unit = PACKET_RATE_UNITS.iter().find(|(name, _)| *name == unit);
    let packets = of_unit.and_then(|(_, packets)| scaled(number, *packets));
    packets.filter(|&packets| packets > 0).ok_or_else(|| {
        format!("`{text}` is not a rate of packets: write a number with pps, kpps, Mpps or Gpps, as in \"10kpps\"")
    })
}

/// Reads a rate such as `10Gbps` in bits per second.
fn parse_rate(text: &str) -> Result<u64, String> {
    let (number, unit) = split_unit(text);
    let bits = RATE_UNITS.iter().find(|(name, _)| *name == unit).and_then(|(_, bits)| scaled(number, *bits));
    bits.filter(|&bits| bits > 0).ok_or_else(|| {
        format!("`{text}` is not a rate: write a number with bps, kbps, Mbps, Gbps or Tbps, as in \"10Gbps\"")
    })
}

/// Reads values from texts.
struct FromText<T> {
    read: fn(&str) -> Result<T, String>,
    expected: &'static str,
}

impl<T> Visitor<'_> for FromText<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.read)(text).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        // Zero needs no unit; what else lacks one is refused.
        (self.read)(&value.to_string()).map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Span, D::Error> {
        let read = |text: &str| Time::parse(text).map(Span);
        deserializer.deserialize_any(FromText { read, expected: "a time with its unit, as in \"10us\"" })
    }
}

impl<'de> Deserialize<'de> for Cost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Cost, D::Error> {
        let read = |text: &str| match text {
            "measured" => Ok(Cost::Measured),
            text => Time::parse(text).map(Cost::Fixed),
        };
        deserializer
            .deserialize_any(FromText { read, expected: "a time with its unit, as in \"80ns\", or \"measured\"" })
    }
}

impl<'de> Deserialize<'de> for CongestionName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<CongestionName, D::Error> {
        let read = |text: &str| {
            let found = Congestion::ALL.into_iter().find(|it| it.name() == text);
            let names = || Congestion::ALL.map(Congestion::name).join(", ");
            found.map(CongestionName).ok_or_else(|| format!("there is no congestion control `{text}`, but {}", names()))
        };
        deserializer.deserialize_any(FromText { read, expected: "the name of a congestion control, as in \"cubic\"" })
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rate, D::Error> {
        let read = |text: &str| parse_rate(text).map(Rate);
        deserializer.deserialize_any(FromText { read, expected: "a rate with its unit, as in \"10Gbps\"" })
    }
}

impl<'de> Deserialize<'de> for PacketRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PacketRate, D::Error> {
        let read = |text: &str| parse_packet_rate(text).map(PacketRate);
        deserializer.deserialize_any(FromText { read, expected: "a rate with its unit, as in \"10kpps\"" })
    }
}

impl<'de> Deserialize<'de> for Probability {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Probability, D::Error> {
        struct Numbers;
        impl Visitor<'_> for Numbers {
            type Value = Probability;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a probability from 0 to 1")
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Probability, E> {
                let wrong = || E::custom(format!("{value} is not a probability: write a number from 0 to 1"));
                (0.0..=1.0).contains(&value).then_some(Probability(value)).ok_or_else(wrong)
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Probability, E> {
                self.visit_f64(value as f64)
            }
        }
        deserializer.deserialize_any(Numbers)
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Names, D::Error> {
        struct OneOrMany;
        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Names;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name, or a list of names")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Names, E> {
                Ok(Names(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Names, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = elements.next_element()? {
                    names.push(name);
                }
                Ok(Names(names))
            }
        }
        deserializer.deserialize_any(OneOrMany)
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
}
