//! Whether a network has a path from one node to another at a time, over links that are up.
//!
//! What enters: a network that has been built. What leaves: answers, each searched for once. A packet whose destination
//! no path reaches is lost whatever switches do, so no switch is at fault.

use crate::build::Simulation;
use base::OrderedMap;
use sim::channel::Interval;
use sim::network::NodeId;
use sim::time::Time;

/// Answers that are cached; the cache is cleared when it is full.
const KNOWN_MAX: usize = 1 << 16;

/// A channel of a node.
struct Channel {
    port: usize,
    to: NodeId,
    down: Vec<Interval>,
}

impl Channel {
    fn is_up(&self, time: Time) -> bool {
        !self.down.iter().any(|it| it.contains(time))
    }
}

/// Reachability in a network.
pub(super) struct Reach {
    /// By node.
    channels: Vec<Vec<Channel>>,
    /// By node: hosts do not forward.
    is_host: Vec<bool>,
    /// By node: how long a router uses routes that links have made wrong.
    reroute: Vec<Time>,
    /// When links go down or up: between two of these times paths stay the same.
    changes: Vec<Time>,
    /// By the number of changes before, and by the ends.
    known: OrderedMap<(usize, NodeId, NodeId), bool>,
}

impl Reach {
    /// Of a network that has been built.
    pub(super) fn of(simulation: &Simulation) -> Reach {
        let nodes = simulation.hosts.len() + simulation.switches.len();
        let mut channels: Vec<Vec<Channel>> = (0..nodes).map(|_| Vec::new()).collect();
        for (index, channel) in simulation.network.channels().iter().enumerate() {
            let down = simulation.network.transmitter(index).config().down.clone();
            // A controller is behind channels of its own, which are on no packet's path.
            if let Some(list) = channels.get_mut(channel.from.node.0 as usize) {
                list.push(Channel { port: channel.from.port, to: channel.to.node, down });
            }
        }
        let mut is_host = vec![false; nodes];
        simulation.hosts.iter().for_each(|node| is_host[node.0 as usize] = true);
        let mut reroute = vec![Time::ZERO; nodes];
        for (node, plan) in simulation.switches.iter().zip(&simulation.scenario.switches) {
            reroute[node.0 as usize] = plan.reroute.unwrap_or(Time::ZERO);
        }
        Reach { channels, is_host, reroute, changes: simulation.scenario.changes(), known: OrderedMap::new() }
    }

    /// Whether there was a path for a packet all the time: for its sender as it sent it and as it was lost, and for the
    /// router that lost it as the links were when it made its routes.
    pub(super) fn had_path(
        &mut self,
        (sender, sent): (NodeId, Time),
        (node, lost): (NodeId, Time),
        to: NodeId,
    ) -> bool {
        let router = self.reroute.get(node.0 as usize).copied().unwrap_or(Time::ZERO);
        self.has_path(sent, sender, to)
            && self.has_path(lost, sender, to)
            && self.has_path(Time::from_ps(lost.ps().saturating_sub(router.ps())), node, to)
    }

    /// Whether the channel at a port of a node was up.
    pub(super) fn is_up(&self, (node, port): (NodeId, usize), time: Time) -> bool {
        let channels = self.channels.get(node.0 as usize);
        channels.is_none_or(|list| list.iter().filter(|it| it.port == port).all(|it| it.is_up(time)))
    }

    fn has_path(&mut self, time: Time, from: NodeId, to: NodeId) -> bool {
        let key = (self.changes.partition_point(|change| *change <= time), from, to);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        if self.known.len() >= KNOWN_MAX {
            self.known.clear();
        }
        let found = self.search(time, from, to);
        self.known.insert(key, found);
        found
    }

    fn search(&self, time: Time, from: NodeId, to: NodeId) -> bool {
        let mut is_seen = vec![false; self.channels.len()];
        let mut open = vec![from];
        while let Some(node) = open.pop() {
            if node == to {
                return true;
            }
            let index = node.0 as usize;
            if index >= is_seen.len() || std::mem::replace(&mut is_seen[index], true) {
                continue;
            }
            if node != from && self.is_host[index] {
                continue;
            }
            let up = self.channels[index].iter().filter(|channel| channel.is_up(time));
            open.extend(up.map(|channel| channel.to));
        }
        false
    }
}
