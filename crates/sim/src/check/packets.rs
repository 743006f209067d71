//! What is known of the packets that are under way.

use crate::network::NodeId;
use crate::time::Time;
use crate::wire::flow::Identity;
use std::collections::BTreeMap;

/// The most nodes of a way that are kept: a packet with more is not followed any further.
pub(super) const WAY_MAX: usize = 256;

/// A packet that is followed.
#[derive(Debug)]
pub(super) struct Followed {
    /// As it was sent.
    pub(super) identity: Identity,
    pub(super) sent: Time,
    /// The nodes at which it was, its sender first.
    pub(super) way: Vec<NodeId>,
    /// Whether a link has inverted one of its bits.
    pub(super) is_corrupted: bool,
    /// Copies of it on channels.
    pub(super) on_wire: u32,
    /// Where it is, unless on a channel.
    pub(super) inside: Option<Inside>,
}

/// The node where a packet is, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Inside {
    pub(super) node: NodeId,
    pub(super) time: Time,
}

impl Followed {
    pub(super) fn new(sent: Time, node: NodeId, identity: Identity) -> Followed {
        Followed { identity, sent, way: vec![node], is_corrupted: false, on_wire: 1, inside: None }
    }
}

/// Packets by their labels.
#[derive(Debug, Default)]
pub(super) struct Packets(BTreeMap<u64, Followed>);

impl Packets {
    pub(super) fn insert(&mut self, label: u64, packet: Followed) {
        self.0.insert(label, packet);
    }

    pub(super) fn get(&self, label: u64) -> Option<&Followed> {
        self.0.get(&label)
    }

    pub(super) fn get_mut(&mut self, label: u64) -> Option<&mut Followed> {
        self.0.get_mut(&label)
    }

    pub(super) fn remove(&mut self, label: u64) {
        self.0.remove(&label);
    }

    /// The packet that has been longest at a node where nothing waits any more.
    pub(super) fn vanished(&self, is_idle: &dyn Fn(NodeId) -> bool) -> Option<(u64, Inside)> {
        let inside = self.0.iter().filter(|(_, packet)| !packet.is_corrupted);
        let inside = inside.filter_map(|(label, packet)| packet.inside.map(|inside| (*label, inside)));
        inside.filter(|(_, inside)| is_idle(inside.node)).min_by_key(|(label, inside)| (inside.time, *label))
    }
}
