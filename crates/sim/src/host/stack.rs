//! The stack of a host: addresses, neighbours, and IP packets in both directions.

use crate::host::neighbours::{Neighbours, Next};
use crate::host::reassembly::Reassembly;
use crate::node::Context;
use crate::packet::{Content, Packet};
use crate::time::Time;
use crate::wire::ethernet::{self, HEADER_BYTES};
use crate::wire::{Mac, arp, icmp, ip};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The port of a host's link.
const LINK: usize = 0;

/// The time to live of packets that hosts send.
const TTL: u8 = 64;

/// The hop limit of neighbour discovery, which shows that no router was passed.
const TTL_OF_NEIGHBOURS: u8 = 255;

/// An address with its network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostAddress {
    /// The address.
    pub ip: IpAddr,
    /// The length of the network's prefix.
    pub prefix_bits: u8,
}

impl HostAddress {
    /// Whether another address is in the same network.
    pub fn has_in_network(&self, other: IpAddr) -> bool {
        let bits = |ip: IpAddr| match ip {
            IpAddr::V4(ip) => u128::from(u32::from(ip)) << 96,
            IpAddr::V6(ip) => u128::from(ip),
        };
        let differing = (bits(self.ip) ^ bits(other)).leading_zeros();
        self.ip.is_ipv4() == other.is_ipv4() && differing >= u32::from(self.prefix_bits)
    }
}

/// How a host is set up.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// Its name.
    pub name: String,
    /// Its Ethernet address.
    pub mac: Mac,
    /// Its addresses.
    pub addresses: Vec<HostAddress>,
    /// Routers for everything outside of its networks, at most one for each version of IP.
    pub gateways: Vec<IpAddr>,
    /// Neighbours that it knows from the start.
    pub neighbours: Vec<(IpAddr, Mac)>,
}

/// What a stack counts.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct StackCounters {
    /// IP packets for this host.
    pub received: u64,
    /// IP packets that it has sent.
    pub sent: u64,
    /// Frames whose lengths do not fit together.
    pub malformed: u64,
    /// Packets with a wrong checksum of any layer.
    pub wrong_checksum: u64,
    /// Fragments of packets for this host.
    pub fragments: u64,
    /// Packets of which fragments were missing for too long, or contradicted each other.
    pub incomplete: u64,
    /// Frames or packets for other hosts.
    pub for_others: u64,
    /// Packets of protocols that the host does not have.
    pub unknown_protocol: u64,
    /// Datagrams and segments for ports without a listener.
    pub no_listener: u64,
    /// ICMP errors that arrived.
    pub errors: u64,
    /// Packets that could not be sent: no route, or no answer of the next hop.
    pub unreachable: u64,
}

pub(super) struct Stack {
    config: HostConfig,
    neighbours: Neighbours,
    reassembly: Reassembly,
    counters: StackCounters,
}

impl Stack {
    pub(super) fn new(config: HostConfig) -> Stack {
        let mut neighbours = Neighbours::default();
        for (ip, mac) in &config.neighbours {
            neighbours.learn(*ip, *mac, true);
        }
        Stack { config, neighbours, reassembly: Reassembly::default(), counters: StackCounters::default() }
    }

    pub(super) fn config(&self) -> &HostConfig {
        &self.config
    }

    pub(super) fn counters(&self) -> &StackCounters {
        &self.counters
    }

    pub(super) fn count(&mut self, counter: fn(&mut StackCounters) -> &mut u64) {
        *counter(&mut self.counters) += 1;
    }

    /// Whether frames for this address are for this host: its own, everybody's, or a group's in which it may be.
    pub(super) fn accepts(&self, mac: Mac) -> bool {
        mac == self.config.mac || mac.is_group()
    }

    /// Whether packets for this address are for this host.
    pub(super) fn takes(&self, ip: IpAddr) -> bool {
        let is_group_of = |own: &HostAddress| match (own.ip, ip) {
            (IpAddr::V6(own), IpAddr::V6(ip)) => icmp::solicited_node(own).0 == ip,
            _ => false,
        };
        self.config.addresses.iter().any(|own| own.ip == ip || is_group_of(own))
    }

    /// The own address that packets to `destination` have as source.
    pub(super) fn source_for(&self, destination: IpAddr) -> Option<IpAddr> {
        let own = || self.config.addresses.iter().filter(|own| own.ip.is_ipv4() == destination.is_ipv4());
        own().find(|own| own.has_in_network(destination)).or_else(|| own().next()).map(|own| own.ip)
    }

