//! Which thread runs which nodes.
//!
//! What enters: nodes and links. What leaves: a part for each node, the same in every run. Hosts cost most, so they are
//! divided evenly, in their order, in which neighbours stand together. Each other node, the nearest to a host first,
//! goes where most of its links lead, and of equals to the part with the least load: few packets change the thread.
//! Nodes that are joined by a link without delay stay in one part, since a packet between them would arrive at once.

use super::NetworkBuilder;
use base::{OrderedMap, OrderedSet};
use std::collections::VecDeque;

/// What a host costs, with the payload of its packets; another node costs one for each port.
const END_LOAD: usize = 4;

/// The part of each node.
pub(super) fn divide(network: &NetworkBuilder, threads: usize) -> Vec<u32> {
    let mut division =
        Division { network, groups: groups(network), part_of_group: OrderedMap::new(), loads: vec![0; threads] };
    let order = breadth_first(network);
    let has_ends = order.iter().any(|&node| division.is_end(node));
    // Without hosts all are divided as they would be, in breadth-first order.
    let first: Vec<u32> = match has_ends {
        true => (0..order.len() as u32).filter(|&node| division.is_end(node)).collect(),
        false => order.clone(),
    };
    division.divide_evenly(&first);
    order.iter().for_each(|&node| division.join(node));
    division.parts()
}

struct Division<'a> {
    network: &'a NetworkBuilder,
    /// For each node the first one that it is joined with by links without delay.
    groups: Vec<u32>,
    part_of_group: OrderedMap<u32, u32>,
    /// By part.
    loads: Vec<usize>,
}

impl Division<'_> {
    fn is_end(&self, node: u32) -> bool {
        self.network.nodes[node as usize].as_ref().is_some_and(|node| node.is_end())
    }

    fn load(&self, node: u32) -> usize {
        if self.is_end(node) { END_LOAD } else { 1 + self.network.ports[node as usize].len() }
    }

    fn part(&self, node: u32) -> Option<u32> {
        self.part_of_group.get(&self.groups[node as usize]).copied()
    }

    /// Divides nodes into as many parts of equal load as there are threads.
    fn divide_evenly(&mut self, nodes: &[u32]) {
        let total: usize = nodes.iter().map(|&node| self.load(node)).sum();
        let mut seen = 0;
        for &node in nodes {
            let part = (seen * self.loads.len() / total.max(1)) as u32;
            let part = *self.part_of_group.entry(self.groups[node as usize]).or_insert(part);
            let load = self.load(node);
            self.loads[part as usize] += load;
            seen += load;
        }
    }

    /// Puts a node into the part that most of its links lead to.
    fn join(&mut self, node: u32) {
        if self.part(node).is_some() {
            return;
        }
        let mut links = vec![0; self.loads.len()];
        for peer in &self.network.ports[node as usize] {
            if let Some(part) = self.part(peer.node.0) {
                links[part as usize] += 1;
            }
        }
        let least = |part: &usize| (std::cmp::Reverse(links[*part]), self.loads[*part]);
        let part = (0..self.loads.len()).min_by_key(least).unwrap_or(0);
        self.part_of_group.insert(self.groups[node as usize], part as u32);
        self.loads[part] += self.load(node);
    }

    /// The parts, of which those without nodes are left out.
    fn parts(&self) -> Vec<u32> {
        let used: OrderedSet<u32> = self.part_of_group.values().copied().collect();
        let number = |part: &u32| used.iter().position(|it| it == part).unwrap_or(0) as u32;
        self.groups.iter().map(|group| number(&self.part_of_group[group])).collect()
    }
}

fn groups(network: &NetworkBuilder) -> Vec<u32> {
    let mut groups: Vec<u32> = (0..network.nodes.len() as u32).collect();
    let root = |groups: &[u32], mut node: u32| {
        while groups[node as usize] != node {
            node = groups[node as usize];
        }
        node
    };
    let has_no_delay = |link: &&super::Link| link.configs.iter().any(|config| config.delay == crate::time::Time::ZERO);
    for link in network.links.iter().filter(has_no_delay) {
        let [a, b] = link.ends.map(|end| root(&groups, end.node.0));
        groups[a.max(b) as usize] = a.min(b);
    }
    (0..network.nodes.len() as u32).map(|node| root(&groups, node)).collect()
}

