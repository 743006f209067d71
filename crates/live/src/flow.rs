//! The flow of a frame, for the distribution of frames over workers.
//!
//! What enters: a frame. What leaves: a number that all frames of a flow share. A flow is identified by the
//! addresses, the protocol and the ports of IPv4 and IPv6, after any VLAN tags; by the addresses alone for fragments,
//! of which only the first has ports, and for protocols without ports. All other frames are identified by their
//! Ethernet addresses. Truncated frames are identified by the fields that they have.

/// The most VLAN tags that are skipped.
const TAGS_MAX: usize = 4;

/// The most extension headers of IPv6 that are skipped.
const EXTENSIONS_MAX: usize = 8;

const TYPE_IPV4: u16 = 0x0800;
const TYPE_IPV6: u16 = 0x86DD;
/// VLAN tags: 802.1Q, 802.1ad, and its predecessor.
const TYPES_TAG: [u16; 3] = [0x8100, 0x88A8, 0x9100];

const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;
const PROTOCOL_SCTP: u8 = 132;
const PROTOCOL_FRAGMENT: u8 = 44;
/// Extension headers whose second byte is their length: hop by hop, routing, destination options.
const PROTOCOLS_EXTENSION: [u8; 3] = [0, 43, 60];

/// Which of `count` workers, or queues, gets the flow with this number.
#[inline]
pub fn share(hash: u64, count: usize) -> usize {
    (((hash >> 32) * count as u64) >> 32) as usize
}

/// The number of a frame's flow.
#[inline]
pub fn hash(frame: &[u8]) -> u64 {
    // Most frames: no tag, no option, no fragment. The same number as below, with a single branch.
    if let Some(start) = frame.first_chunk::<38>()
        && start[12..15] == [8, 0, 0x45]
        && start[20] & 0x3F == 0
        && start[21] == 0
        && matches!(start[23], PROTOCOL_TCP | PROTOCOL_UDP)
    {
        let word = |at: usize| u64::from_be_bytes(*start[at..].first_chunk().unwrap_or(&[0; 8]));
        let ports = word(30) & u64::from(u32::MAX);
        return finish(mix(mix(mix(4, word(26)), u64::from(start[23])), ports));
    }
    hash_any(frame)
}

fn hash_any(frame: &[u8]) -> u64 {
    let mut at = 12;
    let mut kind = read_u16(frame, at);
    for _ in 0..TAGS_MAX {
        if !kind.is_some_and(|kind| TYPES_TAG.contains(&kind)) {
            break;
        }
        at += 4;
        kind = read_u16(frame, at);
    }
    let packet = frame.get(at + 2..).unwrap_or(&[]);
    let found = match kind {
        Some(TYPE_IPV4) => ipv4(packet),
        Some(TYPE_IPV6) => ipv6(packet),
        _ => None,
    };
    found.unwrap_or_else(|| finish(mix_bytes(1, frame.get(..12).unwrap_or(frame))))
}

fn ipv4(packet: &[u8]) -> Option<u64> {
    let addresses = packet.get(12..20)?;
    let protocol = packet[9];
    // More fragments follow, or this is not the first.
    let is_fragment = read_u16(packet, 6)? & 0x3FFF != 0;
    let header_bytes = usize::from(packet[0] & 0xF) * 4;
    let start = mix(mix_bytes(4, addresses), u64::from(protocol));
    let ports = if is_fragment { None } else { ports(protocol, packet.get(header_bytes.max(20)..)?) };
    Some(finish(mix(start, ports.unwrap_or(0))))
}

fn ipv6(packet: &[u8]) -> Option<u64> {
    let addresses = packet.get(8..40)?;
    let (mut protocol, mut at) = (packet[6], 40);
    for _ in 0..EXTENSIONS_MAX {
        if !PROTOCOLS_EXTENSION.contains(&protocol) {
            break;
        }
        let Some(&[next, words]) = packet.get(at..at + 2) else { break };
        (protocol, at) = (next, at + 8 * (usize::from(words) + 1));
    }
    let mut start = mix_bytes(6, addresses);
    if protocol == PROTOCOL_FRAGMENT {
        return Some(finish(start));
    }
    start = mix(start, u64::from(protocol));
    Some(finish(mix(start, packet.get(at..).and_then(|rest| ports(protocol, rest)).unwrap_or(0))))
}

/// Both ports of a segment or datagram.
fn ports(protocol: u8, rest: &[u8]) -> Option<u64> {
    let has_ports = matches!(protocol, PROTOCOL_TCP | PROTOCOL_UDP | PROTOCOL_SCTP);
    let ports = rest.first_chunk().filter(|_| has_ports)?;
    Some(u64::from(u32::from_be_bytes(*ports)))
}

