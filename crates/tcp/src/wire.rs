//! Segments as bytes.
//!
//! What enters: bytes behind an IP header, or a [`Segment`]. What leaves: the other of the two. No bytes cause a panic;
//! options that are damaged or have a wrong length end or are skipped as RFC 9293, section 3.1 demands.

use crate::payload;
use crate::segment::{Ecn, Flags, Options, SACK_BLOCKS_MAX, Segment, Timestamps};
use core::net::{Ipv4Addr, Ipv6Addr};

/// The bytes of a header without options.
pub const HEADER_BYTES: usize = 20;
/// The bytes of the longest header.
pub const HEADER_BYTES_MAX: usize = 60;
/// The number of TCP in an IP header.
pub const PROTOCOL: u8 = 6;

const KIND_END: u8 = 0;
const KIND_NONE: u8 = 1;
const KIND_MSS: u8 = 2;
const KIND_WINDOW_SCALE: u8 = 3;
const KIND_SACK_PERMITTED: u8 = 4;
const KIND_SACK: u8 = 5;
const KIND_TIMESTAMPS: u8 = 8;

/// What the checksum covers of the IP header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Addresses {
    /// IPv4 (RFC 9293, section 3.1).
    V4 {
        /// The sender.
        source: Ipv4Addr,
        /// The receiver.
        destination: Ipv4Addr,
    },
    /// IPv6 (RFC 8200, section 8.1).
    V6 {
        /// The sender.
        source: Ipv6Addr,
        /// The receiver.
        destination: Ipv6Addr,
    },
}

/// The ports of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ports {
    /// The sender's.
    pub source: u16,
    /// The receiver's.
    pub destination: u16,
}

/// Why bytes are not a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Malformed {
    /// They are fewer than the header states.
    Short,
    /// The data offset is less than the length of a header.
    DataOffset,
    /// The checksum is wrong.
    Checksum,
}

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Malformed::Short => "the segment is shorter than its header states",
            Malformed::DataOffset => "the data offset points into the header",
            Malformed::Checksum => "the checksum is wrong",
        })
    }
}

impl std::error::Error for Malformed {}

/// Reads a segment and verifies its checksum. `ecn` is the codepoint of the IP header. The last part of the result is
/// the payload.
pub fn parse<'a>(bytes: &'a [u8], addresses: &Addresses, ecn: Ecn) -> Result<(Ports, Segment, &'a [u8]), Malformed> {
    let parsed = parse_unverified(bytes, ecn)?;
    if checksum(addresses, bytes) != 0 {
        return Err(Malformed::Checksum);
    }
    Ok(parsed)
}

/// The same for who verifies the checksum later: with [`checksum_of`], if the payload is known already.
pub fn parse_unverified(bytes: &[u8], ecn: Ecn) -> Result<(Ports, Segment, &[u8]), Malformed> {
    let (header, payload) = split(bytes)?;
    let (ports, mut segment) = header_fields(header);
    segment.payload_bytes = u32::try_from(payload.len()).map_err(|_| Malformed::Short)?;
    segment.ecn = ecn;
    Ok((ports, segment, payload))
}

/// The bytes that [`emit`] writes for a segment.
pub fn length(segment: &Segment) -> usize {
    header_length(segment) + segment.payload_bytes as usize
}

/// Writes a segment with the payload of stream `key` into `out`, which has [`length`] bytes.
///
/// # Panics
///
/// If `out` has another length.
pub fn emit(segment: &Segment, ports: Ports, addresses: &Addresses, key: u64, out: &mut [u8]) {
    assert_eq!(out.len(), length(segment), "the buffer has the length of the segment");
    let (header, payload) = out.split_at_mut(header_length(segment));
    emit_header(segment, ports, addresses, key, header);
    payload::fill(key, segment.stream_position, payload);
}

/// The bytes of a segment's header.
pub fn header_length(segment: &Segment) -> usize {
    HEADER_BYTES + options_length(&segment.options)
}

/// The same without writing the payload: `out` has [`header_length`] bytes.
///
/// # Panics
///
/// If `out` is shorter.
pub fn emit_header(segment: &Segment, ports: Ports, addresses: &Addresses, key: u64, out: &mut [u8]) {
    let header_length = header_length(segment);
    out[0..2].copy_from_slice(&ports.source.to_be_bytes());
    out[2..4].copy_from_slice(&ports.destination.to_be_bytes());
    out[4..8].copy_from_slice(&segment.sequence.to_be_bytes());
    out[8..12].copy_from_slice(&segment.acknowledgment.to_be_bytes());
    out[12] = ((header_length / 4) << 4) as u8;
    out[13] = segment.flags.bits();
    out[14..16].copy_from_slice(&segment.window.to_be_bytes());
    // Checksum and urgent pointer.
    out[16..20].fill(0);
    emit_options(&segment.options, &mut out[HEADER_BYTES..header_length]);
    let payload_bytes = segment.payload_bytes as usize;
    let payload_sum = payload::sum(key, segment.stream_position, payload_bytes);
    let sum = checksum_of(addresses, &out[..header_length], (payload_bytes, payload_sum));
    out[16..18].copy_from_slice(&sum.to_be_bytes());
}

/// The checksum over a segment: what belongs into its field if that is zero, and zero if the field is right.
pub fn checksum(addresses: &Addresses, bytes: &[u8]) -> u16 {
    checksum_of(addresses, bytes, (0, 0))
}

