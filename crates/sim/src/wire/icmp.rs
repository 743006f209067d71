//! ICMP (RFC 792) and ICMPv6 (RFC 4443) with neighbour discovery (RFC 4861): echoes, errors, neighbours.

use crate::wire::Mac;
use crate::wire::array;
use crate::wire::checksum::{self, pseudo_header};
use crate::wire::ip::{self, ICMP, ICMPV6};
use core::net::{IpAddr, Ipv6Addr};

/// Bytes before what an echo carries, or before the packet that an error quotes.
pub const HEADER_BYTES: usize = 8;
/// The length of a neighbour solicitation or advertisement with its option.
pub const NEIGHBOUR_BYTES: usize = 32;
/// The code of an unreachable destination of IPv4: the packet may not be divided.
const NEEDS_FRAGMENTATION: u8 = 4;
/// Flags of an advertisement that answers: solicited, override.
const SOLICITED_OVERRIDE: u8 = 0x60;

/// A message that hosts act on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message<'a> {
    /// A request for an echo: identifier and sequence, then data.
    EchoRequest(&'a [u8]),
    /// The echo.
    EchoReply(&'a [u8]),
    /// A packet was too long for a link with this MTU; the beginning of the packet.
    TooBig(u32, &'a [u8]),
    /// Another error: its type and code, and the beginning of the packet that caused it.
    Error(u8, u8, &'a [u8]),
    /// Who has this address?
    Solicitation(Ipv6Addr, Option<Mac>),
    /// This station has it.
    Advertisement(Ipv6Addr, Option<Mac>),
}

/// Reads a message, if its checksum is right.
pub fn parse<'a>(ip: &ip::Header, message: &'a [u8]) -> Option<Message<'a>> {
    let (kind, code) = (*message.first()?, *message.get(1)?);
    let is_v4 = ip.source.is_ipv4();
    if sum(ip, message).finish() != 0 {
        return None;
    }
    let echo = message.get(4..)?;
    match (is_v4, kind) {
        (true, 8) | (false, 128) => Some(Message::EchoRequest(echo)),
        (true, 0) | (false, 129) => Some(Message::EchoReply(echo)),
        (true, 3) if code == NEEDS_FRAGMENTATION => {
            Some(Message::TooBig(u16::from_be_bytes(array(message, 6)?).into(), message.get(HEADER_BYTES..)?))
        }
        (false, 2) => Some(Message::TooBig(u32::from_be_bytes(array(message, 4)?), message.get(HEADER_BYTES..)?)),
        (true, 3 | 11 | 12) | (false, 1..=4) => Some(Message::Error(kind, code, message.get(HEADER_BYTES..)?)),
        (false, 135) => neighbour(ip, message, 1).map(|(target, mac)| Message::Solicitation(target, mac)),
        (false, 136) => neighbour(ip, message, 2).map(|(target, mac)| Message::Advertisement(target, mac)),
        _ => None,
    }
}

/// The target of neighbour discovery, and the address in the option of this kind. Packets of other networks have a
/// smaller hop limit.
fn neighbour(ip: &ip::Header, message: &[u8], option: u8) -> Option<(Ipv6Addr, Option<Mac>)> {
    let target = Ipv6Addr::from(array::<16>(message, 8)?);
    let mut options = message.get(24..)?;
    let mut mac = None;
    while let [kind, length, ..] = *options {
        let bytes = 8 * usize::from(length.max(1));
        if kind == option && bytes == 8 {
            mac = array(options, 2).map(Mac);
        }
        options = options.get(bytes..).unwrap_or_default();
    }
    (ip.ttl == 255).then_some((target, mac))
}

fn sum(ip: &ip::Header, message: &[u8]) -> checksum::Sum {
    let begin = match ip.source {
        IpAddr::V4(_) => checksum::Sum::default(),
        IpAddr::V6(_) => pseudo_header(ip.source, ip.destination, ICMPV6, message.len()),
    };
    begin.with(message)
}

fn finish(ip: &ip::Header, message: &mut [u8]) {
    message[2..4].fill(0);
    let sum = sum(ip, message).finish();
    message[2..4].copy_from_slice(&sum.to_be_bytes());
}

/// The protocol number for an address.
pub fn protocol(address: IpAddr) -> u8 {
    if address.is_ipv4() { ICMP } else { ICMPV6 }
}

/// Writes the header of an echo; what follows the checksum is in its place.
///
/// # Panics
/// If the message has fewer bytes than a header.
pub fn emit_echo(ip: &ip::Header, is_request: bool, message: &mut [u8]) {
    message[0] = match (ip.source.is_ipv4(), is_request) {
        (true, true) => 8,
        (true, false) => 0,
        (false, true) => 128,
        (false, false) => 129,
    };
    message[1] = 0;
    finish(ip, message);
}

/// Why a packet ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// Its port has no listener.
    Port,
    /// There is no route to its destination.
    Route,
    /// It has passed too many routers.
    Hops,
    /// It is longer than this MTU.
    TooBig(usize),
    /// Some of its fragments have not come in time.
    Reassembly,
}

