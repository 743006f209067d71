//! Properties of networks that are checked packet by packet.
//!
//! What enters: properties, and the records of a run in their order. What leaves: the first violation, with the packet,
//! the place and the time; or none. It does not depend on the number of threads.
//!
//! * [`property`]: which properties there are. `packets`: what is known of each packet in flight; `facts`: of the
//!   network; `reach`: whether it has a path. [`shrink`]: makes what fails smaller.

pub(crate) mod facts;
mod packets;
pub mod property;
mod reach;
pub mod shrink;

pub use property::Property;

use crate::build::Simulation;
use base::{OrderedMap, OrderedSet};
use facts::Facts;
use packets::{End, Followed, Inside, Packets};
use property::{Depth, is_excused, is_of_failures};
use reach::Reach;
use sim::channel::ChannelDrop;
use sim::network::NodeId;
use sim::record::{Event, Loss, Record, Recording, origin};
use sim::switch_node::SwitchNode;
use sim::time::Time;
use sim::wire::flow::FlowKey;

/// How a run violates a property first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which property.
    pub property: Property,
    /// When.
    pub time: Time,
    /// What happened, and where.
    pub what: String,
    /// The packet: its flow, its length, when it was sent, the nodes on its path; empty if none is concerned.
    pub packet: Vec<String>,
}

/// Checks properties while a network runs.
pub struct Checker {
    properties: Vec<Property>,
    facts: Facts,
    reach: Reach,
    packets: Packets,
    /// Of each flow the label of the packet that arrived last.
    last: OrderedMap<FlowKey, u64>,
    /// Packets that were followed.
    followed: u64,
    violation: Option<Violation>,
}

impl Checker {
    /// Checks a run that has not begun yet.
    pub fn new(properties: &[Property], simulation: &Simulation) -> Checker {
        Checker {
            properties: properties.to_vec(),
            facts: Facts::of(simulation),
            reach: Reach::of(simulation),
            packets: Packets::default(),
            last: OrderedMap::new(),
            followed: 0,
            violation: None,
        }
    }

    /// What has to be recorded for it.
    pub fn recording(&self) -> Recording {
        let queues = self.properties.iter().any(|property| matches!(property, Property::QueueBelow(_)));
        Recording { follows: true, queues, ..Recording::default() }
    }

    /// Takes what has happened since the last call.
    pub fn take(&mut self, records: &[Record]) {
        for record in records {
            if self.violation.is_some() {
                return;
            }
            self.take_one(record);
        }
    }

    /// The end of the run: packets that came to an end without a reason are found.
    pub fn finish(&mut self, simulation: &Simulation) {
        let nodes = simulation.switches.iter().filter_map(|node| simulation.network.node::<SwitchNode>(*node));
        let waiting: OrderedSet<u64> = nodes.flat_map(SwitchNode::labels).collect();
        for (label, Inside { node, time }) in self.packets.vanished(&waiting) {
            if self.violation.is_some() {
                return;
            }
            let is_host = self.facts.host_nodes.contains(&node);
            let end = if is_host { "that is for another host" } else { "and did not send it on" };
            let what = format!("{} gets a packet {end}", self.facts.name(node));
            self.note_end(label, End { time, node, loss: None, is_at_host: false, failed_later: false, what });
        }
    }

    /// The first violation.
    pub fn violation(&self) -> Option<&Violation> {
        self.violation.as_ref()
    }

    /// Packets of flows between hosts that were followed.
    pub fn followed(&self) -> u64 {
        self.followed
    }

    fn has(&self, property: Property) -> bool {
        self.properties.contains(&property)
    }

    fn violate(&mut self, property: Property, time: Time, what: String, (label, node): (u64, NodeId)) {
        let packet = self.packets.get(label).map(|it| self.describe(it, node)).unwrap_or_default();
        self.violation = Some(Violation { property, time, what, packet });
    }

