//! What the nodes of a partition share: the time, the events, the channels, the memory of packets.

use crate::channel::{Fate, Flights, Transmitter};
use crate::events::{EventQueue, EventQueues, Source};
use crate::packet::{CACHE_LINE_BYTES, Packet, Pool};
use crate::record::{Event, Log, Loss};
use crate::time::Time;
use crate::wire::flow::Identity;
use std::ops::Range;

/// Where the packets of a transmitter go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    pub(crate) partition: u32,
    /// The port at which they arrive, among those of that partition.
    pub(crate) port: u32,
    /// The node there, and the source of its arrivals.
    pub(crate) node: u32,
    pub(crate) source: Source,
}

/// A packet for another partition.
#[derive(Debug)]
pub(crate) struct Mail {
    pub(crate) peer: Peer,
    pub(crate) arrival: Time,
    pub(crate) packet: Packet,
}

pub(crate) struct SharedState {
    pub(crate) now: Time,
    pub(crate) pool: Pool,
    /// The events of each node.
    pub(crate) events: EventQueues,
    /// The first event of each node; of the one whose turn it is, a time that has passed.
    pub(crate) turns: EventQueue,
    /// By port.
    pub(crate) transmitters: Vec<Transmitter>,
    /// By port: where the packets go that are sent on it.
    pub(crate) peers: Vec<Peer>,
    /// By port: the packets that arrive on it.
    pub(crate) flights: Flights,
    pub(crate) partition: u32,
    /// By partition: packets for it.
    pub(crate) outboxes: Vec<Vec<Mail>>,
    pub(crate) log: Log,
}

impl SharedState {
    /// Sends a packet on a port: the `own`th of node `node`.
    pub(crate) fn send(&mut self, port: usize, (node, own): (u32, usize), packet: Packet, is_end: bool) {
        match self.log.follows && packet.label() != 0 {
            true => self.send_followed(port, (node, own), packet, is_end),
            false => drop(self.transmit(port, packet)),
        }
    }

    fn send_followed(&mut self, port: usize, place: (u32, usize), mut packet: Packet, is_end: bool) {
        let label = packet.label();
        let identity = if is_end { Identity::of(packet.bytes()).map(Box::new) } else { None };
        let fate = self.transmit(port, packet);
        let (queued_packets, queued_bytes) = self.transmitters[port].backlog(self.now);
        self.log.note(self.now, place, label, Event::Sent { identity, queued_packets, queued_bytes });
        if fate.is_corrupted {
            self.log.note(self.now, place, label, Event::Corrupted);
        }
        if let Some(reason) = fate.lost {
            self.log.note(self.now, place, label, Event::Lost(Loss::Channel(reason)));
        }
    }

    fn transmit(&mut self, port: usize, packet: Packet) -> Fate {
        let peer = self.peers[port];
        let SharedState { flights, events, turns, outboxes, .. } = self;
        let is_here = peer.partition == self.partition;
        let mut deliver = |arrival: Time, packet: Packet| match is_here {
            true => arrive(flights, events, turns, Mail { peer, arrival, packet }),
            false => outboxes[peer.partition as usize].push(Mail { peer, arrival, packet }),
        };
        self.transmitters[port].send(self.now, packet, &mut self.pool, &mut deliver)
    }

    /// Has the processor fetch the first packets that arrive at these ports.
    #[inline]
    pub(crate) fn fetch_arrivals(&self, ports: Range<usize>) {
        ports.for_each(|port| self.flights.fetch(port));
    }

    /// Has the processor fetch the transmitter of a port.
    #[inline]
    pub(crate) fn fetch_transmitter(&self, port: usize) {
        fetch(&self.transmitters[port]);
        fetch(&self.peers[port]);
    }

    /// Has the processor fetch what a packet that is sent on a port changes at the other end.
    #[inline]
    pub(crate) fn fetch_peer(&self, port: usize) {
        let peer = &self.peers[port];
        if peer.partition == self.partition {
            self.flights.fetch_last(peer.port as usize);
            self.events.fetch(peer.node, peer.source);
        }
    }

    /// Notes the arrival of a packet at a port: the `own`th of node `node`.
    #[inline]
    pub(crate) fn note_arrival(&mut self, port: usize, place: (u32, usize), packet: &mut Packet, is_end: bool) {
        if self.log.captured.get(port) == Some(&true) {
            self.log.note(self.now, place, packet.label(), Event::Captured(packet.bytes().into()));
        }
        if self.log.follows && packet.label() != 0 {
            let identity = if is_end { Identity::of(packet.bytes()).map(Box::new) } else { None };
            self.log.note(self.now, place, packet.label(), Event::Arrived { identity });
        }
    }

    /// Takes over packets from other partitions.
    pub(crate) fn accept(&mut self, mail: impl Iterator<Item = Mail>) {
        let SharedState { flights, events, turns, .. } = self;
        mail.for_each(|mail| arrive(flights, events, turns, mail));
    }
}

/// Has the processor fetch a value.
#[inline]
fn fetch<T>(value: &T) {
    let first = (&raw const *value).cast::<u8>();
    (0..size_of::<T>()).step_by(CACHE_LINE_BYTES).for_each(|at| tables::prefetch(first.wrapping_add(at)));
}

/// Takes a packet into the flight to its receiver.
#[inline]
fn arrive(flights: &mut Flights, events: &mut EventQueues, turns: &mut EventQueue, mail: Mail) {
    let Mail { peer, arrival, packet } = mail;
    if flights.push(peer.port as usize, arrival, packet) {
        events.set(peer.node, peer.source, arrival);
        if arrival < turns.time(peer.node) {
            turns.set(peer.node, arrival);
        }
    }
}
