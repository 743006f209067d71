//! Which packet of which flow a frame is, for those who follow packets through a network.
//!
//! What enters: frames, also such as switches have changed or put into other headers. What leaves: addresses, ports and
//! a hash of the payload; and a fingerprint of what switches do not change.

use crate::wire::checksum::{self, pseudo_header};
use crate::wire::{array, ethernet, icmp, ip, u16_at};
use core::net::IpAddr;
use std::fmt;

/// How far behind the Ethernet header an IP header is looked for.
const SEARCH_BYTES: usize = 96;

/// What of a datagram or an ICMP message the fingerprint has: the header, and the number and time of a generated one.
const FINGERPRINT_BYTES: usize = 24;

/// The addresses and ports of a flow in one direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FlowKey {
    /// From whom.
    pub source: IpAddr,
    /// For whom.
    pub destination: IpAddr,
    /// Which protocol.
    pub protocol: u8,
    /// The sender's port and the receiver's; of an echo its identifier, twice.
    pub ports: (u16, u16),
}

/// A packet as a host sends or receives it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// Its flow.
    pub flow: FlowKey,
    /// A hash of the bytes behind the transport header.
    pub payload_hash: u64,
    /// How many these are.
    pub payload_bytes: usize,
    /// Whether the checksum of the transport is right.
    pub is_sound: bool,
}

impl Identity {
    /// The identity of a frame with an IP packet that is no fragment.
    pub fn of(frame: &[u8]) -> Option<Identity> {
        let (ethertype, at) = ethernet::payload(frame)?;
        let (header, transport) = ip::Header::parse(ethertype, frame.get(at..)?).ok()?;
        let (header_bytes, sum) = match header.protocol {
            ip::TCP => (usize::from(transport.get(12)? >> 4) * 4, pseudo(&header, transport)),
            ip::UDP => (8, pseudo(&header, transport)),
            ip::ICMP => (8, checksum::Sum::default()),
            ip::ICMPV6 => (8, pseudo(&header, transport)),
            _ => return None,
        };
        let payload = transport.get(header_bytes..)?;
        // Datagrams over IPv4 may do without a checksum.
        let is_unchecked = header.protocol == ip::UDP && header.source.is_ipv4() && u16_at(transport, 6) == Some(0);
        Some(Identity {
            flow: FlowKey::of(&header, transport)?,
            payload_hash: hash(0, payload),
            payload_bytes: payload.len(),
            is_sound: is_unchecked || sum.with(transport).finish() == 0,
        })
    }
}

fn pseudo(header: &ip::Header, transport: &[u8]) -> checksum::Sum {
    pseudo_header(header.source, header.destination, header.protocol, transport.len())
}

impl FlowKey {
    fn of(header: &ip::Header, transport: &[u8]) -> Option<FlowKey> {
        let ports = match header.protocol {
            ip::TCP | ip::UDP => (u16_at(transport, 0)?, u16_at(transport, 2)?),
            protocol if protocol == icmp::protocol(header.source) => (u16_at(transport, 4)?, u16_at(transport, 4)?),
            _ => return None,
        };
        let ip::Header { source, destination, protocol, .. } = *header;
        Some(FlowKey { source, destination, protocol, ports })
    }
}

impl FlowKey {
    /// Whether this is the same flow, or its other direction.
    pub fn is_of(&self, other: &FlowKey) -> bool {
        let back = FlowKey {
            source: other.destination,
            destination: other.source,
            ports: (other.ports.1, other.ports.0),
            ..*other
        };
        *self == *other || *self == back
    }
}

impl fmt::Display for FlowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FlowKey { source, destination, protocol, ports } = self;
        match *protocol {
            ip::TCP | ip::UDP => {
                let name = if *protocol == ip::TCP { "TCP" } else { "UDP" };
                write!(f, "{name} {source} port {} to {destination} port {}", ports.0, ports.1)
            }
            _ => write!(f, "ICMP {source} to {destination}, identifier {}", ports.0),
        }
    }
}

