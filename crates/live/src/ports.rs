//! The ports of a worker: their drivers, found by number.
//!
//! What enters: one driver per port, and queues of ports that several workers share. What leaves: frames to the
//! driver of a number; failures and link changes of ports. A worker other than the first only has queues.

use crate::counters::PortCounters;
use crate::driver::{Arrival, Deliver, Driver, DriverError};
use crate::store::Store;
use base::OrderedMap;
use std::sync::Arc;
use std::time::Duration;
use switch::Burst;
use switch::traffic::PORT_MAX;

/// A port of the switch.
pub struct Port {
    /// The number that the program sees.
    pub number: u32,
    /// Its driver.
    pub driver: Box<dyn Driver>,
    /// Whether its frames have time stamps of a capture.
    pub is_capture: bool,
}

/// A further queue of a port.
pub(crate) struct Queue {
    /// The port's number.
    pub number: u32,
    /// Which of the port's queues it is; the port's own driver is queue 0.
    pub index: usize,
    driver: Box<dyn Driver>,
    failed: bool,
}

/// The ports of a worker.
pub struct Ports {
    numbers: Vec<u32>,
    drivers: Vec<Box<dyn Driver>>,
    /// Replaces a driver whose frames are being processed.
    stand_in: Option<Box<dyn Driver>>,
    /// For frames that cannot be lent.
    store: Store,
    /// Positions by number, up to [`PORT_MAX`].
    by_number: Vec<Option<usize>>,
    /// Positions of the ports of greater numbers.
    far: OrderedMap<u32, usize>,
    failed: Vec<bool>,
    has_link: Vec<bool>,
    /// The queue number of each within its port.
    queue_indices: Vec<usize>,
    /// Whether the frames of each are a part of its port's, distributed by flow.
    is_divided: Vec<bool>,
    /// How many are ports; queues follow them.
    own: usize,
    /// Frames that the core sent to a port that has no driver.
    pub unconnected_frames: u64,
    /// How long the worker has waited for work; in the rest of the time it was busy.
    pub waited: Duration,
}

