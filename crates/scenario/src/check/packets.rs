//! What is known of the packets in flight.

use base::{OrderedMap, OrderedSet};
use sim::network::NodeId;
use sim::record::Loss;
use sim::time::Time;
use sim::wire::flow::Identity;

/// The most visits of nodes that are recorded: a packet with more is not followed any further.
pub(super) const VISITS_MAX: usize = 256;

/// A packet that is followed.
#[derive(Debug)]
pub(super) struct Followed {
    /// As it was sent.
    pub(super) identity: Identity,
    pub(super) sent: Time,
    /// The nodes to which it and its copies came, its sender first, each with the position of the one before it.
    visits: Vec<(NodeId, usize)>,
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
            visits: vec![(node, 0)],
            is_corrupted: false,
            on_wire: 1,
            inside: Vec::new(),
            explained: None,
        }
    }

    /// The host that sent it.
    pub(super) fn sender(&self) -> NodeId {
        self.visits[0].0
    }

    /// How often it and its copies came to nodes.
    pub(super) fn visits(&self) -> usize {
        self.visits.len()
    }

    /// It has come to a node from another one. Returns whether it had been at that node before: copies that come to a
    /// node on different paths have not.
    pub(super) fn come(&mut self, node: NodeId, from: Option<NodeId>) -> bool {
        let before = self.visits.iter().rposition(|(it, _)| Some(*it) == from).unwrap_or(0);
        let is_again = self.path_to(before).contains(&node);
        self.visits.push((node, before));
        is_again
    }

    /// The nodes from its sender to the last visit of a node.
    pub(super) fn path(&self, node: NodeId) -> Vec<NodeId> {
        let last = self.visits.iter().rposition(|(it, _)| *it == node).unwrap_or(self.visits.len() - 1);
        self.path_to(last)
    }

    fn path_to(&self, mut visit: usize) -> Vec<NodeId> {
        let mut path = vec![self.visits[visit].0];
        while visit > 0 {
            visit = self.visits[visit].1;
            path.push(self.visits[visit].0);
        }
        path.reverse();
        path
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

#[cfg(test)]
mod tests {
    use super::*;
    use sim::wire::flow::FlowKey;

    #[test]
    fn copies_have_paths_of_their_own() {
        let host = |last| core::net::IpAddr::from([10, 0, 0, last]);
        let flow = FlowKey { source: host(1), destination: host(2), protocol: 17, ports: (1, 2) };
        let identity = Identity { flow, payload_bytes: 0, payload_hash: 0, is_sound: true };
        let mut packet = Followed::new(Time::ZERO, NodeId(0), identity);
        // Copies of node 1 go to 2 and 3, both of which send them to 4, and 4 sends one back to 3.
        let come = [(1, 0), (2, 1), (3, 1), (4, 2), (4, 3), (3, 4)];
        let is_again = come.map(|(node, from)| packet.come(NodeId(node), Some(NodeId(from))));
        assert_eq!(is_again, [false, false, false, false, false, true]);
        assert_eq!(packet.path(NodeId(2)), [0, 1, 2].map(NodeId));
        assert_eq!(packet.path(NodeId(3)), [0, 1, 3, 4, 3].map(NodeId));
    }
}
