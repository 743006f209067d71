//! The router's decisions about the packets that its program does not forward itself.
//!
//! What enters: those packets, each with its port and reason; idle entries; the time. What leaves: entries
//! for neighbours and gateways, solicitations and replies of neighbour resolution, ICMP messages, and packets that are
//! forwarded.

use crate::config::{Config, Interface};
use crate::tables::{self, Tables};
use base::{OrderedMap, OrderedSet};
use control::Problem;
use controller::address::{Mac, from_value, is_link_local};
use controller::bucket::Bucket;
use controller::neighbours::{Event, Neighbours, Station, Waiting};
use controller::packet::icmp::{self, Failure};
use controller::packet::ip::Packet;
use controller::packet::neighbour::{self, NeighbourMessage};
use controller::packet::{ETHERTYPE_IPV4, ETHERTYPE_IPV6, Frame};
use controller::{Entry, Fields, Logic, Orders};
use core::net::IpAddr;
use std::time::Duration;

/// How often it is reported that a link has too many stations.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// A controller of a router.
#[derive(Debug)]
pub struct Router {
    config: Config,
    tables: Tables,
    neighbours: Neighbours,
    errors: Bucket,
    /// The groups as the switch has them.
    groups: OrderedMap<u16, String>,
    /// The gateways that answer, by number.
    up: OrderedSet<u16>,
    is_verbose: bool,
    last_report: Option<Duration>,
}

impl Router {
    /// Knows no neighbour yet.
    ///
    /// # Errors
    /// If the tables have no room for the gateways.
    pub fn new(config: Config, is_verbose: bool) -> Result<Router, String> {
        let tables = Tables::new(&config)?;
        let (neighbours, errors) = (Neighbours::new(config.neighbours.clone()), Bucket::new(config.limits.errors));
        let (groups, up) = Default::default();
        Ok(Router { config, tables, neighbours, errors, groups, up, is_verbose, last_report: None })
    }

    /// What it knows of the neighbours.
    pub fn neighbours(&self) -> &Neighbours {
        &self.neighbours
    }

    /// Carries out what follows from a change of the neighbours.
    fn follow(&mut self, now: Duration, events: Vec<Event>, orders: &mut Orders) {
        for event in events {
            match event {
                Event::Solicit(station, whom) => self.solicit(station, whom, orders),
                Event::Found(station, mac) => self.found(station, mac, orders),
                Event::Lost(station) => self.lost(station, orders),
                Event::Send(packet) => self.send(&packet.frame, orders),
                Event::Unreachable(packet) => {
                    self.report(now, Failure::HostUnreachable, packet.port, &packet.frame, orders);
                }
            }
        }
        if self.neighbours.take_refused() > 0
            && self.last_report.is_none_or(|last_report| now.saturating_sub(last_report) >= REPORT_INTERVAL)
        {
            self.last_report = Some(now);
            orders.note("a link has too many stations: further ones are not looked for");
        }
    }

    fn found(&mut self, station: Station, mac: Mac, orders: &mut Orders) {
        let Some(interface) = self.config.interface(station.port) else { return };
        let hop = self.tables.hop_of(station);
        for command in tables::found(interface, station, mac, hop, self.config.neighbours.age.as_millis()) {
            orders.command(command);
        }
        let is_new = hop.is_some_and(|hop| self.up.insert(hop));
        if is_new || self.is_verbose {
            let what = if hop.is_some() { "the gateway " } else { "" };
            orders.note(format!("{what}{} is {mac} at port {}", station.address, station.port));
        }
        self.write_groups(hop, orders);
    }

    fn lost(&mut self, station: Station, orders: &mut Orders) {
        let hop = self.tables.hop_of(station);
        // No flow keeps to a gateway whose entry is gone.
        self.write_groups(hop, orders);
        for command in tables::lost(station, hop) {
            orders.command(command);
        }
        match hop {
            Some(hop) => {
                self.up.remove(&hop);
                orders.note(format!("the gateway {} does not answer", station.address));
            }
            None if self.is_verbose => orders.note(format!("{} does not answer", station.address)),
            None => {}
        }
    }

    /// Writes the groups of a gateway whose members have changed.
    fn write_groups(&mut self, hop: Option<u16>, orders: &mut Orders) {
        let numbers = hop.map_or(&[][..], |hop| self.tables.groups_of(hop)).to_vec();
        for number in numbers {
            self.write_group(number, orders);
        }
    }

    fn write_group(&mut self, number: u16, orders: &mut Orders) {
        let command = self.tables.group_command(number, |station| self.neighbours.mac(station).is_some());
        if self.groups.get(&number) != Some(&command) {
            orders.command(command.clone());
            self.groups.insert(number, command);
        }
    }

    /// Solicits a station.
    fn solicit(&self, station: Station, whom: Option<Mac>, orders: &mut Orders) {
        if let Some(interface) = self.config.interface(station.port) {
            neighbour::solicit(station, whom, interface.mac, interface.address_for(station.address), orders);
        }
    }

