//! Stations to which a switch sends packets by their numbers: next hops and tunnel end points on its links.
//!
//! What enters: links, addresses, ARP and neighbour discovery from the links, the time. What leaves: numbers, from 1 in
//! the order of the addresses; solicitations; and changes of the stations' Ethernet addresses. All are solicited for
//! ever, at intervals.

use crate::address::{Mac, Network};
use crate::logic::{Entry, Orders};
use crate::neighbours::{Event, NeighbourSettings, Neighbours, Station};
use crate::packet::neighbour::{NeighbourMessage, solicit};
use base::OrderedMap;
use core::net::IpAddr;
use std::time::Duration;

/// The most stations.
const STATIONS_MAX: usize = 60_000;

/// A link of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The port.
    pub port: u16,
    /// The Ethernet address of the switch.
    pub mac: Mac,
    /// Its address, with the network of the link.
    pub address: Network,
    /// Its address of IPv6, with the network of the link.
    pub address6: Option<Network>,
}

impl Link {
    fn networks(&self) -> impl Iterator<Item = Network> {
        [Some(self.address), self.address6].into_iter().flatten()
    }

    /// The address of the switch for stations of a version of IP.
    pub fn address_for(&self, other: IpAddr) -> Option<IpAddr> {
        self.networks().map(|it| it.address).find(|it| it.is_ipv4() == other.is_ipv4())
    }
}

/// A station that was found, or lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its number.
    pub number: u32,
    /// Its link.
    pub link: Link,
    /// Its Ethernet address, unless it does not answer.
    pub mac: Option<Mac>,
}

/// The stations.
#[derive(Debug)]
pub struct Hops {
    links: Vec<Link>,
    stations: Vec<Station>,
    numbers: OrderedMap<Station, u32>,
    neighbours: Neighbours,
}

impl Hops {
    /// None yet.
    pub fn new(links: Vec<Link>, settings: NeighbourSettings) -> Hops {
        Hops { links, stations: Vec::new(), numbers: OrderedMap::new(), neighbours: Neighbours::new(settings) }
    }

    /// The link whose network has an address.
    pub fn link_of(&self, address: IpAddr) -> Option<&Link> {
        self.links.iter().find(|link| link.networks().any(|it| it.contains(address)))
    }

    /// The link at a port.
    pub fn link(&self, port: u16) -> Option<&Link> {
        self.links.iter().find(|link| link.port == port)
    }

    /// The number of a station, and its link.
    ///
    /// # Errors
    /// If no link has its address, it is the switch's own, or there are too many.
    pub fn number(&mut self, address: IpAddr) -> Result<(u32, Link), String> {
        let link = self.link_of(address).ok_or_else(|| format!("no interface has the network of {address}"))?;
        self.number_at(link.port, address)
    }

    /// The number of a station at a port, and its link.
    ///
    /// # Errors
    /// If there is no interface, the address is the switch's own, or there are too many.
    pub fn number_at(&mut self, port: u16, address: IpAddr) -> Result<(u32, Link), String> {
        let link = *self.link(port).ok_or_else(|| format!("there is no interface {port}"))?;
        if link.networks().any(|it| it.address == address) {
            return Err(format!("{address} is the address of an interface"));
        }
        let station = Station { port: link.port, address };
        if !self.numbers.contains_key(&station) {
            if self.stations.len() >= STATIONS_MAX {
                return Err(format!("there are more than {STATIONS_MAX} stations"));
            }
            self.stations.push(station);
            self.numbers.insert(station, self.stations.len() as u32);
        }
        Ok((self.numbers[&station], link))
    }

    /// The address of a station.
    pub fn address(&self, number: u32) -> Option<IpAddr> {
        self.stations.get((number as usize).wrapping_sub(1)).map(|station| station.address)
    }

    /// Where a station at a port is, if it answers.
    pub fn mac(&self, port: u16, address: IpAddr) -> Option<Mac> {
        self.neighbours.mac(Station { port, address })
    }

