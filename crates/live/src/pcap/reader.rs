//! Reads captures record by record from a fixed buffer.
//!
//! The crate `pcap-file` finds the records; the contents of pcapng blocks are decoded here, because time stamps must
//! use each interface's resolution and an unknown option must not make its packet unreadable. The buffer never grows:
//! a record that claims more than [`PACKET_BYTES_MAX`] is refused, and blocks without packets are skipped without
//! being buffered.

use super::{CaptureError, CaptureProblem, PACKET_BYTES_MAX};
use crate::driver::DriverError;
use pcap_file::pcap::PcapHeader;
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The size of the buffer. A record of the greatest length fits with its header and a few options.
const BUFFER_BYTES: usize = 2 * PACKET_BYTES_MAX;

const PCAP_RECORD_HEADER_BYTES: usize = 16;
const PCAP_FILE_HEADER_BYTES: usize = 24;
const BLOCK_HEADER_BYTES: usize = 8;
/// Type, length, and the length again at the end.
const BLOCK_BYTES_MIN: usize = 12;
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
const NS_PER_S: u64 = 1_000_000_000;

/// A packet of a capture, lent from the reader's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapturedPacket<'a> {
    /// The bytes captured, from the Ethernet header on.
    pub data: &'a [u8],
    /// Nanoseconds since 1970; 0 if the capture has none.
    pub timestamp_ns: u64,
    /// Whether the packet was longer on the wire.
    pub cut_by_snap_length: bool,
}

/// One interface of a pcapng section.
#[derive(Clone, Copy, Debug)]
struct Interface {
    link_type: u32,
    snap_length: u32,
    units_per_second: u64,
    offset_s: i64,
}

#[derive(Debug)]
enum Format {
    Pcap { endianness: Endianness, nanoseconds: bool },
    PcapNg { endianness: Endianness, interfaces: Vec<Interface> },
}

/// Where a packet is in the buffer.
struct Located {
    start: usize,
    end: usize,
    timestamp_ns: u64,
    original_bytes: u32,
}

/// Reads one capture.
#[derive(Debug)]
pub struct CaptureReader<R> {
    source: R,
    path: PathBuf,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    /// The offset in the file of `buffer[start]`.
    offset_bytes: u64,
    packets: u64,
    format: Format,
    at_end: bool,
}

impl CaptureReader<File> {
    /// Opens a capture and reads its header.
    pub fn open(path: &Path) -> Result<CaptureReader<File>, DriverError> {
        let file = base::files::open(path)
            .map_err(|error| DriverError::system(format!("open capture `{}`", path.display()), error))?;
        Ok(CaptureReader::new(file, path)?)
    }
}

impl<R: Read> CaptureReader<R> {
    /// Reads a capture's header; `path` is what errors name.
    pub fn new(source: R, path: &Path) -> Result<CaptureReader<R>, CaptureError> {
        let format = Format::Pcap { endianness: Endianness::Little, nanoseconds: false };
        let mut reader = CaptureReader {
            source,
            path: path.to_owned(),
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            start: 0,
            end: 0,
            offset_bytes: 0,
            packets: 0,
            format,
            at_end: false,
        };
        match reader.read_file_header() {
            Ok(()) => Ok(reader),
            Err(problem) => {
                Err(CaptureError { path: path.to_owned(), record: 0, offset_bytes: reader.offset_bytes, problem })
            }
        }
    }

    /// Whether the last packet, or an error, was returned.
    pub fn at_end(&self) -> bool {
        self.at_end
    }

