//! Where the neighbours are: stations on the links of the router.
//!
//! What enters: packets to stations that are not known, messages of stations, the time. What leaves:
//! [`Event`]s: solicitations, stations found and lost, packets that are forwarded and packets without a receiver.
//!
//! A station is solicited three times. One that is known is solicited again some time later; only when it does not
//! answer is it lost. Gateways are never forgotten: one that is down is solicited for ever. What strangers can cause is
//! bounded: the stations of a link, those of them that are looked for, the packets that wait for one and for all.

use crate::address::Mac;
use crate::file::seconds;
use base::{OrderedMap, OrderedSet};
use core::net::IpAddr;
use serde::Deserialize;
use std::collections::VecDeque;
use std::time::Duration;

/// How often a station is solicited.
const TRIES_MAX: u32 = 3;

/// The most packets that wait for a station, and for all.
const WAITING_OF_ONE_MAX: usize = 3;
const WAITING_MAX: usize = 1024;

/// How neighbours are found and kept, in seconds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NeighbourSettings {
    /// How long the answer to a solicitation is waited for; there are three of them.
    #[serde(deserialize_with = "seconds")]
    pub answer: Duration,
    /// How long a neighbour is taken to be where it was; then it is solicited.
    #[serde(deserialize_with = "seconds")]
    pub reachable: Duration,
    /// The same for gateways.
    #[serde(deserialize_with = "seconds")]
    pub gateway: Duration,
    /// A neighbour without packets for this time is forgotten.
    #[serde(deserialize_with = "seconds")]
    pub age: Duration,
    /// The most neighbours of a link.
    pub of_link: usize,
    /// The most of them that are looked for.
    pub unresolved: usize,
}

impl Default for NeighbourSettings {
    fn default() -> NeighbourSettings {
        NeighbourSettings {
            answer: Duration::from_secs(1),
            reachable: Duration::from_secs(30),
            gateway: Duration::from_secs(2),
            age: Duration::from_secs(300),
            of_link: 4096,
            unresolved: 256,
        }
    }
}

/// A station on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Station {
    /// The port of the link.
    pub port: u16,
    /// The address.
    pub address: IpAddr,
}

impl Station {
    /// The first byte of its entry's metadata.
    pub const METADATA: u8 = 1;

    /// The metadata of its entry as a next hop.
    pub fn metadata(&self) -> Vec<u8> {
        let [high, low] = self.port.to_be_bytes();
        let head = [Station::METADATA, high, low];
        match self.address {
            IpAddr::V4(address) => [&head[..], &address.octets()].concat(),
            IpAddr::V6(address) => [&head[..], &address.octets()].concat(),
        }
    }
}

/// A packet that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Where it arrived.
    pub port: u16,
    /// The frame.
    pub frame: Vec<u8>,
}

/// What follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A station is to be solicited: by multicast on the link, or at its last Ethernet address.
    Solicit(Station, Option<Mac>),
    /// A station is there, or somewhere else.
    Found(Station, Mac),
    /// A station that was found does not answer any more.
    Lost(Station),
    /// A packet is forwarded.
    Send(Waiting),
    /// A packet is for a station that does not answer.
    Unreachable(Waiting),
}

/// What is known of a station.
#[derive(Clone, Debug)]
struct Known {
    is_gateway: bool,
    /// Where it is, or was.
    mac: Option<Mac>,
    /// How often it has been solicited since its last message.
    tries: u32,
    /// When it is solicited, or has not answered.
    due: Duration,
    waiting: VecDeque<Waiting>,
}

/// How many stations a link has, and how many of them are looked for.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    all: usize,
    unresolved: usize,
}

/// All neighbours.
#[derive(Debug)]
pub struct Neighbours {
    settings: NeighbourSettings,
    known: OrderedMap<Station, Known>,
    due: OrderedSet<(Duration, Station)>,
    counts: OrderedMap<u16, Count>,
    waiting: usize,
    refused: u64,
}

