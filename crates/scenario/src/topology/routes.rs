//! Shortest paths: at each switch, for each host, the ports that lead nearer to it.

use crate::topology::{NodeRef, Topology};
use base::{OrderedMap, OrderedSet};

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
    /// For each host its group; the first group is empty: there is no path.
    pub hosts: Vec<u32>,
}

/// The far ends of a switch's links, by position; `None` where a link is down.
type Neighbours = Vec<Option<NodeRef>>;

impl Routes {
    /// The shortest paths, counted in links. Hosts do not forward.
    pub fn shortest(topology: &Topology) -> Routes {
        Routes::without(topology, &OrderedSet::new())
    }

    /// The same while some links are down.
    pub fn without(topology: &Topology, down: &OrderedSet<usize>) -> Routes {
        let (hosts, neighbours) = neighbours(topology, down);
        let mut drafts = vec![Draft::default(); neighbours.len()];
        let places = places(&hosts, |start| {
            let distances = distances(&neighbours, start);
            for (switch, draft) in drafts.iter_mut().enumerate() {
                draft.add(nearer(&neighbours[switch], distances[switch], &distances));
            }
        });
        let mut switches: Vec<SwitchRoutes> = drafts.iter().map(|draft| draft.routes(&places)).collect();
        for (host, start) in hosts.iter().enumerate() {
            for switch in start.iter().flatten().filter_map(NodeRef::switch) {
                let routes = &mut switches[switch];
                routes.hosts[host] = routes.groups.len() as u32;
                routes.groups.push(links_to(&neighbours[switch], host));
            }
        }
        Routes { switches }
    }
}

/// For each host the number of its place. Hosts at the same switches have the same place: other switches have the same
/// routes to all of them. Each place is handed out when it is new.
fn places(hosts: &[Neighbours], mut new: impl FnMut(&Neighbours)) -> Vec<u32> {
    let mut numbers = OrderedMap::new();
    let number = |start| {
        let next = numbers.len() as u32;
        *numbers.entry(start).or_insert_with(|| {
            new(start);
            next
        })
    };
    hosts.iter().map(number).collect()
}

/// Routes of a switch to places.
#[derive(Clone)]
struct Draft {
    numbers: OrderedMap<Vec<usize>, u32>,
    /// For each place its group.
    places: Vec<u32>,
}

impl Default for Draft {
    fn default() -> Draft {
        Draft { numbers: OrderedMap::from([(Vec::new(), 0)]), places: Vec::new() }
    }
}

impl Draft {
    /// Adds a place with its group.
    fn add(&mut self, group: Vec<usize>) {
        let next = self.numbers.len() as u32;
        self.places.push(*self.numbers.entry(group).or_insert(next));
    }

    /// The routes to hosts in these places.
    fn routes(&self, places: &[u32]) -> SwitchRoutes {
        let mut groups: Vec<Vec<usize>> = vec![Vec::new(); self.numbers.len()];
        self.numbers.iter().for_each(|(group, number)| groups[*number as usize].clone_from(group));
        SwitchRoutes { groups, hosts: places.iter().map(|place| self.places[*place as usize]).collect() }
    }
}

/// The far ends of the links of hosts and of switches, in one pass: there may be many of both.
fn neighbours(topology: &Topology, down: &OrderedSet<usize>) -> (Vec<Neighbours>, Vec<Neighbours>) {
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

/// The links that lead to a switch that is nearer. Beside a host none is.
fn nearer(neighbours: &Neighbours, distance: u32, distances: &[u32]) -> Vec<usize> {
    positions(neighbours, |node| node.switch().is_some_and(|other| distances[other] < distance))
}

/// The links that lead to a host itself.
fn links_to(neighbours: &Neighbours, host: usize) -> Vec<usize> {
    positions(neighbours, |node| *node == NodeRef::Host(host))
}

fn positions(neighbours: &Neighbours, leads: impl Fn(&NodeRef) -> bool) -> Vec<usize> {
    let leads = |node: &Option<NodeRef>| node.as_ref().is_some_and(&leads);
    neighbours.iter().enumerate().filter(|(_, node)| leads(node)).map(|(position, _)| position).collect()
}

/// For each switch the links between it and a host with these neighbours.
fn distances(neighbours: &[Neighbours], start: &Neighbours) -> Vec<u32> {
    let mut distances = vec![u32::MAX; neighbours.len()];
    let (mut nearest, mut next) = (vec![start], Vec::new());
    let mut distance = 1;
    while !nearest.is_empty() {
        for switch in nearest.drain(..).flatten().flatten().filter_map(NodeRef::switch) {
            if distances[switch] == u32::MAX {
                distances[switch] = distance;
                next.push(&neighbours[switch]);
            }
        }
        std::mem::swap(&mut nearest, &mut next);
        distance += 1;
    }
    distances
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::TopologyLink;
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

    /// A host at two switches is in a place of its own, and its neighbours at one of them are not.
    #[test]
    fn hosts_at_the_same_switches_differ_only_there() {
        let shape = Shape::LeafSpine { leaves: 2, spines: 1, hosts_per_leaf: 2 };
        let mut topology = shape.generate(LinkKind::default(), LinkKind::default()).unwrap();
        let second =
            TopologyLink { ends: [(NodeRef::Host(0), 1), (NodeRef::Switch(1), 9)], ..topology.links[0].clone() };
        topology.links.push(second);
        let routes = Routes::shortest(&topology);
        let ports = |switch: usize| [0, 1, 2, 3].map(|host| group(&routes, switch, host));
        assert_eq!(ports(0), [&[0][..], &[1], &[2], &[2]]);
        assert_eq!(ports(1), [&[3][..], &[2], &[0], &[1]]);
        assert_eq!(ports(2), [&[0, 1][..], &[0], &[1], &[1]]);
    }

    #[test]
    fn paths_avoid_links_that_are_down() {
        let shape = Shape::LeafSpine { leaves: 2, spines: 2, hosts_per_leaf: 1 };
        let topology = shape.generate(LinkKind::default(), LinkKind::default()).unwrap();
        let [leaf, spine] = ["s1", "s3"].map(|name| topology.find(name).unwrap());
        let is_between = |link: &TopologyLink| link.ends.map(|(end, _)| end) == [leaf, spine];
        let down = topology.links.iter().position(is_between).unwrap();
        let routes = Routes::without(&topology, &OrderedSet::from([down]));
        assert_eq!((group(&routes, 0, 1), group(&routes, 1, 0)), (&[2][..], &[2][..]));
        // The spine that the leaf has lost still knows the long path.
        assert_eq!(group(&routes, 2, 0), [1]);
    }

    #[test]
    fn hosts_that_cannot_be_reached_have_no_path() {
        let mut topology = Shape::Dumbbell { pairs: 1 }.generate(LinkKind::default(), LinkKind::default()).unwrap();
        topology.links.pop();
        let routes = Routes::shortest(&topology);
        assert_eq!((group(&routes, 0, 0), group(&routes, 0, 1)), (&[0][..], &[][..]));
    }
}
