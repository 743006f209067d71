//! Shortest paths: at each switch, for each host, the ports that lead nearer to it.

use crate::topology::{NodeRef, Topology};
use std::collections::{BTreeMap, VecDeque};

/// Routes of all switches. Hosts are numbers; a switch has a few groups of ports, and for each host one of them.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    /// By switch.
    pub switches: Vec<SwitchRoutes>,
}

/// Routes of one switch.
#[derive(Clone, Debug, Default)]
pub struct SwitchRoutes {
    /// Groups of positions of links at the switch ([`Topology::links_at`]), each in order.
    pub groups: Vec<Vec<usize>>,
    /// For each host its group; the first group is empty: there is no way.
    pub hosts: Vec<u32>,
}

/// The far ends of a switch's links, by position.
type Neighbours = Vec<NodeRef>;

impl Routes {
    /// The shortest paths, counted in links. Hosts do not forward.
    pub fn shortest(topology: &Topology) -> Routes {
        let neighbours: Vec<Neighbours> =
            (0..topology.switches.len()).map(|switch| neighbours(topology, NodeRef::Switch(switch))).collect();
        let mut drafts = vec![Draft::default(); neighbours.len()];
        for host in 0..topology.hosts.len() {
            let distances = distances(topology, &neighbours, host);
            for (switch, draft) in drafts.iter_mut().enumerate() {
                draft.add(nearer(&neighbours[switch], host, distances[switch], &distances));
            }
        }
        let finish = |draft: Draft| {
            let mut groups: Vec<Vec<usize>> = vec![Vec::new(); draft.numbers.len()];
            draft.numbers.into_iter().for_each(|(group, number)| groups[number as usize] = group);
            SwitchRoutes { groups, hosts: draft.hosts }
        };
        Routes { switches: drafts.into_iter().map(finish).collect() }
    }
}

#[derive(Clone)]
struct Draft {
    numbers: BTreeMap<Vec<usize>, u32>,
    hosts: Vec<u32>,
}

impl Default for Draft {
    fn default() -> Draft {
        Draft { numbers: BTreeMap::from([(Vec::new(), 0)]), hosts: Vec::new() }
    }
}

impl Draft {
    fn add(&mut self, group: Vec<usize>) {
        let next = self.numbers.len() as u32;
        self.hosts.push(*self.numbers.entry(group).or_insert(next));
    }
}

fn neighbours(topology: &Topology, node: NodeRef) -> Neighbours {
    topology.links_at(node).map(|(link, end)| topology.links[link].ends[1 - end].0).collect()
}

/// The links that lead to the host itself, or to a switch that is nearer.
fn nearer(neighbours: &Neighbours, host: usize, distance: u32, distances: &[u32]) -> Vec<usize> {
    let leads = |node: &NodeRef| match *node {
        NodeRef::Host(other) => other == host,
        NodeRef::Switch(other) => distances[other] < distance,
    };
    neighbours.iter().enumerate().filter(|(_, node)| leads(node)).map(|(position, _)| position).collect()
}

/// For each switch the links between it and a host.
fn distances(topology: &Topology, neighbours: &[Neighbours], host: usize) -> Vec<u32> {
    let mut distances = vec![u32::MAX; neighbours.len()];
    let start = self::neighbours(topology, NodeRef::Host(host));
    let mut queue: VecDeque<(NodeRef, u32)> = start.into_iter().map(|node| (node, 1)).collect();
    while let Some((node, distance)) = queue.pop_front() {
        if let NodeRef::Switch(switch) = node
            && distances[switch] == u32::MAX
        {
            distances[switch] = distance;
            queue.extend(neighbours[switch].iter().map(|next| (*next, distance + 1)));
        }
    }
    distances
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::generate::{LinkKind, Shape};

    fn group(routes: &Routes, switch: usize, host: usize) -> &[usize] {
        let routes = &routes.switches[switch];
        &routes.groups[routes.hosts[host] as usize]
    }

    #[test]
    fn paths_are_the_shortest_and_all_of_them() {
        let shape = Shape::LeafSpine { leaves: 3, spines: 2, hosts_per_leaf: 2 };
        let topology = shape.generate(LinkKind::default(), LinkKind::default()).unwrap();
        let routes = Routes::shortest(&topology);
        // Leaf 1 has its hosts at its first links and the spines at the next.
        assert_eq!([0, 1, 2, 5].map(|host| group(&routes, 0, host)), [&[0][..], &[1], &[2, 3], &[2, 3]]);
        // A spine has one link to each leaf.
        assert_eq!([0, 1, 2, 5].map(|host| group(&routes, 3, host)), [[0], [0], [1], [2]]);
        let topology = Shape::FatTree { k: 4 }.generate(LinkKind::default(), LinkKind::default()).unwrap();
        let routes = Routes::shortest(&topology);
        // From an edge to another pod, and to the other edge of the pod, over both aggregation switches.
        assert_eq!([2, 15].map(|host| group(&routes, 0, host).len()), [2, 2]);
        // Aggregation: down to one edge, up to both cores.
        assert_eq!([0, 15].map(|host| group(&routes, 8, host).len()), [1, 2]);
        assert!(routes.switches.iter().all(|routes| routes.groups.len() <= 8));
    }

    #[test]
    fn hosts_that_cannot_be_reached_have_no_way() {
        let mut topology = Shape::Dumbbell { pairs: 1 }.generate(LinkKind::default(), LinkKind::default()).unwrap();
        topology.links.pop();
        let routes = Routes::shortest(&topology);
        assert_eq!((group(&routes, 0, 0), group(&routes, 0, 1)), (&[0][..], &[][..]));
    }
}
