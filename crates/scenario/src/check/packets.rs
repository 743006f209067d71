//! What is known of the packets in flight.

use base::{OrderedMap, OrderedSet};
use sim::network::NodeId;
use sim::record::Loss;
use sim::time::Time;
use sim::wire::flow::Identity;

/// The most nodes of a path that are recorded: a packet with more is not followed any further.
pub(super) const PATH_NODES_MAX: usize = 256;

/// A packet that is followed.
#[derive(Debug)]
pub(super) struct Followed {
    /// As it was sent.
    pub(super) identity: Identity,
    pub(super) sent: Time,
    /// The nodes at which it was, its sender first.
    pub(super) path: Vec<NodeId>,
    /// Whether a link has inverted one of its bits.
    pub(super) is_corrupted: bool,
    /// Copies of it on channels.
    pub(super) on_wire: u32,
    /// Where copies of it are that are not on channels.
    pub(super) inside: Vec<Inside>,
    /// The first loss of a copy, while others were in flight, that the scenario explains: which of the copies was to
    /// reach the destination is not known, so it explains the loss of the packet.
    pub(super) explained: Option<End>,
}

/// How a packet, or a copy of it, came to its end.
#[derive(Clone, Debug)]
pub(super) struct End {
    pub(super) time: Time,
    pub(super) node: NodeId,
    /// `None` without any reason.
    pub(super) loss: Option<Loss>,
    /// Whether it was on the link of a host, which has no other path.
    pub(super) is_at_host: bool,
    /// Whether its link failed while it was on it.
    pub(super) failed_later: bool,
    /// For people.
    pub(super) what: String,
}

/// The node where a packet is, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Inside {
    pub(super) node: NodeId,
    pub(super) time: Time,
}

impl Followed {
    pub(super) fn new(sent: Time, node: NodeId, identity: Identity) -> Followed {
        Followed {
            identity,
            sent,
            path: vec![node],
            is_corrupted: false,
            on_wire: 1,
            inside: Vec::new(),
            explained: None,
        }
    }

    /// No copy of it is at a node any more.
    pub(super) fn leave(&mut self, node: NodeId) {
        self.inside.retain(|inside| inside.node != node);
    }
}

/// Packets by their labels.
#[derive(Debug, Default)]
pub(super) struct Packets(OrderedMap<u64, Followed>);

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

    /// The packets of which all copies have arrived at nodes and are not among those that wait there, with the node
    /// where the first of them came; those first that have been there longest.
    pub(super) fn vanished(&self, waiting: &OrderedSet<u64>) -> Vec<(u64, Inside)> {
        let all = self.0.iter().filter(|(_, packet)| !packet.is_corrupted && packet.on_wire == 0);
        let vanished = all.filter(|(label, _)| !waiting.contains(label));
        let mut vanished: Vec<(u64, Inside)> =
            vanished.filter_map(|(label, packet)| packet.inside.first().map(|inside| (*label, *inside))).collect();
        vanished.sort_by_key(|(label, inside)| (inside.time, *label));
        vanished
    }
}