    fn next_hop(&self, destination: IpAddr) -> Option<IpAddr> {
        if self.config.addresses.iter().any(|own| own.has_in_network(destination)) {
            return Some(destination);
        }
        self.config.gateways.iter().find(|gateway| gateway.is_ipv4() == destination.is_ipv4()).copied()
    }

    /// The header of a packet to `destination`.
    pub(super) fn header_to(&self, destination: IpAddr, protocol: u8) -> Option<ip::Header> {
        let source = self.source_for(destination)?;
        Some(ip::Header { source, destination, protocol, ttl: TTL, traffic_class: 0 })
    }

    /// Sends a packet with this many bytes behind its header, which `fill` writes; they are zero before.
    pub(super) fn send(
        &mut self,
        context: &mut Context<'_>,
        header: &ip::Header,
        transport_bytes: usize,
        fill: impl FnOnce(&mut [u8]),
    ) {
        self.send_with(context, header, transport_bytes, (0, Content::Zeros), |transport| {
            transport.fill(0);
            fill(transport);
        });
    }

    /// Sends a packet with this many bytes behind its header, which `fill` writes, and a payload of this content, which
    /// is not written before it is read.
    pub(super) fn send_with(
        &mut self,
        context: &mut Context<'_>,
        header: &ip::Header,
        head_bytes: usize,
        (payload_bytes, payload): (usize, Content),
        fill: impl FnOnce(&mut [u8]),
    ) {
        let at = HEADER_BYTES + header.bytes();
        let mut packet = context.pool().unwritten(at + head_bytes + payload_bytes);
        header.emit(&mut packet.bytes_mut()[HEADER_BYTES..], head_bytes + payload_bytes);
        fill(&mut packet.bytes_mut()[at..at + head_bytes]);
        packet.set_rest(at + head_bytes, payload);
        let Some(hop) = self.next_hop(header.destination) else {
            self.counters.unreachable += 1;
            return context.end(packet);
        };
        match self.neighbours.find(context.now(), hop, packet) {
            Next::Send(packet, mac) => self.send_to(context, packet, mac, header.ethertype()),
            Next::Resolve => self.solicit(context, hop),
            Next::Queued => {}
            Next::Refuse(packet) => {
                self.counters.unreachable += 1;
                context.end(packet);
            }
        }
    }

    fn send_to(&mut self, context: &mut Context<'_>, mut packet: Packet, destination: Mac, ethertype: u16) {
        let header = ethernet::Header { destination, source: self.config.mac, ethertype };
        header.emit(packet.head_mut());
        self.counters.sent += 1;
        if !destination.is_group() {
            let number = self.counters.sent;
            let label = context.label(number, if context.follows() { packet.bytes() } else { packet.head() });
            packet.set_label(label);
        }
        context.send(LINK, packet);
    }

    /// Sends a solicitation for an address.
    fn solicit(&mut self, context: &mut Context<'_>, hop: IpAddr) {
        match (hop, self.source_for(hop)) {
            (IpAddr::V4(target), Some(IpAddr::V4(own))) => {
                let (sender, target) = ((self.config.mac, own), (Mac::default(), target));
                self.send_arp(context, Mac::BROADCAST, &arp::Message { is_request: true, sender, target });
            }
            (IpAddr::V6(target), Some(source @ IpAddr::V6(_))) => {
                let (group, mac) = icmp::solicited_node(target);
                self.send_neighbour(context, mac, source, IpAddr::V6(group), true, target);
            }
            _ => {}
        }
    }

    fn send_arp(&mut self, context: &mut Context<'_>, destination: Mac, message: &arp::Message) {
        let mut packet = context.pool().zeroed(HEADER_BYTES + arp::BYTES);
        let header = ethernet::Header { destination, source: self.config.mac, ethertype: ethernet::ARP };
        header.emit(packet.bytes_mut());
        message.emit(&mut packet.bytes_mut()[HEADER_BYTES..]);
        context.send(LINK, packet);
    }

    fn send_neighbour(
        &mut self,
        context: &mut Context<'_>,
        mac: Mac,
        source: IpAddr,
        destination: IpAddr,
        is_solicitation: bool,
        target: Ipv6Addr,
    ) {
        let header = ip::Header { source, destination, protocol: ip::ICMPV6, ttl: TTL_OF_NEIGHBOURS, traffic_class: 0 };
        let at = HEADER_BYTES + header.bytes();
        let mut packet = context.pool().zeroed(at + icmp::NEIGHBOUR_BYTES);
        let bytes = packet.bytes_mut();
        header.emit(&mut bytes[HEADER_BYTES..], icmp::NEIGHBOUR_BYTES);
        icmp::emit_neighbour(&header, is_solicitation, target, self.config.mac, &mut bytes[at..]);
        self.send_to(context, packet, mac, ethernet::IPV6);
    }

