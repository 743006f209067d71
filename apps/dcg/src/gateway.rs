//! The gateway's decisions about servers, and about the packets that its program does not forward itself.
//!
//! What enters: those packets, each with its port and reason; reports of draining flows; idle flows; the time. What
//! leaves: entries for services, next hops and end points, probes, ICMP messages.

use crate::config::{Config, ProbeKind, Side};
use crate::draining::Draining;
use crate::probes::{Change, Probes};
use crate::slots::ServerState;
use crate::tables;
use crate::tunnelled::{Arrived, Tunnel};
use base::OrderedMap;
use control::Problem;
use controller::address::Mac;
use controller::bucket::Bucket;
use controller::desired::Desired;
use controller::hops::{self, Hops, Link};
use controller::packet::icmp::{self, Failure};
use controller::packet::tcp::{self, Segment};
use controller::packet::{ETHERTYPE_IPV4, ETHERTYPE_IPV6, Frame, nd};
use controller::{Entry, Fields, Logic, Orders};
use core::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

/// The port, or the identifier, of the first target's probes; the others follow.
const FIRST_PROBE: u16 = 20_000;

/// A controller of a gateway.
#[derive(Debug)]
pub struct Gateway {
    config: Config,
    desired: Desired,
    hops: Hops,
    probes: Probes,
    draining: Draining,
    errors: Bucket,
    /// The groups as the switch has them, by the number of the service.
    groups: OrderedMap<u32, String>,
    /// When groups that a controller before this one has written may change: not before probes were answered.
    groups_due: Option<Duration>,
    /// When the slots of draining servers go to others.
    drained: Option<Duration>,
    has_drained: bool,
}

impl Gateway {
    /// No server has answered yet.
    ///
    /// # Errors
    /// If a next hop is on no link, or there are too many stations or probes.
    pub fn new(config: Config) -> Result<Gateway, String> {
        let links = config.interfaces.iter().map(|it| Link {
            port: it.port,
            mac: it.mac,
            address: it.address,
            address6: it.address6,
        });
        let mut hops = Hops::new(links.collect(), config.neighbours.clone());
        let desired = tables::desired(&config, &mut hops)?;
        let probes = Probes::new(&config);
        let most = usize::from(u16::MAX - FIRST_PROBE);
        if probes.target(most).is_some() {
            return Err(format!(
                "there are more than {most} servers of services that are probed: write probe = \"none\""
            ));
        }
        let draining = Draining::new(config.draining.clone());
        let errors = Bucket::new(config.limits.errors);
        let (groups, groups_due, drained) = Default::default();
        Ok(Gateway { config, desired, hops, probes, draining, errors, groups, groups_due, drained, has_drained: false })
    }

    fn state(&self, service: u32, server: u32) -> ServerState {
        let is_draining = self.config.server(server).is_some_and(|it| it.drain);
        match (self.probes.is_up(service, server), is_draining) {
            (false, _) => ServerState::Out,
            (true, false) => ServerState::Up,
            (true, true) if self.has_drained => ServerState::Out,
            (true, true) => ServerState::Draining,
        }
    }

    /// Writes the groups that have changed.
    fn write_groups(&mut self, orders: &mut Orders) {
        if self.groups_due.is_some() {
            return;
        }
        for service in &self.config.services {
            let command = tables::group(service, |server| self.state(service.number, server));
            if self.groups.get(&service.number) != Some(&command) {
                orders.command(command.clone());
                self.groups.insert(service.number, command);
            }
        }
    }

    fn follow(&self, changes: Vec<hops::Change>, orders: &mut Orders) {
        for change in changes {
            orders.command(tables::station(&self.config, &change, &self.hops));
            let address = self.hops.address(change.number).map_or(String::new(), |it| it.to_string());
            orders.note(match change.mac {
                Some(mac) => format!("{address} is {mac} at port {}", change.link.port),
                None => format!("{address} at port {} does not answer", change.link.port),
            });
        }
    }

    /// Servers have become up, or are up no longer.
    fn changed(&mut self, changes: Vec<Change>, orders: &mut Orders) {
        for Change { service, server, is_up } in &changes {
            orders.note(format!(
                "server {server} {} service {service}",
                if *is_up { "answers for" } else { "is out of" }
            ));
        }
        if !changes.is_empty() {
            self.write_groups(orders);
        }
    }

    /// The way to an address of a server, its Ethernet address there, and the gateway's address.
    fn tunnel(&self, server: u32, to: IpAddr) -> Option<(u16, Tunnel, Frame<'static>, IpAddr)> {
        let server = self.config.server(server)?;
        let (tenant, end_point) = (self.config.tenant(server.tenant)?, self.config.end_point(server.end_point)?);
        let link = self.hops.link(end_point.port)?;
        let next_mac = self.hops.mac(end_point.port, end_point.address.into())?;
        let IpAddr::V4(local) = link.address.address else { return None };
        let tunnel = Tunnel { mac: link.mac, next_mac, local, remote: end_point.address, vni: tenant.number };
        let ethertype = if to.is_ipv4() { ETHERTYPE_IPV4 } else { ETHERTYPE_IPV6 };
        let frame = Frame { destination: server.mac, source: tenant.mac, ethertype, payload: &[] };
        Some((link.port, tunnel, frame, tenant.address_for(to)?))
    }

