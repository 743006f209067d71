//! A plain router: the switch without a program. It forwards IP packets to hosts along given routes and answers for its
//! addresses.
//!
//! What enters: packets for its Ethernet addresses. What leaves: the same packets with the next hop's address and one
//! hop less to live. Of several ports with the same distance a hash of the flow selects one.

mod errors;

use self::errors::Budget;
use crate::node::{self, Arrival, Context, Node};
use crate::packet::Packet;
use crate::record::Loss;
use crate::time::Time;
use crate::wire::ethernet::{self, HEADER_BYTES};
use crate::wire::{Mac, arp, icmp, ip};
use core::net::{IpAddr, Ipv6Addr};
use std::collections::VecDeque;
use std::mem::take;
use std::sync::Arc;

/// The hosts of a network by their addresses, shared by its routers: a hash table, since each packet is looked up at
/// each router.
#[derive(Clone, Debug)]
pub struct HostTable {
    v4: Places<u32>,
    v6: Places<u128>,
}

/// A hash table. It has a power of two of places, at least half of them empty. An address is at the place of its hash
/// or behind it.
#[derive(Clone, Debug)]
struct Places<A>(Vec<Option<(A, u32)>>);

impl HostTable {
    /// From addresses and numbers of hosts.
    pub fn new(hosts: &[(IpAddr, u32)]) -> HostTable {
        let mut table = HostTable { v4: Places::new(hosts.len()), v6: Places::new(hosts.len()) };
        for &(ip, host) in hosts {
            match ip {
                IpAddr::V4(ip) => table.v4.insert(ip.into(), host),
                IpAddr::V6(ip) => table.v6.insert(ip.into(), host),
            }
        }
        table
    }

    /// The number of the host with this address.
    pub fn find(&self, ip: IpAddr) -> Option<u32> {
        match ip {
            IpAddr::V4(ip) => self.v4.find(ip.into()),
            IpAddr::V6(ip) => self.v6.find(ip.into()),
        }
    }
}

impl<A: Copy + PartialEq + Into<u128>> Places<A> {
    fn new(addresses: usize) -> Places<A> {
        Places(vec![None; (2 * addresses).next_power_of_two().max(2)])
    }

    fn insert(&mut self, address: A, host: u32) {
        let place = self.place(address);
        self.0[place] = Some((address, host));
    }

    #[inline]
    fn find(&self, address: A) -> Option<u32> {
        self.0[self.place(address)].map(|(_, host)| host)
    }

    /// Where an address is, or would be.
    #[inline]
    fn place(&self, address: A) -> usize {
        let bits: u128 = address.into();
        let hash = ((bits >> 64) as u64 ^ (bits as u64)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mask = self.0.len() - 1;
        let mut place = (hash >> 32) as usize & mask;
        while self.0[place].is_some_and(|(at, _)| at != address) {
            place = (place + 1) & mask;
        }
        place
    }
}

/// A port of a router.
#[derive(Clone, Debug)]
pub struct RouterPort {
    /// Its Ethernet address.
    pub mac: Mac,
    /// The Ethernet address at the other end.
    pub peer: Mac,
    /// Its addresses, for which it answers.
    pub addresses: Vec<IpAddr>,
}

/// How a router is set up.
#[derive(Clone, Debug)]
pub struct RouterConfig {
    /// Its ports.
    pub ports: Vec<RouterPort>,
    /// All hosts.
    pub hosts: Arc<HostTable>,
    /// Groups of ports with the same distance.
    pub groups: Vec<Vec<usize>>,
    /// For each host its group; an empty group leads nowhere.
    pub routes: Vec<u32>,
    /// Groups and routes that it takes from given times on, in order.
    pub updates: VecDeque<(Time, Vec<Vec<usize>>, Vec<u32>)>,
    /// What distinguishes the hash of this router from that of others.
    pub hash_seed: u64,
}

/// What a router counts.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct RouterCounters {
    /// Packets that were sent on.
    pub forwarded: u64,
    /// Packets for which there is no route.
    pub no_route: u64,
    /// Packets whose time to live has ended.
    pub expired: u64,
    /// Frames for other stations, or that are not IP.
    pub ignored: u64,
    /// ICMP errors that were sent.
    pub errors: u64,
}

