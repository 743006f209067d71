//! A port whose packets are written to captures: what comes in to one, what goes out to another.

use crate::counters::PortCounters;
use crate::driver::{Deliver, Driver, DriverError};
use crate::pcap::CaptureWriter;
use std::os::fd::RawFd;
use std::path::Path;
use std::sync::Arc;

/// A driver with two captures beside it. A capture that cannot be written on makes the port fail.
pub struct RecordedDriver {
    inner: Box<dyn Driver>,
    incoming: CaptureWriter,
    outgoing: CaptureWriter,
    /// Why no more packets will come although the port has some.
    failed: bool,
}

impl RecordedDriver {
    /// Records to `NAME_in.pcap` and `NAME_out.pcap` in the folder; files that are there are replaced.
    pub fn create(inner: Box<dyn Driver>, folder: &Path, name: &str) -> Result<RecordedDriver, DriverError> {
        let capture = |direction| CaptureWriter::create(&folder.join(format!("{name}_{direction}.pcap")));
        Ok(RecordedDriver { inner, incoming: capture("in")?, outgoing: capture("out")?, failed: false })
    }

    fn flush_captures(&mut self) -> Result<(), DriverError> {
        self.incoming.flush()?;
        self.outgoing.flush()
    }
}

impl Driver for RecordedDriver {
    fn receive(&mut self, limit: usize, deliver: Deliver<'_>) -> Result<usize, DriverError> {
        if self.failed {
            return Ok(0);
        }
        let incoming = &mut self.incoming;
        let mut written = Ok(());
        let count = self.inner.receive(limit, &mut |frame, stamp_ns| {
            if written.is_ok() {
                written = incoming.write(frame, stamp_ns);
            }
            deliver(frame, stamp_ns);
        })?;
        self.failed = written.is_err();
        written.map(|()| count)
    }

    fn transmit(&mut self, frame: &[u8], timestamp_ns: u64) -> Result<(), DriverError> {
        self.outgoing.write(frame, timestamp_ns)?;
        self.inner.transmit(frame, timestamp_ns)
    }

    fn flush(&mut self) -> Result<(), DriverError> {
        self.inner.flush()
    }

    fn wait_on(&self, descriptors: &mut Vec<RawFd>) {
        self.inner.wait_on(descriptors);
    }

    fn remarks(&self) -> &[String] {
        self.inner.remarks()
    }

    fn exhausted(&self) -> bool {
        self.failed || self.inner.exhausted()
    }

    fn frame_bytes_max(&self) -> usize {
        self.inner.frame_bytes_max()
    }

    fn stop_receiving(&mut self) {
        self.inner.stop_receiving();
    }

    fn housekeeping(&mut self) -> Result<(), DriverError> {
        self.flush_captures()?;
        self.inner.housekeeping()
    }

    fn has_link(&self) -> bool {
        self.inner.has_link()
    }

    fn acknowledge_error(&mut self) -> Result<(), DriverError> {
        self.inner.acknowledge_error()
    }

    fn finish(&mut self) -> Result<(), DriverError> {
        self.flush_captures()?;
        self.inner.finish()
    }

    fn counters(&self) -> &Arc<PortCounters> {
        self.inner.counters()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::memory_port;
    use crate::pcap::CaptureReader;

    fn packets(path: &Path) -> Vec<Vec<u8>> {
        let mut reader = CaptureReader::<std::fs::File>::open(path).unwrap();
        let mut packets = Vec::new();
        while let Some(packet) = reader.next_packet().unwrap() {
            packets.push(packet.data.to_vec());
        }
        packets
    }

    #[test]
    fn both_directions_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let (memory, peer) = memory_port();
        let mut driver = RecordedDriver::create(Box::new(memory), folder.path(), "s1-eth2").unwrap();
        peer.send(&[1; 60], 5);
        let mut seen = 0;
        assert_eq!(driver.receive(64, &mut |frame, _| seen += frame.len()).unwrap(), 1);
        driver.transmit(&[2; 70], 6).unwrap();
        driver.transmit(&[3; 80], 7).unwrap();
        driver.finish().unwrap();
        assert_eq!(seen, 60);
        assert_eq!(packets(&folder.path().join("s1-eth2_in.pcap")), [vec![1; 60]]);
        assert_eq!(packets(&folder.path().join("s1-eth2_out.pcap")), [vec![2; 70], vec![3; 80]]);
    }
}