    /// The next packet; `None` at the end. After an error the reader is at its end.
    pub fn next_packet(&mut self) -> Result<Option<CapturedPacket<'_>>, CaptureError> {
        if self.at_end {
            return Ok(None);
        }
        let located = match self.format {
            Format::Pcap { .. } => self.locate_pcap(),
            Format::PcapNg { .. } => self.locate_pcapng(),
        };
        match located {
            Ok(Some(Located { start, end, timestamp_ns, original_bytes })) => {
                self.packets += 1;
                let data = &self.buffer[start..end];
                let cut_by_snap_length = data.len() < original_bytes as usize;
                Ok(Some(CapturedPacket { data, timestamp_ns, cut_by_snap_length }))
            }
            Ok(None) => {
                self.at_end = true;
                Ok(None)
            }
            Err(problem) => {
                self.at_end = true;
                let (record, offset_bytes) = (self.packets + 1, self.offset_bytes);
                Err(CaptureError { path: self.path.clone(), record, offset_bytes, problem })
            }
        }
    }

    fn read_file_header(&mut self) -> Result<(), CaptureProblem> {
        if self.fill(4)? < 4 {
            return Err(CaptureProblem::NotACapture);
        }
        let magic = self.u32_at(0, Endianness::Big);
        if magic == SECTION_HEADER {
            self.format = Format::PcapNg { endianness: Endianness::Little, interfaces: Vec::new() };
            // The block itself is read with the first packet; here only its start is checked, so that another kind of
            // file with the same start is refused at once.
            return self.section_endianness().map(|_| ());
        }
        if !matches!(magic, 0xa1b2_c3d4 | 0xd4c3_b2a1 | 0xa1b2_3c4d | 0x4d3c_b2a1) {
            return Err(CaptureProblem::NotACapture);
        }
        if self.fill(PCAP_FILE_HEADER_BYTES)? < PCAP_FILE_HEADER_BYTES {
            return Err(CaptureProblem::Truncated);
        }
        let (_, header) = PcapHeader::from_slice(self.held()).map_err(framing_problem)?;
        // The upper bits describe a frame check sequence; they are not part of the link type.
        check_link_type(u32::from(header.datalink) & 0xffff)?;
        let nanoseconds = header.ts_resolution == TsResolution::NanoSecond;
        self.format = Format::Pcap { endianness: header.endianness, nanoseconds };
        self.consume(PCAP_FILE_HEADER_BYTES);
        Ok(())
    }

    fn locate_pcap(&mut self) -> Result<Option<Located>, CaptureProblem> {
        let Format::Pcap { endianness, nanoseconds } = self.format else { return Ok(None) };
        match self.fill(PCAP_RECORD_HEADER_BYTES)? {
            0 => return Ok(None),
            held if held < PCAP_RECORD_HEADER_BYTES => return Err(CaptureProblem::Truncated),
            _ => {}
        }
        let [seconds, fraction, captured, original_bytes] = [0, 4, 8, 12].map(|at| self.u32_at(at, endianness));
        let record_bytes = PCAP_RECORD_HEADER_BYTES + packet_length(captured)?;
        if self.fill(record_bytes)? < record_bytes {
            return Err(CaptureProblem::Truncated);
        }
        let fraction_ns = if nanoseconds { u64::from(fraction) } else { u64::from(fraction) * 1000 };
        let start = self.start + PCAP_RECORD_HEADER_BYTES;
        let end = self.start + record_bytes;
        self.consume(record_bytes);
        Ok(Some(Located { start, end, timestamp_ns: u64::from(seconds) * NS_PER_S + fraction_ns, original_bytes }))
    }

    fn locate_pcapng(&mut self) -> Result<Option<Located>, CaptureProblem> {
        loop {
            match self.fill(BLOCK_HEADER_BYTES)? {
                0 => return Ok(None),
                held if held < BLOCK_HEADER_BYTES => return Err(CaptureProblem::Truncated),
                _ => {}
            }
            // The type of a section header reads the same in both byte orders.
            if self.u32_at(0, Endianness::Big) == SECTION_HEADER {
                let section_endianness = self.section_endianness()?;
                self.format = Format::PcapNg { endianness: section_endianness, interfaces: Vec::new() };
            }
            let Format::PcapNg { endianness, .. } = self.format else { return Ok(None) };
            let kind = self.u32_at(0, endianness);
            let block_bytes = self.u32_at(4, endianness);
            if !block_bytes.is_multiple_of(4) || (block_bytes as usize) < BLOCK_BYTES_MIN {
                return Err(CaptureProblem::Corrupt { what: "its block length is not a multiple of 4 of at least 12" });
            }
            match kind {
                INTERFACE_DESCRIPTION | OBSOLETE_PACKET | SIMPLE_PACKET | ENHANCED_PACKET => {
                    if let Some(located) = self.read_block(kind, block_bytes, endianness)? {
                        return Ok(Some(located));
                    }
                }
                _ => self.skip(block_bytes)?,
            }
        }
    }

    /// Reads a whole block of a relevant kind; returns the packet if it contains one.
    fn read_block(
        &mut self,
        kind: u32,
        block_bytes: u32,
        endianness: Endianness,
    ) -> Result<Option<Located>, CaptureProblem> {
        let length = block_bytes as usize;
        if length > BUFFER_BYTES {
            return Err(CaptureProblem::TooLong { claimed_bytes: u64::from(block_bytes) });
        }
        if self.fill(length)? < length {
            return Err(CaptureProblem::Truncated);
        }
        if self.u32_at(length - 4, endianness) != block_bytes {
            return Err(CaptureProblem::Corrupt { what: "its block's first and last length differ" });
        }
        let body_start = self.start + BLOCK_HEADER_BYTES;
        let body = &self.buffer[body_start..self.start + length - 4];
        let Format::PcapNg { interfaces, .. } = &mut self.format else { return Ok(None) };
        let located = if kind == INTERFACE_DESCRIPTION {
            interfaces.push(interface_description(body, endianness)?);
            None
        } else {
            let mut located = packet_block(kind, body, endianness, interfaces)?;
            located.start += body_start;
            located.end += body_start;
            Some(located)
        };
        self.consume(length);
        Ok(located)
    }

    /// The byte order of the section header block that starts here.
    fn section_endianness(&mut self) -> Result<Endianness, CaptureProblem> {
        if self.fill(BLOCK_BYTES_MIN)? < BLOCK_BYTES_MIN {
            return Err(CaptureProblem::Truncated);
        }
        match self.u32_at(8, Endianness::Big) {
            0x1a2b_3c4d => Ok(Endianness::Big),
            0x4d3c_2b1a => Ok(Endianness::Little),
            _ => Err(CaptureProblem::Corrupt { what: "its section header has no byte-order mark" }),
        }
    }

    fn held(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    fn u32_at(&self, at: usize, endianness: Endianness) -> u32 {
        read_u32(self.held(), at, endianness)
    }

    fn consume(&mut self, count: usize) {
        self.start += count;
        self.offset_bytes += count as u64;
    }

    /// Brings at least `wanted` bytes into the buffer, if the file has them; returns how many there are. `wanted` is
    /// at most the buffer's size.
    fn fill(&mut self, wanted: usize) -> Result<usize, CaptureProblem> {
        if self.end - self.start < wanted && self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        while self.end - self.start < wanted {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => break,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(CaptureProblem::Read(error)),
            }
        }
        Ok(self.end - self.start)
    }

    /// Skips a block without buffering it.
    fn skip(&mut self, block_bytes: u32) -> Result<(), CaptureProblem> {
        let mut left = block_bytes as usize;
        let block_offset_bytes = self.offset_bytes;
        while left > 0 {
            let held = self.fill(1)?;
            if held == 0 {
                self.offset_bytes = block_offset_bytes;
                return Err(CaptureProblem::Truncated);
            }
            let count = held.min(left);
            self.consume(count);
            left -= count;
        }
        Ok(())
    }
}

