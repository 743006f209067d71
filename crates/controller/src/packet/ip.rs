//! Headers of IPv4 (RFC 791) and IPv6 (RFC 8200).

use super::{array, checksum, word};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Protocols: ICMP of IPv4.
pub const ICMP: u8 = 1;
/// UDP.
pub const UDP: u8 = 17;
/// TCP.
pub const TCP: u8 = 6;
/// ICMP of IPv6.
pub const ICMPV6: u8 = 58;

/// The extension headers of IPv6 that are passed over.
const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION_OPTIONS: u8 = 60;

/// The most extension headers that are passed over.
const EXTENSIONS_MAX: usize = 8;

/// The traffic class of a router's control traffic (RFC 1812: precedence 6).
const CONTROL: u8 = 0xC0;

/// A packet of either version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// From whom.
    pub source: IpAddr,
    /// To whom.
    pub destination: IpAddr,
    /// TTL or hop limit.
    pub hop_limit: u8,
    /// The protocol behind the header and all its extensions.
    pub protocol: u8,
    /// Whether it is a fragment, but not the first one: the payload is not the begin of that of its protocol.
    pub is_later_fragment: bool,
    /// What the protocol has.
    pub payload: &'a [u8],
    /// The packet without what a short frame has been filled up with.
    pub whole: &'a [u8],
}

impl Packet<'_> {
    /// Reads a packet. Its checksum has been verified by the program.
    pub fn parse(bytes: &[u8]) -> Option<Packet<'_>> {
        match bytes.first()? >> 4 {
            4 => v4(bytes),
            6 => v6(bytes),
            _ => None,
        }
    }

    /// The sum over what the checksum of ICMP or ICMPv6 covers: 0 if that is right.
    pub fn icmp_sum(&self) -> u16 {
        match self.source {
            IpAddr::V6(_) => sum_with_pseudo_header(self.source, self.destination, self.protocol, self.payload),
            IpAddr::V4(_) => checksum(&[self.payload]),
        }
    }
}

fn v4(bytes: &[u8]) -> Option<Packet<'_>> {
    let header = usize::from(bytes.first()? & 15) * 4;
    let whole = bytes.get(..usize::from(word(bytes, 2)?))?;
    if header < 20 {
        return None;
    }
    Some(Packet {
        source: Ipv4Addr::from(array::<4>(whole, 12)?).into(),
        destination: Ipv4Addr::from(array::<4>(whole, 16)?).into(),
        hop_limit: *whole.get(8)?,
        protocol: *whole.get(9)?,
        is_later_fragment: word(whole, 6)? & 0x1FFF != 0,
        payload: whole.get(header..)?,
        whole,
    })
}

fn v6(bytes: &[u8]) -> Option<Packet<'_>> {
    let whole = bytes.get(..40 + usize::from(word(bytes, 4)?))?;
    let (mut protocol, mut offset, mut is_later_fragment) = (*whole.get(6)?, 40, false);
    for _ in 0..EXTENSIONS_MAX {
        let length = match protocol {
            HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS => 8 + 8 * usize::from(*whole.get(offset + 1)?),
            FRAGMENT => {
                is_later_fragment |= word(whole, offset + 2)? & 0xFFF8 != 0;
                8
            }
            _ => break,
        };
        protocol = *whole.get(offset)?;
        offset += length;
        if is_later_fragment {
            break;
        }
    }
    Some(Packet {
        source: Ipv6Addr::from(array::<16>(whole, 8)?).into(),
        destination: Ipv6Addr::from(array::<16>(whole, 24)?).into(),
        hop_limit: *whole.get(7)?,
        protocol,
        is_later_fragment,
        payload: whole.get(offset..)?,
        whole,
    })
}

/// A packet of the router. A protocol of ICMPv6 gets its checksum, at byte 2 of the payload, where 0 must stand. `None`
/// if the addresses are of two versions, or the payload is too long.
pub fn build(source: IpAddr, destination: IpAddr, protocol: u8, hop_limit: u8, payload: &[u8]) -> Option<Vec<u8>> {
    match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let length = u16::try_from(20 + payload.len()).ok()?.to_be_bytes();
            let mut header = [0; 20];
            header[..4].copy_from_slice(&[0x45, CONTROL, length[0], length[1]]);
            header[8..10].copy_from_slice(&[hop_limit, protocol]);
            header[12..16].copy_from_slice(&source.octets());
            header[16..].copy_from_slice(&destination.octets());
            let sum = checksum(&[&header]);
            header[10..12].copy_from_slice(&sum.to_be_bytes());
            Some([&header[..], payload].concat())
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            let length = u16::try_from(payload.len()).ok()?.to_be_bytes();
            let class = [0x60 | CONTROL >> 4, CONTROL << 4, 0, 0];
            let mut packet = [&class[..], &length, &[protocol, hop_limit]].concat();
            packet.extend(from.octets());
            packet.extend(to.octets());
            packet.extend(payload);
            if protocol == ICMPV6 {
                let sum = sum_with_pseudo_header(source, destination, protocol, payload);
                packet.get_mut(42..44)?.copy_from_slice(&sum.to_be_bytes());
            }
            Some(packet)
        }
        _ => None,
    }
}

/// The checksum over a payload and the addresses around it, as TCP, UDP and ICMPv6 have it.
pub(super) fn sum_with_pseudo_header(source: IpAddr, destination: IpAddr, protocol: u8, payload: &[u8]) -> u16 {
    let length = (payload.len() as u32).to_be_bytes();
    let octets = |address| match address {
        IpAddr::V4(address) => Ipv4Addr::octets(&address).to_vec(),
        IpAddr::V6(address) => Ipv6Addr::octets(&address).to_vec(),
    };
    checksum(&[&octets(source), &octets(destination), &length, &[0, 0, 0, protocol], payload])
}
