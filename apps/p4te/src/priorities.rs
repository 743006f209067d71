//! Algorithm 3: which routing group each port is in.
//!
//! What enters: reports of ports, ports that fail and come back. What leaves: orders that move ports. A port is put
//! into its new group before it leaves the old one, and a group has an entry while it has ports, so each packet finds
//! a group with ports as long as there are any.

use crate::report::Report;
use crate::settings::{COLOURS, Measures, RANGES, Settings};
use base::OrderedSet;
use te::{Match, Order, Prefix};

/// One of the two measures of links.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Metric {
    /// Packets in the queue.
    Queue,
    /// The colour of the meter.
    Utilisation,
}

impl Metric {
    /// The table of its routing groups.
    pub fn table(self) -> &'static str {
        match self {
            Metric::Queue => "up_by_queue",
            Metric::Utilisation => "up_by_utilisation",
        }
    }

    /// The action of its ports.
    pub fn action(self) -> &'static str {
        match self {
            Metric::Queue => "low_queue",
            Metric::Utilisation => "low_utilisation",
        }
    }
}

/// The routing groups of one measure for some destinations, the best first.
#[derive(Clone, Debug)]
struct Groups {
    metric: Metric,
    /// The number of the first of them, and the priority of the last.
    first: u32,
    priority: i32,
    prefixes: Vec<Prefix>,
    /// Ports that do not lead there.
    lost: OrderedSet<u32>,
    ports: Vec<OrderedSet<u32>>,
}

/// The routing groups of a switch.
#[derive(Clone, Debug)]
pub struct Priorities {
    settings: Settings,
    /// Of each measure: first those for all destinations, then those for destinations that some ports do not lead to.
    groups: [Vec<Groups>; 2],
    /// Ports that are not used.
    failed: OrderedSet<u32>,
}

impl Priorities {
    /// All ports in the best group of each measure.
    pub fn new(settings: Settings, common: Vec<Prefix>, ports: &[u32]) -> Priorities {
        let groups = |metric, count| {
            let mut groups = vec![OrderedSet::new(); count as usize];
            groups[0].extend(ports);
            let (first, priority, prefixes, lost) = (1, 1, common.clone(), OrderedSet::new());
            vec![Groups { metric, first, priority, prefixes, lost, ports: groups }]
        };
        let groups = [groups(Metric::Queue, RANGES), groups(Metric::Utilisation, COLOURS)];
        Priorities { settings, groups, failed: OrderedSet::new() }
    }

    /// The group that a port is in, the best being 0.
    pub fn group(&self, metric: Metric, port: u32) -> Option<usize> {
        self.groups[metric as usize][0].position(port)
    }

    /// What makes an empty switch have these groups.
    pub fn orders(&self) -> Vec<Order> {
        let mut orders = Vec::new();
        for groups in &self.groups {
            let (table, action) = (groups[0].metric.table(), groups[0].metric.action());
            let all: OrderedSet<&u32> = groups[0].ports.iter().flatten().chain(&self.failed).collect();
            orders.extend(all.into_iter().map(|port| Order::Member { table, action, port: *port }));
            orders.extend(groups.iter().flat_map(Groups::orders));
        }
        orders
    }

    /// Some ports do not lead to these destinations: a link behind them is down. The destinations get groups of their
    /// own, in which the other ports are where they are for all destinations.
    pub fn avoid(&mut self, prefixes: Vec<Prefix>, lost: &[u32]) -> Vec<Order> {
        let mut orders = Vec::new();
        for groups in &mut self.groups {
            let all = &groups[0];
            let lost: OrderedSet<u32> = lost.iter().copied().collect();
            let ports = all.ports.iter().map(|ports| ports.difference(&lost).copied().collect()).collect();
            let count = groups.len() as u32;
            let own = Groups {
                metric: all.metric,
                first: 1 + count * GROUPS_MAX,
                priority: 1 + GROUPS_MAX as i32,
                prefixes: prefixes.clone(),
                lost,
                ports,
            };
            orders.extend(own.orders());
            groups.push(own);
        }
        orders
    }

