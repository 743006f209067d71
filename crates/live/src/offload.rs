//! Converts frames from the kernel to frames as on a wire.
//!
//! Between two virtual interfaces a sender saves work: it leaves the checksum to hardware that does not exist, and
//! passes TCP and UDP data in segments of up to 64 KiB, to be cut before they reach a wire. A switch program must see
//! what a wire would carry. This module completes checksums and cuts segments; it does no input or output.
//!
//! The kernel describes what is missing in the header of virtio-net (Virtual I/O Device specification 1.2, section
//! 5.1.6), which a packet socket puts before each frame. Both are described by the offset of the transport header, so
//! options, extension headers and VLAN tags need no special case. The network header is found from the Ethernet
//! header on; a segment inside a tunnel is refused, since the outer headers' lengths would have to change as well.

use std::fmt;
use std::ops::Range;

/// Bytes of the header before each frame.
pub const VNET_HEADER_BYTES: usize = 10;

/// The longest segment that is cut: 64 KiB, its Ethernet header and tags.
pub const SEGMENT_BYTES_MAX: usize = 65_536 + 64;

const NEEDS_CHECKSUM: u8 = 1;
const SEGMENT_NONE: u8 = 0;
const SEGMENT_TCP_IPV4: u8 = 1;
const SEGMENT_TCP_IPV6: u8 = 4;
const SEGMENT_UDP: u8 = 5;
/// Set beside the kind if only the segment's first frame may carry "congestion window reduced".
const SEGMENT_ECN: u8 = 0x80;

const ETHERNET_BYTES: usize = 14;
const IPV6_BYTES: usize = 40;
const TCP_BYTES_MIN: usize = 20;
const UDP_BYTES: usize = 8;
const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;
const TCP_FIN: u8 = 0x01;
const TCP_PSH: u8 = 0x08;
const TCP_CWR: u8 = 0x80;

/// What a frame still lacks, according to the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VnetHeader {
    /// Bit 0: the checksum is to be completed.
    pub flags: u8,
    /// How the frame is to be cut, if at all.
    pub segment_kind: u8,
    /// Payload bytes of each frame that it is cut into.
    pub segment_bytes: u16,
    /// The offset of the transport header from the Ethernet header.
    pub checksum_start: u16,
    /// The offset of the checksum in the transport header.
    pub checksum_offset: u16,
}

impl VnetHeader {
    /// Reads the header; its numbers are in the machine's byte order.
    pub fn read(bytes: [u8; VNET_HEADER_BYTES]) -> VnetHeader {
        let half = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        VnetHeader {
            flags: bytes[0],
            segment_kind: bytes[1],
            segment_bytes: half(4),
            checksum_start: half(6),
            checksum_offset: half(8),
        }
    }

    /// Whether the frame is as on a wire.
    pub fn is_complete(&self) -> bool {
        self.flags & NEEDS_CHECKSUM == 0 && self.segment_kind & !SEGMENT_ECN == SEGMENT_NONE
    }

    /// Whether the frame is to be cut.
    pub fn is_segment(&self) -> bool {
        self.segment_kind & !SEGMENT_ECN != SEGMENT_NONE
    }

    /// The header of the same frame with `bytes` more before the transport header, as after a tag was inserted.
    #[must_use]
    pub fn shifted(self, bytes: u16) -> VnetHeader {
        let checksum_start =
            if self.flags & NEEDS_CHECKSUM == 0 { 0 } else { self.checksum_start.saturating_add(bytes) };
        VnetHeader { checksum_start, ..self }
    }
}

/// Why a frame could not be completed or cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffloadError {
    /// The header points outside the frame.
    OutOfFrame,
    /// The frame contradicts the header.
    Contradiction(&'static str),
    /// The kind of segment is not supported.
    UnknownKind(u8),
}

impl fmt::Display for OffloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OffloadError::OutOfFrame => write!(f, "the checksum or header lies outside the frame"),
            OffloadError::Contradiction(what) => write!(f, "{what}"),
            OffloadError::UnknownKind(kind) => write!(f, "segments of kind {kind} are not cut"),
        }
    }
}

impl std::error::Error for OffloadError {}

/// The sum of big-endian 16-bit words, not yet folded; an odd last byte counts as the high half of a word.
fn sum_words(bytes: &[u8]) -> u64 {
    let mut chunks = bytes.chunks_exact(4);
    // Words of 32 bits may be added as they are: folding adds their halves.
    let mut sum: u64 =
        chunks.by_ref().map(|chunk| u64::from(u32::from_be_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]))).sum();
    let mut last = [0; 4];
    last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    sum += u64::from(u32::from_be_bytes(last));
    sum
}

