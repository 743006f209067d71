//! A network: nodes joined by links, run on one thread or several.
//!
//! What enters: nodes, links and a seed. What leaves: the nodes and the counters of all channels after any time. The
//! result does not depend on the number of threads (docs/design/simulator.md).
//!
//! * [`build`]: from nodes and links to partitions.
//! * `shared_state`: what the nodes of a partition share: time, events, channels, memory.
//! * `partition`: nodes that one thread runs.
//! * `parallel`: several partitions, window by window.

pub mod build;
mod parallel;
mod partition;
pub(crate) mod shared_state;

pub use build::{NetworkBuilder, NodeId, PortId};
pub use parallel::Windows;

use crate::channel::{ChannelCounters, Transmitter};
use crate::node::Node;
use crate::record::{self, Record, Recording};
use crate::time::Time;
use partition::Partition;
use std::any::Any;

/// A network.
pub struct Network {
    partitions: Vec<Partition>,
    /// No packet comes from another partition in less.
    look_ahead: Time,
    now: Time,
    nodes: Vec<Location>,
    channels: Vec<Channel>,
}

/// Where a node is.
#[derive(Clone, Copy, Debug)]
struct Location {
    partition: u32,
    index: u32,
}

/// A channel of a network.
#[derive(Clone, Debug)]
pub struct Channel {
    /// `SENDER>RECEIVER`, with ports where several links join the same nodes.
    pub name: String,
    /// The sender, and its port.
    pub from: PortId,
    /// The receiver, and its port.
    pub to: PortId,
    partition: u32,
    port: u32,
}

impl Network {
    /// Runs all events before `end`, or until packets need more memory than they may have.
    pub fn run_until(&mut self, end: Time) {
        match self.partitions.len() {
            1 => self.partitions[0].run_until(end),
            _ => parallel::run_until(&mut self.partitions, self.look_ahead, end),
        }
        self.now = self.now.max(end);
        self.partitions.iter_mut().for_each(|partition| partition.shared.now = self.now);
    }

    /// Limits the memory of packets in flight, in bytes, from now on.
    pub fn limit_packets(&mut self, bytes: u64) {
        let share = bytes / self.partitions.len() as u64;
        self.partitions.iter_mut().for_each(|partition| partition.shared.pool.set_limit(share));
    }

    /// Whether it stopped because of that limit.
    pub fn is_exhausted(&self) -> bool {
        self.partitions.iter().any(Partition::is_exhausted)
    }

    /// The time until which it has run.
    pub fn now(&self) -> Time {
        self.now
    }

    /// When the next event is; [`Time::MAX`] if there is none.
    pub fn next_event(&mut self) -> Time {
        self.partitions.iter_mut().map(Partition::next_event).min().unwrap_or(Time::MAX)
    }

    /// Begins to record what happens to packets.
    pub fn record(&mut self, recording: &Recording) {
        for partition in &mut self.partitions {
            let log = &mut partition.shared.log;
            (log.follows, log.queues) = (recording.follows, recording.queues);
            log.traced = recording.traced.clone();
            let ports = if recording.captured.is_empty() { 0 } else { partition.shared.flights.channels() };
            log.captured = vec![false; ports];
        }
        for &channel in &recording.captured {
            // Packets arrive at the port from which the other direction of the link is sent.
            let Channel { partition, port, .. } = self.channels[channel ^ 1];
            self.partitions[partition as usize].shared.log.captured[port as usize] = true;
        }
    }

    /// What was recorded since the last call, in an order that does not depend on the number of threads if the network
    /// has run until the same time.
    pub fn take_records(&mut self) -> Vec<Record> {
        let logs = self.partitions.iter_mut().map(|partition| &mut partition.shared.log.records);
        let mut records: Vec<Record> = logs.flat_map(std::mem::take).collect();
        record::sort(&mut records);
        records
    }

    /// Events so far: arrivals and timers.
    pub fn events(&self) -> u64 {
        self.partitions.iter().map(|partition| partition.events()).sum()
    }

    /// What was counted of the windows in which several threads run it; nothing of one thread.
    pub fn windows(&self) -> Windows {
        self.partitions[0].windows
    }

    /// How many threads run it.
    pub fn threads(&self) -> usize {
        self.partitions.len()
    }

    /// A node, if it is of this kind.
    pub fn node<N: Node>(&self, node: NodeId) -> Option<&N> {
        let Location { partition, index } = self.nodes[node.0 as usize];
        let node: &dyn Any = self.partitions[partition as usize].node(index as usize);
        node.downcast_ref()
    }

    /// The same, to be changed between two runs. Its next timer is read again.
    pub fn node_mut<N: Node>(&mut self, node: NodeId) -> Option<&mut N> {
        let Location { partition, index } = self.nodes[node.0 as usize];
        let node: &mut dyn Any = self.partitions[partition as usize].node_mut(index as usize);
        node.downcast_mut()
    }

    /// The channels, in the order of the links, each link's first direction first: the other direction of channel `c`
    /// is `c ^ 1`.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// The channels with this name: `A-B` for both directions of a link, `A>B` for one, `all` for all. Links between
    /// the same nodes have the numbers of their ports: `A:0>B:1`.
    pub fn find_channels(&self, name: &str) -> Vec<usize> {
        let is_link = |channel: &Channel| {
            let (from, to) = channel.name.split_once('>').unwrap_or_default();
            let is = |a: &str, b: &str| name.strip_prefix(a).and_then(|rest| rest.strip_prefix('-')) == Some(b);
            name == "all" || name == channel.name || is(from, to) || is(to, from)
        };
        (0..self.channels.len()).filter(|&channel| is_link(&self.channels[channel])).collect()
    }

    /// The transmitter of a channel.
    pub fn transmitter(&self, channel: usize) -> &Transmitter {
        let Channel { partition, port, .. } = self.channels[channel];
        self.partitions[partition as usize].transmitter(port as usize)
    }

    /// What a channel has counted until now.
    pub fn counters(&self, channel: usize) -> ChannelCounters {
        self.transmitter(channel).counters(self.now)
    }

    /// Packets and bytes in the queue of a channel now.
    pub fn backlog(&mut self, channel: usize) -> (usize, u64) {
        let Channel { partition, port, .. } = self.channels[channel];
        self.partitions[partition as usize].transmitter_mut(port as usize).backlog(self.now)
    }
}

#[cfg(test)]
mod tests;
