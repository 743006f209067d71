//! What is known of a network whose packets are followed.

use crate::build::Simulation;
use crate::topology::NodeRef;
use base::{OrderedMap, OrderedSet};
use core::net::IpAddr;
use sim::network::NodeId;
use sim::record::Record;
use sim::time::Time;

/// What is known of the network.
pub(crate) struct Facts {
    /// By address.
    pub(crate) hosts: OrderedMap<IpAddr, NodeId>,
    /// The hosts.
    pub(crate) host_nodes: OrderedSet<NodeId>,
    /// By node.
    pub(crate) names: Vec<String>,
    /// The names of channels by their senders and the ports of these.
    pub(crate) channels: OrderedMap<(NodeId, usize), String>,
    /// The nodes that send to a node's port.
    pub(crate) senders: OrderedMap<(NodeId, usize), NodeId>,
    /// Those of links of hosts: a host whose own link is down has no other path.
    pub(crate) host_channels: OrderedSet<(NodeId, usize)>,
    /// When links go down or up.
    pub(crate) changes: Vec<Time>,
}

impl Facts {
    /// The facts of a network that has been built.
    pub(crate) fn of(simulation: &Simulation) -> Facts {
        let topology = &simulation.scenario.topology;
        let nodes = topology.hosts.iter().zip(&simulation.hosts);
        let addresses = nodes.flat_map(|(host, node)| host.addresses.iter().map(|it| (it.ip, *node)));
        let mut names = vec![String::new(); simulation.hosts.len() + simulation.switches.len()];
        for (index, node) in simulation.hosts.iter().enumerate() {
            names[node.0 as usize] = topology.name(NodeRef::Host(index)).to_owned();
        }
        for (index, node) in simulation.switches.iter().enumerate() {
            names[node.0 as usize] = topology.name(NodeRef::Switch(index)).to_owned();
        }
        let channels = simulation.network.channels().iter();
        let is_host = |node: NodeId| simulation.hosts.contains(&node);
        let of_hosts = channels.clone().filter(|it| is_host(it.from.node) || is_host(it.to.node));
        Facts {
            hosts: addresses.collect(),
            host_nodes: simulation.hosts.iter().copied().collect(),
            names,
            senders: channels.clone().map(|it| ((it.to.node, it.to.port), it.from.node)).collect(),
            channels: channels.map(|it| ((it.from.node, it.from.port), it.name.clone())).collect(),
            host_channels: of_hosts.map(|it| (it.from.node, it.from.port)).collect(),
            changes: simulation.scenario.changes(),
        }
    }

    /// The name of a node.
    pub(crate) fn name(&self, node: NodeId) -> &str {
        &self.names[node.0 as usize]
    }

    /// The channel on which a record's packet was sent.
    pub(crate) fn channel(&self, record: &Record) -> &str {
        self.channels.get(&(record.node, record.port)).map_or("", |name| name)
    }
}
