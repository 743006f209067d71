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
//! A link has two ends and, if it is not immediate and unlimited, a latency (a number of milliseconds, or text with its
//! unit) and a bandwidth in megabits per second. A switch's port is named `s1-p3`.
//!
//! Older forms are read, too. Hosts and switches may be lists of names, or of objects with a `name`. A link may be an
//! object. Ends may leave out the port: the links between hosts and switches are numbered first, then those between
//! switches, both in the order of their names. A host without an address gets one from the numbers in the names: host
//! `h2` at switch `s1` has 10.0.1.2/24 and 00:00:00:00:01:02, and 10.0.1.254 for its gateway.
//!
//! A file is read to its end: all of its faults are reported, each with its line.

mod addresses;
mod read;

pub use addresses::{Address, Mac};

use crate::located::Fault;
use live::Wire;
use std::fmt;

/// The longest name that Linux gives an interface, in bytes.
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
    /// What is odd but can be worked with.
    pub warnings: Vec<Fault>,
}

/// A host.
#[derive(Clone, Debug)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub line: u32,
    /// The address of its first interface.
    pub address: Option<Address>,
    /// The Ethernet address of its first interface.
    pub mac: Option<Mac>,
    /// What it sends everything to that is not in its own network, without asking for that one's Ethernet address:
    /// hosts of old files have it.
    pub gateway: Option<Address>,
    /// Commands that it runs at the start.
    pub commands: Vec<String>,
}

/// A switch.
#[derive(Clone, Debug)]
pub struct Switch {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub line: u32,
    /// Its program, if the file names one.
    pub program: Option<String>,
    /// Its entries as runtime JSON.
    pub runtime_json: Option<String>,
    /// Its entries as commands.
    pub cli_input: Option<String>,
    /// The port of packets to and from a controller.
    pub cpu_port: Option<u32>,
    /// Queues per port.
    pub priority_queues: Option<u8>,
}

/// What stands at the end of a link: a host or a switch, by its position.
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
    /// Where.
    pub node: NodeId,
    /// The switch's port; the number of the host's interface.
    pub port: u32,
    /// The interface.
    pub interface: String,
}

/// A link.
#[derive(Clone, Debug)]
pub struct Link {
    /// Where it is declared.
    pub line: u32,
    /// Its ends, as they were written.
    pub ends: [End; 2],
    /// What it is like.
    pub wire: Wire,
}

impl Topology {
    /// Reads a file's text. Errors come in the order of their lines.
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

    /// The ends at a node with what their links are like, in the order of their ports.
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

/// The name of an interface. Those of switches begin with the switch's name, as users know them, if that is short
/// enough for Linux.
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