/// Writes an error; the packet that caused it is in its place, after 8 bytes.
///
/// # Panics
/// If the message has fewer bytes than a header.
pub fn emit_error(ip: &ip::Header, reason: Reason, message: &mut [u8]) {
    message[..HEADER_BYTES].fill(0);
    (message[0], message[1]) = match (ip.source.is_ipv4(), reason) {
        (true, Reason::Port) => (3, 3),
        (true, Reason::Route) => (3, 0),
        (true, Reason::Hops) => (11, 0),
        (true, Reason::TooBig(_)) => (3, NEEDS_FRAGMENTATION),
        (true, Reason::Reassembly) => (11, 1),
        (false, Reason::Port) => (1, 4),
        (false, Reason::Route) => (1, 0),
        (false, Reason::Hops) => (3, 0),
        (false, Reason::TooBig(_)) => (2, 0),
        (false, Reason::Reassembly) => (3, 1),
    };
    // IPv4 has 16 bits for it, IPv6 32, at the same end.
    if let Reason::TooBig(mtu) = reason {
        let most = if ip.source.is_ipv4() { u32::from(u16::MAX) } else { u32::MAX };
        let mtu = u32::try_from(mtu).unwrap_or(u32::MAX).min(most);
        message[4..8].copy_from_slice(&mtu.to_be_bytes());
    }
    finish(ip, message);
}

/// The most bytes of a quoted packet in an error with this header: errors have at most 576 bytes (RFC 1812), or 1280
/// (RFC 4443).
pub fn quoted_bytes_max(ip: &ip::Header) -> usize {
    let most = if ip.source.is_ipv4() { 576 } else { 1280 };
    most - ip.bytes() - HEADER_BYTES
}

/// Whether a packet with this header may cause an error (RFC 1122, section 3.2.2; RFC 4443, section 2.4): none about
/// errors, and none to or about groups.
pub fn may_cause_error(ip: &ip::Header, transport: &[u8]) -> bool {
    let is_error = match ip.protocol {
        ICMP => !matches!(transport.first(), Some(0 | 8)),
        ICMPV6 => transport.first().is_none_or(|kind| *kind < 128),
        _ => false,
    };
    let is_group = |ip: IpAddr| ip.is_unspecified() || ip.is_multicast();
    !is_error && !is_group(ip.source) && !is_group(ip.destination)
}

/// Writes a question for the neighbour with an address, or the answer of the one that has it.
///
/// # Panics
/// If the message has fewer bytes than [`NEIGHBOUR_BYTES`].
pub fn emit_neighbour(ip: &ip::Header, is_solicitation: bool, target: Ipv6Addr, mac: Mac, message: &mut [u8]) {
    message[..HEADER_BYTES].fill(0);
    message[0] = if is_solicitation { 135 } else { 136 };
    message[4] = if is_solicitation { 0 } else { SOLICITED_OVERRIDE };
    message[8..24].copy_from_slice(&target.octets());
    message[24..26].copy_from_slice(&[if is_solicitation { 1 } else { 2 }, 1]);
    message[26..32].copy_from_slice(&mac.0);
    finish(ip, message);
}

