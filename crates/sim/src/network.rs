//! A network: nodes joined by links, run on one thread or several.
//!
//! What enters: nodes, links and a seed. What leaves: the nodes and the counters of all channels after any time. The
//! result does not depend on the number of threads (docs/design/simulator.md).
//!
//! * [`build`]: from nodes and links to partitions.
//! * `fabric`: what the nodes of a partition share: time, events, channels, memory.
//! * `partition`: nodes that one thread runs.
//! * `parallel`: several partitions, window by window.

pub mod build;
pub(crate) mod fabric;
mod parallel;
mod partition;

pub use build::{NetworkBuilder, NodeId, PortId};

use crate::channel::{ChannelCounters, Transmitter};
use crate::node::Node;
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
    /// The sender.
    pub from: NodeId,
    /// The receiver.
    pub to: NodeId,
    partition: u32,
    port: u32,
}

impl Network {
    /// Runs all events before `end`.
    pub fn run_until(&mut self, end: Time) {
        match self.partitions.len() {
            1 => self.partitions[0].run_until(end),
            _ => parallel::run_until(&mut self.partitions, self.look_ahead, end),
        }
        self.now = self.now.max(end);
    }

    /// The time until which it has run.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Events so far: arrivals and timers.
    pub fn events(&self) -> u64 {
        self.partitions.iter().map(|partition| partition.events()).sum()
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

    /// The channels, in the order of the links, each link's first direction first.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
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

    /// Packets and bytes that wait for a channel now.
    pub fn backlog(&mut self, channel: usize) -> (usize, u64) {
        let Channel { partition, port, .. } = self.channels[channel];
        self.partitions[partition as usize].transmitter_mut(port as usize).backlog(self.now)
    }
}

#[cfg(test)]
mod tests;
