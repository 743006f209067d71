//! The links at each node.

use crate::topology::{NodeRef, Topology};

/// The links at each node of a topology, found in one pass: [`Topology::links_at`] looks at all links for one node.
pub struct Links {
    hosts: Vec<Vec<(usize, usize)>>,
    switches: Vec<Vec<(usize, usize)>>,
}

impl Links {
    /// Those of all nodes.
    pub fn new(topology: &Topology) -> Links {
        let mut links = Links {
            hosts: vec![Vec::new(); topology.hosts.len()],
            switches: vec![Vec::new(); topology.switches.len()],
        };
        for (link, it) in topology.links.iter().enumerate() {
            for (end, (node, _)) in it.ends.iter().enumerate() {
                match *node {
                    NodeRef::Host(host) => links.hosts[host].push((link, end)),
                    NodeRef::Switch(switch) => links.switches[switch].push((link, end)),
                }
            }
        }
        links
    }

    /// The links at a node, in the order of [`Topology::links_at`]: position of the link, which of its ends.
    pub fn at(&self, node: NodeRef) -> &[(usize, usize)] {
        match node {
            NodeRef::Host(host) => &self.hosts[host],
            NodeRef::Switch(switch) => &self.switches[switch],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::generate::{LinkKind, Shape};

    #[test]
    fn they_are_those_that_a_search_finds() {
        let topology = Shape::FatTree { k: 4 }.generate(LinkKind::default(), LinkKind::default()).unwrap();
        let links = Links::new(&topology);
        let hosts = (0..topology.hosts.len()).map(NodeRef::Host);
        for node in hosts.chain((0..topology.switches.len()).map(NodeRef::Switch)) {
            assert_eq!(links.at(node), topology.links_at(node).collect::<Vec<_>>());
        }
    }
}
