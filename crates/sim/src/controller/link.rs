//! The link between a controller and a switch.
//!
//! What enters: messages on one side. What leaves: the same messages on the other side, in their order, after the
//! latency of the direction. There are two links: one for frames to and from the CPU port, which are packets as any
//! others; and one for everything else. On that one an empty packet marks the time at which a message arrives; the
//! message itself is in a queue between the two nodes. The queue's order is that of the packets, as no such packet is
//! lost.

use crate::channel::ChannelConfig;
use crate::network::{NetworkBuilder, NodeId, PortId};
use crate::node::Context;
use crate::time::Time;
use base::Bits;
use control::api::entity::TableEntry;
use control::api::{Entity, Fault, Query, Update};
use ir::DigestId;
use std::sync::mpsc::{self, Receiver, Sender};

/// The latencies of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latencies {
    /// From a switch to the controller.
    pub to_controller: Time,
    /// From the controller to a switch.
    pub to_switch: Time,
}

/// What requests of a controller take in a switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkTimes {
    /// An update.
    pub write: Time,
    /// An entity that is read.
    pub read: Time,
}

/// From a switch to its controller.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the variants' comments cover the fields")]
pub enum Message {
    /// It can be reached.
    Connected,
    /// A digest of the program.
    Digest { digest: DigestId, values: Vec<Bits> },
    /// An entry has not been hit for its timeout.
    Idle(Box<TableEntry>),
    /// A write has been carried out.
    Written { write: u64, outcomes: Vec<Result<(), Fault>> },
    /// What a read has found.
    Answer { read: u64, outcome: Result<Vec<Entity>, Fault> },
}

/// From a controller to a switch.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the variants' comments cover the fields")]
pub enum Request {
    /// Updates, and which write of the controller to the switch they are.
    Write { write: u64, updates: Vec<Update> },
    /// A query, and which read of the controller from the switch it is.
    Read { read: u64, query: Query },
}

/// One end of the link for messages.
#[derive(Debug)]
pub struct End<Sent, Received> {
    /// The node's port for messages.
    pub(crate) port: usize,
    /// The node's port for frames.
    pub(crate) frames: usize,
    sender: Sender<Sent>,
    receiver: Receiver<Received>,
}

/// The end at a switch.
pub type SwitchEnd = End<Message, Request>;

/// The end at a controller.
pub type ControllerEnd = End<Request, Message>;

impl<Sent, Received> End<Sent, Received> {
    /// Sends a message.
    pub(crate) fn send(&self, context: &mut Context<'_>, message: Sent) {
        // The receiver is gone only with the other node, and that with the network.
        let _disconnected = self.sender.send(message);
        let token = context.pool().zeroed(0);
        context.send(self.port, token);
    }

    /// The message whose packet has arrived.
    pub(crate) fn receive(&self) -> Option<Received> {
        self.receiver.try_recv().ok()
    }
}

/// Joins a controller with a switch.
pub fn join(
    builder: &mut NetworkBuilder,
    controller: NodeId,
    switch: NodeId,
    latencies: Latencies,
) -> (ControllerEnd, SwitchEnd) {
    let (to_switch, of_controller) = mpsc::channel();
    let (to_controller, of_switch) = mpsc::channel();
    let config = |delay: Time| ChannelConfig { delay, overhead_bytes: 0, ..ChannelConfig::default() };
    let configs = [config(latencies.to_switch), config(latencies.to_controller)];
    // What arrives at the same time is taken in the order of the ports: first messages, then frames, which may need
    // what was written.
    let [at_controller, at_switch] = builder.link_beside(controller, switch, configs.clone());
    let [PortId { port: frames, .. }, PortId { port: cpu, .. }] = builder.link_beside(controller, switch, configs);
    (
        End { port: at_controller.port, frames, sender: to_switch, receiver: of_switch },
        End { port: at_switch.port, frames: cpu, sender: to_controller, receiver: of_controller },
    )
}