/// The same for a header with a payload of this length whose words have this sum ([`sum_of`]).
pub fn checksum_of(addresses: &Addresses, header: &[u8], (payload_bytes, payload_sum): (usize, u64)) -> u16 {
    let sum = match addresses {
        Addresses::V4 { source, destination } => sum_of(&source.octets()) + sum_of(&destination.octets()),
        Addresses::V6 { source, destination } => sum_of(&source.octets()) + sum_of(&destination.octets()),
    };
    let length = (header.len() + payload_bytes) as u64;
    !folded(sum + u64::from(PROTOCOL) + (length & 0xffff) + (length >> 16) + sum_of(header) + payload_sum)
}

/// The sum of the 16-bit words of `bytes`, as an Internet checksum has it (RFC 1071): below 2^16.
pub fn sum_of(bytes: &[u8]) -> u64 {
    // The sum does not depend on the order of bytes in words, apart from that of its own, nor on how long they are.
    let halves = |chunk: [u8; 8]| {
        let word = u64::from_ne_bytes(chunk);
        (word & 0xffff_ffff) + (word >> 32)
    };
    let (chunks, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let sum = chunks.iter().map(|chunk| halves(*chunk)).sum::<u64>() + halves(last);
    u64::from(u16::from_be(folded(sum)))
}

/// A sum of words with its carries added to it.
#[inline]
fn folded(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// The header with its options, and the payload.
fn split(bytes: &[u8]) -> Result<(&[u8], &[u8]), Malformed> {
    let offset = bytes.get(12).ok_or(Malformed::Short)?;
    let header_length = usize::from(offset >> 4) * 4;
    if header_length < HEADER_BYTES {
        return Err(Malformed::DataOffset);
    }
    bytes.split_at_checked(header_length).ok_or(Malformed::Short)
}

/// The fields of a header of at least [`HEADER_BYTES`].
fn header_fields(header: &[u8]) -> (Ports, Segment) {
    let word = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let half = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let segment = Segment {
        sequence: word(4),
        acknowledgment: word(8),
        flags: Flags::from_bits(header[13]),
        window: half(14),
        options: parse_options(&header[HEADER_BYTES..]),
        ..Segment::default()
    };
    (Ports { source: half(0), destination: half(2) }, segment)
}

fn parse_options(mut rest: &[u8]) -> Options {
    let mut options = Options::default();
    while let [kind, after @ ..] = rest {
        match *kind {
            KIND_END => break,
            KIND_NONE => rest = after,
            kind => {
                let Some(&length) = after.first() else { break };
                // With a length that does not fit, the start of the next option is unknown.
                let Some((option, next)) = rest.split_at_checked(usize::from(length)) else { break };
                let Some(value) = option.get(2..) else { break };
                parse_option(&mut options, kind, value);
                rest = next;
            }
        }
    }
    options
}

fn parse_option(options: &mut Options, kind: u8, value: &[u8]) {
    let word = |at: usize| u32::from_be_bytes([value[at], value[at + 1], value[at + 2], value[at + 3]]);
    match (kind, value.len()) {
        (KIND_MSS, 2) => options.mss = Some(u16::from_be_bytes([value[0], value[1]])),
        (KIND_WINDOW_SCALE, 1) => options.window_scale = Some(value[0]),
        (KIND_SACK_PERMITTED, 0) => options.sack_permitted = true,
        (KIND_TIMESTAMPS, 8) => options.timestamps = Some(Timestamps { value: word(0), echo: word(4) }),
        (KIND_SACK, length) if length % 8 == 0 => {
            for block in 0..length / 8 {
                options.sack.push(word(8 * block), word(8 * block + 4));
            }
        }
        _ => {}
    }
}

/// The bytes of the options in a header: a multiple of four.
pub(crate) fn options_length(options: &Options) -> usize {
    let sack = match options.sack.as_slice().len().min(SACK_BLOCKS_MAX) {
        0 => 0,
        blocks => 4 + 8 * blocks,
    };
    let of_syn = 4
        * (usize::from(options.mss.is_some())
            + usize::from(options.sack_permitted)
            + usize::from(options.window_scale.is_some()));
    of_syn + if options.timestamps.is_some() { 12 } else { 0 } + sack
}

/// Writes options, each aligned by NOPs in front of it, as most systems do.
fn emit_options(options: &Options, out: &mut [u8]) {
    let mut at = 0;
    let mut put = |bytes: &[u8]| {
        out[at..at + bytes.len()].copy_from_slice(bytes);
        at += bytes.len();
    };
    if let Some(mss) = options.mss {
        let [high, low] = mss.to_be_bytes();
        put(&[KIND_MSS, 4, high, low]);
    }
    if options.sack_permitted {
        put(&[KIND_NONE, KIND_NONE, KIND_SACK_PERMITTED, 2]);
    }
    if let Some(timestamps) = options.timestamps {
        put(&[KIND_NONE, KIND_NONE, KIND_TIMESTAMPS, 10]);
        put(&timestamps.value.to_be_bytes());
        put(&timestamps.echo.to_be_bytes());
    }
    if let Some(shift) = options.window_scale {
        put(&[KIND_NONE, KIND_WINDOW_SCALE, 3, shift]);
    }
    let blocks = options.sack.as_slice();
    if !blocks.is_empty() {
        put(&[KIND_NONE, KIND_NONE, KIND_SACK, (2 + 8 * blocks.len()) as u8]);
        for (start, end) in blocks {
            put(&start.to_be_bytes());
            put(&end.to_be_bytes());
        }
    }
}
