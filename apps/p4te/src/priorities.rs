//! Algorithm 3: which routing group each port is in.
//!
//! What enters: reports of ports, ports that fail and come back. What leaves: orders that move ports. A port is put
//! into its new group before it leaves the old one, and a group has an entry while it has ports, so each packet finds
//! a group with ports as long as there are any.

use crate::report::Report;
use crate::settings::{COLOURS, Measures, RANGES, Settings};
use std::collections::BTreeSet;
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

/// The routing groups of one measure, the best first.
#[derive(Clone, Debug)]
struct Groups {
    metric: Metric,
    ports: Vec<BTreeSet<u32>>,
}

/// The routing groups of a switch.
#[derive(Clone, Debug)]
pub struct Priorities {
    settings: Settings,
    common: Vec<Prefix>,
    groups: [Groups; 2],
    /// Ports that are not used.
    failed: BTreeSet<u32>,
}

impl Priorities {
    /// All ports in the best group of each measure.
    pub fn new(settings: Settings, common: Vec<Prefix>, ports: &[u32]) -> Priorities {
        let groups = |metric, count| {
            let mut groups = vec![BTreeSet::new(); count as usize];
            groups[0].extend(ports);
            Groups { metric, ports: groups }
        };
        let groups = [groups(Metric::Queue, RANGES), groups(Metric::Utilisation, COLOURS)];
        Priorities { settings, common, groups, failed: BTreeSet::new() }
    }

    /// The group that a port is in, the best being 0.
    pub fn group(&self, metric: Metric, port: u32) -> Option<usize> {
        self.groups[metric as usize].position(port)
    }

    /// What makes an empty switch have these groups.
    pub fn orders(&self) -> Vec<Order> {
        let mut orders = Vec::new();
        for groups in &self.groups {
            let table = groups.metric.table();
            let all = groups.ports.iter().flatten().chain(&self.failed);
            let member = |port: &u32| Order::Member { table, action: groups.metric.action(), port: *port };
            orders.extend(all.collect::<BTreeSet<_>>().into_iter().map(member));
            for (index, ports) in groups.ports.iter().enumerate() {
                orders.push(groups.order(index, true));
                if !ports.is_empty() {
                    orders.extend(groups.routes(index, &self.common, true));
                }
            }
        }
        orders
    }

    /// The ports' new groups.
    pub fn report(&mut self, report: &Report) -> Vec<Order> {
        let mut orders = Vec::new();
        let measures = self.settings.measures;
        let range = self.settings.range(report.depth) as usize;
        let [by_queue, by_utilisation] = &mut self.groups;
        if report.has_queue_event && measures != Measures::ColoursOnly {
            orders.extend(by_queue.move_to(report.port, range, &self.common));
        }
        if report.has_queue_event && measures == Measures::QueueOnly {
            let range = range.min(COLOURS as usize - 1);
            orders.extend(by_utilisation.move_to(report.port, range, &self.common));
        }
        if report.has_utilisation_event && measures != Measures::QueueOnly {
            orders.extend(by_utilisation.move_to(report.port, report.colour.into(), &self.common));
        }
        orders
    }

    /// A port's link is down: no path leads there.
    pub fn fail(&mut self, port: u32) -> Vec<Order> {
        if self.groups[0].position(port).is_none() {
            return Vec::new();
        }
        self.failed.insert(port);
        let common = &self.common;
        self.groups.iter_mut().flat_map(|groups| groups.remove(port, common)).collect()
    }

    /// A port's link is up again: it is as good as any.
    pub fn recover(&mut self, port: u32) -> Vec<Order> {
        if !self.failed.remove(&port) {
            return Vec::new();
        }
        let common = &self.common;
        self.groups.iter_mut().flat_map(|groups| groups.insert(port, 0, common)).collect()
    }
}

impl Groups {
    fn position(&self, port: u32) -> Option<usize> {
        self.ports.iter().position(|ports| ports.contains(&port))
    }

    /// A group as it is.
    fn order(&self, index: usize, is_new: bool) -> Order {
        let ports = self.ports[index].iter().copied().collect();
        Order::Group { table: self.metric.table(), group: index as u32 + 1, ports, is_new }
    }

    /// The entries of a group, for each prefix. The first group has the greatest priority.
    fn routes<'a>(&'a self, index: usize, common: &'a [Prefix], is_new: bool) -> impl Iterator<Item = Order> + 'a {
        common.iter().map(move |prefix| Order::Route {
            table: self.metric.table(),
            key: Match::Masked(prefix.address, prefix.bits),
            priority: (self.ports.len() - index) as i32,
            group: index as u32 + 1,
            is_new,
        })
    }

    fn move_to(&mut self, port: u32, to: usize, common: &[Prefix]) -> Vec<Order> {
        match self.position(port) {
            Some(from) if from != to && to < self.ports.len() => {
                let mut orders = self.insert(port, to, common);
                orders.extend(self.remove_from(port, from, common));
                orders
            }
            _ => Vec::new(),
        }
    }

    fn insert(&mut self, port: u32, to: usize, common: &[Prefix]) -> Vec<Order> {
        let was_empty = self.ports[to].is_empty();
        self.ports[to].insert(port);
        let mut orders = vec![self.order(to, false)];
        if was_empty {
            orders.extend(self.routes(to, common, true));
        }
        orders
    }

    fn remove(&mut self, port: u32, common: &[Prefix]) -> Vec<Order> {
        self.position(port).map(|from| self.remove_from(port, from, common)).unwrap_or_default()
    }

    fn remove_from(&mut self, port: u32, from: usize, common: &[Prefix]) -> Vec<Order> {
        self.ports[from].remove(&port);
        let mut orders = Vec::new();
        if self.ports[from].is_empty() {
            orders.extend(self.routes(from, common, false));
        }
        orders.push(self.order(from, false));
        orders
    }
}

#[cfg(test)]
mod tests;
