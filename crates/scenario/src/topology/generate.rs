//! Generators of topologies.
//!
//! Ports are numbered from 1: first those of hosts, then those to other switches, in the order of their numbers.

use crate::topology::{NodeRef, Topology, TopologyLink, TopologySwitch};
use sim::time::Time;
use std::fmt;

/// The most hosts, switches or ports of a switch that are generated: what addresses have numbers for.
const HOSTS_PER_SWITCH_MAX: u32 = 254;
const SWITCHES_MAX: u32 = 4_000;

/// The rate and the delay of a kind of links, if they are given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LinkKind {
    /// Bits per second.
    pub bits_per_s: Option<u64>,
    /// Propagation delay.
    pub delay: Option<Time>,
}

/// The form of a topology.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// `pairs` hosts on the left at switch s1, as many on the right at s2, and a link between the switches.
    Dumbbell {
        /// Hosts on each side.
        pairs: u32,
    },
    /// Hosts at one switch.
    Star {
        /// The hosts.
        hosts: u32,
    },
    /// Switches one after the other, each with the same number of hosts.
    Chain {
        /// The switches.
        switches: u32,
        /// Hosts of each.
        hosts_per_switch: u32,
    },
    /// Leaves with hosts, each joined to all spines. Leaves are the switches s1, s2, ...; spines follow.
    LeafSpine {
        /// The leaves.
        leaves: u32,
        /// The spines.
        spines: u32,
        /// Hosts of each leaf.
        hosts_per_leaf: u32,
    },
    /// Three layers of switches with k ports (Al-Fares et al., SIGCOMM 2008): k pods of k/2 edge and k/2 aggregation
    /// switches, (k/2)^2 core switches, k^3/4 hosts. Edge switches come first, then aggregation, then core.
    FatTree {
        /// Ports of each switch.
        k: u32,
    },
}

/// Why a topology cannot be generated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShapeError(String);

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ShapeError {}

/// A topology that grows.
struct Draft {
    topology: Topology,
    /// The last port of each switch that has a link.
    ports: Vec<u32>,
    near: LinkKind,
    far: LinkKind,
}

impl Shape {
    /// The topology, with links of the kind `near` to hosts and `far` between switches.
    pub fn generate(&self, near: LinkKind, far: LinkKind) -> Result<Topology, ShapeError> {
        let mut draft = Draft { topology: Topology::default(), ports: Vec::new(), near, far };
        match *self {
            Shape::Dumbbell { pairs } => draft.chain(2, pairs)?,
            Shape::Star { hosts } => draft.chain(1, hosts)?,
            Shape::Chain { switches, hosts_per_switch } => draft.chain(switches, hosts_per_switch)?,
            Shape::LeafSpine { leaves, spines, hosts_per_leaf } => draft.leaf_spine(leaves, spines, hosts_per_leaf)?,
            Shape::FatTree { k } => draft.fat_tree(k)?,
        }
        Ok(draft.topology)
    }
}

impl Draft {
    /// Adds `count` switches, of which the first `with_hosts` have `hosts` hosts each.
    fn switches(&mut self, count: u32, with_hosts: u32, hosts: u32) -> Result<(), ShapeError> {
        if with_hosts == 0 || hosts == 0 {
            return Err(ShapeError("a topology has at least one switch with a host".to_owned()));
        }
        if hosts > HOSTS_PER_SWITCH_MAX || count > SWITCHES_MAX {
            let message = format!(
                "{count} switches with {hosts} hosts each: the most are {SWITCHES_MAX} switches and \
                 {HOSTS_PER_SWITCH_MAX} hosts at one of them"
            );
            return Err(ShapeError(message));
        }
        for switch in 0..count {
            self.topology.switches.push(TopologySwitch { name: format!("s{}", switch + 1), ..Default::default() });
            self.ports.push(0);
        }
        for switch in 0..with_hosts as usize {
            for host in 1..=hosts {
                let name = format!("h{}", self.topology.hosts.len() + 1);
                self.topology.add_host(name, switch, host, host);
                let host = NodeRef::Host(self.topology.hosts.len() - 1);
                let port = self.port(switch);
                let LinkKind { bits_per_s, delay } = self.near;
                let ends = [(host, 0), (NodeRef::Switch(switch), port)];
                self.topology.links.push(TopologyLink { ends, bits_per_s, delay });
            }
        }
        Ok(())
    }

