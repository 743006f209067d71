//! Shortest paths: at each switch, for each host, the ports that lead nearer to it.

use crate::topology::{NodeRef, Topology};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

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

/// The far ends of a switch's links, by position; `None` where a link is down.
type Neighbours = Vec<Option<NodeRef>>;

impl Routes {
    /// The shortest paths, counted in links. Hosts do not forward.
    pub fn shortest(topology: &Topology) -> Routes {
        Routes::without(topology, &BTreeSet::new())
    }

    /// The same while some links are down.
    pub fn without(topology: &Topology, down: &BTreeSet<usize>) -> Routes {
        let (hosts, neighbours) = neighbours(topology, down);
        let mut drafts = vec![Draft::default(); neighbours.len()];
        for (host, start) in hosts.iter().enumerate() {
            let distances = distances(&neighbours, start);
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

/// The far ends of the links of hosts and of switches, in one pass: there may be many of both.
fn neighbours(topology: &Topology, down: &BTreeSet<usize>) -> (Vec<Neighbours>, Vec<Neighbours>) {
    let mut hosts: Vec<Neighbours> = vec![Vec::new(); topology.hosts.len()];
    let mut switches: Vec<Neighbours> = vec![Vec::new(); topology.switches.len()];
    for (link, it) in topology.links.iter().enumerate() {
        for (end, (node, _)) in it.ends.iter().enumerate() {
            let far = (!down.contains(&link)).then_some(it.ends[1 - end].0);
            match *node {
                NodeRef::Host(host) => hosts[host].push(far),
                NodeRef::Switch(switch) => switches[switch].push(far),
            }
        }
    }
    (hosts, switches)
}

/// The links that lead to the host itself, or to a switch that is nearer.
fn nearer(neighbours: &Neighbours, host: usize, distance: u32, distances: &[u32]) -> Vec<usize> {
    let leads = |node: &Option<NodeRef>| match *node {
        Some(NodeRef::Host(other)) => other == host,
        Some(NodeRef::Switch(other)) => distances[other] < distance,
        None => false,
    };
    neighbours.iter().enumerate().filter(|(_, node)| leads(node)).map(|(position, _)| position).collect()
}

/// For each switch the links between it and a host with these neighbours.
fn distances(neighbours: &[Neighbours], start: &Neighbours) -> Vec<u32> {
    let mut distances = vec![u32::MAX; neighbours.len()];
    let mut queue: VecDeque<(NodeRef, u32)> = start.iter().flatten().map(|node| (*node, 1)).collect();
    while let Some((node, distance)) = queue.pop_front() {
        if let NodeRef::Switch(switch) = node
            && distances[switch] == u32::MAX
        {
            distances[switch] = distance;
            queue.extend(neighbours[switch].iter().flatten().map(|next| (*next, distance + 1)));
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
    fn paths_avoid_links_that_are_down() {
        let shape = Shape::LeafSpine { leaves: 2, spines: 2, hosts_per_leaf: 1 };
        let topology = shape.generate(LinkKind::default(), LinkKind::default()).unwrap();
        let [leaf, spine] = ["s1", "s3"].map(|name| topology.find(name).unwrap());
        let is_between = |link: &crate::topology::TopologyLink| link.ends.map(|(end, _)| end) == [leaf, spine];
        let down = topology.links.iter().position(is_between).unwrap();
        let routes = Routes::without(&topology, &BTreeSet::from([down]));
        assert_eq!((group(&routes, 0, 1), group(&routes, 1, 0)), (&[2][..], &[2][..]));
        // The spine that the leaf has lost still knows the long way.
        assert_eq!(group(&routes, 2, 0), [1]);
    }

    #[test]
    fn hosts_that_cannot_be_reached_have_no_way() {
        let mut topology = Shape::Dumbbell { pairs: 1 }.generate(LinkKind::default(), LinkKind::default()).unwrap();
        topology.links.pop();
        let routes = Routes::shortest(&topology);
        assert_eq!((group(&routes, 0, 0), group(&routes, 0, 1)), (&[0][..], &[][..]));
    }
}
