//! How hosts are set up: their addresses, and which neighbours they know from the start.
//!
//! What enters: a scenario. What leaves: the settings of one host or of all. There may be many hosts, so neighbours are
//! found by their addresses and not by a search through all.

use crate::resolve::Scenario;
use crate::topology::{Topology, TopologyHost};
use core::net::IpAddr;
use sim::host::{HostAddress, HostConfig};
use sim::wire::Mac;

/// The addresses of all hosts in order, so that those of a network stand together: with the position of the host.
pub(super) struct Stations(Vec<(IpAddr, usize, Mac)>);

impl Stations {
    /// Those of a topology.
    pub(super) fn new(topology: &Topology) -> Stations {
        let of_host = |(index, host): (usize, &TopologyHost)| {
            let mac = host.mac;
            host.addresses.iter().map(|it| (it.ip, index, mac)).collect::<Vec<_>>()
        };
        let mut stations: Vec<_> = topology.hosts.iter().enumerate().flat_map(of_host).collect();
        stations.sort_unstable();
        Stations(stations)
    }

    /// The addresses in the network of one of them.
    fn near(&self, own: HostAddress) -> impl Iterator<Item = &(IpAddr, usize, Mac)> {
        let (before, from) = self.0.split_at(self.0.partition_point(|(ip, ..)| *ip < own.ip));
        let is_near = move |it: &&(IpAddr, usize, Mac)| own.has_in_network(it.0);
        before.iter().rev().take_while(is_near).chain(from.iter().take_while(is_near))
    }

    /// How a host is set up.
    pub(super) fn config(&self, scenario: &Scenario, index: usize) -> HostConfig {
        let host = &scenario.topology.hosts[index];
        let mut neighbours = host.neighbours.clone();
        if !scenario.resolves {
            // Others are behind a gateway: to know them all would take more memory than anything else in a large
            // network.
            let near = host.addresses.iter().flat_map(|own| self.near(*own));
            let mut others: Vec<_> = near.filter(|(_, other, _)| *other != index).collect();
            others.sort_unstable_by_key(|(ip, other, _)| (*other, *ip));
            others.dedup();
            neighbours.extend(others.into_iter().map(|(ip, _, mac)| (*ip, *mac)));
        }
        HostConfig {
            name: host.name.clone(),
            mac: host.mac,
            addresses: host.addresses.clone(),
            gateways: host.gateways.clone(),
            neighbours,
        }
    }
}

/// How a host is set up.
pub fn host_config(scenario: &Scenario, index: usize) -> HostConfig {
    Stations::new(&scenario.topology).config(scenario, index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_know_those_in_their_own_networks_only() {
        let file = r#"{ "hosts": { "a": {"ip": "10.0.0.9/24"}, "b": {"ip": "10.0.1.1/24"}, "c": {"ip": "10.0.0.200/24"},
            "d": {"ip": "9.255.255.255/24"}, "e": {"ip": "10.0.0.1/24"} }, "switches": { "s1": {} },
            "links": [["a", "s1-p1"], ["b", "s1-p2"], ["c", "s1-p3"], ["d", "s1-p4"], ["e", "s1-p5"]] }"#;
        let text = "duration = \"1ms\"\n[topology]\nfile = \"t.json\"\n[hosts]\nresolve = false\n";
        let scenario = Scenario::read(text, &[], &|_| Ok(file.as_bytes().to_vec())).unwrap();
        let known = |name: &str| {
            let index = scenario.topology.hosts.iter().position(|host| host.name == name).unwrap();
            let near = host_config(&scenario, index).neighbours;
            near.iter().map(|(ip, _)| ip.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(known("a"), ["10.0.0.200", "10.0.0.1"]);
        assert_eq!(known("e"), ["10.0.0.9", "10.0.0.200"]);
        assert!(known("b").is_empty() && known("d").is_empty());
    }
}