    fn describe(&self, packet: &Followed, node: NodeId) -> Vec<String> {
        let path = packet.path(node);
        let path: Vec<&str> = path.iter().map(|node| self.facts.name(*node)).collect();
        vec![
            format!("{}, {} bytes of payload", packet.identity.flow, packet.identity.payload_bytes),
            format!("sent by {} at {}", path.first().unwrap_or(&""), packet.sent),
            format!("path: {}", path.join(" > ")),
        ]
    }

    fn take_one(&mut self, record: &Record) {
        match &record.event {
            Event::Sent { identity, queued_packets, queued_bytes } => {
                if origin(record.label) == Some(record.node)
                    && let Some(identity) = identity
                    && self.facts.hosts.contains_key(&identity.flow.destination)
                {
                    self.followed += 1;
                    let followed = Followed::new(record.time, record.node, (**identity).clone());
                    self.packets.insert(record.label, followed);
                } else if let Some(packet) = self.packets.get_mut(record.label) {
                    packet.leave(record.node);
                    packet.on_wire += 1;
                }
                let place = self.facts.channel(record).to_owned();
                self.check_queue(record, &place, (*queued_packets, *queued_bytes));
            }
            Event::Queue(port, packets, bytes) => {
                let place = format!("port {port} of {}", self.facts.name(record.node));
                self.check_queue(record, &place, (*packets, *bytes));
            }
            Event::Arrived { identity } => self.arrive(record, identity.as_deref()),
            Event::Corrupted => {
                if let Some(packet) = self.packets.get_mut(record.label) {
                    packet.is_corrupted = true;
                }
            }
            Event::Waits => {
                let inside = Inside { node: record.node, time: record.time };
                self.packets.get_mut(record.label).into_iter().for_each(|packet| packet.inside.push(inside));
            }
            Event::Lost(loss) => self.lose(record, *loss),
            Event::Captured(_) | Event::Steps(_) => {}
        }
    }

    fn check_queue(&mut self, record: &Record, place: &str, (packets, bytes): (usize, u64)) {
        let exceeds = |depth: &Depth| match *depth {
            Depth::Packets(most) => packets as u64 > most,
            Depth::Bytes(most) => bytes > most,
        };
        let bounds = self.properties.iter().filter_map(|property| match property {
            Property::QueueBelow(depth) => Some(*depth),
            _ => None,
        });
        if let Some(depth) = bounds.into_iter().find(exceeds) {
            let what = format!("{packets} packets with {bytes} bytes are queued for {place}");
            self.violate(Property::QueueBelow(depth), record.time, what, (record.label, record.node));
        }
    }

    fn arrive(&mut self, record: &Record, identity: Option<&sim::wire::flow::Identity>) {
        let (has_loops, node) = (self.has(Property::NoLoop), record.node);
        let Some(packet) = self.packets.get_mut(record.label) else { return };
        let is_again = packet.come(node, self.facts.senders.get(&(node, record.port)).copied());
        packet.on_wire = packet.on_wire.saturating_sub(1);
        packet.leave(node);
        packet.inside.push(Inside { node, time: record.time });
        if is_again && has_loops {
            let what = format!("{} gets a packet that it has had before", self.facts.name(node));
            return self.violate(Property::NoLoop, record.time, what, (record.label, record.node));
        }
        if packet.visits() > packets::VISITS_MAX {
            self.packets.remove(record.label);
        } else if self.facts.hosts.get(&packet.identity.flow.destination) == Some(&node) {
            self.deliver(record, identity);
            self.packets.remove(record.label);
        }
    }