/// What stays the same of a packet of TCP, UDP or ICMP while switches change addresses of Ethernet, the time to live,
/// marks and tags, and put headers before it; of what follows the transport header only the first bytes count. Packets
/// of a host with the same fingerprint are almost surely equal.
pub fn fingerprint(frame: &[u8]) -> Option<u64> {
    let (_, at) = ethernet::payload(frame)?;
    let end = frame.len().min(ethernet::HEADER_BYTES + SEARCH_BYTES);
    let is_ip = |at: &usize| frame.get(*at..).and_then(transport).is_some();
    let at = Some(at).filter(is_ip).or_else(|| (ethernet::HEADER_BYTES..end).find(is_ip))?;
    let (addresses, protocol, transport) = transport(frame.get(at..)?)?;
    let (checksum, length) = match protocol {
        ip::TCP => (16, usize::from(transport.get(12)? >> 4) * 4),
        ip::UDP => (6, FINGERPRINT_BYTES),
        _ => (2, FINGERPRINT_BYTES),
    };
    let begin = &transport[..transport.len().min(length)];
    let before = hash(hash(u64::from(protocol), addresses), &begin[..begin.len().min(checksum)]);
    Some(hash(before, begin.get(checksum + 2..).unwrap_or_default()) ^ transport.len() as u64)
}

/// Addresses, protocol and transport of an IP packet whose lengths fit.
fn transport(packet: &[u8]) -> Option<(&[u8], u8, &[u8])> {
    let (addresses, protocol, transport) = match packet.first()? >> 4 {
        4 => {
            let (header, total) = (usize::from(packet[0] & 15) * 4, usize::from(u16_at(packet, 2)?));
            (packet.get(12..20)?, *packet.get(9)?, packet.get(header.max(20)..total)?)
        }
        6 => (packet.get(8..40)?, *packet.get(6)?, packet.get(40..)?.get(..usize::from(u16_at(packet, 4)?))?),
        _ => return None,
    };
    let is_known = matches!(protocol, ip::TCP | ip::UDP | ip::ICMP | ip::ICMPV6);
    (is_known && transport.len() >= 8).then_some((addresses, protocol, transport))
}

/// A hash of bytes that continues another one.
fn hash(seed: u64, bytes: &[u8]) -> u64 {
    let mix = |hash: u64, word: u64| {
        let mixed = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 32)
    };
    let mut chunks = bytes.chunks_exact(8);
    let mut hash = mix(seed, bytes.len() as u64);
    for chunk in &mut chunks {
        hash = mix(hash, array(chunk, 0).map_or(0, u64::from_le_bytes));
    }
    let mut last = [0; 8];
    last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    mix(hash, u64::from_le_bytes(last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::udp::{self, Ports};
    use std::net::Ipv4Addr;

    /// A datagram with this payload.
    fn datagram(payload: &[u8]) -> Vec<u8> {
        let ip = |last| IpAddr::V4(Ipv4Addr::new(10, 0, 0, last));
        let header = ip::Header { source: ip(1), destination: ip(2), protocol: ip::UDP, ttl: 9, traffic_class: 0 };
        let mut frame = vec![0; 14 + 20 + 8 + payload.len()];
        frame[12] = 8;
        header.emit(&mut frame[14..], 8 + payload.len());
        frame[42..].copy_from_slice(payload);
        udp::emit(&header, Ports { source: 5, destination: 6 }, &mut frame[34..]);
        frame
    }

    #[test]
    fn a_packet_keeps_its_fingerprint_under_what_switches_do() {
        let frame = datagram(b"some payload");
        let same = |other: &[u8]| fingerprint(other) == fingerprint(&frame);
        let mut forwarded = frame.clone();
        forwarded[0..12].fill(7);
        assert!(ip::decrement_ttl(&mut forwarded).is_some() && same(&forwarded));
        // A header of MPLS, and one of VLAN.
        for header in [[0x88, 0x47, 0, 0, 0x11, 0xff].as_slice(), &[0x81, 0, 0, 5, 8, 0]] {
            assert!(same(&[&frame[..12], header, &frame[14..]].concat()));
        }
        assert!(!same(&datagram(b"some Payload")) && !same(&datagram(b"some")));
        assert_eq!(fingerprint(&[0; 60]), None);
    }

    #[test]
    fn an_identity_has_the_flow_and_shows_whether_bytes_are_intact() {
        let mut frame = datagram(b"some payload");
        let before = Identity::of(&frame).unwrap();
        assert_eq!(before.flow.to_string(), "UDP 10.0.0.1 port 5 to 10.0.0.2 port 6");
        assert!(before.is_sound && before.payload_bytes == 12);
        frame[45] ^= 1;
        let after = Identity::of(&frame).unwrap();
        assert!(!after.is_sound && after.payload_hash != before.payload_hash && after.flow == before.flow);
        for end in 0..frame.len() {
            // Nothing panics.
            let _ = (Identity::of(&frame[..end]), fingerprint(&frame[..end]));
        }
    }
}