    /// The ports' new groups.
    pub fn report(&mut self, report: &Report) -> Vec<Order> {
        let mut orders = Vec::new();
        let measures = self.settings.measures;
        if measures == Measures::Neither {
            return orders;
        }
        let range = self.settings.range(report.depth) as usize;
        let [by_queue, by_utilisation] = &mut self.groups;
        if report.has_queue_event && measures != Measures::ColoursOnly {
            orders.extend(by_queue.iter_mut().flat_map(|groups| groups.move_to(report.port, range)));
        }
        if report.has_queue_event && measures == Measures::QueueOnly {
            let range = range.min(COLOURS as usize - 1);
            orders.extend(by_utilisation.iter_mut().flat_map(|groups| groups.move_to(report.port, range)));
        }
        if report.has_utilisation_event && measures != Measures::QueueOnly {
            let colour = report.colour.into();
            orders.extend(by_utilisation.iter_mut().flat_map(|groups| groups.move_to(report.port, colour)));
        }
        orders
    }

    /// A port's link is down: no path leads there.
    pub fn fail(&mut self, port: u32) -> Vec<Order> {
        if self.groups[0][0].position(port).is_none() {
            return Vec::new();
        }
        self.failed.insert(port);
        self.groups.iter_mut().flatten().flat_map(|groups| groups.remove(port)).collect()
    }

    /// A port's link is up again: it is as good as any.
    pub fn recover(&mut self, port: u32) -> Vec<Order> {
        if !self.failed.remove(&port) {
            return Vec::new();
        }
        self.groups.iter_mut().flatten().flat_map(|groups| groups.insert(port, 0)).collect()
    }
}

/// How far apart the numbers of groups of different destinations are.
const GROUPS_MAX: u32 = 8;

impl Groups {
    fn position(&self, port: u32) -> Option<usize> {
        self.ports.iter().position(|ports| ports.contains(&port))
    }

    /// What makes a switch that has the members have these groups.
    fn orders(&self) -> Vec<Order> {
        let mut orders = Vec::new();
        for (index, ports) in self.ports.iter().enumerate() {
            orders.push(self.order(index, true));
            if !ports.is_empty() {
                orders.extend(self.routes(index, true));
            }
        }
        orders
    }

    /// A group as it is.
    fn order(&self, index: usize, is_new: bool) -> Order {
        let ports = self.ports[index].iter().copied().collect();
        Order::Group { table: self.metric.table(), group: self.first + index as u32, ports, is_new }
    }

    /// The entries of a group, for each prefix. The first group has the greatest priority.
    fn routes(&self, index: usize, is_new: bool) -> impl Iterator<Item = Order> + '_ {
        self.prefixes.iter().map(move |prefix| Order::Route {
            table: self.metric.table(),
            key: Match::Masked(prefix.address, prefix.bits),
            priority: self.priority + (self.ports.len() - index - 1) as i32,
            group: self.first + index as u32,
            is_new,
        })
    }

    fn move_to(&mut self, port: u32, to: usize) -> Vec<Order> {
        match self.position(port) {
            Some(from) if from != to && to < self.ports.len() => {
                let mut orders = self.insert(port, to);
                orders.extend(self.remove_from(port, from));
                orders
            }
            _ => Vec::new(),
        }
    }

    fn insert(&mut self, port: u32, to: usize) -> Vec<Order> {
        if self.lost.contains(&port) {
            return Vec::new();
        }
        let was_empty = self.ports[to].is_empty();
        self.ports[to].insert(port);
        let mut orders = vec![self.order(to, false)];
        if was_empty {
            orders.extend(self.routes(to, true));
        }
        orders
    }

    fn remove(&mut self, port: u32) -> Vec<Order> {
        self.position(port).map(|from| self.remove_from(port, from)).unwrap_or_default()
    }

    fn remove_from(&mut self, port: u32, from: usize) -> Vec<Order> {
        self.ports[from].remove(&port);
        let mut orders = Vec::new();
        if self.ports[from].is_empty() {
            orders.extend(self.routes(from, false));
        }
        orders.push(self.order(from, false));
        orders
    }
}

#[cfg(test)]
mod tests;
