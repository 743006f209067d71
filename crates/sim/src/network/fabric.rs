//! What the nodes of a partition share: the time, the events, the channels, the memory of packets.

use crate::channel::{Fate, Flight, Transmitter};
use crate::events::{EventQueue, Source};
use crate::packet::{Packet, Pool};
use crate::record::{Event, Log, Loss};
use crate::time::Time;
use crate::wire::flow::Identity;

/// Where the packets of a transmitter go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    pub(crate) partition: u32,
    /// The port at which they arrive, among those of that partition.
    pub(crate) port: u32,
    /// The source of the arrivals there.
    pub(crate) source: Source,
}

/// A packet for another partition.
#[derive(Debug)]
pub(crate) struct Mail {
    pub(crate) port: u32,
    pub(crate) source: Source,
    pub(crate) arrival: Time,
    pub(crate) packet: Packet,
}

pub(crate) struct Fabric {
    pub(crate) now: Time,
    pub(crate) pool: Pool,
    pub(crate) events: EventQueue,
    /// By port.
    pub(crate) transmitters: Vec<Transmitter>,
    /// By port: where the packets go that are sent on it.
    pub(crate) peers: Vec<Peer>,
    /// By port: the packets that arrive on it.
    pub(crate) flights: Vec<Flight>,
    pub(crate) partition: u32,
    /// By partition: packets for it.
    pub(crate) outboxes: Vec<Vec<Mail>>,
    pub(crate) log: Log,
}

impl Fabric {
    /// Sends a packet on a port: the `own`th of node `node`.
    pub(crate) fn send(&mut self, port: usize, (node, own): (u32, usize), packet: Packet, is_end: bool) {
        match self.log.follows && packet.label() != 0 {
            true => self.send_followed(port, (node, own), packet, is_end),
            false => drop(self.transmit(port, packet)),
        }
    }

    fn send_followed(&mut self, port: usize, place: (u32, usize), packet: Packet, is_end: bool) {
        let label = packet.label();
        let identity = if is_end { Identity::of(packet.bytes()).map(Box::new) } else { None };
        let fate = self.transmit(port, packet);
        let (waiting_packets, waiting_bytes) = self.transmitters[port].backlog(self.now);
        self.log.note(self.now, place, label, Event::Sent { identity, waiting_packets, waiting_bytes });
        if fate.is_corrupted {
            self.log.note(self.now, place, label, Event::Corrupted);
        }
        if let Some(reason) = fate.lost {
            self.log.note(self.now, place, label, Event::Lost(Loss::Channel(reason)));
        }
    }

    fn transmit(&mut self, port: usize, packet: Packet) -> Fate {
        let peer = self.peers[port];
        let (flights, events, outboxes) = (&mut self.flights, &mut self.events, &mut self.outboxes);
        let is_here = peer.partition == self.partition;
        let mut deliver = |arrival: Time, packet: Packet| {
            if is_here {
                if flights[peer.port as usize].push(arrival, packet) {
                    events.set(peer.source, arrival);
                }
            } else {
                let mail = Mail { port: peer.port, source: peer.source, arrival, packet };
                outboxes[peer.partition as usize].push(mail);
            }
        };
        self.transmitters[port].send(self.now, packet, &mut self.pool, &mut deliver)
    }

    /// Notes the arrival of a packet at a port: the `own`th of node `node`.
    #[inline]
    pub(crate) fn note_arrival(&mut self, port: usize, place: (u32, usize), packet: &Packet, is_end: bool) {
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
        for Mail { port, source, arrival, packet } in mail {
            if self.flights[port as usize].push(arrival, packet) {
                self.events.set(source, arrival);
            }
        }
    }
}
