//! IPv4 (RFC 791) and IPv6 (RFC 8200), as far as hosts of the simulator need them: options and extension headers are
//! passed over, fragments are read.

use crate::wire::checksum;
use crate::wire::ethernet::{self, IPV4, IPV6};
use crate::wire::{array, u16_at};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The length of an IPv4 header without options.
pub const V4_HEADER_BYTES: usize = 20;
/// The length of an IPv6 header.
pub const V6_HEADER_BYTES: usize = 40;

/// Protocol numbers.
pub const ICMP: u8 = 1;
/// TCP.
pub const TCP: u8 = 6;
/// UDP.
pub const UDP: u8 = 17;
/// ICMP for IPv6.
pub const ICMPV6: u8 = 58;

/// ECN (RFC 3168): the two bits of a congested packet.
pub const CONGESTION_EXPERIENCED: u8 = 3;

/// Extension headers of IPv6 that have a length: hop-by-hop, routing, destination options.
const EXTENSIONS: [u8; 3] = [0, 43, 60];
const FRAGMENT: u8 = 44;
/// The length of the header of a fragment of IPv6.
const FRAGMENT_HEADER_BYTES: usize = 8;

/// The longest packet of IPv4, and the most that follows a header of IPv6.
const BYTES_MAX: usize = 65_535;

/// A header, of either version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// From whom.
    pub source: IpAddr,
    /// For whom.
    pub destination: IpAddr,
    /// What follows.
    pub protocol: u8,
    /// Time to live, or hop limit.
    pub ttl: u8,
    /// Differentiated services and ECN.
    pub traffic_class: u8,
}

/// Why a packet is not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Defect {
    /// Lengths or versions do not fit together.
    Malformed,
    /// The header's checksum is wrong.
    Checksum,
    /// It is a fragment.
    Fragment,
}

impl Header {
    /// Reads the header of a packet of this EtherType; returns what follows, without padding.
    pub fn parse(ethertype: u16, packet: &[u8]) -> Result<(Header, &[u8]), Defect> {
        match ethertype {
            IPV4 => parse_v4(packet, 0),
            IPV6 => parse_v6(packet, 0).ok_or(Defect::Malformed)?,
            _ => Err(Defect::Malformed),
        }
    }

    /// The same for a packet that continues with `rest` bytes, and ends with them.
    pub(crate) fn parse_before(ethertype: u16, packet: &[u8], rest: usize) -> Option<(Header, &[u8])> {
        let (bytes, parsed) = match ethertype {
            IPV4 => (usize::from(u16_at(packet, 2)?), parse_v4(packet, rest)),
            IPV6 => (V6_HEADER_BYTES + usize::from(u16_at(packet, 4)?), parse_v6(packet, rest)?),
            _ => return None,
        };
        parsed.ok().filter(|_| bytes == packet.len() + rest)
    }

    /// The EtherType of its version.
    pub fn ethertype(&self) -> u16 {
        if self.source.is_ipv4() { IPV4 } else { IPV6 }
    }

    /// The bytes that it takes.
    pub fn bytes(&self) -> usize {
        if self.source.is_ipv4() { V4_HEADER_BYTES } else { V6_HEADER_BYTES }
    }

    /// Writes the header for this many bytes that follow.
    ///
    /// # Panics
    /// If `bytes` is shorter than [`Header::bytes`], or the addresses have different versions.
    pub fn emit(&self, bytes: &mut [u8], payload_bytes: usize) {
        match (self.source, self.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                bytes[..V4_HEADER_BYTES].fill(0);
                bytes[0] = 0x45;
                bytes[1] = self.traffic_class;
                bytes[2..4].copy_from_slice(&((V4_HEADER_BYTES + payload_bytes) as u16).to_be_bytes());
                // Don't fragment: such packets need no identification (RFC 6864).
                bytes[6] = 0x40;
                (bytes[8], bytes[9]) = (self.ttl, self.protocol);
                bytes[12..16].copy_from_slice(&source.octets());
                bytes[16..20].copy_from_slice(&destination.octets());
                let sum = checksum::of(&bytes[..V4_HEADER_BYTES]);
                bytes[10..12].copy_from_slice(&sum.to_be_bytes());
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                bytes[..4].copy_from_slice(&(6 << 28 | u32::from(self.traffic_class) << 20).to_be_bytes());
                bytes[4..6].copy_from_slice(&(payload_bytes as u16).to_be_bytes());
                (bytes[6], bytes[7]) = (self.protocol, self.ttl);
                bytes[8..24].copy_from_slice(&source.octets());
                bytes[24..40].copy_from_slice(&destination.octets());
            }
            _ => panic!("{} and {} have different versions", self.source, self.destination),
        }
    }
}

