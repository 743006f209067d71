//! Who has which Ethernet address: known neighbours, and those whose address resolution is incomplete.

use crate::packet::Packet;
use crate::time::Time;
use crate::wire::Mac;
use base::OrderedMap;
use core::net::IpAddr;

/// The time between two solicitations of the same neighbour (RFC 4861: RETRANS_TIMER).
const RETRY: Time = Time::from_s(1);

/// Solicitations of a neighbour before it counts as unreachable (RFC 4861: MAX_MULTICAST_SOLICIT).
const SOLICITATIONS_MAX: u32 = 3;

/// Packets that are queued for one neighbour.
const QUEUE_MAX: usize = 64;

/// The neighbours of a host.
#[derive(Default)]
pub(super) struct Neighbours {
    entries: OrderedMap<IpAddr, Entry>,
    /// How many of them are incomplete.
    incomplete: usize,
}

enum Entry {
    Known(Mac),
    Incomplete { queue: Vec<Packet>, solicitations: u32, next: Time },
}

/// What is to be done with a packet.
pub(super) enum Next {
    /// Send it to this station.
    Send(Packet, Mac),
    /// It is queued; the neighbour's address is to be resolved.
    Resolve,
    /// It is queued.
    Queued,
    /// Too many are queued.
    Refuse(Packet),
}

impl Neighbours {
    /// Finds the station of a packet's next hop.
    pub(super) fn find(&mut self, now: Time, hop: IpAddr, packet: Packet) -> Next {
        match self.entries.get_mut(&hop) {
            Some(Entry::Known(mac)) => Next::Send(packet, *mac),
            Some(Entry::Incomplete { queue, .. }) if queue.len() >= QUEUE_MAX => Next::Refuse(packet),
            Some(Entry::Incomplete { queue, .. }) => {
                queue.push(packet);
                Next::Queued
            }
            None => {
                self.incomplete += 1;
                self.entries
                    .insert(hop, Entry::Incomplete { queue: vec![packet], solicitations: 1, next: now + RETRY });
                Next::Resolve
            }
        }
    }

    /// Learns an address; returns the packets that were queued for it. Unknown neighbours are learnt only if `is_new`
    /// is set.
    pub(super) fn learn(&mut self, ip: IpAddr, mac: Mac, is_new: bool) -> Vec<Packet> {
        if mac.is_group() || !(is_new || self.entries.contains_key(&ip)) {
            return Vec::new();
        }
        match self.entries.insert(ip, Entry::Known(mac)) {
            Some(Entry::Incomplete { queue, .. }) => {
                self.incomplete -= 1;
                queue
            }
            _ => Vec::new(),
        }
    }

    /// When a solicitation is to be repeated or given up.
    pub(super) fn next_timer(&self) -> Time {
        if self.incomplete == 0 {
            return Time::MAX;
        }
        let next = |entry: &Entry| match entry {
            Entry::Known(_) => Time::MAX,
            Entry::Incomplete { next, .. } => *next,
        };
        self.entries.values().map(next).min().unwrap_or(Time::MAX)
    }

    /// The neighbours to solicit again, and the packets of those that are given up.
    pub(super) fn timer(&mut self, now: Time) -> (Vec<IpAddr>, Vec<Packet>) {
        let (mut again, mut lost, mut gone) = (Vec::new(), Vec::new(), Vec::new());
        for (ip, entry) in &mut self.entries {
            let Entry::Incomplete { queue, solicitations, next } = entry else { continue };
            if *next > now {
                continue;
            }
            if *solicitations == SOLICITATIONS_MAX {
                lost.append(queue);
                gone.push(*ip);
            } else {
                (*solicitations, *next) = (*solicitations + 1, now + RETRY);
                again.push(*ip);
            }
        }
        gone.iter().for_each(|ip| drop(self.entries.remove(ip)));
        self.incomplete -= gone.len();
        (again, lost)
    }
}
