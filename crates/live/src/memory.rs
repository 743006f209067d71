//! Ports in memory: queues for tests, a generator for benchmarks.

use crate::counters::PortCounters;
use crate::driver::{Arrival, Deliver, Driver, DriverError, Work};
use crate::store::Store;
use base::limits::BURST_PACKETS_MAX;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use switch::Burst;

/// The longest frame of a port in memory, in bytes.
const FRAME_BYTES_MAX: usize = 65_535;

/// A frame and its time stamp in nanoseconds.
pub type TimedFrame = (Vec<u8>, u64);

#[derive(Debug, Default)]
struct Queues {
    to_driver: VecDeque<TimedFrame>,
    from_driver: Vec<TimedFrame>,
    closed: bool,
}

/// A port whose frames come from and go to a [`MemoryPeer`].
pub struct MemoryDriver {
    queues: Arc<Mutex<Queues>>,
    staged: Vec<TimedFrame>,
    counters: Arc<PortCounters>,
    /// Further queues of the port.
    further: Vec<Box<dyn Driver>>,
}

/// The other end of a [`MemoryDriver`].
#[derive(Clone, Debug)]
pub struct MemoryPeer {
    queues: Arc<Mutex<Queues>>,
}

/// A port in memory and its other end.
pub fn memory_port() -> (MemoryDriver, MemoryPeer) {
    let queues = Arc::new(Mutex::new(Queues::default()));
    let counters = Arc::default();
    let driver = MemoryDriver { queues: Arc::clone(&queues), staged: Vec::new(), counters, further: Vec::new() };
    (driver, MemoryPeer { queues })
}

/// A port in memory with this many queues, at least one, and the other end of each. The sender must put all frames of
/// a flow into the same queue.
pub fn memory_port_with_queues(count: usize) -> (MemoryDriver, Vec<MemoryPeer>) {
    let (mut driver, peer) = memory_port();
    let mut peers = vec![peer];
    for _ in 1..count {
        let (queue, peer) = memory_port();
        driver.counters.add_queue(Arc::clone(queue.counters()));
        driver.further.push(Box::new(queue));
        peers.push(peer);
    }
    (driver, peers)
}

fn lock(queues: &Mutex<Queues>) -> MutexGuard<'_, Queues> {
    // A panic elsewhere leaves the queues consistent: each operation on them is one push or one pop.
    queues.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MemoryPeer {
    /// Puts a frame into the driver's receive queue, unless that is closed.
    pub fn send(&self, frame: &[u8], timestamp_ns: u64) {
        let mut queues = lock(&self.queues);
        if !queues.closed {
            queues.to_driver.push_back((frame.to_vec(), timestamp_ns));
        }
    }

    /// Declares that no more frames will be sent.
    pub fn close(&self) {
        lock(&self.queues).closed = true;
    }

    /// Takes the frames that the driver has flushed so far.
    pub fn take(&self) -> Vec<TimedFrame> {
        std::mem::take(&mut lock(&self.queues).from_driver)
    }
}

impl MemoryDriver {
    /// Takes up to this many frames out of the queue and counts them.
    fn take(&mut self, limit: usize) -> Vec<TimedFrame> {
        let taken: Vec<TimedFrame> = {
            let mut queues = lock(&self.queues);
            let count = limit.min(queues.to_driver.len());
            queues.to_driver.drain(..count).collect()
        };
        self.counters.rx_packets.add(taken.len() as u64);
        self.counters.rx_bytes.add(taken.iter().map(|(frame, _)| frame.len() as u64).sum());
        taken
    }
}

impl Driver for MemoryDriver {
    fn receive(&mut self, limit: usize, deliver: Deliver<'_>) -> Result<usize, DriverError> {
        let taken = self.take(limit);
        taken.iter().for_each(|(frame, timestamp_ns)| deliver(frame, *timestamp_ns));
        Ok(taken.len())
    }

    fn lend(&mut self, arrival: Arrival, _store: &mut Store, work: Work<'_>) -> Result<usize, DriverError> {
        let mut taken = self.take(BURST_PACKETS_MAX);
        let count = taken.len();
        let mut burst = Burst::new(arrival.port, arrival.time_ns);
        taken.iter_mut().for_each(|(frame, _)| burst.push(frame));
        if count > 0 {
            work(&mut burst);
        }
        Ok(count)
    }

    fn transmit(&mut self, frame: &[u8], timestamp_ns: u64) -> Result<(), DriverError> {
        if frame.len() > FRAME_BYTES_MAX {
            self.counters.tx_dropped_too_long.add(1);
            return Ok(());
        }
        self.counters.tx_packets.add(1);
        self.counters.tx_bytes.add(frame.len() as u64);
        self.staged.push((frame.to_vec(), timestamp_ns));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), DriverError> {
        if !self.staged.is_empty() {
            lock(&self.queues).from_driver.append(&mut self.staged);
        }
        Ok(())
    }

    fn exhausted(&self) -> bool {
        let queues = lock(&self.queues);
        queues.closed && queues.to_driver.is_empty()
    }

    fn frame_bytes_max(&self) -> usize {
        FRAME_BYTES_MAX
    }

    fn stop_receiving(&mut self) {
        lock(&self.queues).closed = true;
    }

    fn take_queues(&mut self) -> Vec<Box<dyn Driver>> {
        std::mem::take(&mut self.further)
    }