    fn port(&mut self, switch: usize) -> u32 {
        self.ports[switch] += 1;
        self.ports[switch]
    }

    fn join(&mut self, a: u32, b: u32) {
        let ends = [a, b].map(|switch| (NodeRef::Switch(switch as usize), self.port(switch as usize)));
        let LinkKind { bits_per_s, delay } = self.far;
        self.topology.links.push(TopologyLink { ends, bits_per_s, delay });
    }

    fn chain(&mut self, switches: u32, hosts: u32) -> Result<(), ShapeError> {
        self.switches(switches, switches, hosts)?;
        (1..switches).for_each(|switch| self.join(switch - 1, switch));
        Ok(())
    }

    fn leaf_spine(&mut self, leaves: u32, spines: u32, hosts: u32) -> Result<(), ShapeError> {
        if spines == 0 {
            return Err(ShapeError("a leaf-spine has at least one spine".to_owned()));
        }
        self.switches(leaves.saturating_add(spines), leaves, hosts)?;
        for leaf in 0..leaves {
            (0..spines).for_each(|spine| self.join(leaf, leaves + spine));
        }
        Ok(())
    }

    fn fat_tree(&mut self, k: u32) -> Result<(), ShapeError> {
        if k < 2 || !k.is_multiple_of(2) || k > 48 {
            return Err(ShapeError(format!(
                "a fat-tree of switches with {k} ports: write an even number from 2 to 48"
            )));
        }
        let half = k / 2;
        let edges = k * half;
        self.switches(2 * edges + half * half, edges, half)?;
        for pod in 0..k {
            for edge in 0..half {
                (0..half).for_each(|aggregation| self.join(pod * half + edge, edges + pod * half + aggregation));
            }
        }
        for pod in 0..k {
            for aggregation in 0..half {
                let cores = 2 * edges + aggregation * half;
                (0..half).for_each(|core| self.join(edges + pod * half + aggregation, cores + core));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::OrderedSet;

    fn counts(shape: Shape) -> [usize; 3] {
        let topology = shape.generate(LinkKind::default(), LinkKind::default()).unwrap();
        let macs: OrderedSet<_> = topology.hosts.iter().map(|host| host.mac).collect();
        let ips: OrderedSet<_> = topology.hosts.iter().flat_map(|host| &host.addresses).map(|it| it.ip).collect();
        assert_eq!((macs.len(), ips.len()), (topology.hosts.len(), 2 * topology.hosts.len()));
        let ends: OrderedSet<_> = topology.links.iter().flat_map(|link| link.ends).collect();
        assert_eq!(ends.len(), 2 * topology.links.len());
        [topology.hosts.len(), topology.switches.len(), topology.links.len()]
    }

    #[test]
    fn shapes_have_their_parts() {
        assert_eq!(counts(Shape::Dumbbell { pairs: 3 }), [6, 2, 7]);
        assert_eq!(counts(Shape::Star { hosts: 5 }), [5, 1, 5]);
        assert_eq!(counts(Shape::Chain { switches: 4, hosts_per_switch: 1 }), [4, 4, 7]);
        assert_eq!(counts(Shape::LeafSpine { leaves: 4, spines: 2, hosts_per_leaf: 4 }), [16, 6, 24]);
        assert_eq!(counts(Shape::FatTree { k: 4 }), [16, 20, 48]);
        assert_eq!(counts(Shape::FatTree { k: 16 }), [1_024, 320, 3_072]);
        assert_eq!(counts(Shape::LeafSpine { leaves: 600, spines: 1, hosts_per_leaf: 2 })[0], 1_200);
    }

    #[test]
    fn impossible_shapes_are_refused() {
        for shape in [
            Shape::Star { hosts: 0 },
            Shape::Star { hosts: 255 },
            Shape::Chain { switches: 0, hosts_per_switch: 1 },
            Shape::Chain { switches: u32::MAX, hosts_per_switch: 1 },
            Shape::LeafSpine { leaves: 2, spines: 0, hosts_per_leaf: 1 },
            Shape::LeafSpine { leaves: u32::MAX, spines: 2, hosts_per_leaf: 1 },
            Shape::FatTree { k: 3 },
            Shape::FatTree { k: 1_000 },
        ] {
            assert!(shape.generate(LinkKind::default(), LinkKind::default()).is_err(), "{shape:?}");
        }
    }
}
