//! Capture files as a port: pcap and pcapng, in and out.
//!
//! Input: both formats in both byte orders, any time resolution, several interfaces and sections; Ethernet only. Time
//! stamps are converted to nanoseconds since 1970. A capture that ends in the middle of a record, or is damaged, is
//! read up to there: every complete packet is delivered, then a [`CaptureError`] names file, record and byte offset.
//!
//! Output: the format follows the file's name (`.pcapng`, else pcap). Both carry nanoseconds, whatever the input had:
//! for pcap that is the magic number `a1b23c4d`, which every current reader knows. The file's header is on disk
//! before the first packet is, so that a reader never sees a partial header; packets are buffered and written about
//! once a second and at the end.

mod reader;
mod writer;

pub use reader::CaptureReader;
pub use writer::CaptureWriter;

use crate::counters::PortCounters;
use crate::driver::{Deliver, Driver, DriverError};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The longest packet read or written, in bytes: the largest snap length that capture tools use.
pub const PACKET_BYTES_MAX: usize = 262_144;

/// Why a capture could not be read on, and where.
#[derive(Debug)]
pub struct CaptureError {
    /// The capture.
    pub path: PathBuf,
    /// The record concerned: the number of packets before it, plus 1; 0 for the file's header.
    pub record: u64,
    /// The offset of that record (or, in pcapng, that block) in the file, in bytes.
    pub offset_bytes: u64,
    /// What is wrong.
    pub problem: CaptureProblem,
}

/// What is wrong with a capture.
#[derive(Debug)]
pub enum CaptureProblem {
    /// The first bytes match no capture format.
    NotACapture,
    /// The packet is not an Ethernet frame.
    LinkType {
        /// The link type's name in capture tools.
        name: String,
    },
    /// The file ends within the record.
    Truncated,
    /// The record claims to be longer than any packet.
    TooLong {
        /// The length that it claims.
        claimed_bytes: u64,
    },
    /// The record is inconsistent or violates the format.
    Corrupt {
        /// How, in words.
        what: &'static str,
    },
    /// The system failed to read the file.
    Read(io::Error),
}

impl CaptureError {
    /// Whether the file simply ends too early, as after an interrupted copy or a killed capture tool.
    pub fn is_truncation(&self) -> bool {
        matches!(self.problem, CaptureProblem::Truncated)
    }
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        let (record, offset) = (self.record, self.offset_bytes);
        let place = |f: &mut fmt::Formatter<'_>| match record {
            0 => write!(f, "capture `{path}`: the header at byte {offset} "),
            _ => write!(f, "capture `{path}`: record {record} at byte {offset} "),
        };
        match &self.problem {
            CaptureProblem::NotACapture => {
                write!(f, "`{path}` is neither a pcap nor a pcapng capture (its first bytes match neither format)")
            }
            CaptureProblem::LinkType { name } => {
                place(f)?;
                write!(f, "has link type {name}; only Ethernet captures can be read")
            }
            CaptureProblem::Truncated => {
                place(f)?;
                write!(f, "is cut short by the end of the file; everything before it was read")
            }
            CaptureProblem::TooLong { claimed_bytes } => {
                place(f)?;
                write!(
                    f,
                    "claims {claimed_bytes} bytes, more than any packet has ({PACKET_BYTES_MAX}); the file is damaged"
                )
            }
            CaptureProblem::Corrupt { what } => {
                place(f)?;
                write!(f, "is damaged: {what}")
            }
            CaptureProblem::Read(error) => {
                place(f)?;
                write!(f, "cannot be read: {error}")
            }
        }
    }
}

impl std::error::Error for CaptureError {}

/// A port that receives from one capture and sends to another; either may be missing: without input it receives
/// nothing, without output it drops what is sent.
#[derive(Debug)]
pub struct CaptureDriver {
    reader: Option<CaptureReader<std::fs::File>>,
    writer: Option<CaptureWriter>,
    counters: Arc<PortCounters>,
}

impl CaptureDriver {
    /// Opens the input, if any, and creates the output, if any. The output is created only after the input was
    /// recognised as a capture, so that a mistyped command does not truncate a file.
    pub fn open(input: Option<&Path>, output: Option<&Path>) -> Result<CaptureDriver, DriverError> {
        let reader = input.map(CaptureReader::open).transpose()?;
        let writer = output.map(CaptureWriter::create).transpose()?;
        Ok(CaptureDriver { reader, writer, counters: Arc::default() })
    }
}

impl Driver for CaptureDriver {
    fn receive(&mut self, limit: usize, deliver: Deliver<'_>) -> Result<usize, DriverError> {
        let Some(reader) = &mut self.reader else { return Ok(0) };
        let mut count = 0;
        while count < limit {
            match reader.next_packet() {
                Ok(Some(packet)) => {
                    self.counters.rx_packets.add(1);
                    self.counters.rx_bytes.add(packet.data.len() as u64);
                    if packet.cut_by_snap_length {
                        self.counters.rx_cut_by_snap_length.add(1);
                    }
                    deliver(packet.data, packet.timestamp_ns);
                    count += 1;
                }
                Ok(None) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(count)
    }

    fn transmit(&mut self, frame: &[u8], timestamp_ns: u64) -> Result<(), DriverError> {
        if frame.len() > PACKET_BYTES_MAX {
            self.counters.tx_dropped_too_long.add(1);
            return Ok(());
        }
        let Some(writer) = &mut self.writer else {
            self.counters.tx_dropped_no_output.add(1);
            return Ok(());
        };
        writer.write(frame, timestamp_ns)?;
        self.counters.tx_packets.add(1);
        self.counters.tx_bytes.add(frame.len() as u64);
        Ok(())
    }

    /// Nothing: packets of a burst stay in the buffer, which `housekeeping` and `finish` write.
    fn flush(&mut self) -> Result<(), DriverError> {
        Ok(())
    }

    fn exhausted(&self) -> bool {
        self.reader.as_ref().is_none_or(CaptureReader::at_end)
    }

    fn frame_bytes_max(&self) -> usize {
        PACKET_BYTES_MAX
    }

    /// A capture's packets count as received only once delivered: the rest of the file is ignored.
    fn stop_receiving(&mut self) {
        self.reader = None;
    }

    fn housekeeping(&mut self) -> Result<(), DriverError> {
        self.writer.as_mut().map_or(Ok(()), CaptureWriter::flush)
    }

    fn finish(&mut self) -> Result<(), DriverError> {
        self.writer.as_mut().map_or(Ok(()), CaptureWriter::flush)
    }

    fn counters(&self) -> &Arc<PortCounters> {
        &self.counters
    }
}

#[cfg(test)]
mod tests;