fn framing_problem(error: PcapError) -> CaptureProblem {
    match error {
        PcapError::IncompleteBuffer => CaptureProblem::Truncated,
        PcapError::IoError(error) => CaptureProblem::Read(error),
        _ => CaptureProblem::NotACapture,
    }
}

fn packet_length(claimed: u32) -> Result<usize, CaptureProblem> {
    match claimed as usize {
        length if length <= PACKET_BYTES_MAX => Ok(length),
        _ => Err(CaptureProblem::TooLong { claimed_bytes: u64::from(claimed) }),
    }
}

fn check_link_type(link_type: u32) -> Result<(), CaptureProblem> {
    match DataLink::from(link_type) {
        DataLink::ETHERNET => Ok(()),
        DataLink::Unknown(number) => Err(CaptureProblem::LinkType { name: format!("number {number}") }),
        known => Err(CaptureProblem::LinkType { name: format!("{known:?}") }),
    }
}

fn read_u16(bytes: &[u8], at: usize, endianness: Endianness) -> u16 {
    let raw = [bytes[at], bytes[at + 1]];
    if endianness == Endianness::Big { u16::from_be_bytes(raw) } else { u16::from_le_bytes(raw) }
}

fn read_u32(bytes: &[u8], at: usize, endianness: Endianness) -> u32 {
    let raw = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
    if endianness == Endianness::Big { u32::from_be_bytes(raw) } else { u32::from_le_bytes(raw) }
}