/// The nodes by their distance from the nearest host; from the first node where there is no host.
fn breadth_first(network: &NetworkBuilder) -> Vec<u32> {
    let count = network.nodes.len();
    let is_end = |node: &usize| network.nodes[*node].as_ref().is_some_and(|node| node.is_end());
    let mut seen = vec![false; count];
    let mut order = Vec::with_capacity(count);
    let mut queue: VecDeque<u32> = (0..count).filter(is_end).map(|node| node as u32).collect();
    for start in 0..count as u32 {
        while let Some(node) = queue.pop_front() {
            if !std::mem::replace(&mut seen[node as usize], true) {
                order.push(node);
                queue.extend(network.ports[node as usize].iter().map(|peer| peer.node.0));
            }
        }
        queue.push_back(start);
    }
    while let Some(node) = queue.pop_front() {
        if !std::mem::replace(&mut seen[node as usize], true) {
            order.push(node);
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::ChannelConfig;
    use crate::host::{Host, HostConfig};
    use crate::network::NodeId;
    use crate::router::{HostTable, Router, RouterConfig};
    use crate::time::Time;
    use std::sync::Arc;

    fn host() -> Host {
        let config = HostConfig {
            name: String::new(),
            mac: crate::wire::Mac::numbered(1),
            addresses: Vec::new(),
            gateways: Vec::new(),
            neighbours: Vec::new(),
        };
        Host::new(config)
    }

    fn router() -> Router {
        Router::new(RouterConfig {
            ports: Vec::new(),
            hosts: Arc::new(HostTable::new(&[])),
            groups: Vec::new(),
            routes: Vec::new(),
            updates: VecDeque::new(),
            hash_seed: 0,
        })
    }

    /// Hosts, then routers; links with their delays in microseconds.
    fn parts(hosts: u32, routers: u32, links: &[(u32, u32, u64)], threads: usize) -> Vec<u32> {
        let mut network = NetworkBuilder::default();
        for _ in 0..hosts {
            let id = network.add("h");
            network.place(id, Box::new(host()));
        }
        for _ in 0..routers {
            let id = network.add("s");
            network.place(id, Box::new(router()));
        }
        for &(a, b, delay) in links {
            let config = ChannelConfig { delay: Time::from_us(delay), ..ChannelConfig::default() };
            network.link(NodeId(a), NodeId(b), [config.clone(), config]);
        }
        divide(&network, threads)
    }

    #[test]
    fn leaves_stay_with_their_hosts_and_spines_are_shared_out() {
        let leaves = [(0, 4, 1), (1, 4, 1), (2, 5, 1), (3, 5, 1)];
        let spines = [(4, 6, 1), (5, 6, 1), (4, 7, 1), (5, 7, 1)];
        assert_eq!(parts(4, 4, &[leaves, spines].concat(), 2), [0, 0, 1, 1, 0, 1, 0, 1]);
        assert_eq!(parts(4, 4, &[leaves, spines].concat(), 1), [0; 8]);
    }

    #[test]
    fn links_without_delay_are_never_cut() {
        let links = [(0, 4, 1), (1, 4, 1), (2, 5, 0), (3, 5, 0), (4, 5, 0)];
        let parts = parts(4, 2, &links, 2);
        assert!(parts[2..].iter().all(|part| *part == parts[2]), "{parts:?}");
    }

    #[test]
    fn a_network_without_hosts_is_divided_evenly() {
        assert_eq!(parts(0, 4, &[(0, 1, 1), (1, 2, 1), (2, 3, 1)], 2), [0, 0, 1, 1]);
        assert_eq!(parts(0, 2, &[], 4).len(), 2);
    }
}