/// A router.
pub struct Router {
    config: RouterConfig,
    routes: Routes,
    counters: RouterCounters,
    budget: Budget,
    /// Those for the packets of a burst. Empty between bursts.
    decisions: Vec<Decision>,
}

/// The forwarding decision for a packet: its port or why it has none; `None` if it is not for the router's Ethernet
/// address, so not to be forwarded.
type Decision = Option<Result<usize, Refusal>>;

/// Groups and routes in the form in which a packet touches the least memory.
#[derive(Default)]
struct Routes {
    /// For each host where the ports of its group begin, and how many they are.
    hosts: Vec<(u16, u16)>,
    /// The ports of all groups.
    ports: Vec<u32>,
}

impl Routes {
    fn new(groups: &[Vec<usize>], hosts: &[u32]) -> Routes {
        let mut ports = Vec::new();
        let mut places = Vec::with_capacity(groups.len());
        for group in groups {
            // A switch has far fewer ports; a group that does not fit leads nowhere.
            let place = u16::try_from(ports.len()).ok().zip(u16::try_from(group.len()).ok());
            places.push(place.unwrap_or((0, 0)));
            ports.extend(group.iter().map(|&port| port as u32));
        }
        let place = |group: &u32| places.get(*group as usize).copied().unwrap_or((0, 0));
        Routes { hosts: hosts.iter().map(place).collect(), ports }
    }

    /// The ports that lead to a host.
    fn to(&self, host: u32) -> &[u32] {
        let (first, count) = self.hosts.get(host as usize).copied().unwrap_or((0, 0));
        &self.ports[usize::from(first)..][..usize::from(count)]
    }
}

impl Router {
    /// A router.
    pub fn new(mut config: RouterConfig) -> Router {
        // In a large network they take more memory than everything else: they are stored in one form only.
        let routes = Routes::new(&take(&mut config.groups), &take(&mut config.routes));
        let (counters, budget) = (RouterCounters::default(), Budget::default());
        Router { config, routes, counters, budget, decisions: Vec::new() }
    }

    /// What it has counted.
    pub fn counters(&self) -> &RouterCounters {
        &self.counters
    }

    /// Where a frame goes.
    fn route(&self, frame: &[u8]) -> Result<usize, Refusal> {
        let flow = Flow::of(frame).ok_or(IGNORED)?;
        let host = self.config.hosts.find(flow.destination).ok_or(NO_ROUTE)?;
        match self.routes.to(host) {
            [] => Err(NO_ROUTE),
            [port] => Ok(*port as usize),
            ports => Ok(ports[(flow.hash(self.config.hash_seed) % ports.len() as u64) as usize] as usize),
        }
    }

    /// The decision for a packet that has arrived on a port.
    fn decide(&self, from: usize, packet: &Packet) -> Decision {
        let destination = crate::wire::array(packet.head(), 0).map(Mac);
        (destination == Some(self.config.ports[from].mac)).then(|| self.route(packet.head()))
    }

    /// Carries out a decision.
    fn send(&mut self, context: &mut Context<'_>, from: usize, packet: Packet, decision: Decision) {
        if let Some(route) = decision {
            return self.forward(context, from, packet, route);
        }
        let is_group = crate::wire::array(packet.head(), 0).map(Mac).is_some_and(Mac::is_group);
        if !is_group || self.answer(context, from, &packet).is_none() {
            self.counters.ignored += 1;
        }
        context.lose(packet, Loss::Ignored);
    }

