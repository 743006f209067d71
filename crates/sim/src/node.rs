//! Nodes: what hosts, switches, sources and sinks have in common.
//!
//! What enters: packets on ports, and the time. What leaves: packets on ports, and the time of the next timer. A node
//! knows no other node; it changes nothing but itself and what it sends.

use crate::channel::Transmitter;
use crate::network::NodeId;
use crate::network::shared_state::SharedState;
use crate::packet::{Packet, Pool};
use crate::record::{Event, Loss};
use crate::time::Time;
use std::any::Any;

/// A packet that has arrived.
pub struct Arrival {
    pub(crate) time: Time,
    pub(crate) port: usize,
    pub(crate) packet: Packet,
}

/// A node.
pub trait Node: Any + Send {
    /// A packet has arrived on a port.
    fn receive(&mut self, context: &mut Context<'_>, port: usize, packet: Packet);

    /// Whether it takes several packets at once: of their times only the order matters for what becomes of them, and
    /// they change no timer.
    fn takes_bursts(&self) -> bool {
        false
    }

    /// Whether it has what it sends on fetched itself (`Context::fetch`), once it knows which of its ports that are.
    fn fetches_ports(&self) -> bool {
        false
    }

    /// Packets have arrived, in this order. It is called if [`Node::takes_bursts`], and what follows from a packet
    /// has its time (`Context::set_now`).
    fn receive_burst(&mut self, context: &mut Context<'_>, arrivals: &mut Vec<Arrival>) {
        receive_singly(self, context, arrivals);
    }

    /// The time of the next timer has come.
    fn timer(&mut self, context: &mut Context<'_>);

    /// When [`Node::timer`] is to be called next; [`Time::MAX`] for never. It is read after each event of the node.
    fn next_timer(&self) -> Time;

    /// Whether packets begin and end there, as at hosts.
    fn is_end(&self) -> bool {
        false
    }
}

/// Hands a node the packets of a burst one by one.
pub(crate) fn receive_singly(node: &mut (impl Node + ?Sized), context: &mut Context<'_>, arrivals: &mut Vec<Arrival>) {
    for Arrival { time, port, packet } in arrivals.drain(..) {
        context.set_now(time);
        node.receive(context, port, packet);
    }
}

/// What a node may use while it works on an event.
pub struct Context<'a> {
    pub(crate) shared: &'a mut SharedState,
    /// The first of the node's ports among those of the partition.
    pub(crate) first_port: usize,
    /// The node's number.
    pub(crate) node: u32,
    pub(crate) is_end: bool,
}

impl Context<'_> {
    /// The time.
    #[inline]
    pub fn now(&self) -> Time {
        self.shared.now
    }

    /// Goes to the time of a packet of a burst.
    #[inline]
    pub(crate) fn set_now(&mut self, time: Time) {
        self.shared.now = time;
    }

    /// Memory of packets.
    #[inline]
    pub fn pool(&mut self) -> &mut Pool {
        &mut self.shared.pool
    }

    /// Sends a packet on a port: it is transmitted as soon as the line is free.
    #[inline]
    pub fn send(&mut self, port: usize, packet: Packet) {
        self.shared.send(self.first_port + port, (self.node, port), packet, self.is_end);
    }

    /// Has the processor fetch what is known about a port on which a packet will soon be sent.
    #[inline]
    pub(crate) fn fetch(&self, port: usize) {
        self.shared.fetch_transmitter(self.first_port + port);
    }

    /// The same with what is known about the other end, which is best done when the former has come.
    #[inline]
    pub(crate) fn fetch_peer(&self, port: usize) {
        self.shared.fetch_peer(self.first_port + port);
    }

    /// The transmitter of a port.
    pub fn transmitter(&mut self, port: usize) -> &mut Transmitter {
        &mut self.shared.transmitters[self.first_port + port]
    }

    /// The node's number in the network.
    pub fn node(&self) -> NodeId {
        NodeId(self.node)
    }

    /// The label of the `number`th packet that the node sends.
    #[inline]
    pub(crate) fn label(&self, number: u64, frame: &[u8]) -> u64 {
        self.shared.log.label(self.node, number, frame)
    }

    /// Whether packets are followed.
    #[inline]
    pub fn follows(&self) -> bool {
        self.shared.log.follows
    }

    /// Whether the queues of programs are recorded.
    #[inline]
    pub fn records_queues(&self) -> bool {
        self.shared.log.queues
    }

    /// Records what has happened to the packet with this label.
    pub fn note(&mut self, label: u64, event: Event) {
        self.shared.log.note(self.shared.now, (self.node, 0), label, event);
    }

    /// Ends a packet for a reason.
    pub fn lose(&mut self, packet: Packet, loss: Loss) {
        if self.follows() && packet.label() != 0 {
            self.note(packet.label(), Event::Lost(loss));
        }
        self.end(packet);
    }

    /// Ends a packet.
    #[inline]
    pub fn end(&mut self, packet: Packet) {
        self.shared.pool.give(packet);
    }
}
