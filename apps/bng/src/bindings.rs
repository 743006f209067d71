//! Who has which public address and port.
//!
//! What enters: the first packets of flows, bindings that a switch has, those that end. What leaves: bindings,
//! refusals.
//!
//! A subscriber keeps to one public address as long as that has ports (RFC 4787: paired pooling), and a binding holds
//! whatever the other end is. Ports are not handed out in order (RFC 6056). What subscribers can cause is bounded: the
//! bindings of each, and of all.
//!
//! What a binding had is held for two minutes after its end (RFC 6888): its flow gets it again, and others do not
//! unless there is no other port. So a flow that is used again while its binding is ended keeps its public address and
//! port, and late packets to it do not reach another subscriber.

use crate::config::Nat;
use base::OrderedMap;
use core::net::Ipv4Addr;
use std::collections::VecDeque;
use std::time::Duration;

/// How long a public address and port is held after the end of its binding.
const HELD: Duration = Duration::from_secs(120);

/// The words of a set of ports.
const WORDS: usize = 65536 / 64;

/// An inner address and port of a subscriber; of an echo, its identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Inner {
    /// The number of the subscriber.
    pub subscriber: u32,
    /// The address.
    pub address: Ipv4Addr,
    /// TCP, UDP or ICMP.
    pub protocol: u8,
    /// The port.
    pub port: u16,
}

/// A public address and port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Public {
    /// The address.
    pub address: Ipv4Addr,
    /// TCP, UDP or ICMP.
    pub protocol: u8,
    /// The port.
    pub port: u16,
}

/// Why there is no binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// The subscriber has as many as it may.
    OfSubscriber,
    /// There are as many as there may be.
    InAll,
    /// All public ports of this protocol are in use.
    NoPort,
}

/// Ports of a public address and a protocol.
#[derive(Debug)]
struct Ports {
    /// Those in use or held, a bit each.
    taken: Box<[u64; WORDS]>,
    /// Those that were held, in this order, for whom and until when. What was bound since is here still.
    held: VecDeque<(Duration, Inner, u16)>,
}

impl Ports {
    fn none() -> Ports {
        Ports { taken: Box::new([0; WORDS]), held: VecDeque::new() }
    }

    fn take(&mut self, port: u16) {
        self.taken[usize::from(port / 64)] |= 1 << (port % 64);
    }

    fn give_back(&mut self, port: u16) {
        self.taken[usize::from(port / 64)] &= !(1 << (port % 64));
    }
}

/// All bindings.
#[derive(Debug)]
pub struct Bindings {
    nat: Nat,
    public: OrderedMap<Inner, Public>,
    inner: OrderedMap<Public, Inner>,
    /// Those of an address and a protocol.
    ports: OrderedMap<(Ipv4Addr, u8), Ports>,
    /// What bindings that have ended had, until when it is held for them.
    held: OrderedMap<Inner, (Public, Duration)>,
    of_subscriber: OrderedMap<u32, u32>,
    made: u64,
}

