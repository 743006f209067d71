//! The properties that can be checked.

use sim::channel::ChannelDrop;
use sim::record::Loss;
use sim::time::Time;
use std::fmt;
use switch::DropReason;

/// A property of all packets of flows between hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// No packet, and no copy of it, comes back to a node at which it was.
    NoLoop,
    /// Packets are lost by full queues, the scenario's faults and impairments only.
    NoUnexplainedLoss,
    /// The packets of a flow arrive in the order in which they were sent.
    InOrder,
    /// Payloads arrive as they were sent.
    BytesIntact,
    /// No queue is longer.
    QueueBelow(Depth),
    /// This long after a link has gone down or up, no packet is lost for it any more.
    ConvergesWithin(Time),
}

/// The length of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Packets.
    Packets(u64),
    /// Bytes.
    Bytes(u64),
}

/// The properties as users write them, and what they mean.
pub const PROPERTIES: [(&str, &str); 6] = [
    ("no-loop", "no packet, nor a copy of one, comes back to a host or switch at which it was"),
    ("no-unexplained-loss", "packets are lost only in full queues, by impairments, faults and restarts"),
    ("in-order", "the packets of a flow arrive in the order in which they were sent"),
    ("bytes-intact", "payloads arrive as they were sent, with right checksums"),
    ("queue-below=N", "no more than N packets are queued for a link; with a unit, as in 100kB, bytes"),
    ("converges-within=T", "T after a link has gone down or up, as in 5ms, no packet is lost for it any more"),
];

impl Property {
    /// Reads a property.
    pub fn parse(text: &str) -> Result<Property, String> {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        match (name, value) {
            ("no-loop", None) => Ok(Property::NoLoop),
            ("no-unexplained-loss", None) => Ok(Property::NoUnexplainedLoss),
            ("in-order", None) => Ok(Property::InOrder),
            ("bytes-intact", None) => Ok(Property::BytesIntact),
            ("queue-below", Some(value)) => Depth::parse(value).map(Property::QueueBelow),
            ("converges-within", Some(value)) => Time::parse(value).map(Property::ConvergesWithin),
            _ => {
                let known: Vec<&str> = PROPERTIES.iter().map(|(name, _)| *name).collect();
                Err(format!("`{text}` is not a property; the properties are {}", known.join(", ")))
            }
        }
    }
}

impl Depth {
    fn parse(text: &str) -> Result<Depth, String> {
        let digits = text.trim_end_matches(|it: char| it.is_ascii_alphabetic());
        let number: Option<u64> = digits.parse().ok();
        let units =
            [("", None), ("B", Some(1)), ("kB", Some(1_000)), ("MB", Some(1_000_000)), ("GB", Some(1_000_000_000))];
        let unit = units.into_iter().find(|(unit, _)| *unit == &text[digits.len()..]);
        let depth = number.zip(unit).and_then(|(number, (_, bytes))| match bytes {
            None => Some(Depth::Packets(number)),
            Some(bytes) => number.checked_mul(bytes).map(Depth::Bytes),
        });
        depth.ok_or_else(|| {
            format!("`{text}` is not the length of a queue: write packets, as in 100, or bytes, as in 150kB")
        })
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Property::NoLoop => write!(f, "no-loop"),
            Property::NoUnexplainedLoss => write!(f, "no-unexplained-loss"),
            Property::InOrder => write!(f, "in-order"),
            Property::BytesIntact => write!(f, "bytes-intact"),
            Property::QueueBelow(Depth::Packets(packets)) => write!(f, "queue-below={packets}"),
            Property::QueueBelow(Depth::Bytes(bytes)) => write!(f, "queue-below={bytes}B"),
            Property::ConvergesWithin(time) => write!(f, "converges-within={time}"),
        }
    }
}

/// Whether a loss is one that the scenario explains.
pub(super) fn is_excused(loss: Loss) -> bool {
    matches!(
        loss,
        Loss::Channel(_) | Loss::Restart | Loss::Controller | Loss::Joined | Loss::Switch(DropReason::QueueFull)
    )
}

/// Whether a loss may be due to a failure to which the network has not adapted.
pub(super) fn is_of_failures(loss: Loss) -> bool {
    !matches!(
        loss,
        Loss::Channel(ChannelDrop::Queue | ChannelDrop::Mtu | ChannelDrop::Loss)
            | Loss::Controller
            | Loss::Joined
            | Loss::Switch(DropReason::QueueFull)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_read_as_they_are_written() {
        for text in
            ["no-loop", "no-unexplained-loss", "in-order", "bytes-intact", "queue-below=7", "converges-within=5ms"]
        {
            assert_eq!(Property::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Property::parse("queue-below=15kB"), Ok(Property::QueueBelow(Depth::Bytes(15_000))));
        for text in ["no-loops", "no-loop=1", "queue-below", "queue-below=", "queue-below=1XB", "converges-within=1"] {
            assert!(Property::parse(text).is_err(), "{text}");
        }
        for (name, _) in PROPERTIES {
            let text = name.replace("=N", "=1").replace("=T", "=1ms");
            assert!(Property::parse(&text).is_ok(), "{text}");
        }
    }
}
