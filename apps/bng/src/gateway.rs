//! The gateway's decisions about the packets that its program does not forward itself.
//!
//! What enters: those packets, each with its port, reason and subscriber; idle bindings; the time. What leaves: entries
//! for subscribers, next hops and bindings, ICMP messages, and packets that continue.

use crate::bindings::{Bindings, Inner, Public, Refusal};
use crate::config::Config;
use crate::pace::Pace;
use crate::tables;
use crate::tunnelled::Arrived;
use base::{OrderedMap, OrderedSet};
use control::Problem;
use controller::bucket::Bucket;
use controller::desired::Desired;
use controller::hops::{Change, Hops, Link};
use controller::packet::icmp::{self, Failure};
use controller::{Entry, Fields, Logic, Orders};
use core::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

/// A binding is not written again within this time, and within twice of it at most.
const RECENT: Duration = Duration::from_millis(500);

/// How often refused bindings are reported.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// A controller of a gateway.
#[derive(Debug)]
pub struct Gateway {
    config: Config,
    desired: Desired,
    hops: Hops,
    bindings: Bindings,
    /// The longest packets of tunnels, by the number of the subscriber.
    mtus: OrderedMap<u32, u16>,
    errors: Bucket,
    pace: Pace,
    recent: Recent,
    /// Refused bindings that were not reported to the user yet, and the time of the last report.
    refused: OrderedMap<Refusal, u64>,
    last_report: Option<Duration>,
    is_verbose: bool,
}

impl Gateway {
    /// Has no binding yet.
    ///
    /// # Errors
    /// If a next hop is on no link, or there are too many.
    pub fn new(config: Config, is_verbose: bool) -> Result<Gateway, String> {
        let links =
            config.interfaces.iter().map(|it| Link { port: it.port, mac: it.mac, address: it.address, address6: None });
        let mut hops = Hops::new(links.collect(), config.neighbours.clone());
        let desired = tables::desired(&config, &mut hops)?;
        let bindings = Bindings::new(config.nat.clone());
        let mtus = config.subscribers.iter().map(|it| (it.number, it.mtu())).collect();
        let errors = Bucket::new(config.limits.errors);
        let pace = Pace::new(config.limits.in_all, Duration::ZERO);
        let (recent, refused, last_report) = Default::default();
        Ok(Gateway { config, desired, hops, bindings, mtus, errors, pace, recent, refused, last_report, is_verbose })
    }

    /// The bindings.
    pub fn bindings(&self) -> &Bindings {
        &self.bindings
    }

    fn follow(&self, changes: Vec<Change>, orders: &mut Orders) {
        for change in changes {
            orders.command(tables::next_hop(&change, &self.hops));
            if self.is_verbose {
                let mac = change.mac.map_or("does not answer".to_owned(), |mac| format!("is {mac}"));
                orders.note(format!("next hop {} at port {} {mac}", change.number, change.link.port));
            }
        }
    }

    /// The first packet of a flow: with a binding, it continues as if it had just arrived.
    fn unbound(&mut self, now: Duration, port: u16, subscriber: u32, bytes: &[u8], orders: &mut Orders) {
        let found = Arrived::parse(bytes).and_then(|it| it.inner(subscriber));
        let Some(inner) = found.filter(|_| self.mtus.contains_key(&subscriber)) else { return };
        match self.bindings.bind(now, inner) {
            Ok(public) => {
                if self.recent.is_new(now, inner) {
                    tables::bind(&self.config.nat, inner, public, orders);
                }
                orders.packet(&[("port", port.into()), ("mode", tables::MODE_ARRIVE)], bytes);
            }
            Err(refusal) => self.refuse(now, refusal, orders),
        }
    }

    fn refuse(&mut self, now: Duration, refusal: Refusal, orders: &mut Orders) {
        *self.refused.entry(refusal).or_default() += 1;
        if self.last_report.is_some_and(|last_report| now.saturating_sub(last_report) < REPORT_INTERVAL) {
            return;
        }
        self.last_report = Some(now);
        for (refusal, count) in std::mem::take(&mut self.refused) {
            orders.note(format!(
                "{count} packets without a binding: {}",
                match refusal {
                    Refusal::OfSubscriber => "their subscribers have as many as they may (of_subscriber)",
                    Refusal::InAll => "there are as many as there may be (in_all)",
                    Refusal::NoPort => "all public ports are in use (pool)",
                }
            ));
        }
    }