    pub(super) fn receive_arp(&mut self, context: &mut Context<'_>, message: &arp::Message) {
        let (mac, ip) = message.sender;
        let is_for_us = self.takes(IpAddr::V4(message.target.1));
        // RFC 826: the sender of a request for this host will be answered soon, so it is learnt.
        if ip != Ipv4Addr::UNSPECIFIED {
            self.learn(context, IpAddr::V4(ip), mac, is_for_us);
        }
        if is_for_us && message.is_request {
            let sender = (self.config.mac, message.target.1);
            self.send_arp(context, mac, &arp::Message { is_request: false, sender, target: message.sender });
        }
    }

    pub(super) fn receive_solicitation(
        &mut self,
        context: &mut Context<'_>,
        header: &ip::Header,
        target: Ipv6Addr,
        mac: Option<Mac>,
    ) {
        let (true, Some(mac)) = (self.takes(IpAddr::V6(target)), mac) else { return };
        self.learn(context, header.source, mac, true);
        self.send_neighbour(context, mac, IpAddr::V6(target), header.source, false, target);
    }

    pub(super) fn receive_advertisement(&mut self, context: &mut Context<'_>, target: Ipv6Addr, mac: Option<Mac>) {
        if let Some(mac) = mac {
            self.learn(context, IpAddr::V6(target), mac, false);
        }
    }

    fn learn(&mut self, context: &mut Context<'_>, ip: IpAddr, mac: Mac, is_new: bool) {
        let ethertype = if ip.is_ipv4() { ethernet::IPV4 } else { ethernet::IPV6 };
        for packet in self.neighbours.learn(ip, mac, is_new) {
            self.send_to(context, packet, mac, ethertype);
        }
    }

    /// Sends an echo request or reply. `echo` is what follows the checksum.
    pub(super) fn send_echo(&mut self, context: &mut Context<'_>, to: IpAddr, is_request: bool, echo: &[u8]) {
        let Some(header) = self.header_to(to, icmp::protocol(to)) else { return };
        self.send(context, &header, 4 + echo.len(), |message| {
            message[4..].copy_from_slice(echo);
            icmp::emit_echo(&header, is_request, message);
        });
    }

    /// Takes a fragment; returns the packet if it is whole.
    pub(super) fn reassemble(&mut self, now: Time, fragment: &ip::Fragment<'_>) -> Option<Vec<u8>> {
        self.counters.fragments += 1;
        if fragment.is_whole() {
            let is_marked = fragment.codepoint() == ip::CONGESTION_EXPERIENCED;
            return ip::join(fragment.head(), fragment.payload, is_marked);
        }
        let packet = self.reassembly.take(now, fragment);
        self.counters.incomplete = self.reassembly.given_up();
        packet
    }

    /// Sends an ICMP error to the sender of a packet that has ended here. Packets for groups are not answered (RFC
    /// 1122).
    pub(super) fn send_error(
        &mut self,
        context: &mut Context<'_>,
        cause: &ip::Header,
        reason: icmp::Reason,
        packet: &[u8],
    ) {
        let to = cause.source;
        if !icmp::may_cause_error(cause, &[]) {
            return;
        }
        let Some(header) = self.header_to(to, icmp::protocol(to)) else { return };
        let quoted = &packet[..packet.len().min(icmp::quoted_bytes_max(&header))];
        self.send(context, &header, icmp::HEADER_BYTES + quoted.len(), |message| {
            message[icmp::HEADER_BYTES..].copy_from_slice(quoted);
            icmp::emit_error(&header, reason, message);
        });
    }

    pub(super) fn next_timer(&self) -> Time {
        self.neighbours.next_timer().min(self.reassembly.next_timer())
    }

    pub(super) fn timer(&mut self, context: &mut Context<'_>) {
        self.give_up_fragments(context);
        let (again, lost) = self.neighbours.timer(context.now());
        again.into_iter().for_each(|ip| self.solicit(context, ip));
        for packet in lost {
            self.counters.unreachable += 1;
            context.end(packet);
        }
    }

    /// Gives up packets whose fragments have not all come in time, and sends errors to their senders.
    fn give_up_fragments(&mut self, context: &mut Context<'_>) {
        while let Some(first) = self.reassembly.give_up(context.now()) {
            let Some((source, destination, protocol, transport)) = ip::parse_quoted(&first) else { continue };
            let cause = ip::Header { source, destination, protocol, ttl: 0, traffic_class: 0 };
            if icmp::may_cause_error(&cause, transport) {
                self.send_error(context, &cause, icmp::Reason::Reassembly, &first);
            }
        }
        self.counters.incomplete = self.reassembly.given_up();
    }
}
