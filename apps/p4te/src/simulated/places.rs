//! The switches of a simulated network as controllers know them.
//!
//! What enters: a topology of the simulator in layers (leaf-spine, fat-tree), rates of ports, links that are down. What
//! leaves: for each switch its place.

use scenario::topology::{NodeRef, Topology};
use sim::wire::Mac;
use te::{Behind, Place, Port, Prefix};

/// Bits that the addresses of the hosts of a generated leaf have in common (`scenario::topology`): fd00:LEAF::/32 and
/// 10.LEAF.0.0/16.
const LEAF_BITS: [(bool, u32); 2] = [(true, 32), (false, 16)];

/// What leaves by a port at most, and what comes in, in units of meters.
pub type RateOf<'a> = &'a dyn Fn(NodeRef, NodeRef) -> u64;

/// The places of all switches, and which of their links are down.
pub fn places(topology: &Topology, rate: RateOf<'_>, failed: &[(usize, usize)]) -> Vec<Place> {
    let layers = layers(topology);
    let network = Network { topology, layers, failed };
    (0..topology.switches.len()).map(|switch| network.place(switch, rate)).collect()
}

/// Whether a switch has hosts.
pub fn is_leaf(topology: &Topology, switch: usize) -> bool {
    neighbours(topology, switch).any(|(_, peer, _)| matches!(peer, NodeRef::Host(_)))
}

/// The ports of a switch: number, who is behind it, and the number of the port there.
fn neighbours(topology: &Topology, switch: usize) -> impl Iterator<Item = (u32, NodeRef, u32)> {
    topology.links_at(NodeRef::Switch(switch)).map(|(link, end)| {
        let ends = topology.links[link].ends;
        (ends[end].1, ends[1 - end].0, ends[1 - end].1)
    })
}

/// How far each switch is from hosts: 0 for leaves.
fn layers(topology: &Topology) -> Vec<usize> {
    let mut layers: Vec<usize> =
        (0..topology.switches.len()).map(|it| if is_leaf(topology, it) { 0 } else { usize::MAX }).collect();
    for layer in 0..layers.len() {
        for switch in (0..layers.len()).filter(|it| layers[*it] == layer).collect::<Vec<_>>() {
            for (_, peer, _) in neighbours(topology, switch) {
                if let NodeRef::Switch(other) = peer
                    && layers[other] == usize::MAX
                {
                    layers[other] = layer + 1;
                }
            }
        }
    }
    layers
}

/// A topology with its layers and the links between two switches that are down.
struct Network<'a> {
    topology: &'a Topology,
    layers: Vec<usize>,
    failed: &'a [(usize, usize)],
}

impl Network<'_> {
    fn place(&self, switch: usize, rate: RateOf<'_>) -> Place {
        let own = NodeRef::Switch(switch);
        let topology = self.topology;
        let has_hosts = self.layers[switch] == 0;
        let port = |(number, peer, peer_port): (u32, NodeRef, u32)| {
            let (behind, prefixes, mac) = match peer {
                NodeRef::Host(host) => {
                    let host = &topology.hosts[host];
                    let whole = host.addresses.iter();
                    let whole = whole.map(|it| Prefix::new(it.ip, if it.ip.is_ipv6() { 128 } else { 32 }));
                    (Behind::Host, whole.collect(), host.mac)
                }
                NodeRef::Switch(other) if self.layers[other] > self.layers[switch] => {
                    (Behind::Up, Vec::new(), Topology::port_mac(other, peer_port))
                }
                NodeRef::Switch(other) => {
                    let below = self.leaves_below(other);
                    let prefixes = below.into_iter().flat_map(|leaf| leaf_prefixes(topology, leaf)).collect();
                    (Behind::Down, prefixes, Topology::port_mac(other, peer_port))
                }
            };
            Port {
                number,
                behind,
                units_per_s: rate(own, peer),
                units_per_s_in: rate(peer, own),
                prefixes,
                addresses: [number_of(Topology::port_mac(switch, number)), number_of(mac)],
            }
        };
        let leaves = (0..topology.switches.len()).filter(|other| self.layers[*other] == 0);
        Place {
            ports: neighbours(topology, switch).map(port).collect(),
            common: vec![Prefix::new("fd00::".parse().expect("an address"), 16), v4_common()],
            leaf: has_hosts.then_some(switch as u32 + 1),
            leaves: leaves
                .flat_map(|leaf| leaf_prefixes(topology, leaf).into_iter().map(move |it| (leaf as u32 + 1, it)))
                .collect(),
            unreachable: self.unreachable(switch),
        }
    }

    /// The leaves that a switch leads down to.
    fn leaves_below(&self, switch: usize) -> Vec<usize> {
        if self.layers[switch] == 0 {
            return vec![switch];
        }
        let below = neighbours(self.topology, switch).filter_map(|(_, peer, _)| match peer {
            NodeRef::Switch(other) if self.layers[other] < self.layers[switch] => Some(other),
            _ => None,
        });
        let mut leaves: Vec<usize> = below.flat_map(|other| self.leaves_below(other)).collect();
        leaves.sort_unstable();
        leaves.dedup();
        leaves
    }

    fn is_down(&self, a: usize, b: usize) -> bool {
        self.failed.iter().any(|link| *link == (a, b) || *link == (b, a))
    }

    /// The leaves that cannot be reached by ports that lead up, as a link there is down: of two layers, the switches
    /// that are one above.
    fn unreachable(&self, switch: usize) -> Vec<(u32, u32)> {
        let up = neighbours(self.topology, switch).filter_map(|(port, peer, _)| match peer {
            NodeRef::Switch(other) if self.layers[other] > self.layers[switch] => Some((port, other)),
            _ => None,
        });
        let lost = |(port, above): (u32, usize)| {
            let own_is_down = self.is_down(switch, above);
            let leaves = self.leaves_below(above).into_iter();
            let lost = leaves.filter(move |leaf| *leaf != switch && (own_is_down || self.is_down(*leaf, above)));
            lost.map(move |leaf| (leaf as u32 + 1, port)).collect::<Vec<_>>()
        };
        if self.failed.is_empty() { Vec::new() } else { up.flat_map(lost).collect() }
    }
}

fn v4_common() -> Prefix {
    Prefix::new("10.0.0.0".parse().expect("an address"), 8)
}

/// What the addresses of a leaf's hosts begin with.
fn leaf_prefixes(topology: &Topology, leaf: usize) -> Vec<Prefix> {
    let host = neighbours(topology, leaf).find_map(|(_, peer, _)| match peer {
        NodeRef::Host(host) => Some(host),
        NodeRef::Switch(_) => None,
    });
    let addresses = host.map(|host| &topology.hosts[host].addresses[..]).unwrap_or_default();
    let prefix = |ip: core::net::IpAddr| {
        let bits = LEAF_BITS.iter().find(|(is_v6, _)| *is_v6 == ip.is_ipv6()).map_or(0, |(_, bits)| *bits);
        Prefix::new(ip, bits)
    };
    addresses.iter().map(|it| prefix(it.ip)).collect()
}

fn number_of(mac: Mac) -> u64 {
    mac.0.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
