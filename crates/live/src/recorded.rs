//! A port whose packets are recorded in captures, one for each direction.

use crate::counters::PortCounters;
use crate::driver::{Deliver, Driver, DriverError};
use crate::pcap::CaptureWriter;
use std::os::fd::RawFd;
use std::path::Path;
use std::sync::Arc;

/// A driver with two captures. If writing a capture fails, the port fails.
pub struct RecordedDriver {
    /// The port, followed by its further queues: a capture has one order, so that all of them have one worker.
    queues: Vec<Box<dyn Driver>>,
    /// The queue to receive from next.
    next: usize,
    incoming: CaptureWriter,
    outgoing: CaptureWriter,
    /// Why no more packets are delivered although the port has some.
    failed: bool,
}

impl RecordedDriver {
    /// Records to `NAME_in.pcap` and `NAME_out.pcap` in the folder; existing files are replaced.
    pub fn create(mut inner: Box<dyn Driver>, folder: &Path, name: &str) -> Result<RecordedDriver, DriverError> {
        let capture = |direction| CaptureWriter::create(&folder.join(format!("{name}_{direction}.pcap")));
        let further = inner.take_queues();
        let queues = std::iter::once(inner).chain(further).collect();
        Ok(RecordedDriver { queues, next: 0, incoming: capture("in")?, outgoing: capture("out")?, failed: false })
    }

    /// The queue that sends.
    fn port(&mut self) -> &mut dyn Driver {
        &mut *self.queues[0]
    }

    /// Calls `act` on all queues and returns the first error.
    fn each(&mut self, mut act: impl FnMut(&mut dyn Driver) -> Result<(), DriverError>) -> Result<(), DriverError> {
        self.queues.iter_mut().map(|queue| act(&mut **queue)).fold(Ok(()), Result::and)
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
        let mut record = |frame: &[u8], stamp_ns| {
            if written.is_ok() {
                written = incoming.write(frame, stamp_ns);
            }
            deliver(frame, stamp_ns);
        };
        let mut count = 0;
        // Starts with another queue each time, so that none of them starves.
        for _ in 0..self.queues.len() {
            count += self.queues[self.next].receive(limit.saturating_sub(count), &mut record)?;
            self.next = (self.next + 1) % self.queues.len();
            if count >= limit {
                break;
            }
        }
        self.failed = written.is_err();
        written.map(|()| count)
    }

    fn transmit(&mut self, frame: &[u8], timestamp_ns: u64) -> Result<(), DriverError> {
        self.outgoing.write(frame, timestamp_ns)?;
        self.port().transmit(frame, timestamp_ns)
    }

    fn flush(&mut self) -> Result<(), DriverError> {
        self.port().flush()
    }

    fn wait_on(&self, descriptors: &mut Vec<RawFd>) {
        self.queues.iter().for_each(|queue| queue.wait_on(descriptors));
    }

    fn remarks(&self) -> &[String] {
        self.queues[0].remarks()
    }

    fn exhausted(&self) -> bool {
        self.failed || self.queues.iter().all(|queue| queue.exhausted())
    }

    fn frame_bytes_max(&self) -> usize {
        self.queues[0].frame_bytes_max()
    }

    fn stop_receiving(&mut self) {
        self.queues.iter_mut().for_each(|queue| queue.stop_receiving());
    }

    fn housekeeping(&mut self) -> Result<(), DriverError> {
        self.flush_captures()?;
        self.each(|queue| queue.housekeeping())
    }

    fn has_link(&self) -> bool {
        self.queues[0].has_link()
    }

    fn acknowledge_error(&mut self) -> Result<(), DriverError> {
        self.each(|queue| queue.acknowledge_error())
    }

    fn finish(&mut self) -> Result<(), DriverError> {
        self.flush_captures()?;
        self.each(|queue| queue.finish())
    }

    fn counters(&self) -> &Arc<PortCounters> {
        self.queues[0].counters()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{memory_port, memory_port_with_queues};
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

    #[test]
    fn all_queues_of_a_port_are_recorded() {
        let folder = tempfile::tempdir().unwrap();
        let (memory, peers) = memory_port_with_queues(3);
        let mut driver = RecordedDriver::create(Box::new(memory), folder.path(), "s1-eth2").unwrap();
        for (number, peer) in (0..).zip(&peers) {
            (0..4).for_each(|_| peer.send(&[number; 60], 5));
        }
        assert!(driver.take_queues().is_empty());
        let mut seen = vec![0; 3];
        while driver.receive(2, &mut |frame, _| seen[usize::from(frame[0])] += 1).unwrap() > 0 {}
        assert_eq!(seen, [4, 4, 4]);
        driver.finish().unwrap();
        assert_eq!(packets(&folder.path().join("s1-eth2_in.pcap")).len(), 12);
        assert_eq!(driver.counters().snapshot().rx_packets, 12);
    }
}