/// Folds a sum to 16 bits with end-around carry.
fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// The Internet checksum (RFC 1071) of `bytes`, given a folded sum to start from.
pub fn checksum(start: u16, bytes: &[u8]) -> u16 {
    !fold(u64::from(start) + sum_words(bytes))
}

fn read_u16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn write_u16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// Completes the checksum of a frame that is not to be cut. The field has the sum of the pseudo header, from the
/// kernel.
pub fn complete_checksum(frame: &mut [u8], header: &VnetHeader) -> Result<(), OffloadError> {
    if header.flags & NEEDS_CHECKSUM == 0 {
        return Ok(());
    }
    let start = usize::from(header.checksum_start);
    let field = start + usize::from(header.checksum_offset);
    if start < ETHERNET_BYTES || field + 2 > frame.len() {
        return Err(OffloadError::OutOfFrame);
    }
    let sum = checksum(0, &frame[start..]);
    // Zero means "no checksum" in UDP, whose field is at offset 6; all ones is the equivalent sum.
    let sum = if sum == 0 && usize::from(header.checksum_offset) == 6 { 0xffff } else { sum };
    write_u16(frame, field, sum);
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Network {
    Ipv4,
    Ipv6,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transport {
    Tcp,
    Udp,
}

/// The layout of a segment, and what its frames have in common.
struct Layout {
    network: Network,
    transport: Transport,
    network_start: usize,
    transport_start: usize,
    payload_start: usize,
    /// The folded sum of the pseudo header without its length.
    pseudo_sum: u16,
    /// The folded sum of the network header (IPv4) without total length, identification and checksum.
    network_sum: u16,
}

impl Layout {
    fn of(frame: &[u8], header: &VnetHeader) -> Result<Layout, OffloadError> {
        let (wanted, transport) = match header.segment_kind & !SEGMENT_ECN {
            SEGMENT_TCP_IPV4 => (Some(Network::Ipv4), Transport::Tcp),
            SEGMENT_TCP_IPV6 => (Some(Network::Ipv6), Transport::Tcp),
            SEGMENT_UDP => (None, Transport::Udp),
            kind => return Err(OffloadError::UnknownKind(kind)),
        };
        let (network_start, network) = find_network(frame)?;
        if wanted.is_some_and(|wanted| wanted != network) {
            return Err(OffloadError::Contradiction("the segment's network protocol is not the one announced"));
        }
        let transport_start = find_transport(frame, network_start, network, transport)?;
        if header.flags & NEEDS_CHECKSUM != 0 && transport_start != usize::from(header.checksum_start) {
            return Err(OffloadError::Contradiction("the segment is inside a tunnel"));
        }
        let header_bytes = match transport {
            Transport::Udp => UDP_BYTES,
            Transport::Tcp => {
                let bytes = frame.get(transport_start + 12).map_or(0, |byte| usize::from(byte >> 4) * 4);
                if bytes < TCP_BYTES_MIN {
                    return Err(OffloadError::Contradiction("the TCP header is shorter than 20 bytes"));
                }
                bytes
            }
        };
        let payload_start = transport_start + header_bytes;
        if payload_start > frame.len() {
            return Err(OffloadError::OutOfFrame);
        }
        let mut layout =
            Layout { network, transport, network_start, transport_start, payload_start, pseudo_sum: 0, network_sum: 0 };
        layout.pseudo_sum = layout.sum_pseudo_header(frame, header)?;
        layout.network_sum = layout.sum_network_header(frame);
        Ok(layout)
    }

    fn checksum_field(&self) -> usize {
        self.transport_start + if self.transport == Transport::Tcp { 16 } else { 6 }
    }

    /// The pseudo header's sum without the length. A partial sum from the kernel is used if there is one, since it is
    /// right whatever final destination the extension headers specify.
    fn sum_pseudo_header(&self, frame: &[u8], header: &VnetHeader) -> Result<u16, OffloadError> {
        let transport_bytes = frame.len() - self.transport_start;
        if header.flags & NEEDS_CHECKSUM != 0 {
            let with_length = u64::from(read_u16(frame, self.checksum_field()));
            let length = fold(transport_bytes as u64);
            return Ok(fold(with_length + u64::from(!length)));
        }
        let addresses = match self.network {
            Network::Ipv4 => &frame[self.network_start + 12..self.network_start + 20],
            Network::Ipv6 if self.transport_start != self.network_start + IPV6_BYTES => {
                return Err(OffloadError::Contradiction("the segment has extension headers and no partial checksum"));
            }
            Network::Ipv6 => &frame[self.network_start + 8..self.network_start + IPV6_BYTES],
        };
        let protocol = if self.transport == Transport::Tcp { PROTOCOL_TCP } else { PROTOCOL_UDP };
        Ok(fold(sum_words(addresses) + u64::from(protocol)))
    }

    fn sum_network_header(&self, frame: &[u8]) -> u16 {
        let network = &frame[self.network_start..self.transport_start];
        match self.network {
            Network::Ipv4 => fold(sum_words(&network[..2]) + sum_words(&network[6..10]) + sum_words(&network[12..])),
            Network::Ipv6 => 0,
        }
    }

    /// Writes the lengths, numbers and checksums of one frame, whose payload starts `payload_offset` bytes into the
    /// segment's.
    fn finish_frame(&self, frame: &mut [u8], index: u16, payload_offset: usize, is_last: bool, ecn: bool) {
        let network_bytes = frame.len() - self.network_start;
        match self.network {
            Network::Ipv4 => self.finish_ipv4(&mut frame[self.network_start..], network_bytes, index),
            Network::Ipv6 => write_u16(frame, self.network_start + 4, (network_bytes - IPV6_BYTES) as u16),
        }
        let transport_bytes = frame.len() - self.transport_start;
        let transport = &mut frame[self.transport_start..];
        match self.transport {
            Transport::Udp => write_u16(transport, 4, transport_bytes as u16),
            Transport::Tcp => finish_tcp(transport, index, payload_offset, is_last, ecn),
        }
        let field = self.checksum_field() - self.transport_start;
        write_u16(transport, field, 0);
        let start = fold(u64::from(self.pseudo_sum) + transport_bytes as u64);
        let sum = checksum(start, transport);
        let sum = if sum == 0 && self.transport == Transport::Udp { 0xffff } else { sum };
        write_u16(transport, field, sum);
    }

    fn finish_ipv4(&self, network: &mut [u8], network_bytes: usize, index: u16) {
        let identification = read_u16(network, 4).wrapping_add(index);
        write_u16(network, 2, network_bytes as u16);
        write_u16(network, 4, identification);
        let sum = u64::from(self.network_sum) + network_bytes as u64 + u64::from(identification);
        write_u16(network, 10, !fold(sum));
    }
}

/// Advances the sequence number, and restricts each flag to the frames that may carry it: FIN and PSH to the last,
/// CWR to the first.
fn finish_tcp(transport: &mut [u8], index: u16, payload_offset: usize, is_last: bool, ecn: bool) {
    let sequence = u32::from_be_bytes([transport[4], transport[5], transport[6], transport[7]]);
    transport[4..8].copy_from_slice(&sequence.wrapping_add(payload_offset as u32).to_be_bytes());
    if !is_last {
        transport[13] &= !(TCP_FIN | TCP_PSH);
    }
    if ecn && index > 0 {
        transport[13] &= !TCP_CWR;
    }
}

/// Finds the network header after Ethernet and up to two VLAN tags.
fn find_network(frame: &[u8]) -> Result<(usize, Network), OffloadError> {
    let mut at = ETHERNET_BYTES;
    for _ in 0..3 {
        let Some(kind) = frame.get(at - 2..at) else { return Err(OffloadError::OutOfFrame) };
        match u16::from_be_bytes([kind[0], kind[1]]) {
            0x0800 => return Ok((at, Network::Ipv4)),
            0x86dd => return Ok((at, Network::Ipv6)),
            0x8100 | 0x88a8 => at += 4,
            _ => break,
        }
    }
    Err(OffloadError::Contradiction("the segment is not IPv4 or IPv6"))
}

/// Finds the transport header after options and extension headers.
fn find_transport(
    frame: &[u8],
    network_start: usize,
    network: Network,
    transport: Transport,
) -> Result<usize, OffloadError> {
    let packet = &frame[network_start..];
    let (mut protocol, mut at) = match network {
        Network::Ipv4 if packet.len() >= 20 && packet[0] & 0xf >= 5 => (packet[9], usize::from(packet[0] & 0xf) * 4),
        Network::Ipv6 if packet.len() >= IPV6_BYTES => (packet[6], IPV6_BYTES),
        _ => return Err(OffloadError::OutOfFrame),
    };
    // Hop-by-hop, routing and destination options may precede a segment; the loop ends since each header is at least
    // 8 bytes of the frame.
    while network == Network::Ipv6 && matches!(protocol, 0 | 43 | 60) {
        let Some(extension) = packet.get(at..at + 2) else { return Err(OffloadError::OutOfFrame) };
        protocol = extension[0];
        at += 8 + usize::from(extension[1]) * 8;
    }
    let wanted = if transport == Transport::Tcp { PROTOCOL_TCP } else { PROTOCOL_UDP };
    if protocol != wanted {
        return Err(OffloadError::Contradiction("the segment is inside a tunnel"));
    }
    Ok(network_start + at)
}

/// Completes the checksum of a TCP or UDP frame whose sender left it to hardware, where the kernel does not mark such
/// frames.
///
/// Such a frame's field holds the sum of the pseudo header. A whole checksum may have the same value, once in 65,536
/// frames; but then completing it gives that value again: sum and field are each other's complement. So a correct
/// frame is never changed. A segment inside a tunnel is not recognised.
pub fn complete_unmarked(frame: &mut [u8]) {
    if let Some((transport, checksum_offset)) = unmarked_partial(frame) {
        let (start, end) = (transport.start, transport.end);
        let header = VnetHeader {
            flags: NEEDS_CHECKSUM,
            checksum_start: start as u16,
            checksum_offset,
            ..VnetHeader::default()
        };
        // The field is in the frame: it has been read.
        let _ = complete_checksum(&mut frame[..end], &header);
    }
}

/// The bytes of a TCP or UDP packet whose checksum field holds the pseudo header's sum, and the field's place in them.
fn unmarked_partial(frame: &[u8]) -> Option<(Range<usize>, u16)> {
    let (network_start, network) = find_network(frame).ok()?;
    let packet = &frame[network_start..];
    let (protocol, packet_bytes) = match network {
        Network::Ipv4 => {
            let is_fragment = packet.len() < 20 || read_u16(packet, 6) & 0x3fff != 0;
            (!is_fragment).then(|| (packet[9], usize::from(read_u16(packet, 2))))?
        }
        Network::Ipv6 if packet.len() >= IPV6_BYTES => {
            (last_protocol(packet)?, IPV6_BYTES + usize::from(read_u16(packet, 4)))
        }
        Network::Ipv6 => return None,
    };
    let (transport, checksum_offset) = match protocol {
        PROTOCOL_TCP => (Transport::Tcp, 16),
        PROTOCOL_UDP => (Transport::Udp, 6),
        _ => return None,
    };
    let start = find_transport(frame, network_start, network, transport).ok()?;
    let end = network_start + packet_bytes;
    let field = start + usize::from(checksum_offset);
    if end > frame.len() || field + 2 > end || start > usize::from(u16::MAX) {
        return None;
    }
    let addresses = match network {
        Network::Ipv4 => &packet[12..20],
        Network::Ipv6 => &packet[8..IPV6_BYTES],
    };
    let pseudo_sum = fold(sum_words(addresses) + u64::from(protocol) + (end - start) as u64);
    (read_u16(frame, field) == pseudo_sum).then_some((start..end, checksum_offset))
}

/// The protocol after the extension headers that [`find_transport`] skips.
fn last_protocol(packet: &[u8]) -> Option<u8> {
    let (mut protocol, mut at) = (packet[6], IPV6_BYTES);
    while matches!(protocol, 0 | 43 | 60) {
        let extension = packet.get(at..at + 2)?;
        protocol = extension[0];
        at += 8 + usize::from(extension[1]) * 8;
    }
    Some(protocol)
}

/// Cuts a segment into frames, built one after the other in `scratch` and lent to `deliver`; returns how many.
///
/// `scratch` must hold the longest frame; as long as the segment is always enough.
pub fn segment(
    frame: &[u8],
    header: &VnetHeader,
    scratch: &mut [u8],
    deliver: &mut dyn FnMut(&[u8]),
) -> Result<usize, OffloadError> {
    let layout = Layout::of(frame, header)?;
    let step = usize::from(header.segment_bytes);
    let payload = &frame[layout.payload_start..];
    if step == 0 || scratch.len() < layout.payload_start + step.min(payload.len()) {
        return Err(OffloadError::Contradiction("the segment's frames would have no payload or no room"));
    }
    let headers = &frame[..layout.payload_start];
    let ecn = header.segment_kind & SEGMENT_ECN != 0;
    // A segment without payload is one frame.
    let count = payload.len().div_ceil(step).max(1);
    for index in 0..count {
        let payload_offset = index * step;
        let part = &payload[payload_offset..payload.len().min(payload_offset + step)];
        let (scratch_headers, scratch_payload) = scratch.split_at_mut(headers.len());
        scratch_headers.copy_from_slice(headers);
        scratch_payload[..part.len()].copy_from_slice(part);
        let out = &mut scratch[..headers.len() + part.len()];
        layout.finish_frame(out, index as u16, payload_offset, index + 1 == count, ecn);
        deliver(out);
    }
    Ok(count)
}

#[cfg(test)]
mod tests;
