//! What happens to packets on their paths, for captures, traces and checks.
//!
//! What enters: which channels are captured, and whether packets are followed. What leaves: records in an order that
//! does not depend on the number of threads: by time, then by node, then as they happened at the node.
//!
//! A packet that a host sends to another one has a label, which does not change from hop to hop. Labels of a host grow
//! in the order in which it sends. A duplicate that a link makes has none; copies that a program makes have the same
//! one.

use crate::channel::ChannelDrop;
use crate::network::NodeId;
use crate::time::Time;
use crate::wire::flow::{FlowKey, Identity};
use switch::DropReason;

/// What is recorded.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// The channels whose packets are recorded as they arrive.
    pub captured: Vec<usize>,
    /// Whether packets with labels are followed.
    pub follows: bool,
    /// Whether the queues of switches with programs are recorded.
    pub queues: bool,
    /// Flows whose packets are traced, in both directions.
    pub traced: Vec<FlowKey>,
}

/// Something that happened to a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// When.
    pub time: Time,
    /// At which node.
    pub node: NodeId,
    /// At which of its ports; 0 where that means nothing.
    pub port: usize,
    /// To which packet; 0 if it is not known.
    pub label: u64,
    /// What.
    pub event: Event,
}

/// What happens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A packet has arrived on a captured channel.
    Captured(Box<[u8]>),
    /// A node has sent it.
    Sent {
        /// What it is, at the host that sends it.
        identity: Option<Box<Identity>>,
        /// Packets in the queue of the channel, with this one.
        queued_packets: usize,
        /// Their bytes.
        queued_bytes: u64,
    },
    /// It has arrived at a node.
    Arrived {
        /// What it is, at a host.
        identity: Option<Box<Identity>>,
    },
    /// One of its bits was inverted on the channel on which it was just sent.
    Corrupted,
    /// A copy that a program has made of it has left the switch, or has ended there, and another one waits inside.
    Waits,
    /// It has come to its end, and all copies of it that were in the node.
    Lost(Loss),
    /// The queue of a port of a switch that runs a program: packets and bytes.
    Queue(u32, usize, u64),
    /// What a program did with it, for people.
    Steps(Vec<String>),
}

/// Why a packet came to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loss {
    /// The channel on which it was sent lost it.
    Channel(ChannelDrop),
    /// A router has no route to its destination.
    NoRoute,
    /// A router is not its station, or does not know its protocol.
    Ignored,
    /// Its time to live ended.
    Expired,
    /// A switch with a program had a full queue before its pipeline.
    Pipeline,
    /// A switch with a program dropped it.
    Switch(DropReason),
    /// A program sent it to a port without link.
    NoLink,
    /// The switch in which it was has restarted.
    Restart,
    /// A program sent it to the controller. What that makes of it is another packet.
    Controller,
    /// A program put it into another packet, together with others.
    Joined,
}

impl Loss {
    /// For people: what has become of the packet.
    pub fn describe(self) -> String {
        match self {
            Loss::Channel(ChannelDrop::Queue) => "the queue was full".to_owned(),
            Loss::Channel(ChannelDrop::Mtu) => "it was longer than the MTU of the link".to_owned(),
            Loss::Channel(ChannelDrop::Down) => "the link was down".to_owned(),
            Loss::Channel(ChannelDrop::Loss) => "the link lost it at random".to_owned(),
            Loss::NoRoute => "there was no route to its destination".to_owned(),
            Loss::Ignored => "it was not for this router, or no IP packet".to_owned(),
            Loss::Expired => "its time to live had ended".to_owned(),
            Loss::Pipeline => "the queue before the pipeline was full".to_owned(),
            Loss::Switch(reason) => reason.describe().to_owned(),
            Loss::NoLink => "the program sent it to a port without a link".to_owned(),
            Loss::Restart => "the switch restarted".to_owned(),
            Loss::Joined => "the program made it part of another packet".to_owned(),
            Loss::Controller => "the program sent it to the controller".to_owned(),
        }
    }
}

/// The label of the packet with this number among those of a node.
fn label(node: u32, number: u64) -> u64 {
    (u64::from(node) + 1) << 40 | number & ((1 << 40) - 1)
}

/// What the labels of traced packets have beside.
const TRACED: u64 = 1 << 63;

/// Whether the packet with this label is traced.
pub fn is_traced(label: u64) -> bool {
    label & TRACED != 0
}

/// The node that has sent the packet with this label.
pub fn origin(label: u64) -> Option<NodeId> {
    u32::try_from(((label & !TRACED) >> 40).checked_sub(1)?).ok().map(NodeId)
}

/// Records in their order.
pub(crate) fn sort(records: &mut [Record]) {
    // Those of one node come from one partition, in the order in which they happened there.
    records.sort_by_key(|record| (record.time, record.node));
}

/// The records of a partition.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) follows: bool,
    pub(crate) queues: bool,
    /// By port: whether arrivals are captured; empty if none are.
    pub(crate) captured: Vec<bool>,
    pub(crate) traced: Vec<FlowKey>,
    pub(crate) records: Vec<Record>,
}

impl Log {
    /// The label of a packet that a host sends.
    pub(crate) fn label(&self, node: u32, number: u64, frame: &[u8]) -> u64 {
        let is_traced = !self.traced.is_empty()
            && Identity::of(frame).is_some_and(|it| self.traced.iter().any(|flow| flow.is_of(&it.flow)));
        label(node, number) | if is_traced { TRACED } else { 0 }
    }

    /// Whether nothing is recorded.
    #[inline]
    pub(crate) fn is_off(&self) -> bool {
        !self.follows && !self.queues && self.captured.is_empty()
    }

    pub(crate) fn note(&mut self, time: Time, (node, port): (u32, usize), label: u64, event: Event) {
        self.records.push(Record { time, node: NodeId(node), port, label, event });
    }
}