    /// A packet that has waited is forwarded.
    fn send(&self, frame: &[u8], orders: &mut Orders) {
        let packet = Frame::parse(frame).and_then(|frame| Packet::parse(frame.payload));
        let is_own = packet.is_some_and(|packet| self.config.is_own(packet.source));
        let mode = if is_own { tables::MODE_OWN } else { tables::MODE_FORWARD };
        orders.packet(&[("mode", mode)], frame);
    }

    /// Sends a packet of the router in reply to a frame.
    fn reply(&self, port: u16, to: Frame<'_>, destination: IpAddr, packet: &[u8], orders: &mut Orders) {
        let ethertype = if destination.is_ipv4() { ETHERTYPE_IPV4 } else { ETHERTYPE_IPV6 };
        let source = self.config.interface(port).map_or(to.destination, |interface| interface.mac);
        let frame = Frame { destination: to.source, source, ethertype, payload: packet };
        match is_link_local(destination) {
            // The program routes no such address.
            true => out(port, frame.to_bytes(), orders),
            false => orders.packet(&[("mode", tables::MODE_OWN)], frame.to_bytes()),
        }
    }

    /// Sends an ICMP error to the sender of a packet.
    fn report(&mut self, now: Duration, failure: Failure, port: u16, frame: &[u8], orders: &mut Orders) {
        let Some(frame) = Frame::parse(frame) else { return };
        let Some(packet) = Packet::parse(frame.payload).filter(icmp::may_report) else { return };
        let is_reserved = |it: &Interface| it.addresses.iter().any(|own| own.reserved().contains(&packet.source));
        if self.config.is_own(packet.source) || self.config.interfaces.iter().any(is_reserved) {
            return;
        }
        let here = self.config.interface(port).and_then(|it| it.address_for(packet.source));
        let any = || self.config.interfaces.iter().find_map(|it| it.address_for(packet.source));
        let Some(source) = here.or_else(any) else { return };
        if let Some(error) = icmp::error(failure, source, &packet).filter(|_| self.errors.take(now)) {
            self.reply(port, frame, packet.source, &error, orders);
        }
    }

    /// The neighbour of a packet is not known.
    fn unresolved(&mut self, now: Duration, port: u16, hop: u16, bytes: &[u8], orders: &mut Orders) {
        let packet = Frame::parse(bytes).and_then(|frame| Packet::parse(frame.payload));
        let attached = || {
            let address = packet?.destination;
            self.config.link_of(address).map(|link| Station { port: link.port, address })
        };
        let station = if hop == 0 { attached() } else { self.tables.gateway(hop) };
        if let Some(station) = station {
            let events = self.neighbours.look_for(now, station, Waiting { port, frame: bytes.to_vec() });
            self.follow(now, events, orders);
        }
    }

    /// A packet for the router itself.
    fn local(&mut self, now: Duration, port: u16, bytes: &[u8], orders: &mut Orders) {
        let Some(frame) = Frame::parse(bytes) else { return };
        let Some(packet) = Packet::parse(frame.payload).filter(|it| !self.config.is_own(it.source)) else { return };
        let is_group = packet.destination.is_multicast();
        let near = || self.config.interface(port).and_then(|it| it.address_for(packet.source));
        let source = if is_group { near() } else { Some(packet.destination) };
        let Some(source) = source else { return };
        match icmp::echo_reply(&packet, source) {
            Some(reply) => self.reply(port, frame, packet.source, &reply, orders),
            None if icmp::is_udp(&packet) => self.report(now, Failure::PortUnreachable, port, bytes, orders),
            None => {}
        }
    }

    /// ARP or neighbour discovery.
    fn neighbour(&mut self, now: Duration, port: u16, bytes: &[u8], orders: &mut Orders) {
        let Some((interface, message)) = self.config.interface(port).zip(NeighbourMessage::parse(bytes)) else {
            return;
        };
        let is_for_it = interface.has(message.target);
        // All stations of the link receive ARP, whatever its target.
        if message.address.is_ipv4() && !(is_for_it && message.mac.is_some_and(|mac| mac.is_station())) {
            return;
        }
        let answer = message.answer(interface.mac).filter(|_| message.is_request && is_for_it);
        if let Some(frame) = answer {
            out(port, frame, orders);
        }
        if let Some(mac) = message.mac {
            self.received(now, port, message.address, mac, message.is_request, orders);
        }
    }

    /// A message with the Ethernet address of a station.
    fn received(&mut self, now: Duration, port: u16, address: IpAddr, mac: Mac, is_request: bool, orders: &mut Orders) {
        let station = Station { port, address };
        let is_on_link = self.config.interface(port).is_some_and(|it| it.is_on_link(address));
        let is_reserved = |it: &Interface| it.addresses.iter().any(|own| own.reserved().contains(&address));
        let is_one = !self.config.is_own(address) && !self.config.interfaces.iter().any(is_reserved);
        if is_on_link && is_one && mac.is_station() {
            // Link-local addresses are looked for as gateways only.
            let events = self.neighbours.received(now, station, mac, is_request && !is_link_local(address));
            self.follow(now, events, orders);
        }
    }