    fn counters(&self) -> &Arc<PortCounters> {
        &self.counters
    }
}

/// A port that delivers the same frames repeatedly, a given number in all, and counts the frames to be sent.
pub struct GeneratorDriver {
    frames: Vec<Vec<u8>>,
    next: usize,
    left: u64,
    timestamp_ns: u64,
    interval_ns: u64,
    counters: Arc<PortCounters>,
    /// Further queues of the port.
    further: Vec<Box<dyn Driver>>,
}

impl GeneratorDriver {
    /// A generator of `count` frames, cycling through `frames`, with time stamps `interval_ns` apart from 0 on.
    pub fn new(frames: Vec<Vec<u8>>, count: u64, interval_ns: u64) -> GeneratorDriver {
        let left = if frames.is_empty() { 0 } else { count };
        let (counters, further) = (Arc::default(), Vec::new());
        GeneratorDriver { frames, next: 0, left, timestamp_ns: 0, interval_ns, counters, further }
    }

    /// Adds a queue to the port, with frames of its own.
    pub fn with_queue(mut self, queue: GeneratorDriver) -> GeneratorDriver {
        self.counters.add_queue(Arc::clone(&queue.counters));
        self.further.push(Box::new(queue));
        self
    }
}

impl GeneratorDriver {
    /// Passes the next frames to `each`, at most this many, and returns their number.
    fn generate(&mut self, limit: usize, mut each: impl FnMut(&[u8], u64)) -> usize {
        let count = self.left.min(limit as u64);
        let mut bytes = 0;
        for _ in 0..count {
            let frame = &self.frames[self.next];
            bytes += frame.len() as u64;
            each(frame, self.timestamp_ns);
            self.next = if self.next + 1 == self.frames.len() { 0 } else { self.next + 1 };
            self.timestamp_ns = self.timestamp_ns.saturating_add(self.interval_ns);
        }
        self.left -= count;
        self.counters.rx_packets.add(count);
        self.counters.rx_bytes.add(bytes);
        count as usize
    }
}

impl Driver for GeneratorDriver {
    fn receive(&mut self, limit: usize, deliver: Deliver<'_>) -> Result<usize, DriverError> {
        Ok(self.generate(limit, deliver))
    }

    /// The frames are used again: copies are lent, as an interface would write them to memory.
    fn lend(&mut self, arrival: Arrival, store: &mut Store, work: Work<'_>) -> Result<usize, DriverError> {
        store.clear();
        let count = self.generate(BURST_PACKETS_MAX, |frame, _| {
            store.push(frame);
        });
        store.lend(arrival, work);
        Ok(count)
    }

    fn transmit(&mut self, frame: &[u8], _timestamp_ns: u64) -> Result<(), DriverError> {
        if frame.len() > FRAME_BYTES_MAX {
            self.counters.tx_dropped_too_long.add(1);
            return Ok(());
        }
        self.counters.tx_packets.add(1);
        self.counters.tx_bytes.add(frame.len() as u64);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), DriverError> {
        Ok(())
    }

    fn exhausted(&self) -> bool {
        self.left == 0
    }

    fn frame_bytes_max(&self) -> usize {
        FRAME_BYTES_MAX
    }

    fn stop_receiving(&mut self) {
        self.left = 0;
    }

    fn take_queues(&mut self) -> Vec<Box<dyn Driver>> {
        std::mem::take(&mut self.further)
    }

    fn counters(&self) -> &Arc<PortCounters> {
        &self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receive_all(driver: &mut dyn Driver, limit: usize) -> Vec<TimedFrame> {
        let mut frames = Vec::new();
        driver.receive(limit, &mut |frame, timestamp_ns| frames.push((frame.to_vec(), timestamp_ns))).unwrap();
        frames
    }

    #[test]
    fn frames_pass_in_order_in_both_directions() {
        let (mut driver, peer) = memory_port();
        for number in 0..3 {
            peer.send(&[number; 20], u64::from(number));
        }
        peer.close();
        assert_eq!(receive_all(&mut driver, 2), [(vec![0; 20], 0), (vec![1; 20], 1)]);
        assert!(!driver.exhausted());
        assert_eq!(receive_all(&mut driver, 2), [(vec![2; 20], 2)]);
        assert!(driver.exhausted());

        driver.transmit(&[9; 30], 5).unwrap();
        assert!(peer.take().is_empty(), "nothing leaves before the flush");
        driver.flush().unwrap();
        assert_eq!(peer.take(), [(vec![9; 30], 5)]);
    }

    #[test]
    fn what_was_queued_is_delivered_after_the_stop() {
        let (mut driver, peer) = memory_port();
        peer.send(&[1; 14], 1);
        driver.stop_receiving();
        assert!(!driver.exhausted());
        assert_eq!(receive_all(&mut driver, 8).len(), 1);
        assert!(driver.exhausted());
    }

    #[test]
    fn a_generator_makes_its_frames_in_turn_and_ends() {
        let mut driver = GeneratorDriver::new(vec![vec![1; 14], vec![2; 14]], 3, 10);
        let frames = receive_all(&mut driver, 64);
        assert_eq!(frames, [(vec![1; 14], 0), (vec![2; 14], 10), (vec![1; 14], 20)]);
        assert!(driver.exhausted());
    }
}