impl Bindings {
    /// None yet.
    pub fn new(nat: Nat) -> Bindings {
        let (public, inner, ports, held, of_subscriber) = Default::default();
        Bindings { nat, public, inner, ports, held, of_subscriber, made: 0 }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.public.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.public.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (Inner, Public)> {
        self.public.iter().map(|(inner, public)| (*inner, *public))
    }

    /// The public side of a binding.
    pub fn public(&self, inner: Inner) -> Option<Public> {
        self.public.get(&inner).copied()
    }

    /// The binding of an inner address and port, made if there is none.
    ///
    /// # Errors
    /// Why it is refused.
    pub fn bind(&mut self, now: Duration, inner: Inner) -> Result<Public, Refusal> {
        if let Some(public) = self.public(inner) {
            return Ok(public);
        }
        if self.of_subscriber.get(&inner.subscriber).copied().unwrap_or(0) >= self.nat.of_subscriber {
            return Err(Refusal::OfSubscriber);
        }
        if self.public.len() >= self.nat.in_all {
            return Err(Refusal::InAll);
        }
        let held = self.held.get(&inner).map(|(public, _)| *public).filter(|it| !self.inner.contains_key(it));
        let public = held.or_else(|| self.free(now, inner)).ok_or(Refusal::NoPort)?;
        self.insert(inner, public);
        Ok(public)
    }

    /// A public address and port that is free, or held for longest: of the subscriber's address if possible.
    fn free(&mut self, now: Duration, inner: Inner) -> Option<Public> {
        self.made += 1;
        let start =
            mix((u64::from(u32::from(inner.address)) << 32) | u64::from(inner.port)) as u16 ^ (mix(self.made) as u16);
        let count = self.nat.addresses();
        (0..count).find_map(|index| {
            let address = self.nat.address((u64::from(inner.subscriber) + index) % count)?;
            let of = (address, inner.protocol);
            while self.end_of_hold(of, Some(now)).is_some() {}
            let free = free_port(self.ports.get(&of).map(|ports| &*ports.taken), self.nat.ports, start);
            let port = free.or_else(|| self.end_of_hold(of, None))?;
            Some(Public { address, protocol: inner.protocol, port })
        })
    }

    /// The port of an address and a protocol that was held first is not held any more, if its time has come.
    fn end_of_hold(&mut self, of: (Ipv4Addr, u8), now: Option<Duration>) -> Option<u16> {
        let ports = self.ports.get_mut(&of)?;
        while let Some((until, inner, port)) =
            ports.held.front().copied().filter(|it| now.is_none_or(|now| it.0 <= now))
        {
            ports.held.pop_front();
            let public = Public { address: of.0, protocol: of.1, port };
            if self.held.get(&inner) != Some(&(public, until)) {
                continue;
            }
            self.held.remove(&inner);
            if !self.inner.contains_key(&public) {
                ports.give_back(port);
                return Some(port);
            }
        }
        None
    }

    fn insert(&mut self, inner: Inner, public: Public) {
        self.public.insert(inner, public);
        self.inner.insert(public, inner);
        *self.of_subscriber.entry(inner.subscriber).or_default() += 1;
        let before = self.held.remove(&inner).map(|(before, _)| before);
        if let Some(before) = before.filter(|before| !self.inner.contains_key(before)) {
            self.ports_of(before).give_back(before.port);
        }
        self.ports_of(public).take(public.port);
    }

    fn ports_of(&mut self, public: Public) -> &mut Ports {
        self.ports.entry((public.address, public.protocol)).or_insert_with(Ports::none)
    }

    /// Takes in a binding that a switch has. False if another one has its inner or its public side, or it is not one of
    /// the file.
    pub fn take_in(&mut self, inner: Inner, public: Public) -> bool {
        let is_same = self.public(inner) == Some(public);
        let is_free = !self.public.contains_key(&inner) && !self.inner.contains_key(&public);
        let is_ours = self.nat.has(public.address) && inner.protocol == public.protocol;
        if is_free && is_ours {
            self.insert(inner, public);
        }
        is_same || is_free && is_ours
    }

    /// Ends a binding.
    pub fn release(&mut self, now: Duration, inner: Inner) -> Option<Public> {
        let public = self.public.remove(&inner)?;
        self.inner.remove(&public);
        let (until, port) = (now + HELD, public.port);
        match self.held.len() < self.nat.in_all {
            true => {
                self.held.insert(inner, (public, until));
                self.ports_of(public).held.push_back((until, inner, port));
            }
            false => self.ports_of(public).give_back(port),
        }
        if let Some(count) = self.of_subscriber.get_mut(&inner.subscriber) {
            *count -= 1;
            if *count == 0 {
                self.of_subscriber.remove(&inner.subscriber);
            }
        }
        Some(public)
    }

    /// The inner side of a binding.
    pub fn inner(&self, public: Public) -> Option<Inner> {
        self.inner.get(&public).copied()
    }
}

/// A port from `first` to `last` that is not used: the first from `start` on.
fn free_port(used: Option<&[u64; WORDS]>, [first, last]: [u16; 2], start: u16) -> Option<u16> {
    let count = u32::from(last - first) + 1;
    let start = first + (u32::from(start) % count) as u16;
    let Some(used) = used else { return Some(start) };
    let next = |from: u16, to: u16| {
        let (mut word, end) = (usize::from(from / 64), usize::from(to / 64));
        let mut free = !used[word] & u64::MAX << (from % 64);
        while free == 0 && word < end {
            word += 1;
            free = !used[word];
        }
        let port = word as u32 * 64 + free.trailing_zeros();
        (free != 0 && port <= u32::from(to)).then_some(port as u16)
    };
    next(start, last).or_else(|| next(first, start))
}

/// Mixes the bits of a number (the end of SplitMix64).
fn mix(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ number >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ number >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::OrderedSet;

    const AT: Duration = Duration::from_secs(9);

    fn bindings(pool: &str, ports: [u16; 2]) -> Bindings {
        let pool = vec![pool.parse().unwrap()];
        Bindings::new(Nat { pool, ports, of_subscriber: 5, in_all: 12, ..Nat::default() })
    }

    fn inner(subscriber: u32, port: u16) -> Inner {
        Inner { subscriber, address: Ipv4Addr::new(192, 168, 1, 10), protocol: 17, port }
    }

    #[test]
    fn a_subscriber_keeps_to_an_address_and_ports_differ() {
        let mut it = bindings("198.51.100.0/30", [1024, 65535]);
        let all: Vec<Public> =
            (0..12).map(|number| it.bind(AT, inner(1 + number / 4, number as u16)).unwrap()).collect();
        for of_one in all.chunks(4) {
            assert!(of_one.iter().all(|it| it.address == of_one[0].address && it.port >= 1024));
        }
        assert_eq!(all.iter().collect::<OrderedSet<_>>().len(), 12);
        assert_eq!(it.bind(AT, inner(1, 0)), Ok(all[0]));
        assert_eq!(it.bind(AT, inner(7, 7)), Err(Refusal::InAll));
    }

    #[test]
    fn each_subscriber_and_each_pool_has_an_end() {
        let mut it = bindings("198.51.100.1/32", [1100, 1106]);
        let of_one: Vec<_> = (0..6).map(|port| it.bind(AT, inner(1, port)).map(|it| it.port)).collect();
        assert_eq!(of_one[5], Err(Refusal::OfSubscriber));
        assert!(it.bind(AT, inner(2, 0)).is_ok() && it.bind(AT, inner(2, 1)).is_ok());
        assert_eq!(it.bind(AT, inner(2, 2)), Err(Refusal::NoPort));
        // Another protocol has its own ports; what has ended is there for others if they have no other.
        assert!(it.bind(AT, Inner { protocol: 6, ..inner(2, 2) }).is_ok());
        let ended = it.release(AT, inner(1, 3)).unwrap();
        assert_eq!(it.bind(AT, inner(3, 2)), Ok(ended));
    }

    #[test]
    fn what_has_ended_is_held_for_a_while() {
        let mut it = bindings("198.51.100.1/32", [1100, 1103]);
        let [first, second] = [0, 1].map(|port| it.bind(AT, inner(1, port)).unwrap());
        assert_eq!([it.release(AT, inner(1, 0)), it.release(AT, inner(1, 1))], [Some(first), Some(second)]);
        // The flow gets it again, and others do not.
        let others = [0, 1].map(|port| it.bind(AT, inner(2, port)).unwrap());
        assert!(!others.contains(&first) && !others.contains(&second));
        assert_eq!(it.bind(AT, inner(1, 1)), Ok(second));
        // There is no other; it was the only one that is held.
        assert_eq!(it.bind(AT, inner(2, 2)), Ok(first));
        assert_eq!(it.bind(AT, inner(1, 0)), Err(Refusal::NoPort));
        // What is held twice is held from the second end on.
        for now in [AT, AT + HELD / 2] {
            it.bind(now, inner(1, 1)).unwrap();
            it.release(now, inner(1, 1));
        }
        it.end_of_hold((second.address, 17), Some(AT + HELD));
        assert_eq!((it.held.len(), it.len()), (1, 3));
        it.end_of_hold((second.address, 17), Some(AT + HELD * 2));
        assert!(it.held.is_empty());
        assert_eq!(it.bind(AT + HELD * 2, inner(2, 3)), Ok(second));
    }

    #[test]
    fn what_is_held_may_be_taken_in() {
        let mut it = bindings("198.51.100.1/32", [1100, 1101]);
        let first = it.bind(AT, inner(1, 0)).unwrap();
        let second = Public { port: 2201 - first.port, ..first };
        it.release(AT, inner(1, 0));
        // A switch has something else for the flow, and it for another flow.
        assert!(it.take_in(inner(1, 0), second) && it.take_in(inner(2, 0), first));
        assert_eq!(it.bind(AT, inner(3, 0)), Err(Refusal::NoPort));
        it.release(AT, inner(1, 0));
        it.end_of_hold((first.address, 17), Some(AT + HELD));
        assert_eq!(it.bind(AT, inner(3, 0)), Ok(second));
        assert_eq!(it.bind(AT, inner(3, 1)), Err(Refusal::NoPort));
    }

    #[test]
    fn what_a_switch_has_is_taken_in_unless_it_contradicts() {
        let mut it = bindings("198.51.100.1/32", [1024, 65535]);
        let public = Public { address: Ipv4Addr::new(198, 51, 100, 1), protocol: 17, port: 5000 };
        assert!(it.take_in(inner(1, 1), public) && it.take_in(inner(1, 1), public));
        assert!(!it.take_in(inner(2, 1), public));
        assert!(!it.take_in(inner(1, 1), Public { port: 5001, ..public }));
        assert!(!it.take_in(inner(3, 1), Public { address: Ipv4Addr::new(203, 0, 113, 1), ..public }));
        assert_eq!((it.bind(AT, inner(1, 1)), it.inner(public), it.len()), (Ok(public), Some(inner(1, 1)), 1));
    }
}