    /// The packet has reached its destination.
    fn deliver(&mut self, record: &Record, identity: Option<&sim::wire::flow::Identity>) {
        let Some(packet) = self.packets.get(record.label) else { return };
        let host = self.facts.name(record.node).to_owned();
        let flow = packet.identity.flow;
        if self.has(Property::BytesIntact) && !packet.is_corrupted {
            let wrong = match identity {
                None => Some("is no valid IP packet any more"),
                Some(it) if !it.is_sound => Some("has a wrong checksum"),
                Some(it) if it.payload_hash != packet.identity.payload_hash => {
                    Some("has another payload than was sent")
                }
                Some(_) => None,
            };
            if let Some(wrong) = wrong {
                let what = format!("a packet that arrives at {host} {wrong}, and no link inverted a bit");
                return self.violate(Property::BytesIntact, record.time, what, (record.label, record.node));
            }
        }
        if packet.is_corrupted {
            // The host discards it.
            return;
        }
        let last = self.last.entry(flow).or_default();
        let is_late = record.label < *last;
        *last = record.label.max(*last);
        if is_late && self.has(Property::InOrder) {
            let what = format!("a packet arrives at {host} after one of its flow that was sent later");
            self.violate(Property::InOrder, record.time, what, (record.label, record.node));
        }
    }

    fn lose(&mut self, record: &Record, loss: Loss) {
        let (is_on_channel, at) = (matches!(loss, Loss::Channel(_)), (record.node, record.port));
        let place = if is_on_channel { self.facts.channel(record) } else { self.facts.name(record.node) };
        let end = End {
            time: record.time,
            node: record.node,
            loss: Some(loss),
            is_at_host: is_on_channel && self.facts.host_channels.contains(&at),
            // A channel loses what is on it when it fails, too.
            failed_later: loss == Loss::Channel(ChannelDrop::Down) && self.reach.is_up(at, record.time),
            what: format!("a packet is lost at {place}: {}", loss.describe()),
        };
        let Some(packet) = self.packets.get_mut(record.label) else { return };
        match is_on_channel {
            true => packet.on_wire -= 1,
            false => packet.leave(record.node),
        }
        let is_last = packet.on_wire == 0 && packet.inside.iter().all(|it| self.facts.host_nodes.contains(&it.node));
        if is_last {
            self.note_end(record.label, end);
            self.packets.remove(record.label);
        } else if is_excused(loss) {
            // Another copy continues.
            packet.explained.get_or_insert(end);
        }
    }

    /// The last copy of a packet has come to its end: checks why.
    fn note_end(&mut self, label: u64, last: End) {
        let Some(packet) = self.packets.get(label).filter(|packet| !packet.is_corrupted) else { return };
        let explained = packet.explained.clone().filter(|_| !last.loss.is_some_and(is_excused));
        let end = explained.unwrap_or(last);
        if end.is_at_host || !self.had_path(label, &end) {
            return;
        }
        if self.has(Property::NoUnexplainedLoss) && !end.loss.is_some_and(is_excused) {
            return self.violate(Property::NoUnexplainedLoss, end.time, end.what, (label, end.node));
        }
        if end.loss.is_none_or(is_of_failures) && !end.failed_later {
            self.check_convergence(label, end);
        }
    }

    /// Whether a packet had a path to its destination when it was sent and when it was lost.
    fn had_path(&mut self, label: u64, end: &End) -> bool {
        let Some(packet) = self.packets.get(label) else { return true };
        let to = self.facts.hosts.get(&packet.identity.flow.destination);
        to.is_none_or(|to| self.reach.had_path((packet.sender(), packet.sent), (end.node, end.time), *to))
    }

    /// Checks a loss that may be due to a failure: links have not changed for the limit before it was sent.
    fn check_convergence(&mut self, label: u64, end: End) {
        let Some(sent) = self.packets.get(label).map(|packet| packet.sent) else { return };
        let limits = self.properties.iter().filter_map(|property| match property {
            Property::ConvergesWithin(limit) => Some(*limit),
            _ => None,
        });
        let before = self.facts.changes.partition_point(|change| *change <= end.time);
        let change = before.checked_sub(1).map(|index| self.facts.changes[index]).filter(|change| *change <= sent);
        let exceeded = |change: Time| limits.into_iter().find(|limit| sent.since(change) >= *limit);
        if let Some(change) = change
            && let Some(limit) = exceeded(change)
        {
            let after = sent.since(change);
            let what = format!("{}; it was sent {after} after links changed last, at {change}", end.what);
            self.violate(Property::ConvergesWithin(limit), end.time, what, (label, end.node));
        }
    }
}

#[cfg(test)]
mod tests;