    /// Sends an ICMP error to the sender of a packet.
    fn report(&mut self, now: Duration, port: u16, failure: Failure, bytes: &[u8], orders: &mut Orders) {
        let Some(arrived) = Arrived::parse(bytes).filter(|it| icmp::may_report(&it.packet)) else { return };
        let here = arrived.tunnel_end().or_else(|| self.hops.link(port).map(|link| link.address.address));
        let Some(error) = here.and_then(|here| icmp::error(failure, here, &arrived.packet)) else { return };
        if let Some(frame) = arrived.reply(error).filter(|_| self.errors.take(now)) {
            out(port, frame, orders);
        }
    }

    /// A packet does not fit into the tunnel of its receiver.
    fn too_long(&mut self, now: Duration, port: u16, bytes: &[u8], orders: &mut Orders) {
        let Some(arrived) = Arrived::parse(bytes) else { return };
        let IpAddr::V4(address) = arrived.packet.destination else { return };
        // Of TCP and UDP, the destination is behind the source; an echo has one identifier.
        let offset = if arrived.packet.protocol == 1 { 4 } else { 2 };
        let Some(&[high, low]) = arrived.packet.payload.get(offset..offset + 2) else { return };
        let public = Public { address, protocol: arrived.packet.protocol, port: u16::from_be_bytes([high, low]) };
        let subscriber = self.bindings.inner(public).map(|inner| inner.subscriber);
        if let Some(mtu) = subscriber.and_then(|it| self.mtus.get(&it)) {
            self.report(now, port, Failure::TooLong(*mtu), bytes, orders);
        }
    }

    /// A packet for the gateway itself: an echo is answered.
    fn local(&mut self, now: Duration, port: u16, bytes: &[u8], orders: &mut Orders) {
        let Some(arrived) = Arrived::parse(bytes) else { return };
        let reply = icmp::echo_reply(&arrived.packet, arrived.packet.destination);
        if let Some(frame) = reply.and_then(|reply| arrived.reply(reply)).filter(|_| self.errors.take(now)) {
            out(port, frame, orders);
        }
    }

    /// The binding of which an entry is one half; its arguments do not matter.
    fn binding(&self, entry: &Entry) -> Option<(Inner, Public)> {
        match direction(entry) {
            Direction::Up => inner(entry, &entry.keys).and_then(|inner| Some((inner, self.bindings.public(inner)?))),
            Direction::Down => {
                public(entry, &entry.keys).and_then(|public| Some((self.bindings.inner(public)?, public)))
            }
        }
    }

    /// Takes in the bindings that a switch has, ends those that do not fit, and completes those that it lacks: it may
    /// have been started again.
    fn take_in(&mut self, entries: &[Entry], orders: &mut Orders) {
        let (mut up, mut down) = (OrderedMap::new(), OrderedMap::new());
        for entry in entries.iter().filter(|it| tables::is_binding(&it.metadata)) {
            let (keys, arguments) = (&entry.keys, &entry.arguments);
            match direction(entry) {
                Direction::Up => up.extend(inner(entry, keys).zip(public(entry, arguments))),
                Direction::Down => down.extend(public(entry, keys).zip(inner(entry, arguments))),
            }
        }
        for (inner, public) in &up {
            if !self.mtus.contains_key(&inner.subscriber) || !self.bindings.take_in(*inner, *public) {
                orders.command(tables::delete_up(*inner));
            }
        }
        for (public, inner) in &down {
            if self.bindings.inner(*public) != Some(*inner) {
                orders.command(tables::delete_down(*public));
            }
        }
        for (inner, public) in self.bindings.iter() {
            if up.get(&inner) != Some(&public) || down.get(&public) != Some(&inner) {
                tables::bind(&self.config.nat, inner, public, orders);
            }
        }
    }
}

/// The bindings that were written of late: further packets of their flows are on their way, and need no entry.
#[derive(Debug, Default)]
struct Recent {
    now: OrderedSet<Inner>,
    before: OrderedSet<Inner>,
    since: Duration,
}

impl Recent {
    /// Whether a binding was not written in the last half of a second or longer.
    fn is_new(&mut self, now: Duration, inner: Inner) -> bool {
        if now.saturating_sub(self.since) >= RECENT {
            let is_long_ago = now.saturating_sub(self.since) >= RECENT * 2;
            self.before = std::mem::take(&mut self.now);
            if is_long_ago {
                self.before.clear();
            }
            self.since = now;
        }
        !self.before.contains(&inner) && self.now.insert(inner)
    }

    fn forget(&mut self, inner: Inner) {
        self.now.remove(&inner);
        self.before.remove(&inner);
    }
}

/// The halves of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    /// From the subscriber.
    Up,
    /// To the subscriber.
    Down,
}

/// The direction of an entry of a binding.
fn direction(entry: &Entry) -> Direction {
    if entry.table.ends_with("bindings_up") { Direction::Up } else { Direction::Down }
}

