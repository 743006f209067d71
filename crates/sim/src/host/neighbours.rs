//! Who has which Ethernet address: known neighbours, and questions that wait for an answer.

use crate::packet::Packet;
use crate::time::Time;
use crate::wire::Mac;
use base::OrderedMap;
use core::net::IpAddr;

/// The time between two questions for the same neighbour (RFC 4861: RETRANS_TIMER).
const RETRY: Time = Time::from_s(1);

/// Questions for a neighbour before it counts as unreachable (RFC 4861: MAX_MULTICAST_SOLICIT).
const QUESTIONS_MAX: u32 = 3;

/// Packets that wait for one neighbour.
const WAITING_MAX: usize = 64;

/// The neighbours of a host.
#[derive(Default)]
pub(super) struct Neighbours {
    entries: OrderedMap<IpAddr, Entry>,
    /// How many of them wait for an answer.
    asked: usize,
}

enum Entry {
    Known(Mac),
    Asked { waiting: Vec<Packet>, questions: u32, next: Time },
}

/// What is to be done with a packet.
pub(super) enum Next {
    /// Send it to this station.
    Send(Packet, Mac),
    /// It waits; the neighbour is to be asked for.
    Ask,
    /// It waits.
    Wait,
    /// Too many wait.
    Refuse(Packet),
}

impl Neighbours {
    /// Finds the station of a packet's next hop.
    pub(super) fn find(&mut self, now: Time, hop: IpAddr, packet: Packet) -> Next {
        match self.entries.get_mut(&hop) {
            Some(Entry::Known(mac)) => Next::Send(packet, *mac),
            Some(Entry::Asked { waiting, .. }) if waiting.len() >= WAITING_MAX => Next::Refuse(packet),
            Some(Entry::Asked { waiting, .. }) => {
                waiting.push(packet);
                Next::Wait
            }
            None => {
                self.asked += 1;
                self.entries.insert(hop, Entry::Asked { waiting: vec![packet], questions: 1, next: now + RETRY });
                Next::Ask
            }
        }
    }

    /// Learns an address; returns the packets that waited for it. Strangers are learnt only if `is_new` says so.
    pub(super) fn learn(&mut self, ip: IpAddr, mac: Mac, is_new: bool) -> Vec<Packet> {
        if mac.is_group() || !(is_new || self.entries.contains_key(&ip)) {
            return Vec::new();
        }
        match self.entries.insert(ip, Entry::Known(mac)) {
            Some(Entry::Asked { waiting, .. }) => {
                self.asked -= 1;
                waiting
            }
            _ => Vec::new(),
        }
    }

    /// When a question is to be repeated or given up.
    pub(super) fn next_timer(&self) -> Time {
        if self.asked == 0 {
            return Time::MAX;
        }
        let next = |entry: &Entry| match entry {
            Entry::Known(_) => Time::MAX,
            Entry::Asked { next, .. } => *next,
        };
        self.entries.values().map(next).min().unwrap_or(Time::MAX)
    }

    /// The neighbours that are to be asked for again, and the packets of those that are given up.
    pub(super) fn timer(&mut self, now: Time) -> (Vec<IpAddr>, Vec<Packet>) {
        let (mut again, mut lost, mut gone) = (Vec::new(), Vec::new(), Vec::new());
        for (ip, entry) in &mut self.entries {
            let Entry::Asked { waiting, questions, next } = entry else { continue };
            if *next > now {
                continue;
            }
            if *questions == QUESTIONS_MAX {
                lost.append(waiting);
                gone.push(*ip);
            } else {
                (*questions, *next) = (*questions + 1, now + RETRY);
                again.push(*ip);
            }
        }
        gone.iter().for_each(|ip| drop(self.entries.remove(ip)));
        self.asked -= gone.len();
        (again, lost)
    }
}
