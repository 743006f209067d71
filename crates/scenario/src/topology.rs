//! Topologies: which hosts and switches there are, and which links join them.
//!
//! What enters: the parameters of a generator ([`generate`]), or a topology file as `wirespeed net` reads it
//! ([`mod@file`]). What leaves: a [`Topology`] with addresses for all hosts; [`routes`] computes shortest paths in it.

pub mod file;
pub mod generate;
mod links;
pub mod routes;

pub use generate::{Shape, ShapeError};
pub use links::Links;

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use sim::host::HostAddress;
use sim::time::Time;
use sim::wire::Mac;

/// A network as it is described.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// The file that describes it; programs and entries that it names may be beside it.
    pub file: Option<String>,
    /// The hosts.
    pub hosts: Vec<TopologyHost>,
    /// The switches.
    pub switches: Vec<TopologySwitch>,
    /// The links.
    pub links: Vec<TopologyLink>,
    /// What a file has that makes no difference here.
    pub warnings: Vec<String>,
}

/// A host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyHost {
    /// Its name.
    pub name: String,
    /// Its Ethernet address.
    pub mac: Mac,
    /// Its addresses.
    pub addresses: Vec<HostAddress>,
    /// Its routers.
    pub gateways: Vec<IpAddr>,
    /// Neighbours that it knows from the start.
    pub neighbours: Vec<(IpAddr, Mac)>,
}

/// A switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TopologySwitch {
    /// Its name.
    pub name: String,
    /// Its program, if the topology names one.
    pub program: Option<String>,
    /// Files of its entries.
    pub entries: Vec<String>,
}

/// A node by its kind and position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NodeRef {
    /// A host.
    Host(usize),
    /// A switch.
    Switch(usize),
}

impl NodeRef {
    /// The position of a switch.
    pub fn switch(&self) -> Option<usize> {
        match *self {
            NodeRef::Host(_) => None,
            NodeRef::Switch(switch) => Some(switch),
        }
    }
}

/// A link. Its ends have numbers: those of a switch's ports as its program knows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopologyLink {
    /// The ends with their port numbers.
    pub ends: [(NodeRef, u32); 2],
    /// Bits per second, if the topology sets it.
    pub bits_per_s: Option<u64>,
    /// Propagation delay, if the topology sets it.
    pub delay: Option<Time>,
}

impl Topology {
    /// The name of a node.
    pub fn name(&self, node: NodeRef) -> &str {
        match node {
            NodeRef::Host(index) => &self.hosts[index].name,
            NodeRef::Switch(index) => &self.switches[index].name,
        }
    }

    /// The node of this name.
    pub fn find(&self, name: &str) -> Option<NodeRef> {
        let host = self.hosts.iter().position(|host| host.name == name).map(NodeRef::Host);
        host.or_else(|| self.switches.iter().position(|switch| switch.name == name).map(NodeRef::Switch))
    }

    /// The links at a node: position of the link, which of its ends.
    pub fn links_at(&self, node: NodeRef) -> impl Iterator<Item = (usize, usize)> {
        let at = move |(link, it): (usize, &TopologyLink)| {
            let ends = it.ends.map(|(end, _)| end == node);
            ends.into_iter().enumerate().filter(|(_, is_here)| *is_here).map(move |(end, _)| (link, end))
        };
        self.links.iter().enumerate().flat_map(at)
    }

    /// The Ethernet address of a switch's port.
    pub fn port_mac(switch: usize, port: u32) -> Mac {
        let ([.., a, b], [.., c, d]) = ((switch as u32 + 1).to_be_bytes(), port.to_be_bytes());
        Mac([0x02, 0x01, a, b, c, d])
    }

    /// Adds a host at a switch's port: both in networks of their own, which follow from the numbers of the switch and
    /// of the host there (both from 1). The host knows the switch's address.
    pub(crate) fn add_host(&mut self, name: String, switch: usize, host: u32, port: u32) {
        let number = switch as u32 + 1;
        let first = 10 + (number >> 8) as u8;
        let v4 = |last| IpAddr::V4(Ipv4Addr::new(first, number as u8, host as u8, last));
        let v6 = |last| IpAddr::V6(Ipv6Addr::new(0xfd00, number as u16, host as u16, 0, 0, 0, 0, last));
        let gateways = vec![v4(1), v6(1)];
        let mac = Topology::port_mac(switch, port);
        let [.., a, b] = number.to_be_bytes();
        self.hosts.push(TopologyHost {
            name,
            mac: Mac([0x02, 0x00, a, b, (host >> 8) as u8, host as u8]),
            addresses: vec![HostAddress { ip: v4(2), prefix_bits: 24 }, HostAddress { ip: v6(2), prefix_bits: 64 }],
            neighbours: gateways.iter().map(|gateway| (*gateway, mac)).collect(),
            gateways,
        });
    }
}
