//! Hosts outside of the simulation: real programs take the place of a simulated host at its link.
//!
//! What enters: between two runs of the network, frames of the outside with the times at which they are sent. What
//! leaves: the frames that have arrived at the host. The node does no I/O: whoever drives the network carries frames in
//! and out, so the results of such a run do not repeat themselves. Both queues are bounded; what exceeds them is
//! counted and dropped, as by a network card whose host is too slow.

use crate::node::{Context, Node};
use crate::packet::Packet;
use crate::time::Time;
use base::limits::PACKET_BYTES_MAX;
use std::collections::VecDeque;

/// The port of the host's link.
const LINK: usize = 0;

/// Capacity of the queue of each direction: more than a burst, and little memory.
const FRAMES_MAX: usize = 4_096;

/// What an external host counts.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct ExternalCounters {
    /// Frames of the outside that were sent on the link.
    pub sent: u64,
    /// Frames that have arrived from the link.
    pub received: u64,
    /// Frames of the outside that found the queue full.
    pub sent_dropped: u64,
    /// Frames from the link that were not fetched in time.
    pub received_dropped: u64,
}

/// A host outside of the simulation.
#[derive(Debug, Default)]
pub struct ExternalHost {
    /// Frames of the outside, in the order of their times.
    outgoing: VecDeque<(Time, Vec<u8>)>,
    /// Frames from the link.
    arrived: Vec<Packet>,
    counters: ExternalCounters,
}

impl ExternalHost {
    /// Has it send a frame at this time; frames are sent in the order of the calls. One that finds the queue full, or
    /// that is longer than any packet, is dropped and counted.
    pub fn send(&mut self, at: Time, frame: &[u8]) {
        if self.outgoing.len() >= FRAMES_MAX || frame.len() > PACKET_BYTES_MAX {
            self.counters.sent_dropped += 1;
            return;
        }
        let last = self.outgoing.back().map_or(Time::ZERO, |(time, _)| *time);
        self.outgoing.push_back((at.max(last), frame.to_vec()));
    }

    /// How many further frames its queue can hold.
    pub fn free_slots(&self) -> usize {
        FRAMES_MAX - self.outgoing.len()
    }

    /// The frames that have arrived since the last call.
    pub fn take(&mut self) -> Vec<Packet> {
        std::mem::take(&mut self.arrived)
    }

    /// What it has counted.
    pub fn counters(&self) -> ExternalCounters {
        self.counters
    }
}

impl Node for ExternalHost {
    fn receive(&mut self, context: &mut Context<'_>, _port: usize, packet: Packet) {
        if self.arrived.len() >= FRAMES_MAX {
            self.counters.received_dropped += 1;
            return context.end(packet);
        }
        self.counters.received += 1;
        self.arrived.push(packet);
    }

    fn timer(&mut self, context: &mut Context<'_>) {
        while self.outgoing.front().is_some_and(|(at, _)| *at <= context.now())
            && let Some((_, frame)) = self.outgoing.pop_front()
        {
            self.counters.sent += 1;
            let packet = context.pool().copy_of(&frame);
            context.send(LINK, packet);
        }
    }

    fn next_timer(&self) -> Time {
        self.outgoing.front().map_or(Time::MAX, |(at, _)| *at)
    }

    fn is_end(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::ChannelConfig;
    use crate::network::{Network, NetworkBuilder, NodeId};

    /// Two external hosts joined by a link of 1 Gb/s and 5 us.
    fn network() -> (Network, [NodeId; 2]) {
        let mut builder = NetworkBuilder::default();
        let ids = ["a", "b"].map(|name| builder.add(name));
        let config = ChannelConfig { bits_per_s: 1_000_000_000, delay: Time::from_us(5), ..ChannelConfig::default() };
        builder.link(ids[0], ids[1], [config.clone(), config]);
        ids.iter().for_each(|id| builder.place(*id, Box::new(ExternalHost::default())));
        (builder.build(1, 1), ids)
    }

    fn host(network: &mut Network, id: NodeId) -> &mut ExternalHost {
        network.node_mut(id).unwrap()
    }

    #[test]
    fn frames_cross_the_network_at_modelled_times() {
        let (mut network, [a, b]) = network();
        network.run_until(Time::from_us(10));
        host(&mut network, a).send(Time::from_us(20), &[7; 60]);
        // As on a wire, a frame is not sent before the one that was given before it.
        host(&mut network, a).send(Time::from_us(15), &[8; 100]);
        // Behind the first frame with its overhead of 8 and 4 bytes, and 5 us away.
        let arrival = Time::from_us(25) + Time::from_ns(72 * 8);
        network.run_until(arrival);
        assert!(host(&mut network, b).take().is_empty());
        network.run_until(arrival + Time::from_ps(1));
        let frames = host(&mut network, b).take();
        assert_eq!(frames.iter().map(Packet::head).collect::<Vec<_>>(), [[7; 60]]);
        network.run_until(Time::from_us(40));
        let frames = host(&mut network, b).take();
        assert_eq!(frames.iter().map(Packet::head).collect::<Vec<_>>(), [[8; 100]]);
        assert_eq!(host(&mut network, b).counters(), ExternalCounters { received: 2, ..ExternalCounters::default() });
    }

    #[test]
    fn frames_beyond_the_capacity_are_counted() {
        let (mut network, [a, b]) = network();
        for _ in 0..FRAMES_MAX + 2 {
            host(&mut network, a).send(Time::ZERO, &[1; 60]);
        }
        assert_eq!(host(&mut network, a).free_slots(), 0);
        network.run_until(Time::from_ms(10));
        // They were not fetched: the next ones find the queue full.
        for _ in 0..3 {
            host(&mut network, a).send(Time::from_ms(10), &[2; 60]);
        }
        host(&mut network, a).send(Time::from_ms(10), &vec![3; PACKET_BYTES_MAX + 1]);
        network.run_until(Time::from_ms(20));
        let sent = FRAMES_MAX as u64 + 3;
        assert_eq!(
            host(&mut network, a).counters(),
            ExternalCounters { sent, sent_dropped: 3, ..ExternalCounters::default() }
        );
        let received = FRAMES_MAX as u64;
        assert_eq!(
            host(&mut network, b).counters(),
            ExternalCounters { received, received_dropped: 3, ..ExternalCounters::default() }
        );
        assert_eq!(host(&mut network, b).take().len(), FRAMES_MAX);
    }
}