    /// Takes in the neighbours that a switch has, and removes the entries of others.
    fn take_in(&mut self, now: Duration, entries: &[Entry], orders: &mut Orders) {
        self.neighbours.clear();
        self.up.clear();
        for station in self.tables.gateways().to_vec() {
            self.neighbours.add_gateway(now, station);
        }
        let ours = |entry: &&Entry| entry.metadata.first() == Some(&tables::OURS);
        let of_table =
            |name: &'static str| entries.iter().filter(ours).filter(move |entry| entry.table.ends_with(name));
        for entry in of_table(".next_hops") {
            let hop = entry.keys.get("hop").and_then(|hop| u16::try_from(hop).ok());
            let Some(hop) = hop else { continue };
            let is_it = |it: &Station| it.metadata() == entry.metadata;
            let station = self.tables.gateway(hop).filter(is_it);
            match station.and_then(|it| Some((it, self.mac_of(entry, it)?))) {
                Some((station, mac)) => {
                    self.up.insert(hop);
                    self.neighbours.take_in(now, station, mac);
                }
                None => orders.command(format!("delete next_hops {hop}")),
            }
        }
        for (name, is_v6) in [(".neighbours4", false), (".neighbours6", true)] {
            for entry in of_table(name) {
                let Some(address) = address(entry, is_v6) else { continue };
                if !self.take_in_neighbour(now, entry, address) {
                    orders.command(format!("delete {} {address}", &name[1..]));
                }
            }
        }
    }

    /// Takes in a neighbour, if it is one.
    fn take_in_neighbour(&mut self, now: Duration, entry: &Entry, address: IpAddr) -> bool {
        let station = self.config.link_of(address).map(|link| Station { port: link.port, address });
        let Some((station, mac)) = station.and_then(|it| Some((it, self.mac_of(entry, it)?))) else { return false };
        let is_gateway = self.neighbours.is_gateway(station);
        if !is_gateway && entry.has_timeout {
            self.neighbours.take_in(now, station, mac);
            return true;
        }
        is_gateway && !entry.has_timeout && self.neighbours.mac(station) == Some(mac)
    }

    /// Where the entry of a station sends packets to, if it sends them through the right interface.
    fn mac_of(&self, entry: &Entry, station: Station) -> Option<Mac> {
        let interface = self.config.interface(station.port)?;
        let mac = |name: &str| entry.arguments.get(name).and_then(Mac::from_value);
        let is_right = entry.arguments.get("port") == Some(station.port.into()) && mac("source") == Some(interface.mac);
        mac("destination").filter(|_| is_right)
    }
}

/// Sends a frame as it is.
fn out(port: u16, frame: Vec<u8>, orders: &mut Orders) {
    orders.packet(&[("port", port.into()), ("mode", tables::MODE_PORT)], frame);
}

/// The destination of an entry.
fn address(entry: &Entry, is_v6: bool) -> Option<IpAddr> {
    entry.keys.get("destination").and_then(|value| from_value(value, is_v6))
}

impl Logic for Router {
    fn tables(&self) -> Vec<&'static str> {
        vec!["interfaces", "route4", "route6", "groups", "next_hops", "neighbours4", "neighbours6"]
    }

    fn joined(&mut self, now: Duration, entries: &[Entry], orders: &mut Orders) -> Result<(), Problem> {
        self.tables.set_up_interfaces(&self.config, orders);
        self.take_in(now, entries, orders);
        self.groups.clear();
        for number in self.tables.groups() {
            self.write_group(number, orders);
        }
        self.tables.set_up_routes(&self.config, entries, orders);
        Ok(())
    }

    fn packet_in(&mut self, now: Duration, fields: &Fields, payload: &[u8], orders: &mut Orders) {
        let number = |name: &str| fields.get(name).and_then(|value| u16::try_from(value).ok());
        let (Some(port), Some(hop)) = (number("ingress_port"), number("hop")) else { return };
        match fields.get("reason") {
            Some(tables::TTL_EXPIRED) => self.report(now, Failure::TimeExceeded, port, payload, orders),
            Some(tables::NO_ROUTE) => self.report(now, Failure::NoRoute, port, payload, orders),
            Some(tables::UNRESOLVED) => self.unresolved(now, port, hop, payload, orders),
            Some(tables::LOCAL) => self.local(now, port, payload, orders),
            Some(tables::ARP | tables::ND) => self.neighbour(now, port, payload, orders),
            _ => {}
        }
    }

    fn idle(&mut self, _now: Duration, entry: &Entry, orders: &mut Orders) {
        let Some(address) = address(entry, entry.table.ends_with('6')) else { return };
        let Some(port) = self.config.link_of(address).map(|link| link.port) else { return };
        let station = Station { port, address };
        if self.neighbours.forget(station) {
            for command in tables::lost(station, None) {
                orders.command(command);
            }
            if self.is_verbose {
                orders.note(format!("{address} is forgotten: no packets for it"));
            }
        }
    }

    fn next_timer(&self) -> Option<Duration> {
        self.neighbours.next_timer()
    }

    fn timer(&mut self, now: Duration, orders: &mut Orders) {
        let events = self.neighbours.timer(now);
        self.follow(now, events, orders);
    }
}

#[cfg(test)]
mod tests;
