//! From nodes and links to partitions.

mod divide;

use crate::channel::{ChannelConfig, Flights, Transmitter};
use crate::events::{EventQueue, EventQueues, Source};
use crate::network::parallel::Windows;
use crate::network::partition::{Partition, Slot};
use crate::network::shared_state::{Peer, SharedState};
use crate::network::{Channel, Location, Network};
use crate::node::Node;
use crate::packet::Pool;
use crate::record::Log;
use crate::time::Time;
use base::OrderedMap;

/// A node, by the order in which nodes were added.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct NodeId(pub u32);

/// A port of a node, by the order in which links were added to the node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PortId {
    /// The node.
    pub node: NodeId,
    /// Its port.
    pub port: usize,
}

/// A network that is being put together.
#[derive(Default)]
pub struct NetworkBuilder {
    names: Vec<String>,
    nodes: Vec<Option<Box<dyn Node>>>,
    /// By node, by port: the other end.
    ports: Vec<Vec<PortId>>,
    links: Vec<Link>,
}

struct Link {
    ends: [PortId; 2],
    /// From the first end to the second, and back.
    configs: [ChannelConfig; 2],
    /// Whether it is none of the network's own links: nothing is measured there.
    is_beside: bool,
}

impl NetworkBuilder {
    /// Adds a node of this name, which comes later ([`NetworkBuilder::place`]): what a node is may depend on its links.
    pub fn add(&mut self, name: &str) -> NodeId {
        self.names.push(name.to_owned());
        self.nodes.push(None);
        self.ports.push(Vec::new());
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Puts a node in its place.
    pub fn place(&mut self, id: NodeId, node: Box<dyn Node>) {
        self.nodes[id.0 as usize] = Some(node);
    }

    /// Joins two nodes, with the properties of the channel from `a` to `b` and of the one back. Each of them gets its
    /// next port.
    pub fn link(&mut self, a: NodeId, b: NodeId, configs: [ChannelConfig; 2]) -> [PortId; 2] {
        self.add_link(a, b, configs, false)
    }

    /// The same for a link beside the network, to a controller. It is no channel of
    /// [`Network::channels`]. All such links come after the others.
    pub fn link_beside(&mut self, a: NodeId, b: NodeId, configs: [ChannelConfig; 2]) -> [PortId; 2] {
        self.add_link(a, b, configs, true)
    }

    fn add_link(&mut self, a: NodeId, b: NodeId, configs: [ChannelConfig; 2], is_beside: bool) -> [PortId; 2] {
        let port = |node: NodeId, taken: usize| PortId { node, port: self.ports[node.0 as usize].len() + taken };
        let ends = [port(a, 0), port(b, usize::from(a == b))];
        self.ports[a.0 as usize].push(ends[1]);
        self.ports[b.0 as usize].push(ends[0]);
        self.links.push(Link { ends, configs, is_beside });
        ends
    }

    /// The name of a node.
    pub fn name(&self, node: NodeId) -> &str {
        &self.names[node.0 as usize]
    }

    /// Nodes so far.
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The network, to be run by at most this many threads.
    ///
    /// # Panics
    /// If a node has not been placed.
    pub fn build(mut self, seed: u64, threads: usize) -> Network {
        let parts = divide::divide(&self, threads.max(1));
        let count = 1 + parts.iter().copied().max().unwrap_or(0) as usize;
        let names = self.channel_names();
        let plan = Plan::new(&self, &parts, count);
        let look_ahead = self.look_ahead(&parts);
        let look_aheads = self.look_aheads();
        let mut transmitters = self.transmitters(&names, seed);
        let mut partitions: Vec<Partition> = (0..count).map(|part| plan.empty(part as u32, count)).collect();
        for (node, slot) in self.nodes.iter_mut().enumerate() {
            let partition = &mut partitions[parts[node] as usize];
            let node_box = slot.take().unwrap_or_else(|| panic!("{} has no node", self.names[node]));
            let first_port = partition.shared.transmitters.len() as u32;
            for (port, peer) in self.ports[node].iter().enumerate() {
                let id = PortId { node: NodeId(node as u32), port };
                partition.shared.transmitters.push(transmitters.remove(&id).expect("each port has a channel"));
                partition.shared.flights.add();
                partition.shared.peers.push(plan.peers[peer]);
            }
            let ports = self.ports[node].len();
            partition.shared.events.add(ports);
            let index = partition.slots.len() as u32;
            partition.slots.push(Slot {
                id: node as u32,
                is_end: node_box.is_end(),
                fetches_ports: node_box.fetches_ports(),
                node: node_box,
                first_port,
                ports: ports as u32,
                next_timer: Time::MAX,
                look_ahead: look_aheads[node],
            });
            partition.touched.push(index);
        }
        let channels = self.channels(&names, &plan);
        Network { partitions, look_ahead, now: Time::ZERO, nodes: plan.locations, channels }
    }

    /// Directions of links: sender, receiver, properties.
    fn directions(&self) -> impl Iterator<Item = (PortId, PortId, &ChannelConfig)> {
        self.links.iter().flat_map(|link| {
            let [a, b] = link.ends;
            [(a, b, &link.configs[0]), (b, a, &link.configs[1])]
        })
    }

    /// A name for each direction, with ports where two nodes have several links.
    fn channel_names(&self) -> Vec<String> {
        let mut counts = OrderedMap::new();
        self.directions().for_each(|(from, to, _)| *counts.entry((from.node, to.node)).or_insert(0) += 1);
        let name = |(from, to, _): (PortId, PortId, &ChannelConfig)| match counts[&(from.node, to.node)] {
            1 => format!("{}>{}", self.name(from.node), self.name(to.node)),
            _ => format!("{}:{}>{}:{}", self.name(from.node), from.port, self.name(to.node), to.port),
        };
        self.directions().map(name).collect()
    }

    fn transmitters(&self, names: &[String], seed: u64) -> OrderedMap<PortId, Transmitter> {
        let make = |((from, _, config), name): ((PortId, PortId, &ChannelConfig), &String)| {
            (from, Transmitter::new(config.clone(), name, seed))
        };
        self.directions().zip(names).map(make).collect()
    }

    fn channels(&self, names: &[String], plan: &Plan) -> Vec<Channel> {
        let channel = |((from, to, _), name): ((PortId, PortId, &ChannelConfig), &String)| {
            let Peer { partition, port, .. } = plan.peers[&from];
            Channel { name: name.clone(), from, to, partition, port }
        };
        let own = 2 * self.links.iter().take_while(|link| !link.is_beside).count();
        self.directions().zip(names).take(own).map(channel).collect()
    }

    /// The least latency of the channels to each node.
    fn look_aheads(&self) -> Vec<Time> {
        let mut least = vec![Time::MAX; self.nodes.len()];
        for (_, to, config) in self.directions() {
            let least = &mut least[to.node.0 as usize];
            *least = config.latency_min().min(*least);
        }
        least
    }

    /// The least latency between two parts.
    fn look_ahead(&self, parts: &[u32]) -> Time {
        let is_cut = |a: PortId, b: PortId| parts[a.node.0 as usize] != parts[b.node.0 as usize];
        let cut = self.directions().filter(|(from, to, _)| is_cut(*from, *to));
        cut.map(|(.., config)| config.delay).min().unwrap_or(Time::MAX)
    }
}

/// Where everything will be.
struct Plan {
    locations: Vec<Location>,
    /// For each port: its partition, its number there, and the source of its arrivals.
    peers: OrderedMap<PortId, Peer>,
    /// By partition: how many nodes.
    nodes: Vec<usize>,
}

impl Plan {
    fn new(builder: &NetworkBuilder, parts: &[u32], count: usize) -> Plan {
        let (mut nodes, mut ports) = (vec![0usize; count], vec![0u32; count]);
        let mut plan = Plan { locations: Vec::new(), peers: OrderedMap::new(), nodes: Vec::new() };
        for (node, &partition) in parts.iter().enumerate() {
            let part = partition as usize;
            let index = nodes[part] as u32;
            plan.locations.push(Location { partition, index });
            nodes[part] += 1;
            for port in 0..builder.ports[node].len() {
                let id = PortId { node: NodeId(node as u32), port };
                plan.peers.insert(id, Peer { partition, port: ports[part], node: index, source: port as Source });
                ports[part] += 1;
            }
        }
        Plan { nodes, ..plan }
    }

    fn empty(&self, partition: u32, count: usize) -> Partition {
        let shared = SharedState {
            now: Time::ZERO,
            pool: Pool::default(),
            events: EventQueues::default(),
            turns: EventQueue::new(self.nodes[partition as usize]),
            transmitters: Vec::new(),
            peers: Vec::new(),
            flights: Flights::default(),
            partition,
            log: Log::default(),
            outboxes: (0..count).map(|_| Vec::new()).collect(),
        };
        Partition {
            slots: Vec::new(),
            shared,
            events: 0,
            windows: Windows::default(),
            touched: Vec::new(),
            arrivals: Vec::new(),
        }
    }
}
