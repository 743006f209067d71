//! What the nodes of a partition share: the time, the events, the channels, the memory of packets.

use crate::channel::{Flight, Transmitter};
use crate::events::{EventQueue, Source};
use crate::packet::{Packet, Pool};
use crate::time::Time;

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
}

impl Fabric {
    pub(crate) fn send(&mut self, port: usize, packet: Packet) {
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
        self.transmitters[port].send(self.now, packet, &mut self.pool, &mut deliver);
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