    /// Sends a probe: by the server's tunnel to the address that all servers of the service have.
    fn probe(&self, index: usize, number: u32, flags: u8, orders: &mut Orders) {
        let Some(target) = self.probes.target(index) else { return };
        let Some((port, tunnel, frame, here)) = self.tunnel(target.server, target.address) else { return };
        let own = FIRST_PROBE + index as u16;
        let packet = match target.kind {
            ProbeKind::Tcp => {
                let (source, destination, sequence) = (own, target.port, number);
                let segment = Segment { source, destination, sequence, acknowledged: 0, flags };
                segment.to_packet(here, target.address)
            }
            _ => icmp::echo_request(own, number as u16, here, target.address),
        };
        let payload = packet.unwrap_or_default();
        if let Some(frame) = tunnel.carry(own, &Frame { payload: &payload, ..frame }.to_bytes()) {
            orders.packet(&[("port", port.into())], frame);
        }
    }

    /// The answer to a probe: its target, and whether it is a good one. It came through the tunnel of its server.
    fn answer(&self, arrived: &Arrived<'_>) -> Option<(usize, u32, bool)> {
        let index = |own: u16| own.checked_sub(FIRST_PROBE).map(usize::from);
        let (index, number, is_well) = if let Some(segment) = Segment::parse(&arrived.packet) {
            let is_answer = segment.flags & tcp::ACK != 0 && segment.flags & (tcp::SYN | tcp::RST) != 0;
            let number = segment.acknowledged.wrapping_sub(1);
            (index(segment.destination).filter(|_| is_answer)?, number, segment.flags & tcp::RST == 0)
        } else {
            let [identifier, sequence] = icmp::parse_echo_reply(&arrived.packet)?;
            (index(identifier)?, sequence.into(), true)
        };
        let target = self.probes.target(index)?;
        let (_, tunnel, _, here) = self.tunnel(target.server, target.address)?;
        let is_its = arrived.tunnel.is_some_and(|it| it.remote == tunnel.remote && it.vni == tunnel.vni)
            && arrived.packet.source == target.address
            && arrived.packet.destination == here;
        is_its.then_some((index, number, is_well))
    }

    /// A packet for the gateway itself: an answer to a probe, or an echo request.
    fn local(&mut self, now: Duration, port: u16, bytes: &[u8], orders: &mut Orders) {
        let Some(arrived) = Arrived::parse(bytes) else { return };
        if let Some((index, number, is_well)) = self.answer(&arrived) {
            let changes = self.probes.answered(index, number, is_well).into_iter().collect();
            if is_well && self.probes.target(index).is_some_and(|it| it.kind == ProbeKind::Tcp) {
                // The connection is not used.
                self.probe(index, number.wrapping_add(1), tcp::RST, orders);
            }
            return self.changed(changes, orders);
        }
        let reply = icmp::echo_reply(&arrived.packet, arrived.packet.destination);
        if let Some(frame) = reply.and_then(|reply| arrived.reply(&reply)).filter(|_| self.errors.take(now)) {
            orders.packet(&[("port", port.into())], frame);
        }
    }

    /// Sends an ICMP error to the sender of a packet, if the gateway has an address there.
    fn report(&mut self, now: Duration, port: u16, failure: Failure, bytes: &[u8], orders: &mut Orders) {
        let Some(arrived) = Arrived::parse(bytes).filter(|it| icmp::may_report(&it.packet)) else { return };
        let here = match arrived.tunnel {
            Some(tunnel) => self.config.tenant(tunnel.vni).and_then(|it| it.address_for(arrived.packet.source)),
            None => self.hops.link(port).and_then(|it| it.address_for(arrived.packet.source)),
        };
        let Some(error) = here.and_then(|here| icmp::error(failure, here, &arrived.packet)) else { return };
        if let Some(frame) = arrived.reply(&error).filter(|_| self.errors.take(now)) {
            orders.packet(&[("port", port.into())], frame);
        }
    }

    /// Neighbour discovery: where a next hop is, or a question for an address of the gateway.
    fn nd(&mut self, now: Duration, port: u16, bytes: &[u8], orders: &mut Orders) {
        let changes = self.hops.received(now, port, bytes, orders);
        self.follow(changes, orders);
        let Some(arrived) = Arrived::parse(bytes) else { return };
        let Some(nd::Message::Solicitation { target, .. }) = nd::parse(&arrived.packet) else { return };
        let Some(mac) = self.mac_of(port, &arrived, target) else { return };
        let answer = nd::advertisement(mac, target, arrived.packet.source, arrived.frame.source);
        if let Some(frame) = answer.and_then(|answer| arrived.back(answer)) {
            orders.packet(&[("port", port.into())], frame);
        }
    }