impl Neighbours {
    /// None yet.
    pub fn new(settings: NeighbourSettings) -> Neighbours {
        let (known, due, counts) = Default::default();
        Neighbours { settings, known, due, counts, waiting: 0, refused: 0 }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Neighbours::new(self.settings.clone());
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// How many packets wait.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// How many stations were not looked for because there were too many, since the last call.
    pub fn take_refused(&mut self) -> u64 {
        std::mem::take(&mut self.refused)
    }

    /// Where a station is.
    pub fn mac(&self, station: Station) -> Option<Mac> {
        self.known.get(&station).and_then(|known| known.mac)
    }

    /// Whether a station is a gateway.
    pub fn is_gateway(&self, station: Station) -> bool {
        self.known.get(&station).is_some_and(|known| known.is_gateway)
    }

    /// When [`Neighbours::timer`] is to be called.
    pub fn next_timer(&self) -> Option<Duration> {
        self.due.first().map(|(due, _)| *due)
    }

    fn count(&mut self, station: Station, known: &Known, is_more: bool) {
        let count = self.counts.entry(station.port).or_default();
        let change = |number: &mut usize| *number = if is_more { *number + 1 } else { number.saturating_sub(1) };
        // What the operator has named takes nothing away from others.
        if !known.is_gateway {
            change(&mut count.all);
            if known.mac.is_none() {
                change(&mut count.unresolved);
            }
        }
    }

    fn take(&mut self, station: Station) -> Option<Known> {
        let known = self.known.remove(&station)?;
        self.due.remove(&(known.due, station));
        self.count(station, &known, false);
        self.waiting -= known.waiting.len();
        Some(known)
    }

    fn put(&mut self, station: Station, known: Known) {
        self.due.insert((known.due, station));
        self.count(station, &known, true);
        self.waiting += known.waiting.len();
        self.known.insert(station, known);
    }

    /// Whether a link has room for a further station.
    fn has_room(&mut self, station: Station, has_traffic: bool) -> bool {
        let count = self.counts.get(&station.port).copied().unwrap_or_default();
        let has_room = match has_traffic {
            true => count.all < self.settings.of_link && count.unresolved < self.settings.unresolved,
            // Unsolicited stations leave room for those that have traffic.
            false => count.all < self.settings.of_link / 2,
        };
        self.refused += u64::from(!has_room);
        has_room
    }

    fn reachable(&self, is_gateway: bool) -> Duration {
        if is_gateway { self.settings.gateway } else { self.settings.reachable }
    }

    /// A gateway, which is solicited at once.
    pub fn add_gateway(&mut self, now: Duration, station: Station) {
        let before = self.take(station);
        let (mac, waiting) = before.map_or((None, VecDeque::new()), |known| (known.mac, known.waiting));
        self.put(station, Known { is_gateway: true, mac, tries: 0, due: now, waiting });
    }

    /// A station that a controller before this one has found. It is solicited soon, at another time than others.
    pub fn take_in(&mut self, now: Duration, station: Station, mac: Mac) {
        let is_gateway = self.take(station).is_some_and(|known| known.is_gateway);
        let spread = Duration::from_millis(self.known.len() as u64 % 16_384);
        let due = if is_gateway { now } else { now + self.settings.answer + spread };
        self.put(station, Known { is_gateway, mac: Some(mac), tries: 0, due, waiting: VecDeque::new() });
    }

    /// Forgets a station, unless it is a gateway.
    pub fn forget(&mut self, station: Station) -> bool {
        !self.is_gateway(station) && self.take(station).is_some()
    }

    /// A packet for a station that the program does not know.
    pub fn look_for(&mut self, now: Duration, station: Station, packet: Waiting) -> Vec<Event> {
        let mut known = match self.take(station) {
            Some(known) if known.mac.is_some() => {
                // It was found while this packet was on its way, or its entry is gone.
                let found = known.mac.map(|mac| Event::Found(station, mac));
                self.put(station, known);
                return found.into_iter().chain([Event::Send(packet)]).collect();
            }
            Some(known) => known,
            None if !self.has_room(station, true) => return Vec::new(),
            None => Known { is_gateway: false, mac: None, tries: TRIES_MAX, due: now, waiting: VecDeque::new() },
        };
        let mut events = Vec::new();
        if known.tries >= TRIES_MAX {
            (known.tries, known.due) = (1, now + self.settings.answer);
            events.push(Event::Solicit(station, None));
        }
        // The newest packets wait.
        while known.waiting.len() >= WAITING_OF_ONE_MAX {
            known.waiting.pop_front();
        }
        if self.waiting + known.waiting.len() < WAITING_MAX {
            known.waiting.push_back(packet);
        }
        self.put(station, known);
        events
    }

    /// A message with the Ethernet address of a station. A new station is taken in if the message is a request to the
    /// router.
    pub fn received(&mut self, now: Duration, station: Station, mac: Mac, is_request: bool) -> Vec<Event> {
        let before = match self.take(station) {
            Some(known) => known,
            None if !is_request || !self.has_room(station, false) => return Vec::new(),
            None => Known { is_gateway: false, mac: None, tries: 0, due: now, waiting: VecDeque::new() },
        };
        let mut events = Vec::new();
        if before.mac != Some(mac) {
            events.push(Event::Found(station, mac));
        }
        events.extend(before.waiting.into_iter().map(Event::Send));
        let due = now + self.reachable(before.is_gateway);
        self.put(station, Known { mac: Some(mac), tries: 0, due, waiting: VecDeque::new(), ..before });
        events
    }

    /// What is due.
    pub fn timer(&mut self, now: Duration) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some((_, station)) = self.due.first().copied().filter(|(due, _)| *due <= now) {
            let Some(known) = self.take(station) else { break };
            self.is_due(now, station, known, &mut events);
        }
        events
    }

    fn is_due(&mut self, now: Duration, station: Station, mut known: Known, events: &mut Vec<Event>) {
        if known.tries < TRIES_MAX {
            // The last one is multicast: it may have another Ethernet address.
            let whom = known.mac.filter(|_| known.tries + 1 < TRIES_MAX);
            (known.tries, known.due) = (known.tries + 1, now + self.settings.answer);
            events.push(Event::Solicit(station, whom));
            return self.put(station, known);
        }
        if known.mac.take().is_some() {
            events.push(Event::Lost(station));
        }
        events.extend(known.waiting.drain(..).map(Event::Unreachable));
        if known.is_gateway {
            events.push(Event::Solicit(station, None));
            known.due = now + self.settings.gateway.max(self.settings.answer);
            self.put(station, known);
        }
    }
}

#[cfg(test)]
mod tests;
