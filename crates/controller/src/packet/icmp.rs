//! ICMP (RFC 792, 1812) and ICMPv6 (RFC 4443): errors about packets, and echoes.

use super::ip::{self, Packet};
use super::{checksum, word};
use core::net::IpAddr;

/// The TTL of the router's own packets.
const TTL: u8 = 64;

/// The longest error packets: that of RFC 1812, and the least MTU of IPv6.
const V4_MAX: usize = 576;
const V6_MAX: usize = 1280;

/// The types of ICMP that are neither errors nor redirects.
const V4_QUERIES: [u8; 10] = [0, 8, 9, 10, 13, 14, 15, 16, 17, 18];

/// What has become of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Its TTL has expired.
    TimeExceeded,
    /// There is no route.
    NoRoute,
    /// The next station does not answer.
    HostUnreachable,
    /// The router does not listen there.
    PortUnreachable,
    /// It is longer than the next link or tunnel takes, which is this many bytes.
    TooLong(u16),
}

impl Failure {
    /// Type and code.
    fn code(self, is_v6: bool) -> [u8; 2] {
        match (self, is_v6) {
            (Failure::TimeExceeded, false) => [11, 0],
            (Failure::NoRoute, false) => [3, 0],
            (Failure::HostUnreachable, false) => [3, 1],
            (Failure::PortUnreachable, false) => [3, 3],
            (Failure::TooLong(_), false) => [3, 4],
            (Failure::TimeExceeded, true) => [3, 0],
            (Failure::NoRoute, true) => [1, 0],
            (Failure::HostUnreachable, true) => [1, 3],
            (Failure::PortUnreachable, true) => [1, 4],
            (Failure::TooLong(_), true) => [2, 0],
        }
    }

    /// What is behind the checksum: both versions have the MTU at the end.
    fn rest(self) -> [u8; 4] {
        match self {
            Failure::TooLong(mtu) => u32::from(mtu).to_be_bytes(),
            _ => [0; 4],
        }
    }
}

/// Whether an error about a packet may be sent: not about errors, groups, or fragments but the first, and not to who is
/// not one station.
pub fn may_report(packet: &Packet<'_>) -> bool {
    let is_one = |address: IpAddr| match address {
        IpAddr::V4(it) => !it.is_unspecified() && !it.is_multicast() && !it.is_broadcast() && !it.is_loopback(),
        IpAddr::V6(it) => !it.is_unspecified() && !it.is_multicast() && !it.is_loopback(),
    };
    let kind = packet.payload.first().copied();
    let is_error = match packet.protocol {
        ip::ICMP if packet.source.is_ipv4() => kind.is_none_or(|kind| !V4_QUERIES.contains(&kind)),
        // Errors are below 128; 137 is a redirect.
        ip::ICMPV6 if packet.source.is_ipv6() => kind.is_none_or(|kind| kind < 128 || kind == 137),
        _ => false,
    };
    !packet.is_later_fragment && !is_error && is_one(packet.source) && is_one(packet.destination)
}

/// The error about a packet.
pub fn error(failure: Failure, source: IpAddr, packet: &Packet<'_>) -> Option<Vec<u8>> {
    let is_v6 = packet.source.is_ipv6();
    let quoted_max = if is_v6 { V6_MAX - 48 } else { V4_MAX - 28 };
    let quoted = &packet.whole[..packet.whole.len().min(quoted_max)];
    let [kind, code] = failure.code(is_v6);
    message([kind, code], &[&failure.rest(), quoted].concat(), source, packet.source)
}

/// The answer to an echo request; `None` if it is none, or is damaged.
pub fn echo_reply(packet: &Packet<'_>, source: IpAddr) -> Option<Vec<u8>> {
    let is_v6 = packet.source.is_ipv6();
    let [request, reply] = if is_v6 { [128, 129] } else { [8, 0] };
    let is_request = packet.protocol == if is_v6 { ip::ICMPV6 } else { ip::ICMP }
        && packet.payload.len() >= 8
        && packet.payload[..2] == [request, 0];
    if !is_request || packet.is_later_fragment || packet.icmp_sum() != 0 {
        return None;
    }
    message([reply, 0], &packet.payload[4..], source, packet.source)
}

/// An echo request without data.
pub fn echo_request(identifier: u16, sequence: u16, source: IpAddr, destination: IpAddr) -> Option<Vec<u8>> {
    let rest = [identifier.to_be_bytes(), sequence.to_be_bytes()].concat();
    message([if source.is_ipv6() { 128 } else { 8 }, 0], &rest, source, destination)
}

/// The identifier and the sequence number of an echo reply.
pub fn parse_echo_reply(packet: &Packet<'_>) -> Option<[u16; 2]> {
    let is_reply = match packet.source {
        IpAddr::V4(_) => packet.protocol == ip::ICMP && packet.payload.starts_with(&[0, 0]),
        IpAddr::V6(_) => packet.protocol == ip::ICMPV6 && packet.payload.starts_with(&[129, 0]),
    };
    let is_right = is_reply && !packet.is_later_fragment && packet.icmp_sum() == 0;
    is_right.then_some([word(packet.payload, 4)?, word(packet.payload, 6)?])
}

fn message(kind: [u8; 2], rest: &[u8], source: IpAddr, destination: IpAddr) -> Option<Vec<u8>> {
    let mut payload = [&kind[..], &[0, 0], rest].concat();
    if source.is_ipv6() {
        return ip::build(source, destination, ip::ICMPV6, TTL, &payload);
    }
    let sum = checksum(&[&payload]);
    payload[2..4].copy_from_slice(&sum.to_be_bytes());
    ip::build(source, destination, ip::ICMP, TTL, &payload)
}

/// Whether a packet is a UDP datagram, whole enough to know its ports.
pub fn is_udp(packet: &Packet<'_>) -> bool {
    packet.protocol == ip::UDP && word(packet.payload, 6).is_some()
}
