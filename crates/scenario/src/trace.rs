//! Captures as patterns of datagrams.
//!
//! What enters: the bytes of a capture, pcap or pcapng. What leaves: the spans between its packets, in the order of
//! their times, and their lengths.

use base::limits::PACKET_BYTES_MAX;
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::{Block, PcapNgReader};
use sim::host::udp::PAYLOAD_BYTES_MIN;
use sim::time::Time;
use sim::wire::{ethernet, ip, udp};
use std::sync::Arc;
use std::time::Duration;

/// The most packets: their times and lengths are held in memory.
const PACKETS_MAX: usize = 1 << 22;

/// The first bytes of a pcapng file.
const PCAPNG: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// When packets were captured, and how long they were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The span before each packet; none before the first.
    pub gaps: Arc<[Time]>,
    /// The lengths on the line, without FCS.
    pub frame_bytes: Vec<usize>,
}

/// Reads a capture.
pub fn parse(bytes: &[u8]) -> Result<Trace, String> {
    let mut packets = if bytes.starts_with(&PCAPNG) { pcapng(bytes)? } else { pcap(bytes)? };
    // Captures of several queues are not always in order.
    packets.sort_by_key(|(time, _)| *time);
    if packets.is_empty() {
        return Err("the capture has no packets".to_owned());
    }
    let first = packets[0].0;
    let before = std::iter::once(first).chain(packets.iter().map(|(time, _)| *time));
    let gaps = packets.iter().zip(before).map(|((time, _), before)| span(time.saturating_sub(before)));
    Ok(Trace { gaps: gaps.collect(), frame_bytes: packets.iter().map(|(_, bytes)| *bytes).collect() })
}

/// The payloads of datagrams whose frames have these lengths, as far as there are such.
pub fn payloads(frame_bytes: &[usize], is_v6: bool) -> Arc<[usize]> {
    let ip_bytes = if is_v6 { ip::V6_HEADER_BYTES } else { ip::V4_HEADER_BYTES };
    let headers = ethernet::HEADER_BYTES + ip_bytes + udp::HEADER_BYTES;
    let most = PACKET_BYTES_MAX - 100;
    frame_bytes.iter().map(|bytes| bytes.saturating_sub(headers).clamp(PAYLOAD_BYTES_MIN, most)).collect()
}

fn span(duration: Duration) -> Time {
    Time::from_ps(u64::try_from(duration.as_nanos().saturating_mul(1_000)).unwrap_or(u64::MAX))
}

type Packets = Vec<(Duration, usize)>;

fn add(packets: &mut Packets, time: Duration, bytes: u32) -> Result<(), String> {
    if packets.len() == PACKETS_MAX {
        return Err(format!("the capture has more than {PACKETS_MAX} packets: write a shorter one"));
    }
    packets.push((time, bytes as usize));
    Ok(())
}

fn pcap(bytes: &[u8]) -> Result<Packets, String> {
    let mut reader = PcapReader::new(bytes).map_err(|error| format!("it is not a capture: {error}"))?;
    let mut packets = Packets::new();
    while let Some(packet) = reader.next_packet() {
        let packet = packet.map_err(|error| format!("packet {}: {error}", packets.len() + 1))?;
        add(&mut packets, packet.timestamp, packet.orig_len)?;
    }
    Ok(packets)
}

fn pcapng(bytes: &[u8]) -> Result<Packets, String> {
    let mut reader = PcapNgReader::new(bytes).map_err(|error| format!("it is not a capture: {error}"))?;
    let mut packets = Packets::new();
    while let Some(block) = reader.next_block() {
        let block = block.map_err(|error| format!("packet {}: {error}", packets.len() + 1))?;
        if let Block::EnhancedPacket(packet) = block {
            add(&mut packets, packet.timestamp, packet.original_len)?;
        }
    }
    Ok(packets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Rng;

    /// A capture with packets at these microseconds, with these lengths, of which it has 4 bytes each.
    fn capture(packets: &[(u32, u32)]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 1] {
            bytes.extend(u32::to_le_bytes(word));
        }
        for (time, length) in packets {
            for word in [7, *time, 4, *length, 0] {
                bytes.extend(u32::to_le_bytes(word));
            }
        }
        bytes
    }

    #[test]
    fn times_and_lengths_are_those_of_the_capture() {
        let trace = parse(&capture(&[(10, 100), (35, 9), (30, 1_514)])).unwrap();
        assert_eq!(*trace.gaps, [0, 20, 5].map(Time::from_us));
        assert_eq!(trace.frame_bytes, [100, 1_514, 9]);
        assert_eq!(*payloads(&trace.frame_bytes, false), [58, 1_472, 16]);
        assert_eq!(*payloads(&trace.frame_bytes, true), [38, 1_452, 16]);
    }

    #[test]
    fn what_is_no_capture_is_refused() {
        assert_eq!(parse(&capture(&[])), Err("the capture has no packets".to_owned()));
        assert!(parse(b"size,cdf").unwrap_err().starts_with("it is not a capture"));
        let mut cut = capture(&[(1, 60), (2, 60)]);
        cut.truncate(cut.len() - 3);
        assert!(parse(&cut).unwrap_err().starts_with("packet 2: "));
        let mut rng = Rng::new(1);
        for _ in 0..20_000 {
            let mut bytes = capture(&[(1, 60), (2, 70)]);
            if rng.chance(1, 2) {
                bytes[..4].copy_from_slice(&PCAPNG);
            }
            for _ in 0..rng.between(1, 8) {
                let at = rng.below(bytes.len() as u64) as usize;
                bytes[at] = rng.next_u64() as u8;
            }
            bytes.truncate(rng.below(bytes.len() as u64 + 1) as usize);
            let _ = parse(&bytes);
        }
    }
}