    fn forward(&mut self, context: &mut Context<'_>, from: usize, mut packet: Packet, route: Result<usize, Refusal>) {
        let result = route.and_then(|port| {
            ip::decrement_ttl(packet.head_mut()).ok_or(EXPIRED)?;
            Ok(port)
        });
        match result {
            Ok(port) => {
                let mtu = context.transmitter(port).mtu();
                if packet.len().saturating_sub(HEADER_BYTES) > mtu {
                    self.send_error(context, from, icmp::Reason::TooBig(mtu), packet.bytes());
                }
                // The channel drops and counts it.
                let RouterPort { mac, peer, .. } = self.config.ports[port];
                packet.head_mut()[0..6].copy_from_slice(&peer.0);
                packet.head_mut()[6..12].copy_from_slice(&mac.0);
                self.counters.forwarded += 1;
                context.send(port, packet);
            }
            Err((counter, loss)) => {
                match loss {
                    Loss::NoRoute => self.send_error(context, from, icmp::Reason::Route, packet.bytes()),
                    Loss::Expired => self.send_error(context, from, icmp::Reason::Hops, packet.bytes()),
                    _ => {}
                }
                *counter(&mut self.counters) += 1;
                context.lose(packet, loss);
            }
        }
    }

    /// Whether it answers questions for an address that come in on a port: the port has it, or the packets for it leave
    /// on others (proxy ARP, RFC 1027). So hosts reach each other also where a topology puts all into one network.
    fn answers_for(&self, port: usize, address: IpAddr) -> bool {
        let is_elsewhere = |host| {
            let ports = self.routes.to(host);
            !ports.is_empty() && !ports.contains(&(port as u32))
        };
        self.config.ports[port].addresses.contains(&address)
            || self.config.hosts.find(address).is_some_and(is_elsewhere)
    }

    /// Answers questions for its addresses and those of hosts behind other ports.
    fn answer(&mut self, context: &mut Context<'_>, port: usize, packet: &Packet) -> Option<()> {
        let (frame, payload) = ethernet::Header::parse(packet.head())?;
        let mac = self.config.ports[port].mac;
        if frame.ethertype == ethernet::ARP {
            let message = arp::Message::parse(payload).filter(|it| it.is_request)?;
            let address = message.target.1;
            self.answers_for(port, IpAddr::V4(address)).then_some(())?;
            let mut answer = context.pool().zeroed(HEADER_BYTES + arp::BYTES);
            header(message.sender.0, mac, ethernet::ARP).emit(answer.bytes_mut());
            let message = arp::Message { is_request: false, sender: (mac, address), target: message.sender };
            message.emit(&mut answer.bytes_mut()[HEADER_BYTES..]);
            context.send(port, answer);
            return Some(());
        }
        let (question, message) = ip::Header::parse(frame.ethertype, payload).ok()?;
        let Some(icmp::Message::Solicitation(target, Some(asker))) =
            icmp::parse(&question, message).filter(|_| question.protocol == ip::ICMPV6)
        else {
            return None;
        };
        self.answers_for(port, IpAddr::V6(target)).then_some(())?;
        let answer = advertisement(context, mac, target, asker, question.source)?;
        context.send(port, answer);
        Some(())
    }
}

/// Which counter counts a packet that is not forwarded, and why it is not.
type Refusal = (fn(&mut RouterCounters) -> &mut u64, Loss);

const IGNORED: Refusal = (|counters| &mut counters.ignored, Loss::Ignored);
const NO_ROUTE: Refusal = (|counters| &mut counters.no_route, Loss::NoRoute);
const EXPIRED: Refusal = (|counters| &mut counters.expired, Loss::Expired);

fn header(destination: Mac, source: Mac, ethertype: u16) -> ethernet::Header {
    ethernet::Header { destination, source, ethertype }
}

fn advertisement(
    context: &mut Context<'_>,
    mac: Mac,
    target: Ipv6Addr,
    asker: Mac,
    destination: IpAddr,
) -> Option<Packet> {
    let ip = ip::Header { source: IpAddr::V6(target), destination, protocol: ip::ICMPV6, ttl: 255, traffic_class: 0 };
    destination.is_ipv6().then_some(())?;
    let at = HEADER_BYTES + ip.bytes();
    let mut answer = context.pool().zeroed(at + icmp::NEIGHBOUR_BYTES);
    header(asker, mac, ethernet::IPV6).emit(answer.bytes_mut());
    ip.emit(&mut answer.bytes_mut()[HEADER_BYTES..], icmp::NEIGHBOUR_BYTES);
    icmp::emit_neighbour(&ip, false, target, mac, &mut answer.bytes_mut()[at..]);
    Some(answer)
}

