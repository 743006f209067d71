//! Interfaces of Linux through packet sockets with memory-mapped rings.
//!
//! Frames leave the driver as they would be on a wire. The kernel reports what a frame still lacks
//! (`PACKET_VNET_HDR`), and [`crate::offload`] completes it; a VLAN tag that the kernel took out is put back.
//!
//! A receive slot holds a frame of the interface's MTU. A longer one, a segment that its sender left uncut, has its
//! whole copy in the socket's queue (`PACKET_COPY_THRESH`) and is fetched from there with one call: thousands of
//! slots then fit into memory that would hold some hundred slots of 64 KiB. Requires Linux 4.6; before 4.20 frames
//! that this host sends on the interface are received, too, and are recognised and ignored.
//!
//! A port may receive in several queues: sockets of one group, over which the kernel distributes flows by a hash of
//! addresses and ports. Each has rings of its own.
//!
//! Transmission uses the interface's queueing discipline by default, so that a capture taken on the interface shows
//! what the switch sent, and a full queue delays frames rather than losing them. [`AfPacketOptions::qdisc_bypass`]
//! trades both for some speed on physical interfaces.

mod fanout;
mod receive;
mod ring;

mod transmit;

pub use crate::interface::interface_names;

use crate::counters::PortCounters;
use crate::driver::{Arrival, Deliver, Driver, DriverError, Work};
use crate::interface::{self, ETHERNET_BYTES, Interface, Socket, VLAN_TAG_BYTES};
use crate::store::Store;
use fanout::Fanout;
use receive::Receiver;
use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use transmit::Transmitter;

/// The capability that opening an interface requires.
const CAPABILITIES: &str = "CAP_NET_RAW";

/// The size of an interface's rings, and how frames are sent.
#[derive(Clone, Debug)]
pub struct AfPacketOptions {
    /// Memory of the receive ring, in bytes; with an MTU of 1500 a frame takes 2 KiB of it.
    pub rx_ring_bytes: usize,
    /// Memory of the transmit ring, in bytes.
    pub tx_ring_bytes: usize,
    /// Whether to send through a ring; without one, or if the system refuses it, each frame costs a system call.
    pub tx_ring: bool,
    /// Whether to bypass the interface's queueing discipline; captures on the interface then do not show sent frames.
    pub qdisc_bypass: bool,
    /// The number of receive queues, over which the kernel distributes flows.
    pub queues: usize,
}

impl Default for AfPacketOptions {
    fn default() -> AfPacketOptions {
        AfPacketOptions {
            rx_ring_bytes: 8 << 20,
            tx_ring_bytes: 2 << 20,
            tx_ring: true,
            qdisc_bypass: false,
            queues: 1,
        }
    }
}

/// Whether an interface of the calling thread's namespace is up, has a carrier, and the kernel sends on it. The
/// kernel may take a second to do so after an interface was brought up.
pub fn is_running(name: &str) -> io::Result<bool> {
    Socket::new()?.is_running(name)
}

/// A port on an interface of Linux.
#[derive(Debug)]
pub struct AfPacketDriver {
    name: String,
    interface_index: i32,
    receiver: Receiver,
    transmitter: Transmitter,
    counters: Arc<PortCounters>,
    /// Further queues of the port.
    further: Vec<AfPacketDriver>,
}

impl AfPacketDriver {
    /// Opens an interface that is up, for all its packets. It stays in promiscuous mode as long as the driver lives.
    pub fn open(name: &str, options: &AfPacketOptions) -> Result<AfPacketDriver, DriverError> {
        let mut group = (options.queues > 1).then(Fanout::default);
        let mut first = AfPacketDriver::open_queue(name, options, group.as_mut())?;
        for _ in 1..options.queues {
            let queue = AfPacketDriver::open_queue(name, options, group.as_mut())?;
            first.counters.add_queue(Arc::clone(&queue.counters));
            first.further.push(queue);
        }
        if group.is_some() {
            let failed = |error| interface::refusal(name, CAPABILITIES, "receive on", error);
            // After all sockets are in the group: the kernel distributes over its members.
            let mut queues = std::iter::once(&first).chain(&first.further);
            queues.try_for_each(|queue| queue.receiver.begin()).map_err(failed)?;
        }
        Ok(first)
    }

    fn open_queue(
        name: &str,
        options: &AfPacketOptions,
        group: Option<&mut Fanout>,
    ) -> Result<AfPacketDriver, DriverError> {
        let failed = |doing: &str, error| interface::refusal(name, CAPABILITIES, doing, error);
        let (interface, socket) = Interface::open(name, CAPABILITIES)?;
        let counters = Arc::<PortCounters>::default();
        let transmitter = Transmitter::open(interface.clone(), options, Arc::clone(&counters))
            .map_err(|error| failed("send on", error))?;
        let receiver = Receiver::open(socket, &interface, options, Arc::clone(&counters), group)
            .map_err(|error| failed("receive on", error))?;
        let Interface { name, index, .. } = interface;
        Ok(AfPacketDriver { name, interface_index: index, receiver, transmitter, counters, further: Vec::new() })
    }
}

impl Driver for AfPacketDriver {
    fn receive(&mut self, limit: usize, deliver: Deliver<'_>) -> Result<usize, DriverError> {
        Ok(self.receiver.receive(limit, deliver))
    }

    fn lend(&mut self, arrival: Arrival, store: &mut Store, work: Work<'_>) -> Result<usize, DriverError> {
        Ok(self.receiver.lend(arrival, store, work))
    }

    fn transmit(&mut self, frame: &[u8], _timestamp_ns: u64) -> Result<(), DriverError> {
        self.transmitter.transmit(frame).map_err(|error| DriverError::system(format!("send on `{}`", self.name), error))
    }

    fn flush(&mut self) -> Result<(), DriverError> {
        self.transmitter.flush().map_err(|error| DriverError::system(format!("send on `{}`", self.name), error))
    }

    fn wait_on(&self, descriptors: &mut Vec<RawFd>) {
        descriptors.push(self.receiver.fd());
    }

    fn exhausted(&self) -> bool {
        self.receiver.is_drained()
    }

    fn frame_bytes_max(&self) -> usize {
        self.transmitter.frame_bytes_max()
    }

    fn stop_receiving(&mut self) {
        self.receiver.stop();
    }

    fn housekeeping(&mut self) -> Result<(), DriverError> {
        self.receiver.count_kernel_drops();
        self.transmitter.refresh_mtu();
        Ok(())
    }

    fn has_link(&self) -> bool {
        self.receiver.has_link(&self.name)
    }

    fn acknowledge_error(&mut self) -> Result<(), DriverError> {
        self.receiver.clear_error();
        if self.receiver.interface_exists(self.interface_index) {
            // The interface went down; the kernel resumes reception once it is up.
            return Ok(());
        }
        self.receiver.stop();
        Err(DriverError::InterfaceGone { name: self.name.clone() })
    }

    fn finish(&mut self) -> Result<(), DriverError> {
        self.transmitter.finish().map_err(|error| DriverError::system(format!("send on `{}`", self.name), error))
    }

    fn take_queues(&mut self) -> Vec<Box<dyn Driver>> {
        self.further.drain(..).map(|queue| Box::new(queue) as Box<dyn Driver>).collect()
    }

    fn counters(&self) -> &Arc<PortCounters> {
        &self.counters
    }
}
