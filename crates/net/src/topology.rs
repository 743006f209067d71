//! The topology files of the P4 tutorials.
//!
//! ```text
//! {
//!   "hosts": {
//!     "h1": { "ip": "10.0.1.1/24", "mac": "08:00:00:00:01:11", "commands": ["route add default gw 10.0.1.10"] }
//!   },
//!   "switches": {
//!     "s1": { "runtime_json": "s1-runtime.json", "cli_input": "s1-commands.txt", "program": "build/basic.json" }
//!   },
//!   "links": [ ["h1", "s1-p1"], ["s1-p2", "s2-p2", "5ms", 0.5] ]
//! }
//! ```
//!
//! A link has two ends. It may also have a delay (a number of milliseconds, or text with a unit) and a bandwidth
//! limit in megabits per second. `s1-p3` is port 3 of switch `s1`.
//!
//! Older forms are accepted, too. Hosts and switches may be lists of names, or of objects with a `name`. A link may
//! be an object. An end may omit the port: links between hosts and switches are numbered first, then those between
//! switches, both in the order of their names. A host without an address gets one from the numbers in the names: host
//! `h2` at switch `s1` has the addresses 10.0.1.2/24 and 00:00:00:00:01:02, and the gateway 10.0.1.254.
//!
//! A file is read to its end: all errors are reported, each with its line.

mod addresses;
mod read;

pub use addresses::{Address, Mac};

use crate::located::Fault;
use live::Wire;
use std::fmt;

/// The longest name of a Linux interface, in bytes.
const INTERFACE_NAME_BYTES_MAX: usize = 15;

/// A network as a file describes it.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// The hosts, in the order of the file.
    pub hosts: Vec<Host>,
    /// The switches, in the order of the file.
    pub switches: Vec<Switch>,
    /// The links, in the order of the file.
    pub links: Vec<Link>,
    /// Irregularities that do not prevent the network from being built.
    pub warnings: Vec<Fault>,
}

/// A host.
#[derive(Clone, Debug)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// The line of its declaration.
    pub line: u32,
    /// The address of its first interface.
    pub address: Option<Address>,
    /// The Ethernet address of its first interface.
    pub mac: Option<Mac>,
    /// The gateway for everything outside its own network, with a static ARP entry. Only old forms of the file set
    /// it.
    pub gateway: Option<Address>,
    /// Commands that the host runs at the start.
    pub commands: Vec<String>,
}

/// A switch.
#[derive(Clone, Debug)]
pub struct Switch {
    /// Its name.
    pub name: String,
    /// The line of its declaration.
    pub line: u32,
    /// Its program, if the file names one.
    pub program: Option<String>,
    /// The file of its entries as runtime JSON.
    pub runtime_json: Option<String>,
    /// The file of its entries as commands.
    pub cli_input: Option<String>,
    /// The port on which it exchanges packets with a controller.
    pub cpu_port: Option<u32>,
    /// The number of queues per port.
    pub priority_queues: Option<u8>,
}

/// A node of the network: a host or a switch, by its position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NodeId {
    /// A host.
    Host(usize),
    /// A switch.
    Switch(usize),
}

/// An end of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// The node.
    pub node: NodeId,
    /// The port of a switch, or the number of a host's interface.
    pub port: u32,
    /// The name of the interface.
    pub interface: String,
}

/// A link.
#[derive(Clone, Debug)]
pub struct Link {
    /// The line of its declaration.
    pub line: u32,
    /// Its ends, in the order of the file.
    pub ends: [End; 2],
    /// Its delay and bandwidth.
    pub wire: Wire,
}

impl Topology {
    /// Parses the text of a file. Errors are in the order of their lines.
    pub fn parse(text: &str) -> Result<Topology, Vec<Fault>> {
        read::topology(text)
    }

    /// The node of this name.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        let host = self.hosts.iter().position(|host| host.name == name).map(NodeId::Host);
        host.or_else(|| self.switches.iter().position(|switch| switch.name == name).map(NodeId::Switch))
    }

    /// The name of a node.
    pub fn name(&self, node: NodeId) -> &str {
        match node {
            NodeId::Host(index) => &self.hosts[index].name,
            NodeId::Switch(index) => &self.switches[index].name,
        }
    }

    /// All nodes, hosts first.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.hosts.len()).map(NodeId::Host).chain((0..self.switches.len()).map(NodeId::Switch))
    }

    /// The link ends at a node with the properties of their links, in the order of their ports.
    pub fn ends_at(&self, node: NodeId) -> Vec<(&End, Wire)> {
        let at = |link: &'_ Link| link.ends.each_ref().map(|_| link.wire);
        let ends = self.links.iter().flat_map(|link| link.ends.iter().zip(at(link)));
        let mut ends: Vec<(&End, Wire)> = ends.filter(|(end, _)| end.node == node).collect();
        ends.sort_by_key(|(end, _)| end.port);
        ends
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.interface)
    }
}

/// The name of an interface. A switch's interfaces begin with the switch's name, as users expect, if the name is
/// short enough for Linux.
fn interface_name(node: NodeId, name: &str, port: u32) -> String {
    let short = format!("eth{port}");
    let long = format!("{name}-{short}");
    match node {
        NodeId::Switch(_) if long.len() <= INTERFACE_NAME_BYTES_MAX => long,
        _ => short,
    }
}

#[cfg(test)]
mod tests;
