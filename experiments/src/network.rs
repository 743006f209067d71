//! The switches of a simulated network as controllers know them.
//!
//! What enters: a topology of the simulator with leaves first and then spines, rates of ports. What leaves: for each
//! switch its place.

use sim::topology::{NodeRef, Topology};
use sim::wire::Mac;
use te::{Behind, Place, Port, Prefix};

/// Bits that the addresses of the hosts of a generated leaf have in common (`sim::topology`): fd00:LEAF::/32 and
/// 10.LEAF.0.0/16.
const LEAF_BITS: [(bool, u32); 2] = [(true, 32), (false, 16)];

/// What leaves by a port at most, and what comes in, in units of meters.
pub type RateOf<'a> = &'a dyn Fn(NodeRef, NodeRef) -> u64;

/// The places of all switches.
pub fn places(topology: &Topology, rate: RateOf<'_>) -> Vec<Place> {
    (0..topology.switches.len()).map(|switch| place(topology, switch, rate)).collect()
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

fn place(topology: &Topology, switch: usize, rate: RateOf<'_>) -> Place {
    let own = NodeRef::Switch(switch);
    let has_hosts = is_leaf(topology, switch);
    let port = |(number, peer, peer_port): (u32, NodeRef, u32)| {
        let (behind, prefixes, mac) = match peer {
            NodeRef::Host(host) => {
                let host = &topology.hosts[host];
                let whole = host.addresses.iter().map(|it| Prefix::new(it.ip, if it.ip.is_ipv6() { 128 } else { 32 }));
                (Behind::Host, whole.collect(), host.mac)
            }
            NodeRef::Switch(other) if has_hosts => (Behind::Up, Vec::new(), Topology::port_mac(other, peer_port)),
            NodeRef::Switch(other) => {
                (Behind::Down, leaf_prefixes(topology, other), Topology::port_mac(other, peer_port))
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
    let leaves = (0..topology.switches.len()).filter(|other| is_leaf(topology, *other));
    Place {
        ports: neighbours(topology, switch).map(port).collect(),
        common: vec![Prefix::new("fd00::".parse().expect("an address"), 16), v4_common()],
        leaf: has_hosts.then_some(switch as u32 + 1),
        leaves: leaves
            .flat_map(|leaf| leaf_prefixes(topology, leaf).into_iter().map(move |it| (leaf as u32 + 1, it)))
            .collect(),
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
