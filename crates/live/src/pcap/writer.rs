//! Writes captures, always with nanoseconds.

use super::PACKET_BYTES_MAX;
use crate::driver::DriverError;
use pcap_file::pcap::PcapHeader;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};
use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes buffered before they are written.
const BUFFER_BYTES: usize = 1 << 18;

const NS_PER_S: u64 = 1_000_000_000;

/// The pcapng resolution byte of nanoseconds: 10 to the power of -9.
const NANOSECONDS: u8 = 9;

enum Sink {
    Pcap(BufWriter<File>),
    PcapNg(PcapNgWriter<BufWriter<File>>),
}

/// Writes one capture.
pub struct CaptureWriter {
    sink: Sink,
    path: PathBuf,
}

impl fmt::Debug for CaptureWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CaptureWriter").field("path", &self.path).finish_non_exhaustive()
    }
}

impl CaptureWriter {
    /// Creates the file, or empties it, and writes the header: pcapng if the name ends in `.pcapng`, else pcap.
    pub fn create(path: &Path) -> Result<CaptureWriter, DriverError> {
        let refused = |error| DriverError::system(format!("create capture `{}`", path.display()), error);
        let file = BufWriter::with_capacity(BUFFER_BYTES, File::create(path).map_err(refused)?);
        let is_pcapng = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pcapng"));
        let sink = if is_pcapng { start_pcapng(file) } else { start_pcap(file) };
        let mut writer = CaptureWriter { sink: sink.map_err(|error| refused(to_io(error)))?, path: path.to_owned() };
        writer.flush()?;
        Ok(writer)
    }

    /// Writes a packet of at most [`PACKET_BYTES_MAX`] bytes. A time that the format cannot represent becomes the
    /// latest that it can.
    pub fn write(&mut self, frame: &[u8], timestamp_ns: u64) -> Result<(), DriverError> {
        let written = match &mut self.sink {
            Sink::Pcap(file) => write_pcap_record(file, frame, timestamp_ns),
            Sink::PcapNg(writer) => {
                let block = EnhancedPacketBlock {
                    interface_id: 0,
                    timestamp: Duration::from_nanos(timestamp_ns),
                    original_len: frame.len() as u32,
                    data: Cow::Borrowed(frame),
                    options: Vec::new(),
                };
                writer.write_pcapng_block(block).map(|_| ()).map_err(to_io)
            }
        };
        written.map_err(|error| self.refused(error))
    }

    /// Writes the buffer.
    pub fn flush(&mut self) -> Result<(), DriverError> {
        let file = match &mut self.sink {
            Sink::Pcap(file) => file,
            Sink::PcapNg(writer) => writer.get_mut(),
        };
        file.flush().map_err(|error| self.refused(error))
    }

    fn refused(&self, error: io::Error) -> DriverError {
        DriverError::system(format!("write capture `{}`", self.path.display()), error)
    }
}

fn start_pcap(mut file: BufWriter<File>) -> Result<Sink, PcapError> {
    let header = PcapHeader {
        snaplen: PACKET_BYTES_MAX as u32,
        datalink: DataLink::ETHERNET,
        ts_resolution: TsResolution::NanoSecond,
        endianness: Endianness::Little,
        ..PcapHeader::default()
    };
    header.write_to(&mut file)?;
    Ok(Sink::Pcap(file))
}

fn start_pcapng(file: BufWriter<File>) -> Result<Sink, PcapError> {
    let mut writer = PcapNgWriter::with_endianness(file, Endianness::Little)?;
    let mut interface = InterfaceDescriptionBlock::new(DataLink::ETHERNET, PACKET_BYTES_MAX as u32);
    interface.options.push(InterfaceDescriptionOption::IfTsResol(NANOSECONDS));
    writer.write_pcapng_block(interface)?;
    Ok(Sink::PcapNg(writer))
}

/// Writes the four words of a record's header, then the packet. `pcap-file`'s own writer does not give access to its
/// sink, so that it could not be flushed during the run.
fn write_pcap_record(file: &mut BufWriter<File>, frame: &[u8], timestamp_ns: u64) -> io::Result<()> {
    let (seconds, nanoseconds) = match u32::try_from(timestamp_ns / NS_PER_S) {
        Ok(seconds) => (seconds, (timestamp_ns % NS_PER_S) as u32),
        Err(_) => (u32::MAX, (NS_PER_S - 1) as u32),
    };
    let length = frame.len() as u32;
    for word in [seconds, nanoseconds, length, length] {
        file.write_all(&word.to_le_bytes())?;
    }
    file.write_all(frame)
}

fn to_io(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}