/// Reads an interface description's body: link type, snap length, and the options that change the meaning of time.
fn interface_description(body: &[u8], endianness: Endianness) -> Result<Interface, CaptureProblem> {
    if body.len() < 8 {
        return Err(CaptureProblem::Corrupt { what: "its interface description is shorter than 8 bytes" });
    }
    let mut interface = Interface {
        link_type: u32::from(read_u16(body, 0, endianness)),
        snap_length: read_u32(body, 4, endianness),
        units_per_second: 1_000_000,
        offset_s: 0,
    };
    let mut options = &body[8..];
    while options.len() >= 4 {
        let (code, length) = (read_u16(options, 0, endianness), usize::from(read_u16(options, 2, endianness)));
        let Some(value) = options.get(4..4 + length) else { break };
        match (code, length) {
            (0, _) => break,
            (9, 1) => interface.units_per_second = units_per_second(value[0])?,
            (14, 8) => {
                let (first, second) = (read_u32(value, 0, endianness), read_u32(value, 4, endianness));
                let (high, low) = if endianness == Endianness::Big { (first, second) } else { (second, first) };
                interface.offset_s = (u64::from(high) << 32 | u64::from(low)).cast_signed();
            }
            _ => {}
        }
        options = options.get(4 + length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(interface)
}

/// The meaning of an interface's resolution byte: a negative power of 10, or of 2 if the top bit is set.
fn units_per_second(resolution: u8) -> Result<u64, CaptureProblem> {
    let (base, exponent) = (if resolution & 0x80 == 0 { 10u64 } else { 2 }, u32::from(resolution & 0x7f));
    base.checked_pow(exponent)
        .ok_or(CaptureProblem::Corrupt { what: "its interface's time resolution is absurdly fine" })
}

fn to_ns(units: u64, interface: &Interface) -> u64 {
    let ns = u128::from(units) * u128::from(NS_PER_S) / u128::from(interface.units_per_second);
    let ns = i128::try_from(ns).unwrap_or(i128::MAX);
    let offset_ns = i128::from(interface.offset_s) * i128::from(NS_PER_S);
    u64::try_from(ns.saturating_add(offset_ns).max(0)).unwrap_or(u64::MAX)
}

/// Finds the packet in a block's body; the offsets are relative to the body.
fn packet_block(
    kind: u32,
    body: &[u8],
    endianness: Endianness,
    interfaces: &[Interface],
) -> Result<Located, CaptureProblem> {
    let header_bytes = if kind == SIMPLE_PACKET { 4 } else { 20 };
    if body.len() < header_bytes {
        return Err(CaptureProblem::Corrupt { what: "its packet block is shorter than its own header" });
    }
    let word = |at| read_u32(body, at, endianness);
    let number = match kind {
        SIMPLE_PACKET => 0,
        OBSOLETE_PACKET => usize::from(read_u16(body, 0, endianness)),
        _ => word(0) as usize,
    };
    let Some(interface) = interfaces.get(number) else {
        return Err(CaptureProblem::Corrupt { what: "it names an interface that the capture does not describe" });
    };
    check_link_type(interface.link_type)?;
    if kind == SIMPLE_PACKET {
        let original_bytes = word(0);
        let snap_length = if interface.snap_length == 0 { u32::MAX } else { interface.snap_length };
        let captured = packet_length(original_bytes.min(snap_length))?;
        return located(body, header_bytes, captured, 0, original_bytes);
    }
    let timestamp_ns = to_ns(u64::from(word(4)) << 32 | u64::from(word(8)), interface);
    located(body, header_bytes, packet_length(word(12))?, timestamp_ns, word(16))
}

fn located(
    body: &[u8],
    start: usize,
    length: usize,
    timestamp_ns: u64,
    original_bytes: u32,
) -> Result<Located, CaptureProblem> {
    if body.len() < start + length {
        return Err(CaptureProblem::Corrupt { what: "its packet is longer than its block" });
    }
    Ok(Located { start, end: start + length, timestamp_ns, original_bytes })
}