impl Ports {
    /// Number and driver of each port.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &dyn Driver)> {
        self.numbers.iter().copied().zip(self.drivers.iter().map(|driver| &**driver)).take(self.own)
    }

    pub(crate) fn new(ports: Vec<Port>) -> Ports {
        let mut made = Ports {
            numbers: Vec::new(),
            drivers: Vec::new(),
            stand_in: None,
            store: Store::default(),
            by_number: Vec::new(),
            far: OrderedMap::new(),
            failed: Vec::new(),
            has_link: Vec::new(),
            queue_indices: Vec::new(),
            is_divided: Vec::new(),
            own: 0,
            unconnected_frames: 0,
            waited: Duration::ZERO,
        };
        for Port { number, driver, .. } in ports {
            made.push(Queue { number, index: 0, driver, failed: false });
        }
        made.own = made.numbers.len();
        made
    }

    /// Whether there is a port of this number.
    pub(crate) fn has(&self, number: u32) -> bool {
        self.numbers[..self.own].contains(&number)
    }

    /// Adds a port without further queues.
    pub(crate) fn add(&mut self, number: u32, driver: Box<dyn Driver>) {
        // Queues stay after the ports.
        let queues = self.detach();
        self.push(Queue { number, index: 0, driver, failed: false });
        self.own = self.numbers.len();
        queues.into_iter().for_each(|queue| self.attach(queue));
    }

    fn push(&mut self, queue: Queue) {
        let position = self.numbers.len();
        self.numbers.push(queue.number);
        self.drivers.push(queue.driver);
        self.failed.push(queue.failed);
        self.has_link.push(true);
        self.queue_indices.push(queue.index);
        self.is_divided.push(queue.index > 0);
        if queue.number > PORT_MAX {
            self.far.entry(queue.number).or_insert(position);
            return;
        }
        let number = queue.number as usize;
        if self.by_number.len() <= number {
            self.by_number.resize(number + 1, None);
        }
        self.by_number[number].get_or_insert(position);
    }

    // ------------------------------------------------------------------------------------------------------- queues

    /// Takes all further queues of the ports; they stay with this worker until another one gets them.
    pub(crate) fn open_queues(&mut self) {
        for position in 0..self.own {
            let queues = self.drivers[position].take_queues();
            self.is_divided[position] = !queues.is_empty();
            for (driver, index) in queues.into_iter().zip(1..) {
                self.push(Queue { number: self.numbers[position], index, driver, failed: false });
            }
        }
    }

    /// Adds a queue.
    pub(crate) fn attach(&mut self, queue: Queue) {
        self.push(queue);
    }

    /// Removes and returns all queues. Their frames were sent before: the drivers were flushed.
    pub(crate) fn detach(&mut self) -> Vec<Queue> {
        let own = self.own;
        let is_own = |position: &usize| *position < own;
        self.by_number.iter_mut().for_each(|position| *position = position.filter(is_own));
        self.far.retain(|_, position| is_own(position));
        self.has_link.truncate(own);
        self.is_divided.truncate(own);
        let numbers = self.numbers.drain(own..).zip(self.queue_indices.drain(own..));
        let drivers = self.drivers.drain(own..).zip(self.failed.drain(own..));
        let queue = |((number, index), (driver, failed))| Queue { number, index, driver, failed };
        numbers.zip(drivers).map(queue).collect()
    }

    /// Whether this driver only delivers some flows of the port, so that other workers have others.
    pub(crate) fn is_divided(&self, position: usize) -> bool {
        self.is_divided[position]
    }

    /// Whether a port has queues that several workers can have.
    pub(crate) fn is_any_divided(&self) -> bool {
        self.is_divided.iter().take(self.own).any(|is_divided| *is_divided)
    }

    /// Whether frames come from a port that has no such queues.
    pub(crate) fn is_any_whole(&self) -> bool {
        let whole = |position: usize| !self.is_divided[position] && !self.drivers[position].exhausted();
        (0..self.own).any(whole)
    }

    // -------------------------------------------------------------------------------------------------- by position

    /// Ports and queues.
    pub(crate) fn len(&self) -> usize {
        self.drivers.len()
    }

    pub(crate) fn number(&self, position: usize) -> u32 {
        self.numbers[position]
    }

    /// Lets `work` process frames that a port or queue has received, in place; frames are sent meanwhile through the
    /// ports that `work` gets. Returns the number of frames, and the error if the port has failed now.
    ///
    /// A driver cannot be called while its frames are lent. Frames for the same port are stored, and sent when they
    /// are returned.
    pub(crate) fn lend(
        &mut self,
        position: usize,
        time_ns: u64,
        mut work: impl FnMut(&mut Ports, &mut Burst<'_>),
    ) -> (usize, Option<DriverError>) {
        let arrival = Arrival { port: self.numbers[position], time_ns };
        let stand_in = self.stand_in.take().unwrap_or_else(|| Box::new(StandIn::default()));
        let mut driver = std::mem::replace(&mut self.drivers[position], stand_in);
        let mut store = std::mem::take(&mut self.store);
        let received = driver.lend(arrival, &mut store, &mut |burst| work(self, burst));
        self.store = store;
        let mut stand_in = std::mem::replace(&mut self.drivers[position], driver);
        let mut error = None;
        if !stand_in.exhausted() {
            let driver = &mut self.drivers[position];
            let mut send = |frame: &[u8], stamp_ns| error = driver.transmit(frame, stamp_ns).err().or(error.take());
            let _never_fails = stand_in.receive(usize::MAX, &mut send);
        }
        self.stand_in = Some(stand_in);
        let count = *received.as_ref().unwrap_or(&0);
        let error = received.err().or(error).filter(|_| self.note_failure(position));
        (count, error)
    }

    pub(crate) fn driver(&mut self, position: usize) -> &mut dyn Driver {
        &mut *self.drivers[position]
    }

    pub(crate) fn drivers(&self) -> &[Box<dyn Driver>] {
        &self.drivers
    }

    pub(crate) fn drivers_mut(&mut self) -> &mut [Box<dyn Driver>] {
        &mut self.drivers
    }

    /// Records that a port has failed; false if that was known.
    pub(crate) fn note_failure(&mut self, position: usize) -> bool {
        !std::mem::replace(&mut self.failed[position], true)
    }

    pub(crate) fn all_exhausted(&self) -> bool {
        self.drivers.iter().all(|driver| driver.exhausted())
    }

    /// Calls `act` on every driver; a driver that fails is reported once.
    pub(crate) fn each_failing(
        &mut self,
        mut act: impl FnMut(&mut dyn Driver) -> Result<(), DriverError>,
        mut report: impl FnMut(u32, DriverError),
    ) {
        for position in 0..self.drivers.len() {
            if let Err(error) = act(&mut *self.drivers[position])
                && self.note_failure(position)
            {
                report(self.numbers[position], error);
            }
        }
    }

    /// Reports ports whose link has changed. A port that failed has none.
    pub(crate) fn look_at_links(&mut self, mut report: impl FnMut(u32, bool)) {
        for position in 0..self.own {
            let has_link = !self.failed[position] && self.drivers[position].has_link();
            if std::mem::replace(&mut self.has_link[position], has_link) != has_link {
                report(self.numbers[position], has_link);
            }
        }
    }

    // ---------------------------------------------------------------------------------------------------- by number

    /// Sends a frame to a port; `None` if the port is not here. A failure is reported once.
    #[inline]
    pub(crate) fn transmit(&mut self, number: u32, frame: &[u8], stamp_ns: u64) -> Option<Result<(), DriverError>> {
        let position = self.position(number)?;
        match self.drivers[position].transmit(frame, stamp_ns) {
            Err(error) if self.note_failure(position) => Some(Err(error)),
            _ => Some(Ok(())),
        }
    }

    #[inline]
    fn position(&self, number: u32) -> Option<usize> {
        if number > PORT_MAX { self.far.get(&number).copied() } else { *self.by_number.get(number as usize)? }
    }
}