/// The group in which a station receives solicitations of its address, and the group's Ethernet address.
pub fn solicited_node(address: Ipv6Addr) -> (Ipv6Addr, Mac) {
    let [.., a, b, c] = address.octets();
    let group = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00 | u16::from(a), u16::from_be_bytes([b, c]));
    (group, Mac([0x33, 0x33, 0xff, a, b, c]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rng;

    fn header(ips: [&str; 2]) -> ip::Header {
        let [source, destination]: [IpAddr; 2] = ips.map(|ip| ip.parse().unwrap());
        ip::Header { source, destination, protocol: protocol(source), ttl: 255, traffic_class: 0 }
    }

    const PAIRS: [[&str; 2]; 2] = [["10.0.0.1", "10.0.0.2"], ["2001:db8::1", "2001:db8::2"]];

    #[test]
    fn echoes_and_errors_are_written_as_they_are_read() {
        for ip in PAIRS.map(header) {
            let mut message = *b"....\x00\x01\x00\x02data";
            emit_echo(&ip, true, &mut message);
            assert_eq!(parse(&ip, &message), Some(Message::EchoRequest(b"\x00\x01\x00\x02data")));
            emit_echo(&ip, false, &mut message);
            assert_eq!(parse(&ip, &message), Some(Message::EchoReply(b"\x00\x01\x00\x02data")));
            message[9] ^= 4;
            assert_eq!(parse(&ip, &message), None);
            emit_error(&ip, Reason::Port, &mut message);
            let (kind, code) = if ip.source.is_ipv4() { (3, 3) } else { (1, 4) };
            assert!(matches!(parse(&ip, &message), Some(Message::Error(k, c, _)) if (k, c) == (kind, code)));
            emit_error(&ip, Reason::TooBig(1_400), &mut message);
            assert_eq!(parse(&ip, &message), Some(Message::TooBig(1_400, &message[HEADER_BYTES..])));
            for (transport, may) in [(b"\x08", true), (b"\x03", false), (b"\x80", ip.source.is_ipv6())] {
                let may = if ip.source.is_ipv6() { transport[0] >= 128 } else { may };
                assert_eq!(may_cause_error(&ip, transport), may);
            }
        }
    }

    #[test]
    fn neighbours_are_written_as_they_are_read() {
        let (mut ip, target, mac) = (header(PAIRS[1]), "2001:db8::1:203".parse().unwrap(), Mac::numbered(7));
        let mut message = [0; NEIGHBOUR_BYTES];
        emit_neighbour(&ip, true, target, mac, &mut message);
        assert_eq!(parse(&ip, &message), Some(Message::Solicitation(target, Some(mac))));
        emit_neighbour(&ip, false, target, mac, &mut message);
        assert_eq!(parse(&ip, &message), Some(Message::Advertisement(target, Some(mac))));
        ip.ttl = 254;
        assert_eq!(parse(&ip, &message), None);
        let group = ("ff02::1:ff01:203".parse().unwrap(), Mac([0x33, 0x33, 0xff, 1, 2, 3]));
        assert_eq!(solicited_node(target), group);
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let mut rng = Rng::new(4);
        for _ in 0..100_000 {
            let ip = header(PAIRS[rng.below(2) as usize]);
            let mut message = vec![0; rng.below(48) as usize];
            rng.fill(&mut message);
            if let Some(kind) = message.first_mut() {
                *kind = *rng.pick(&[0, 2, 3, 8, 128, 135, 136]);
            }
            if message.len() >= 4 {
                finish(&ip, &mut message);
            }
            let _ = parse(&ip, &message);
        }
    }
}