fn number<T: TryFrom<u128>>(fields: &Fields, name: &str) -> Option<T> {
    fields.get(name).and_then(|it| T::try_from(it).ok())
}

/// The protocol of an entry of a binding: a key in both directions.
fn protocol(entry: &Entry) -> Option<u8> {
    number(&entry.keys, "protocol")
}

/// The inner side that some fields of an entry have.
fn inner(entry: &Entry, fields: &Fields) -> Option<Inner> {
    let address = Ipv4Addr::from_bits(number(fields, "address")?);
    let (subscriber, port) = (number(fields, "subscriber")?, number(fields, "port")?);
    Some(Inner { subscriber, address, protocol: protocol(entry)?, port })
}

/// The public side that some fields of an entry have.
fn public(entry: &Entry, fields: &Fields) -> Option<Public> {
    let address = Ipv4Addr::from_bits(number(fields, "address")?);
    Some(Public { address, protocol: protocol(entry)?, port: number(fields, "port")? })
}

/// Sends a frame as it is.
fn out(port: u16, frame: Vec<u8>, orders: &mut Orders) {
    orders.packet(&[("port", port.into()), ("mode", tables::MODE_PORT)], frame);
}

impl Logic for Gateway {
    fn tables(&self) -> Vec<&'static str> {
        vec![
            "interfaces",
            "arp_proxy",
            "addresses",
            "tunnels",
            "subscribers",
            "access_routes",
            "core_routes",
            "next_hops",
            "bindings_up",
            "bindings_down",
        ]
    }

    fn joined(&mut self, now: Duration, entries: &[Entry], orders: &mut Orders) -> Result<(), Problem> {
        tables::limits(&self.config.limits, orders);
        self.pace = Pace::new(self.config.limits.in_all, now);
        self.recent = Recent::default();
        self.desired.apply(entries, orders);
        self.hops.join(now);
        self.hops.take_in(now, entries, ["next_hops", "hop", "destination"], orders);
        self.take_in(entries, orders);
        let (subscribers, bindings) = (self.config.subscribers.len(), self.bindings.len());
        orders.note(format!("{subscribers} subscribers, {bindings} bindings"));
        Ok(())
    }

    fn packet_in(&mut self, now: Duration, fields: &Fields, payload: &[u8], orders: &mut Orders) {
        let Some(port) = number(fields, "ingress_port") else { return };
        let subscriber = number(fields, "subscriber").unwrap_or(0);
        match fields.get("reason") {
            Some(tables::TTL_EXPIRED) => self.report(now, port, Failure::TimeExceeded, payload, orders),
            Some(tables::NO_BINDING) => self.unbound(now, port, subscriber, payload, orders),
            Some(tables::LOCAL) => self.local(now, port, payload, orders),
            Some(tables::TOO_LONG) => self.too_long(now, port, payload, orders),
            Some(tables::ARP) => {
                let changes = self.hops.received(now, port, payload, orders);
                self.follow(changes, orders);
            }
            _ => {}
        }
    }

    fn taken(&mut self, now: Duration, more_wait: bool, orders: &mut Orders) {
        if let Some(rate) = self.pace.note(now, more_wait) {
            orders.command(tables::of_subscribers(rate));
        }
    }

    fn idle(&mut self, _now: Duration, entry: &Entry, orders: &mut Orders) {
        if !tables::is_binding(&entry.metadata) {
            return;
        }
        // A report means that an entry was idle for its time. It covers neither the time since nor the other half.
        if let Some((inner, public)) = self.binding(entry) {
            orders.read(tables::up(inner));
            orders.read(tables::down(public));
        }
    }

    fn read(&mut self, now: Duration, entries: &[Entry], orders: &mut Orders) {
        let mut is_used = OrderedMap::new();
        for entry in entries.iter().filter(|it| tables::is_binding(&it.metadata)) {
            let Some((inner, _)) = self.binding(entry) else { continue };
            let is_idle = entry.idle.is_some_and(|idle| idle >= self.config.nat.idle(inner.protocol));
            *is_used.entry(inner).or_insert(false) |= !is_idle;
        }
        for (ending, _) in is_used.into_iter().filter(|(_, is_used)| !is_used) {
            if let Some(public) = self.bindings.release(now, ending) {
                self.recent.forget(ending);
                orders.command(tables::delete_up(ending));
                orders.command(tables::delete_down(public));
            }
        }
    }

    fn next_timer(&self) -> Option<Duration> {
        self.hops.next_timer()
    }

    fn timer(&mut self, now: Duration, orders: &mut Orders) {
        let changes = self.hops.timer(now, orders);
        self.follow(changes, orders);
    }
}

#[cfg(test)]
mod tests;
