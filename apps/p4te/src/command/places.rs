//! The places of switches in a topology as `wirespeed net` reads it.
//!
//! What enters: a topology. What leaves: for each switch its ports, which lead to hosts, down or up. A switch is the
//! higher, the farther it is from its nearest host. Down are the hosts that are reached without going up.

use base::OrderedSet;
use net::Topology;
use net::topology::NodeId;
use te::{Behind, Place, Port, Prefix};

/// What a link carries for which the topology says nothing, in bits a second.
const RATE_DEFAULT: u64 = 1_000_000_000;

/// The places of all switches, in the order of the topology.
pub fn places(topology: &Topology) -> Vec<Place> {
    let heights = heights(topology);
    (0..topology.switches.len()).map(|switch| place(topology, &heights, switch)).collect()
}

/// The links at a node: the own port, who is at the other end, and what the link carries.
fn links(topology: &Topology, node: NodeId) -> Vec<(u32, NodeId, u64)> {
    let of_link = |link: &net::topology::Link| {
        let rate = link.wire.bits_per_s.unwrap_or(RATE_DEFAULT);
        let [a, b] = &link.ends;
        let ends = [(a, b), (b, a)].map(|(own, other)| (own.node == node).then_some((own.port, other.node, rate)));
        ends.into_iter().flatten().collect::<Vec<_>>()
    };
    topology.links.iter().flat_map(of_link).collect()
}

/// How far each switch is from its nearest host; the greatest number for those that reach none.
fn heights(topology: &Topology) -> Vec<usize> {
    let mut heights = vec![usize::MAX; topology.switches.len()];
    for height in 0..=topology.switches.len() {
        for switch in 0..heights.len() {
            let is_next = |node: NodeId| match node {
                NodeId::Host(_) => height == 0,
                NodeId::Switch(other) => height > 0 && heights[other] == height - 1,
            };
            let own = links(topology, NodeId::Switch(switch));
            if heights[switch] == usize::MAX && own.iter().any(|(_, peer, _)| is_next(*peer)) {
                heights[switch] = height;
            }
        }
    }
    heights
}

/// The hosts below a node.
fn below(topology: &Topology, heights: &[usize], node: NodeId, hosts: &mut OrderedSet<usize>) {
    match node {
        NodeId::Host(host) => drop(hosts.insert(host)),
        NodeId::Switch(switch) => {
            for (_, peer, _) in links(topology, node) {
                if is_below(heights, peer, switch) {
                    below(topology, heights, peer, hosts);
                }
            }
        }
    }
}

fn is_below(heights: &[usize], node: NodeId, switch: usize) -> bool {
    match node {
        NodeId::Host(_) => true,
        NodeId::Switch(other) => heights[other] < heights[switch],
    }
}

fn place(topology: &Topology, heights: &[usize], switch: usize) -> Place {
    let port = |(number, peer, bits_per_s): (u32, NodeId, u64)| {
        let behind = match peer {
            NodeId::Host(_) => Behind::Host,
            NodeId::Switch(_) if is_below(heights, peer, switch) => Behind::Down,
            NodeId::Switch(_) => Behind::Up,
        };
        let mut hosts = OrderedSet::new();
        if behind != Behind::Up {
            below(topology, heights, peer, &mut hosts);
        }
        let own = 0x0201_0000_0000 | (switch as u64 + 1) << 8 | u64::from(number);
        let other = match peer {
            NodeId::Host(host) => mac(topology, host),
            NodeId::Switch(_) => own | 0x80,
        };
        let units_per_s = bits_per_s / 8;
        Port {
            number,
            behind,
            units_per_s,
            units_per_s_in: units_per_s,
            prefixes: hosts.iter().filter_map(|host| prefix(topology, *host)).collect(),
            addresses: [own, other],
        }
    };
    let ports = links(topology, NodeId::Switch(switch)).into_iter().map(port).collect();
    let leaf = (heights[switch] == 0).then_some(switch as u32 + 1);
    Place { ports, common: common(topology), leaf, leaves: Vec::new(), unreachable: Vec::new() }
}

/// The Ethernet address of a host.
fn mac(topology: &Topology, host: usize) -> u64 {
    let bytes = topology.hosts[host].mac.map_or([0; 6], |mac| mac.0);
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The address of a host alone.
fn prefix(topology: &Topology, host: usize) -> Option<Prefix> {
    let ip = topology.hosts[host].address?.ip;
    Some(Prefix::new(ip, if ip.is_ipv6() { 128 } else { 32 }))
}

/// What the addresses of all hosts have in common, for each version.
fn common(topology: &Topology) -> Vec<Prefix> {
    let all: Vec<Prefix> = (0..topology.hosts.len()).filter_map(|host| prefix(topology, host)).collect();
    let is_v4 = |prefix: &&Prefix| prefix.address >> 32 == 0xffff;
    let shared = |prefixes: Vec<&Prefix>| {
        let first = prefixes.first()?.address;
        let bits = prefixes.iter().map(|it| (it.address ^ first).leading_zeros()).min()?;
        let mask = if bits == 0 { 0 } else { u128::MAX << (128 - bits) };
        Some(Prefix { address: first & mask, bits })
    };
    let (v4, v6): (Vec<&Prefix>, Vec<&Prefix>) = all.iter().partition(is_v4);
    [shared(v4), shared(v6)].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOPOLOGY: &str = r#"{
        "hosts": {"h1": {"ip": "10.0.1.2/24", "mac": "02:00:00:00:01:02"}, "h2": {"ip": "10.0.2.2/24", "mac": "02:00:00:00:02:02"}},
        "switches": {"l1": {}, "l2": {}, "s1": {}, "s2": {}},
        "links": [["h1", "l1-p1"], ["h2", "l2-p1"], ["l1-p2", "s1-p1", 0, 8], ["l1-p3", "s2-p1"], ["l2-p2", "s1-p2"], ["l2-p3", "s2-p2"]]
    }"#;

    #[test]
    fn switches_are_leaves_or_above() {
        let topology = Topology::parse(TOPOLOGY).unwrap();
        let places = places(&topology);
        let leaves: Vec<bool> = places.iter().map(|place| place.leaf.is_some()).collect();
        assert_eq!(leaves, [true, true, false, false]);
        let ports = |place: &Place| {
            place.ports.iter().map(|port| (port.number, port.behind, port.prefixes.len())).collect::<Vec<_>>()
        };
        assert_eq!(ports(&places[0]), [(1, Behind::Host, 1), (2, Behind::Up, 0), (3, Behind::Up, 0)]);
        assert_eq!(ports(&places[2]), [(1, Behind::Down, 1), (2, Behind::Down, 1)]);
        assert_eq!(places[0].ports[1].units_per_s, 1_000_000);
        // 10.0.1.2 and 10.0.2.2 have 22 bits in common.
        assert_eq!(places[0].common, [Prefix::new("10.0.0.0".parse().unwrap(), 22)]);
        assert_eq!(places[0].ports[0].addresses[1], 0x0200_0000_0102);
    }
}