/// What the fragments of one packet have in common.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Datagram {
    /// From whom.
    pub source: IpAddr,
    /// For whom.
    pub destination: IpAddr,
    /// The protocol of IPv4; 0 for IPv6, where fragments may differ in it.
    protocol: u8,
    identification: u32,
}

impl Datagram {
    /// Whether it is of IPv4.
    pub fn is_v4(&self) -> bool {
        self.source.is_ipv4()
    }
}

/// A part of a packet that was divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fragment<'a> {
    /// Which packet it is a part of.
    pub datagram: Datagram,
    /// Where its payload lies in that packet's.
    pub start: usize,
    /// Whether it is the end.
    pub is_last: bool,
    /// All of its bytes.
    pub packet: &'a [u8],
    /// What follows the headers that all fragments repeat.
    pub payload: &'a [u8],
    head_bytes: usize,
    /// IPv6: where in the head the number of what follows stands, and what it was before the packet was divided.
    next: Option<(usize, u8)>,
}

impl<'a> Fragment<'a> {
    /// Reads a packet that [`Header::parse`] found to be a fragment.
    pub fn parse(ethertype: u16, packet: &'a [u8]) -> Option<Fragment<'a>> {
        let fragment = if ethertype == IPV4 { Fragment::of_v4(packet)? } else { Fragment::of_v6(packet)? };
        let Fragment { start, is_last, payload, head_bytes, .. } = fragment;
        let is_divided_right = is_last || (payload.len() % 8 == 0 && !payload.is_empty());
        let head_bytes = if fragment.datagram.is_v4() { head_bytes } else { head_bytes - V6_HEADER_BYTES };
        (is_divided_right && head_bytes + start + payload.len() <= BYTES_MAX).then_some(fragment)
    }

    fn of_v4(packet: &'a [u8]) -> Option<Fragment<'a>> {
        let first = *packet.first()?;
        let head_bytes = usize::from(first & 15) * 4;
        let packet = packet.get(..usize::from(u16_at(packet, 2)?))?;
        let word = u16_at(packet, 6)?;
        let datagram = Datagram {
            source: IpAddr::from(array::<4>(packet, 12)?),
            destination: IpAddr::from(array::<4>(packet, 16)?),
            protocol: *packet.get(9)?,
            identification: u16_at(packet, 4)?.into(),
        };
        let fragment = Fragment {
            datagram,
            start: usize::from(word & 0x1fff) * 8,
            is_last: word & 0x2000 == 0,
            packet,
            payload: packet.get(head_bytes..)?,
            head_bytes,
            next: None,
        };
        (first >> 4 == 4 && head_bytes >= V4_HEADER_BYTES).then_some(fragment)
    }

    fn of_v6(packet: &'a [u8]) -> Option<Fragment<'a>> {
        let packet = packet.get(..V6_HEADER_BYTES + usize::from(u16_at(packet, 4)?))?;
        let Next { protocol, at, named_at } = pass_extensions(packet)?;
        let header: [u8; FRAGMENT_HEADER_BYTES] = array(packet, at)?;
        let word = u16_at(&header, 2)?;
        let datagram = Datagram {
            source: IpAddr::from(array::<16>(packet, 8)?),
            destination: IpAddr::from(array::<16>(packet, 24)?),
            protocol: 0,
            identification: u32::from_be_bytes(array(&header, 4)?),
        };
        let fragment = Fragment {
            datagram,
            start: usize::from(word & 0xfff8),
            is_last: word & 1 == 0,
            packet,
            payload: packet.get(at + FRAGMENT_HEADER_BYTES..)?,
            head_bytes: at,
            next: Some((named_at, header[0])),
        };
        (packet[0] >> 4 == 6 && protocol == FRAGMENT).then_some(fragment)
    }

    /// Whether it is a whole packet, which has nothing to do with other fragments (RFC 6946).
    pub fn is_whole(&self) -> bool {
        self.start == 0 && self.is_last
    }

    /// What stands before the payload of the packet that was divided, but for its length, if this is its first
    /// fragment.
    pub fn head(&self) -> Vec<u8> {
        let mut head = self.packet[..self.head_bytes].to_vec();
        match self.next {
            Some((at, protocol)) => head[at] = protocol,
            None => head[6..8].fill(0),
        }
        head
    }

    /// Its codepoint of ECN.
    pub fn codepoint(&self) -> u8 {
        match self.datagram.is_v4() {
            true => self.packet[1] & CONGESTION_EXPERIENCED,
            false => self.packet[1] >> 4 & CONGESTION_EXPERIENCED,
        }
    }
}

/// A packet of what stands before its payload and the payload, marked if it has met congestion; `None` if it is too
/// long.
pub fn join(head: Vec<u8>, payload: &[u8], is_marked: bool) -> Option<Vec<u8>> {
    let mut packet = head;
    packet.extend(payload);
    if packet.first()? >> 4 == 4 {
        let head_bytes = packet.len() - payload.len();
        let length = u16::try_from(packet.len()).ok()?;
        packet[2..4].copy_from_slice(&length.to_be_bytes());
        packet[1] |= if is_marked { CONGESTION_EXPERIENCED } else { 0 };
        packet[10..12].fill(0);
        let sum = checksum::of(&packet[..head_bytes]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
    } else {
        let length = u16::try_from(packet.len() - V6_HEADER_BYTES).ok()?;
        packet[4..6].copy_from_slice(&length.to_be_bytes());
        packet[1] |= if is_marked { CONGESTION_EXPERIENCED << 4 } else { 0 };
    }
    Some(packet)
}

/// What is left of a packet that an ICMP error quotes: its source, destination, protocol, and the beginning of what
/// follows its header. Its end may be missing.
pub fn parse_quoted(packet: &[u8]) -> Option<(IpAddr, IpAddr, u8, &[u8])> {
    match packet.first()? >> 4 {
        4 => {
            let ip = |at| Some(IpAddr::from(array::<4>(packet, at)?));
            let header_bytes = (usize::from(packet[0] & 15) * 4).max(V4_HEADER_BYTES);
            Some((ip(12)?, ip(16)?, *packet.get(9)?, packet.get(header_bytes..)?))
        }
        6 => {
            let ip = |at| Some(IpAddr::from(array::<16>(packet, at)?));
            Some((ip(8)?, ip(24)?, *packet.get(6)?, packet.get(V6_HEADER_BYTES..)?))
        }
        _ => None,
    }
}

/// `rest` bytes of the packet are not in `packet`, and not in the result.
fn parse_v4(packet: &[u8], rest: usize) -> Result<(Header, &[u8]), Defect> {
    let first = *packet.first().ok_or(Defect::Malformed)?;
    let header_bytes = usize::from(first & 15) * 4;
    let total = usize::from(u16_at(packet, 2).ok_or(Defect::Malformed)?);
    if first >> 4 != 4 || header_bytes < V4_HEADER_BYTES || total < header_bytes || packet.len() + rest < total {
        return Err(Defect::Malformed);
    }
    let packet = &packet[..total.min(packet.len())];
    if packet.len() < header_bytes || checksum::of(&packet[..header_bytes]) != 0 {
        return Err(Defect::Checksum);
    }
    // More fragments, or an offset.
    if u16::from_be_bytes([packet[6], packet[7]]) & 0x3fff != 0 {
        return Err(Defect::Fragment);
    }
    let address = |at: usize| IpAddr::V4(Ipv4Addr::new(packet[at], packet[at + 1], packet[at + 2], packet[at + 3]));
    let header = Header {
        source: address(12),
        destination: address(16),
        protocol: packet[9],
        ttl: packet[8],
        traffic_class: packet[1],
    };
    Ok((header, &packet[header_bytes..]))
}

fn parse_v6(packet: &[u8], rest: usize) -> Option<Result<(Header, &[u8]), Defect>> {
    let first = u32::from_be_bytes(array(packet, 0)?);
    let end = V6_HEADER_BYTES + usize::from(u16_at(packet, 4)?);
    (first >> 28 == 6 && packet.len() + rest >= end).then_some(())?;
    let packet = &packet[..end.min(packet.len())];
    let Next { protocol, at, .. } = pass_extensions(packet)?;
    if protocol == FRAGMENT {
        return Some(Err(Defect::Fragment));
    }
    let header = Header {
        source: IpAddr::V6(Ipv6Addr::from(array::<16>(packet, 8)?)),
        destination: IpAddr::V6(Ipv6Addr::from(array::<16>(packet, 24)?)),
        protocol,
        ttl: packet[7],
        traffic_class: (first >> 20) as u8,
    };
    Some(Ok((header, packet.get(at..)?)))
}

/// What follows extension headers of IPv6.
struct Next {
    protocol: u8,
    at: usize,
    /// Where the header before it names it.
    named_at: usize,
}

fn pass_extensions(packet: &[u8]) -> Option<Next> {
    let mut next = Next { protocol: *packet.get(6)?, at: V6_HEADER_BYTES, named_at: 6 };
    while EXTENSIONS.contains(&next.protocol) {
        let length = 8 * (1 + usize::from(*packet.get(next.at + 1)?));
        next = Next { protocol: packet[next.at], at: next.at + length, named_at: next.at };
    }
    Some(next)
}

/// Marks a frame's IP packet as having met congestion, if it is ECN-capable and not marked yet.
pub fn mark_congestion(frame: &mut [u8]) -> bool {
    mark(frame).unwrap_or(false)
}

fn mark(frame: &mut [u8]) -> Option<bool> {
    let (ethertype, at) = ethernet::payload(frame)?;
    let word = u16_at(frame, at)?;
    let shift = match ethertype {
        IPV4 => 0,
        IPV6 => 4,
        _ => return None,
    };
    let ecn = (word >> shift) as u8 & CONGESTION_EXPERIENCED;
    if ecn == 0 || ecn == CONGESTION_EXPERIENCED {
        return Some(false);
    }
    let marked = word | u16::from(CONGESTION_EXPERIENCED) << shift;
    if ethertype == IPV4 {
        let sum = u16_at(frame, at + 10)?;
        frame[at + 10..at + 12].copy_from_slice(&checksum::updated(sum, word, marked).to_be_bytes());
    }
    frame[at..at + 2].copy_from_slice(&marked.to_be_bytes());
    Some(true)
}

/// Takes one from the time to live of a frame's IP packet, as routers do; `None` if it is not IP or has come to its
/// end.
pub fn decrement_ttl(frame: &mut [u8]) -> Option<()> {
    let (ethertype, at) = ethernet::payload(frame)?;
    let ttl_at = match ethertype {
        IPV4 => at + 8,
        IPV6 => at + 7,
        _ => return None,
    };
    let ttl = *frame.get(ttl_at).filter(|ttl| **ttl > 1)?;
    if ethertype == IPV4 {
        let (word, sum) = (u16_at(frame, ttl_at)?, u16_at(frame, at + 10)?);
        let sum = checksum::updated(sum, word, word - 0x100);
        frame[at + 10..at + 12].copy_from_slice(&sum.to_be_bytes());
    }
    frame[ttl_at] = ttl - 1;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rng;

    fn header(ips: [&str; 2], traffic_class: u8) -> Header {
        let [source, destination] = ips.map(|ip| ip.parse().unwrap());
        Header { source, destination, protocol: UDP, ttl: 64, traffic_class }
    }

    /// A frame without Ethernet addresses.
    fn frame(header: &Header, payload: &[u8]) -> Vec<u8> {
        let mut frame = vec![0; 14 + header.bytes()];
        frame[12..14].copy_from_slice(&header.ethertype().to_be_bytes());
        header.emit(&mut frame[14..], payload.len());
        frame.extend(payload);
        frame
    }

    const PAIRS: [[&str; 2]; 2] = [["10.0.0.1", "10.0.0.2"], ["2001:db8::1", "2001:db8::2"]];

    #[test]
    fn headers_are_written_as_they_are_read() {
        for ips in PAIRS {
            let header = header(ips, 0xb9);
            let mut frame = frame(&header, b"abc");
            frame.extend([0; 7]);
            assert_eq!(Header::parse(header.ethertype(), &frame[14..]), Ok((header, &b"abc"[..])));
            for length in 0..header.bytes() + 3 {
                assert!(Header::parse(header.ethertype(), &frame[14..14 + length]).is_err());
            }
        }
    }

    #[test]
    fn the_beginning_of_a_packet_is_enough_to_know_its_flow() {
        for ips in PAIRS {
            let header = header(ips, 0);
            let packet = frame(&header, b"abc").split_off(14);
            let flow = (header.source, header.destination, UDP, &b"ab"[..]);
            assert_eq!(parse_quoted(&packet[..header.bytes() + 2]), Some(flow));
            assert_eq!(parse_quoted(&packet[..header.bytes() - 1]), None);
        }
    }

    #[test]
    fn defects_are_distinguished() {
        let mut packet = frame(&header(PAIRS[0], 0), b"abc").split_off(14);
        packet[15] ^= 1;
        assert_eq!(Header::parse(IPV4, &packet), Err(Defect::Checksum));
        packet[15] ^= 1;
        packet[6..8].copy_from_slice(&[0x20, 0]);
        packet[10..12].copy_from_slice(&[0, 0]);
        let sum = checksum::of(&packet[..20]);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        assert_eq!(Header::parse(IPV4, &packet), Err(Defect::Fragment));
    }

    #[test]
    fn extension_headers_are_passed_over() {
        let mut packet = frame(&header(PAIRS[1], 0), &[UDP, 0, 0, 0, 0, 0, 0, 0, b'x']).split_off(14);
        packet[6] = 60;
        let (header, payload) = Header::parse(IPV6, &packet).unwrap();
        assert_eq!((header.protocol, payload), (UDP, &b"x"[..]));
        packet[41] = 200;
        assert_eq!(Header::parse(IPV6, &packet), Err(Defect::Malformed));
    }

    #[test]
    fn marking_and_hops_keep_the_checksum_right() {
        for ips in PAIRS {
            for (class, is_marked) in [(0xb8, false), (0xb9, true), (0xba, true), (0xbb, false)] {
                let mut frame = frame(&header(ips, class), b"abc");
                assert_eq!(mark_congestion(&mut frame), is_marked);
                assert_eq!(decrement_ttl(&mut frame), Some(()));
                let (after, _) = Header::parse(header(ips, 0).ethertype(), &frame[14..]).unwrap();
                let class = if is_marked { 0xbb } else { class };
                assert_eq!((after.traffic_class, after.ttl), (class, 63));
            }
        }
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let mut rng = Rng::new(3);
        for _ in 0..200_000 {
            let ips = PAIRS[rng.below(2) as usize];
            let mut frame = frame(&header(ips, 1), b"abcdefgh");
            for _ in 0..rng.below(4) {
                let at = rng.below(frame.len() as u64) as usize;
                frame[at] = rng.next_u64() as u8;
            }
            frame.truncate(rng.below(frame.len() as u64 + 1) as usize);
            mark_congestion(&mut frame);
            decrement_ttl(&mut frame);
            for ethertype in [IPV4, IPV6] {
                let _ = Header::parse(ethertype, frame.get(14..).unwrap_or_default());
            }
            let _ = parse_quoted(frame.get(14..).unwrap_or_default());
            for ethertype in [IPV4, IPV6] {
                let fragment = Fragment::parse(ethertype, frame.get(14..).unwrap_or_default());
                let _ = fragment.and_then(|it| join(it.head(), it.payload, it.codepoint() == 3));
            }
        }
    }
}