    /// Begins with a switch.
    pub fn join(&mut self, now: Duration) {
        self.neighbours.clear();
        for station in &self.stations {
            self.neighbours.add_gateway(now, *station);
        }
    }

    /// Takes in the stations whose entries a switch has in a table; entries of others are deleted. Each has the number
    /// as its key `key` and the Ethernet address as its argument `mac`.
    pub fn take_in(&mut self, now: Duration, entries: &[Entry], [table, key, mac]: [&str; 3], orders: &mut Orders) {
        for entry in entries.iter().filter(|entry| entry.table.rsplit('.').next() == Some(table)) {
            let number = entry.keys.get(key).and_then(|number| usize::try_from(number).ok());
            let station = number.and_then(|number| self.stations.get(number.wrapping_sub(1)));
            let station = station.filter(|station| station.metadata() == entry.metadata);
            match station.zip(entry.arguments.get(mac).and_then(Mac::from_value)) {
                Some((station, mac)) => self.neighbours.take_in(now, *station, mac),
                None if entry.metadata.first() == Some(&Station::METADATA) => {
                    orders.command(format!("delete {} {}", entry.table, entry.name));
                }
                None => {}
            }
        }
    }

    /// The metadata of the entry of a station.
    pub fn metadata(&self, number: u32) -> String {
        let station = self.stations.get((number as usize).wrapping_sub(1));
        station.map_or_else(Vec::new, |station| station.metadata()).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// ARP or neighbour discovery that is for the switch has arrived at a port.
    pub fn received(&mut self, now: Duration, port: u16, frame: &[u8], orders: &mut Orders) -> Vec<Change> {
        let Some(message) = NeighbourMessage::parse(frame) else { return Vec::new() };
        let Some(mac) = message.mac.filter(|mac| mac.is_station()) else { return Vec::new() };
        let station = Station { port, address: message.address };
        match self.numbers.contains_key(&station) {
            true => {
                let events = self.neighbours.received(now, station, mac, false);
                self.follow(events, orders)
            }
            false => Vec::new(),
        }
    }

    /// When [`Hops::timer`] is to be called.
    pub fn next_timer(&self) -> Option<Duration> {
        self.neighbours.next_timer()
    }

    /// What is due.
    pub fn timer(&mut self, now: Duration, orders: &mut Orders) -> Vec<Change> {
        let events = self.neighbours.timer(now);
        self.follow(events, orders)
    }

    fn follow(&self, events: Vec<Event>, orders: &mut Orders) -> Vec<Change> {
        let mut changes = Vec::new();
        for event in events {
            let (station, mac) = match event {
                Event::Solicit(station, whom) => {
                    if let Some(link) = self.link(station.port) {
                        solicit(station, whom, link.mac, link.address_for(station.address), orders);
                    }
                    continue;
                }
                Event::Found(station, mac) => (station, Some(mac)),
                Event::Lost(station) => (station, None),
                Event::Send(_) | Event::Unreachable(_) => continue,
            };
            if let Some((number, link)) = self.numbers.get(&station).zip(self.link(station.port)) {
                changes.push(Change { number: *number, link: *link, mac });
            }
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logic::Fields;
    use crate::packet::arp::{self, Arp};
    use crate::packet::{ETHERTYPE_ARP, Frame, nd};
    use core::net::{Ipv4Addr, Ipv6Addr};

    const HERE: Mac = Mac([2, 0, 0, 0, 1, 1]);
    const THERE: Mac = Mac([2, 0, 0, 0, 1, 9]);

    fn hops() -> Hops {
        let (address, address6) = ("10.0.1.1/24".parse().unwrap(), "2001:db8::1/64".parse().ok());
        let link = Link { port: 1, mac: HERE, address, address6 };
        let mut hops = Hops::new(vec![link], NeighbourSettings::default());
        for (address, number) in [("10.0.1.9", 1), ("10.0.1.8", 2), ("10.0.1.9", 1), ("2001:db8::9", 3)] {
            assert_eq!(hops.number(ip(address)).unwrap().0, number);
        }
        for address in ["10.0.2.9", "2001:db8:1::9"] {
            assert!(hops.number(ip(address)).unwrap_err().contains("no interface"));
        }
        for address in ["10.0.1.1", "2001:db8::1"] {
            assert!(hops.number(ip(address)).unwrap_err().contains("of an interface"));
        }
        hops
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn answer(address: [u8; 4]) -> Vec<u8> {
        let sender = Ipv4Addr::from(address);
        let target = Ipv4Addr::new(10, 0, 1, 1);
        let arp = Arp { operation: arp::REPLY, sender_mac: THERE, sender, target_mac: HERE, target };
        Frame { destination: HERE, source: THERE, ethertype: ETHERTYPE_ARP, payload: &arp.to_bytes() }.to_bytes()
    }

    #[test]
    fn stations_are_asked_found_and_lost() {
        let (mut hops, mut orders) = (hops(), Orders::new());
        hops.join(Duration::ZERO);
        assert_eq!(hops.timer(Duration::ZERO, &mut orders), []);
        let text = orders.take_text();
        assert_eq!(text.lines().filter(|line| line.contains("packet-out ffffffffffff")).count(), 2);
        assert_eq!(text.lines().filter(|line| line.contains("packet-out 3333ff000009")).count(), 1);
        let changes = hops.received(Duration::ZERO, 1, &answer([10, 0, 1, 9]), &mut orders);
        assert_eq!(changes.iter().map(|it| (it.number, it.mac)).collect::<Vec<_>>(), [(1, Some(THERE))]);
        // The switch has not solicited this one.
        assert_eq!(hops.received(Duration::ZERO, 1, &answer([10, 0, 1, 7]), &mut orders), []);
        // An advertisement counts, and a question of the station itself.
        let [here, there] = [Ipv6Addr::from_bits(0x2001_0DB8 << 96 | 1), Ipv6Addr::from_bits(0x2001_0DB8 << 96 | 9)];
        let answer = nd::advertisement(THERE, there, here.into(), HERE).unwrap();
        let changes = hops.received(Duration::ZERO, 1, &answer, &mut orders);
        assert_eq!(changes.iter().map(|it| (it.number, it.mac)).collect::<Vec<_>>(), [(3, Some(THERE))]);
        let moved = nd::solicitation(HERE, there, here, None).unwrap();
        let changes = hops.received(Duration::ZERO, 1, &moved, &mut orders);
        assert_eq!(changes.iter().map(|it| (it.number, it.mac)).collect::<Vec<_>>(), [(3, Some(HERE))]);
        let mut lost = Vec::new();
        while let Some(next) = hops.next_timer().filter(|next| *next < Duration::from_secs(20)) {
            lost.extend(hops.timer(next, &mut orders).into_iter().map(|it| (it.number, it.mac)));
        }
        assert_eq!(lost, [(1, None), (3, None)]);
    }

    #[test]
    fn entries_of_the_controller_before_are_taken_in() {
        let (mut hops, mut orders) = (hops(), Orders::new());
        let entry = |number: u128, metadata: Vec<u8>| Entry {
            table: "next_hops".to_owned(),
            name: number.to_string().into(),
            keys: Fields::new([("hop".to_owned(), number)]),
            arguments: Fields::new([("destination".to_owned(), 0x0200_0000_0109)]),
            metadata,
            ..Entry::default()
        };
        let right = Station { port: 1, address: Ipv4Addr::new(10, 0, 1, 9).into() }.metadata();
        let entries = [entry(1, right.clone()), entry(2, right), entry(7, vec![])];
        hops.join(Duration::ZERO);
        hops.take_in(Duration::ZERO, &entries, ["next_hops", "hop", "destination"], &mut orders);
        assert_eq!(orders.take_text(), "delete next_hops 2\n");
        assert_eq!(hops.received(Duration::ZERO, 1, &answer([10, 0, 1, 9]), &mut orders), []);
    }
}