fn read_u16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn mix_bytes(start: u64, bytes: &[u8]) -> u64 {
    let word = |chunk: &[u8]| chunk.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    bytes.chunks(8).fold(start, |sum, chunk| mix(sum, word(chunk)))
}

fn mix(sum: u64, word: u64) -> u64 {
    (sum.rotate_left(29) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Mixes all bits into the lowest ones.
fn finish(sum: u64) -> u64 {
    let sum = (sum ^ sum >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    sum ^ sum >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::udp_frame;

    /// A frame with these bytes from its type on.
    fn frame(kind: u16, rest: &[u8]) -> Vec<u8> {
        [&[2; 12], &kind.to_be_bytes()[..], rest].concat()
    }

    fn tagged(frame: &[u8]) -> Vec<u8> {
        [&frame[..12], &[0x81, 0, 0, 7], &frame[12..]].concat()
    }

    #[test]
    fn a_flow_is_identified_by_addresses_and_ports() {
        let base = udp_frame(0x0A00_0001, 64, 1);
        let other = |at: usize| {
            let mut frame = base.clone();
            frame[at] ^= 1;
            hash(&frame) != hash(&base)
        };
        // Both addresses, the protocol, both ports.
        assert!([26, 29, 30, 33, 23, 35, 37].into_iter().all(other));
        // Not the Ethernet addresses, the length, the identification, the TTL, the payload.
        assert!(![0, 6, 17, 19, 22, 50].into_iter().any(other));
        assert_eq!(hash(&tagged(&base)), hash(&base));
        assert_eq!(hash(&tagged(&tagged(&base))), hash(&base));
    }

    #[test]
    fn all_fragments_of_a_packet_are_of_one_flow() {
        let mut first = udp_frame(0x0A00_0001, 64, 1);
        first[20] = 0x20;
        let mut second = first.clone();
        second[20..22].copy_from_slice(&[0, 9]);
        second[34..38].fill(0xEE);
        assert_eq!(hash(&first), hash(&second));
    }

    #[test]
    fn ports_of_ipv6_are_found_behind_extension_headers() {
        let packet = |next: u8, rest: &[u8]| {
            let mut packet = vec![0x60, 0, 0, 0, 0, 40, next, 64];
            packet.extend([1; 32]);
            packet.extend(rest);
            frame(TYPE_IPV6, &packet)
        };
        let udp = |port: u8| packet(17, &[0, 1, 0, port, 0, 0, 0, 0]);
        let extended = |port: u8| packet(0, &[17, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, port, 0, 0, 0, 0]);
        assert_ne!(hash(&udp(1)), hash(&udp(2)));
        assert_eq!(hash(&udp(1)), hash(&extended(1)));
        let fragment = |port: u8| packet(44, &[17, 0, 0, 1, 0, 0, 0, 9, 0, 1, 0, port]);
        assert_eq!(hash(&fragment(1)), hash(&fragment(2)));
    }

    #[test]
    fn other_frames_are_identified_by_their_ethernet_addresses() {
        assert_eq!(hash(&frame(0x1234, &[1, 2])), hash(&frame(0x4321, &[3])));
        let mut other = frame(0x1234, &[1, 2]);
        other[0] = 9;
        assert_ne!(hash(&frame(0x1234, &[1, 2])), hash(&other));
    }

    #[test]
    fn any_bytes_have_a_flow() {
        let whole = tagged(&udp_frame(0x0A00_0001, 64, 1));
        for length in 0..whole.len() {
            hash(&whole[..length]);
        }
        hash(&frame(TYPE_IPV4, &[0xFF; 20]));
        hash(&frame(TYPE_IPV6, &[0; 41]));
    }

    #[test]
    fn the_short_way_leads_to_the_same_number() {
        for flow in 0..100 {
            let mut frame = udp_frame(flow, 64, flow);
            frame[23] = if flow % 2 == 0 { PROTOCOL_TCP } else { PROTOCOL_UDP };
            assert_eq!(hash(&frame), hash_any(&frame));
        }
    }

    #[test]
    fn flows_spread_evenly() {
        for workers in [2, 3, 8] {
            let mut counts = vec![0; workers];
            for flow in 0..8000 {
                counts[share(hash(&udp_frame(flow, 64, 0)), workers)] += 1;
            }
            let fair = 8000 / workers;
            assert!(counts.iter().all(|&count: &usize| count.abs_diff(fair) < fair / 5), "{counts:?}");
        }
    }
}