/// What a packet's path depends on.
pub(crate) struct Flow {
    source: IpAddr,
    destination: IpAddr,
    protocol: u8,
    /// Both ports, if the protocol has them.
    ports: u32,
}

impl Flow {
    /// The flow of a frame. Nothing but addresses and ports is checked: routers do not verify what hosts will.
    pub(crate) fn of(frame: &[u8]) -> Option<Flow> {
        let (ethertype, at) = ethernet::payload(frame)?;
        let packet = frame.get(at..)?;
        let (source, destination, protocol, transport) = match ethertype {
            ethernet::IPV4 => {
                let header_bytes = usize::from(packet.first()? & 15) * 4;
                let ip = |at| Some(IpAddr::from(crate::wire::array::<4>(packet, at)?));
                (ip(12)?, ip(16)?, *packet.get(9)?, header_bytes)
            }
            ethernet::IPV6 => {
                let ip = |at| Some(IpAddr::from(crate::wire::array::<16>(packet, at)?));
                (ip(8)?, ip(24)?, *packet.get(6)?, ip::V6_HEADER_BYTES)
            }
            _ => return None,
        };
        let has_ports = matches!(protocol, ip::TCP | ip::UDP);
        let ports = crate::wire::array(packet, transport).filter(|_| has_ports).map_or(0, u32::from_be_bytes);
        Some(Flow { source, destination, protocol, ports })
    }

    /// A number for the flow that depends on nothing else but the seed.
    pub(crate) fn hash(&self, seed: u64) -> u64 {
        let mix = |hash: u64, value: u64| {
            let mixed = (hash ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed ^ (mixed >> 29)
        };
        let ip = |hash, ip| match ip {
            IpAddr::V4(ip) => mix(hash, u64::from(u32::from(ip))),
            IpAddr::V6(ip) => {
                let bits = u128::from(ip);
                mix(mix(hash, (bits >> 64) as u64), bits as u64)
            }
        };
        let hash = ip(ip(seed, self.source), self.destination);
        mix(mix(hash, u64::from(self.ports)), u64::from(self.protocol)) >> 16
    }
}

impl Node for Router {
    fn receive(&mut self, context: &mut Context<'_>, port: usize, packet: Packet) {
        while self.config.updates.front().is_some_and(|(time, ..)| *time <= context.now()) {
            let Some((_, groups, routes)) = self.config.updates.pop_front() else { break };
            self.routes = Routes::new(&groups, &routes);
        }
        let decision = self.decide(port, &packet);
        self.send(context, port, packet, decision);
    }

    fn takes_bursts(&self) -> bool {
        true
    }

    fn fetches_ports(&self) -> bool {
        true
    }

    /// In a large network most of what a packet needs is in no cache: it is fetched for all of them at the same time.
    fn receive_burst(&mut self, context: &mut Context<'_>, arrivals: &mut Vec<Arrival>) {
        let last = arrivals.last().map_or(Time::ZERO, |last| last.time);
        if self.config.updates.front().is_some_and(|(time, ..)| *time <= last) {
            return node::receive_singly(self, context, arrivals);
        }
        let mut decisions = take(&mut self.decisions);
        for Arrival { port, packet, .. } in &*arrivals {
            let decision = self.decide(*port, packet);
            if let Some(Ok(port)) = decision {
                context.fetch(port);
            }
            decisions.push(decision);
        }
        decisions.iter().for_each(|decision| decision.iter().flatten().for_each(|port| context.fetch_peer(*port)));
        for (Arrival { time, port, packet }, decision) in arrivals.drain(..).zip(decisions.drain(..)) {
            context.set_now(time);
            self.send(context, port, packet, decision);
        }
        self.decisions = decisions;
    }

    fn timer(&mut self, _context: &mut Context<'_>) {}

    fn next_timer(&self) -> Time {
        Time::MAX
    }
}

#[cfg(test)]
mod tests;
