//! TCP segments without data (RFC 9293) that probe whether a server listens, and the answers to them.

use super::{array, word};
use crate::packet::ip::{self, Packet};
use core::net::IpAddr;

/// The flag of a first segment.
pub const SYN: u8 = 2;
/// The connection does not exist.
pub const RST: u8 = 4;
/// There is an acknowledgement.
pub const ACK: u8 = 16;

/// A segment's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The port that it comes from.
    pub source: u16,
    /// The port that it goes to.
    pub destination: u16,
    /// Its sequence number.
    pub sequence: u32,
    /// What it acknowledges.
    pub acknowledged: u32,
    /// Its flags.
    pub flags: u8,
}

impl Segment {
    /// Reads the header of a packet.
    pub fn parse(packet: &Packet<'_>) -> Option<Segment> {
        let bytes = packet.payload;
        if packet.protocol != ip::TCP || packet.is_later_fragment || bytes.len() < 20 {
            return None;
        }
        Some(Segment {
            source: word(bytes, 0)?,
            destination: word(bytes, 2)?,
            sequence: u32::from_be_bytes(array(bytes, 4)?),
            acknowledged: u32::from_be_bytes(array(bytes, 8)?),
            flags: *bytes.get(13)?,
        })
    }

    /// A packet with this segment, without data. `None` if the addresses are of two versions.
    pub fn to_packet(self, source: IpAddr, destination: IpAddr) -> Option<Vec<u8>> {
        let ports = [self.source.to_be_bytes(), self.destination.to_be_bytes()].concat();
        let numbers = [self.sequence.to_be_bytes(), self.acknowledged.to_be_bytes()].concat();
        // A header of five words, a window of 1024.
        let mut bytes = [&ports[..], &numbers, &[0x50, self.flags, 4, 0, 0, 0, 0, 0]].concat();
        let sum = ip::sum_with_pseudo_header(source, destination, ip::TCP, &bytes);
        bytes[16..18].copy_from_slice(&sum.to_be_bytes());
        ip::build(source, destination, ip::TCP, 64, &bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUM4: u16 = 0x8725;
    const SUM6: u16 = 0x32AF;

    #[test]
    fn a_segment_is_read_as_it_was_written() {
        let segment = Segment { source: 20000, destination: 80, sequence: 7, acknowledged: 0, flags: SYN };
        // The sums were computed apart.
        for (here, there, sum) in [("172.16.0.1", "198.51.100.1", SUM4), ("fd00::1", "2001:db8:1::1", SUM6)] {
            let [here, there] = [here, there].map(|it| it.parse::<IpAddr>().unwrap());
            let bytes = segment.to_packet(here, there).unwrap();
            let packet = Packet::parse(&bytes).unwrap();
            assert_eq!(Segment::parse(&packet), Some(segment));
            assert_eq!(word(packet.payload, 16), Some(sum));
            let cut = Packet { payload: &packet.payload[..19], ..packet };
            assert_eq!(Segment::parse(&cut), None);
        }
    }
}