    /// The Ethernet address of an address that the gateway has where a frame has arrived.
    fn mac_of(&self, port: u16, arrived: &Arrived<'_>, address: Ipv6Addr) -> Option<Mac> {
        let (mac, address6) = match arrived.tunnel {
            Some(tunnel) => self.config.tenant(tunnel.vni).map(|it| (it.mac, it.address6.map(IpAddr::V6)))?,
            None => {
                let interface = self.config.interface(port).filter(|it| it.side == Side::Outside)?;
                (interface.mac, interface.address6.map(|it| it.address))
            }
        };
        (address6 == Some(address.into()) || mac.link_local() == address).then_some(mac)
    }

    /// The rates of packets to the controller; where servers answer, there is room for their answers.
    fn set_rates(&self, orders: &mut Orders) {
        let line = |rate: u32| format!("set {rate} {0} {rate} {0}", rate.div_ceil(10).max(1));
        let usual = self.config.limits.packets;
        orders.command(format!("meters to_controller {}", line(usual)));
        for end_point in &self.config.end_points {
            let cell = u128::from(end_point.port) << 3 | tables::LOCAL;
            orders.command(format!("meters to_controller {cell} {}", line(usual + 20 * self.probes.rate())));
        }
    }
}

impl Logic for Gateway {
    fn tables(&self) -> Vec<&'static str> {
        vec![
            "interfaces",
            "own_addresses4",
            "own_addresses6",
            "own_end_points",
            "known_end_points",
            "segments",
            "servers",
            "services4",
            "services6",
            "sources4",
            "sources6",
            "routes4",
            "routes6",
            "next_hops",
            "end_points",
            "balancing",
            "flows",
        ]
    }

    fn joined(&mut self, now: Duration, entries: &[Entry], orders: &mut Orders) -> Result<(), Problem> {
        self.set_rates(orders);
        Draining::turn_on(orders);
        self.desired.apply(entries, orders);
        self.hops.join(now);
        self.hops.take_in(now, entries, ["next_hops", "hop", "destination"], orders);
        self.hops.take_in(now, entries, ["end_points", "end_point", "next_mac"], orders);
        self.draining.join(entries);
        let is_first = self.groups.is_empty();
        self.groups.clear();
        let mut has_groups = false;
        for entry in entries.iter().filter(|it| it.metadata == [tables::OF_GROUP]) {
            let number = entry.keys.get("service");
            match self.config.services.iter().any(|it| Some(u128::from(it.number)) == number) {
                true => has_groups = true,
                false => orders.command(format!("delete {} {}", entry.table, entry.name)),
            }
        }
        self.groups_due = (is_first && has_groups).then(|| now + self.probes.detection_time());
        if self.drained.is_none() && self.config.servers.iter().any(|it| it.drain) {
            // From when its slots are marked.
            self.drained = Some(self.groups_due.unwrap_or(now) + self.config.draining.time);
        }
        self.write_groups(orders);
        Ok(())
    }

    fn digest(&mut self, now: Duration, _name: &str, fields: &Fields, orders: &mut Orders) {
        self.draining.report(now, fields, orders);
    }

    fn packet_in(&mut self, now: Duration, fields: &Fields, payload: &[u8], orders: &mut Orders) {
        let number = |name: &str| fields.get(name).and_then(|it| u16::try_from(it).ok());
        let (Some(port), Some(mtu)) = (number("ingress_port"), number("mtu")) else { return };
        match fields.get("reason") {
            Some(tables::TTL_EXPIRED) => self.report(now, port, Failure::TimeExceeded, payload, orders),
            Some(tables::TOO_BIG) => self.report(now, port, Failure::TooLong(mtu), payload, orders),
            Some(tables::NO_ROUTE) => self.report(now, port, Failure::NoRoute, payload, orders),
            Some(tables::LOCAL) => self.local(now, port, payload, orders),
            Some(tables::ND) => self.nd(now, port, payload, orders),
            Some(tables::ARP) => {
                let changes = self.hops.received(now, port, payload, orders);
                self.follow(changes, orders);
            }
            _ => {}
        }
    }

    fn idle(&mut self, _now: Duration, entry: &Entry, orders: &mut Orders) {
        self.draining.idle(entry, orders);
    }

    fn next_timer(&self) -> Option<Duration> {
        let drained = self.drained.filter(|_| !self.has_drained);
        [self.hops.next_timer(), self.probes.next_timer(), self.groups_due, drained].into_iter().flatten().min()
    }

    fn timer(&mut self, now: Duration, orders: &mut Orders) {
        let changes = self.hops.timer(now, orders);
        self.follow(changes, orders);
        let (probes, changes) = self.probes.timer(now);
        self.changed(changes, orders);
        for (index, number) in probes {
            self.probe(index, number, tcp::SYN, orders);
        }
        let is_due = |time: &Option<Duration>| time.is_some_and(|time| time <= now);
        let is_drained = is_due(&self.drained) && !self.has_drained;
        self.has_drained |= is_drained;
        if is_due(&self.groups_due) || is_drained {
            self.groups_due = self.groups_due.filter(|time| *time > now);
            self.write_groups(orders);
        }
    }
}

#[cfg(test)]
mod tests;