/// Stores frames for a driver that cannot be called now, and then sends them.
#[derive(Default)]
struct StandIn {
    frames: Store,
    stamps_ns: Vec<u64>,
    counters: Arc<PortCounters>,
}

impl Driver for StandIn {
    fn receive(&mut self, _limit: usize, deliver: Deliver<'_>) -> Result<usize, DriverError> {
        let count = self.frames.len();
        self.frames.frames().zip(&self.stamps_ns).for_each(|(frame, &stamp_ns)| deliver(frame, stamp_ns));
        self.frames.clear();
        self.stamps_ns.clear();
        Ok(count)
    }

    fn transmit(&mut self, frame: &[u8], timestamp_ns: u64) -> Result<(), DriverError> {
        self.frames.push(frame);
        self.stamps_ns.push(timestamp_ns);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), DriverError> {
        Ok(())
    }

    fn exhausted(&self) -> bool {
        self.frames.is_empty()
    }

    fn frame_bytes_max(&self) -> usize {
        usize::MAX
    }

    fn stop_receiving(&mut self) {}

    fn counters(&self) -> &Arc<PortCounters> {
        &self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::memory_port;

    fn queue(number: u32, index: usize) -> Queue {
        Queue { number, index, driver: Box::new(memory_port().0), failed: false }
    }

    #[test]
    fn what_is_sent_where_frames_are_lent_from_follows_what_was_sent_before() {
        let (driver, peer) = memory_port();
        let mut ports = Ports::new(vec![Port { number: 3, driver: Box::new(driver), is_capture: false }]);
        (0..3).for_each(|number| peer.send(&[number; 20], 0));
        ports.transmit(3, &[9; 14], 0);
        let (count, error) = ports.lend(0, 5, |ports, burst| {
            for frame in burst.frames() {
                assert_eq!((frame.port(), frame.time_ns()), (3, 5));
                ports.transmit(3, frame.bytes(), 7);
            }
        });
        assert!(count == 3 && error.is_none());
        ports.transmit(3, &[8; 14], 0);
        ports.driver(0).flush().unwrap();
        let sent: Vec<_> = peer.take().into_iter().map(|(frame, stamp_ns)| (frame[0], stamp_ns)).collect();
        assert_eq!(sent, [(9, 0), (0, 7), (1, 7), (2, 7), (8, 0)]);
    }

    #[test]
    fn a_port_that_is_added_stands_before_the_queues() {
        let (driver, _peer) = memory_port();
        let mut ports = Ports::new(vec![Port { number: 3, driver: Box::new(driver), is_capture: false }]);
        ports.attach(queue(3, 1));
        let (driver, peer) = memory_port();
        ports.add(7, Box::new(driver));
        assert!(ports.has(7) && !ports.has(8));
        assert!(ports.transmit(7, &[0; 14], 0).is_some());
        ports.driver(1).flush().unwrap();
        assert_eq!(peer.take().len(), 1);
        assert_eq!((ports.iter().map(|(number, _)| number).collect::<Vec<_>>(), ports.len()), (vec![3, 7], 3));
        let taken: Vec<_> = ports.detach().into_iter().map(|queue| (queue.number, queue.index)).collect();
        assert_eq!(taken, [(3, 1)]);
    }

    #[test]
    fn queues_come_and_go_behind_the_ports() {
        let (driver, peer) = memory_port();
        let mut ports = Ports::new(vec![Port { number: 3, driver: Box::new(driver), is_capture: false }]);
        ports.attach(queue(3, 1));
        ports.attach(queue(70_000, 2));
        assert_eq!((ports.len(), ports.iter().count()), (3, 1));
        assert!(ports.transmit(70_000, &[0; 14], 0).is_some());
        // The port's own queue sends.
        assert!(ports.transmit(3, &[0; 14], 0).is_some());
        ports.driver(0).flush().unwrap();
        assert_eq!(peer.take().len(), 1);
        let taken: Vec<_> = ports.detach().into_iter().map(|queue| (queue.number, queue.index)).collect();
        assert_eq!(taken, [(3, 1), (70_000, 2)]);
        assert!(ports.transmit(70_000, &[0; 14], 0).is_none() && ports.len() == 1);
        let mut helper = Ports::new(Vec::new());
        helper.attach(queue(3, 1));
        assert!(helper.transmit(3, &[0; 14], 0).is_some() && helper.transmit(4, &[0; 14], 0).is_none());
        helper.detach();
        assert!(helper.transmit(3, &[0; 14], 0).is_none());
    }
}
