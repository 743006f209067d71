//! Hosts: stations with addresses that exchange IP packets.
//!
//! What enters: frames, and what a host is to do (generate datagrams, receive them, ping). What leaves: frames, and the
//! figures of what was measured.
//!
//! * [`stack`]: addresses, neighbours, sending and receiving of IP packets.
//! * [`neighbours`]: who has which Ethernet address. `reassembly`: packets that come in fragments.
//! * [`udp`]: generators of datagrams, and sinks that check and measure them.
//! * [`tcp`](mod@tcp): flows over TCP.
//! * [`incast`]: requests to many hosts at the same time, over TCP.
//! * [`ping`]: echo requests.

pub mod incast;
pub mod neighbours;
pub mod ping;
mod reassembly;
pub mod stack;
pub mod tcp;
pub mod udp;

pub use incast::{Incast, IncastFlow};
pub use ping::Ping;
pub use stack::{HostAddress, HostConfig, StackCounters};
pub use tcp::{Exchange, Listener, Sending, TcpEndpoint, TcpFlow};
pub use udp::{UdpFlow, UdpSink};

use crate::events::EventQueue;
use crate::node::{Context, Node};
use crate::packet::{Content, Packet};
use crate::time::Time;
use crate::wire::ip::{self, Defect};
use crate::wire::{arp, ethernet, icmp};
use base::OrderedMap;
use core::net::IpAddr;
use stack::Stack;
use udp::UdpGenerator;

/// The timer of the neighbours; those of tasks follow.
const NEIGHBOURS: u32 = 0;

/// What a host does by itself.
enum Task {
    Udp(UdpGenerator),
    Ping(Ping),
    Tcp(Box<TcpEndpoint>),
    Incast(Incast),
}

/// A host. Its link is at port 0.
pub struct Host {
    stack: Stack,
    tasks: Vec<Task>,
    sinks: Vec<UdpSink>,
    /// By port: which of the sinks is there. They are apart from their ports, since a search among hundreds of them
    /// would miss the cache at each step.
    sink_ports: OrderedMap<u16, u32>,
    listeners: OrderedMap<u16, Listener>,
    /// By own port, peer and its port: the position among the tasks.
    connections: OrderedMap<(u16, IpAddr, u16), usize>,
    /// By connections of incasts: the task that is their incast.
    incasts: OrderedMap<usize, usize>,
    timers: EventQueue,
}

impl Host {
    /// A host that does nothing by itself yet.
    pub fn new(config: HostConfig) -> Host {
        Host {
            stack: Stack::new(config),
            tasks: Vec::new(),
            sinks: Vec::new(),
            sink_ports: OrderedMap::new(),
            listeners: OrderedMap::new(),
            connections: OrderedMap::new(),
            incasts: OrderedMap::new(),
            timers: EventQueue::new(1),
        }
    }

    /// Has it send datagrams.
    pub fn add_udp(&mut self, flow: UdpFlow, seed: u64) {
        let generator = UdpGenerator::new(flow, &self.stack.config().name, seed);
        self.add_task(generator.next(), Task::Udp(generator));
    }

    /// Has it receive datagrams on a port.
    pub fn add_sink(&mut self, port: u16) {
        self.sink_ports.insert(port, self.sinks.len() as u32);
        self.sinks.push(UdpSink::default());
    }

    /// Has it open a connection and send bytes on it.
    pub fn add_tcp(&mut self, flow: TcpFlow) {
        let key = (flow.ports.source, flow.to, flow.ports.destination);
        self.connections.insert(key, self.tasks.len());
        self.add_task(flow.start, Task::Tcp(Box::new(TcpEndpoint::client(flow))));
    }

    /// Has it accept connections on a port, receive what comes, and answer requests.
    pub fn listen(&mut self, port: u16, listener: Listener) {
        self.listeners.insert(port, listener);
    }

    /// Has it send requests to others.
    pub fn add_incast(&mut self, flow: &IncastFlow) {
        let first = self.tasks.len();
        for (to, ports) in &flow.to {
            self.connections.insert((ports.source, *to, ports.destination), self.tasks.len());
            let endpoint = TcpEndpoint::requester(*to, *ports, flow.config, flow.exchange);
            self.add_task(Time::MAX, Task::Tcp(Box::new(endpoint)));
        }
        let own = self.tasks.len();
        self.incasts.extend((first..own).map(|connection| (connection, own)));
        let incast = Incast::new(flow, (first..own).collect());
        self.add_task(incast.next(), Task::Incast(incast));
    }

    /// Has it ping.
    pub fn add_ping(&mut self, ping: Ping) {
        self.add_task(ping.next(), Task::Ping(ping));
    }

    fn add_task(&mut self, next: Time, task: Task) {
        self.tasks.push(task);
        let timer = self.tasks.len() as u32;
        self.timers.grow(self.tasks.len() + 1);
        self.timers.set(timer, next);
    }

    /// Begins the measured window: what was sent before does not count.
    pub fn begin_window(&mut self, now: Time) {
        self.sinks.iter_mut().for_each(|sink| sink.begin_window(now));
        for task in &mut self.tasks {
            match task {
                Task::Udp(generator) => generator.begin_window(),
                Task::Ping(ping) => ping.begin_window(),
                Task::Tcp(endpoint) => endpoint.begin_window(),
                Task::Incast(incast) => incast.begin_window(now),
            }
        }
    }

    /// What its stack has counted.
    pub fn counters(&self) -> &StackCounters {
        self.stack.counters()
    }

    /// Its settings.
    pub fn config(&self) -> &HostConfig {
        self.stack.config()
    }

    /// Its generators, in the order in which they were added.
    pub fn udp(&self) -> impl Iterator<Item = &UdpGenerator> {
        self.tasks.iter().filter_map(|task| match task {
            Task::Udp(generator) => Some(generator),
            _ => None,
        })
    }

    /// Its ends of connections: those that it opens in the order in which they were added, then those that it accepted.
    pub fn tcp(&self) -> impl Iterator<Item = &TcpEndpoint> {
        self.tasks.iter().filter_map(|task| match task {
            Task::Tcp(endpoint) => Some(&**endpoint),
            _ => None,
        })
    }

    /// Its incasts, in the order in which they were added.
    pub fn incasts(&self) -> impl Iterator<Item = &Incast> {
        self.tasks.iter().filter_map(|task| match task {
            Task::Incast(incast) => Some(incast),
            _ => None,
        })
    }

    /// The end of a connection with a peer.
    pub fn tcp_with(&self, port: u16, peer: IpAddr, peer_port: u16) -> Option<&TcpEndpoint> {
        match self.tasks.get(*self.connections.get(&(port, peer, peer_port))?)? {
            Task::Tcp(endpoint) => Some(endpoint),
            _ => None,
        }
    }

    /// What a port has received.
    pub fn sink(&self, port: u16) -> Option<&UdpSink> {
        self.sinks.get(*self.sink_ports.get(&port)? as usize)
    }

    fn sink_mut(&mut self, port: u16) -> Option<&mut UdpSink> {
        self.sinks.get_mut(*self.sink_ports.get(&port)? as usize)
    }

    /// What its ports have received, in the order of their numbers.
    pub fn sinks(&self) -> impl Iterator<Item = &UdpSink> {
        self.sink_ports.values().map(|index| &self.sinks[*index as usize])
    }

    /// Its pings, in the order in which they were added.
    pub fn pings(&self) -> impl Iterator<Item = &Ping> {
        self.tasks.iter().filter_map(|task| match task {
            Task::Ping(ping) => Some(ping),
            _ => None,
        })
    }

    fn receive_frame(&mut self, context: &mut Context<'_>, frame: &[u8]) {
        let Some((header, payload)) = ethernet::Header::parse(frame) else {
            return self.stack.count(|counters| &mut counters.malformed);
        };
        if !self.stack.accepts(header.destination) {
            return self.stack.count(|counters| &mut counters.for_others);
        }
        match header.ethertype {
            ethernet::ARP => match arp::Message::parse(payload) {
                Some(message) => self.stack.receive_arp(context, &message),
                None => self.stack.count(|counters| &mut counters.malformed),
            },
            ethertype => match ip::Header::parse(ethertype, payload) {
                Ok((header, transport)) => self.receive_ip(context, &header, transport, payload),
                Err(Defect::Checksum) => self.stack.count(|counters| &mut counters.wrong_checksum),
                Err(Defect::Fragment) => self.receive_fragment(context, ethertype, payload),
                Err(Defect::Malformed) => self.stack.count(|counters| &mut counters.malformed),
            },
        }
    }

    /// Takes a packet whose payload is not written. If anything about it is not as for most of them, nothing is done.
    fn receive_unwritten(&mut self, context: &mut Context<'_>, packet: &Packet) -> Option<()> {
        let (content, bytes) = packet.rest()?;
        let (frame, head) = ethernet::Header::parse(packet.head())?;
        let (header, head) = ip::Header::parse_before(frame.ethertype, head, bytes)?;
        (self.stack.accepts(frame.destination) && self.stack.takes(header.destination)).then_some(())?;
        match (header.protocol, content) {
            (ip::TCP, Content::Stream { .. }) => {
                let (ports, mut segment, _) = tcp::parse(&header, head)?;
                segment.payload_bytes = bytes as u32;
                let index = *self.connections.get(&(ports.destination, header.source, ports.source))?;
                let is_expected = self.expected(index, &segment) == Some(content);
                (is_expected && tcp::is_intact(&header, head, Some((content, bytes)))).then_some(())?;
                self.stack.count(|counters| &mut counters.received);
                self.take_segment(context, index, &segment, true);
            }
            (ip::UDP, Content::Zeros) => {
                let (ports, payload) = crate::wire::udp::parse_before(&header, head, bytes)?;
                let sink = self.sink_mut(ports.destination)?;
                sink.receive(context.now(), payload, payload.len() + bytes);
                self.stack.count(|counters| &mut counters.received);
            }
            _ => return None,
        }
        Some(())
    }

    fn receive_fragment(&mut self, context: &mut Context<'_>, ethertype: u16, packet: &[u8]) {
        let Some(fragment) = ip::Fragment::parse(ethertype, packet) else {
            return self.stack.count(|counters| &mut counters.malformed);
        };
        if !self.stack.takes(fragment.datagram.destination) {
            return self.stack.count(|counters| &mut counters.for_others);
        }
        let Some(packet) = self.stack.reassemble(context.now(), &fragment) else { return };
        match ip::Header::parse(ethertype, &packet) {
            Ok((header, transport)) => self.receive_ip(context, &header, transport, &packet),
            Err(_) => self.stack.count(|counters| &mut counters.malformed),
        }
    }

    /// `packet` is the whole packet, which errors quote.
    fn receive_ip(&mut self, context: &mut Context<'_>, header: &ip::Header, transport: &[u8], packet: &[u8]) {
        if !self.stack.takes(header.destination) {
            return self.stack.count(|counters| &mut counters.for_others);
        }
        self.stack.count(|counters| &mut counters.received);
        match header.protocol {
            ip::TCP => self.receive_tcp(context, header, transport),
            ip::UDP => self.receive_udp(context, header, transport, packet),
            ip::ICMP | ip::ICMPV6 if header.protocol == icmp::protocol(header.source) => {
                self.receive_icmp(context, header, transport);
            }
            _ => self.stack.count(|counters| &mut counters.unknown_protocol),
        }
    }

    fn receive_udp(&mut self, context: &mut Context<'_>, header: &ip::Header, datagram: &[u8], packet: &[u8]) {
        let Some((ports, payload)) = crate::wire::udp::parse(header, datagram) else {
            return self.stack.count(|counters| &mut counters.wrong_checksum);
        };
        match self.sink_mut(ports.destination) {
            Some(sink) => sink.receive(context.now(), payload, payload.len()),
            None => {
                self.stack.count(|counters| &mut counters.no_listener);
                self.stack.send_error(context, header, icmp::Reason::Port, packet);
            }
        }
    }

    fn receive_icmp(&mut self, context: &mut Context<'_>, header: &ip::Header, message: &[u8]) {
        use icmp::Message;
        match icmp::parse(header, message) {
            Some(Message::EchoRequest(echo)) => self.stack.send_echo(context, header.source, false, echo),
            Some(Message::EchoReply(echo)) => self.note_reply(context.now(), header.source, echo),
            Some(Message::TooBig(mtu, quoted)) => {
                self.stack.count(|counters| &mut counters.errors);
                // A report about another connection changes nothing.
                let _ = self.limit_segments(context, mtu, quoted);
            }
            Some(Message::Error(..)) => self.stack.count(|counters| &mut counters.errors),
            Some(Message::Solicitation(target, mac)) => self.stack.receive_solicitation(context, header, target, mac),
            Some(Message::Advertisement(target, mac)) => self.stack.receive_advertisement(context, target, mac),
            None => self.stack.count(|counters| &mut counters.wrong_checksum),
        }
    }

    /// A packet was too long for a link: the connection that sent it sends shorter ones.
    fn limit_segments(&mut self, context: &mut Context<'_>, mtu: u32, quoted: &[u8]) -> Option<()> {
        let (source, destination, protocol, transport) = ip::parse_quoted(quoted)?;
        let (from, to) = (crate::wire::u16_at(transport, 0)?, crate::wire::u16_at(transport, 2)?);
        let sequence = u32::from_be_bytes(crate::wire::array(transport, 4)?);
        if protocol != ip::TCP || !self.stack.takes(source) {
            return None;
        }
        let &index = self.connections.get(&(from, destination, to))?;
        let Some(Task::Tcp(endpoint)) = self.tasks.get_mut(index) else { return None };
        endpoint.limit(context, &mut self.stack, sequence, mtu);
        self.timers.set(index as u32 + 1, endpoint.next());
        Some(())
    }

    fn note_reply(&mut self, now: Time, source: IpAddr, echo: &[u8]) {
        for task in &mut self.tasks {
            if let Task::Ping(ping) = task {
                ping.note_reply(now, source, echo);
            }
        }
    }

    fn receive_tcp(&mut self, context: &mut Context<'_>, header: &ip::Header, bytes: &[u8]) {
        let Some((ports, segment, payload)) = tcp::parse(header, bytes) else {
            return self.stack.count(|counters| &mut counters.wrong_checksum);
        };
        let key = (ports.destination, header.source, ports.source);
        let connection = self.connections.get(&key).copied();
        // The sum of the payload that a connection expects is known.
        let expected = connection.and_then(|index| self.expected(index, &segment));
        let is_expected = expected.is_some_and(|content| content.is(payload));
        let head = &bytes[..bytes.len() - if is_expected { payload.len() } else { 0 }];
        let rest = expected.filter(|_| is_expected).map(|content| (content, payload.len()));
        if !tcp::is_intact(header, head, rest) {
            return self.stack.count(|counters| &mut counters.wrong_checksum);
        }
        let index = match (connection, self.listeners.get(&ports.destination)) {
            (Some(index), _) => index,
            (None, Some(listener)) if tcp::opens(&segment) => {
                let endpoint = TcpEndpoint::server(listener, header.source, key.0, key.2, context.now());
                let index = self.tasks.len();
                self.add_task(Time::MAX, Task::Tcp(Box::new(endpoint)));
                self.connections.insert(key, index);
                index
            }
            _ => {
                self.stack.count(|counters| &mut counters.no_listener);
                return tcp::reset(context, &mut self.stack, header, ports, &segment);
            }
        };
        self.take_segment(context, index, &segment, payload.is_empty() || is_expected);
    }

    /// What a connection expects as the payload of a segment.
    fn expected(&self, connection: usize, segment: &::tcp::Segment) -> Option<Content> {
        match self.tasks.get(connection) {
            Some(Task::Tcp(endpoint)) => endpoint.expected(segment),
            _ => None,
        }
    }

    /// Hands a connection a segment with the bytes that its peer has sent, or with others.
    fn take_segment(&mut self, context: &mut Context<'_>, index: usize, segment: &::tcp::Segment, is_expected: bool) {
        if let Some(Task::Tcp(endpoint)) = self.tasks.get_mut(index) {
            endpoint.receive(context, &mut self.stack, segment, is_expected);
            self.timers.set(index as u32 + 1, endpoint.next());
            if endpoint.takes_answer() {
                self.note_answer(context.now(), index);
            }
        }
    }

    /// A connection has its answer.
    fn note_answer(&mut self, now: Time, connection: usize) {
        let Some(&index) = self.incasts.get(&connection) else { return };
        if let Some(Task::Incast(incast)) = self.tasks.get_mut(index) {
            incast.note_answer(now);
            self.timers.set(index as u32 + 1, incast.next());
        }
    }

    /// All connections of an incast send their requests.
    fn send_requests(&mut self, context: &mut Context<'_>, connections: &[usize]) {
        for &index in connections {
            if let Task::Tcp(endpoint) = &mut self.tasks[index] {
                endpoint.request(context, &mut self.stack);
                self.timers.set(index as u32 + 1, endpoint.next());
            }
        }
    }

    fn run_task(&mut self, context: &mut Context<'_>, timer: u32) {
        let next = match &mut self.tasks[timer as usize - 1] {
            Task::Udp(generator) => {
                generator.send(context, &mut self.stack);
                generator.next()
            }
            Task::Ping(ping) => {
                ping.send(context, &mut self.stack);
                ping.next()
            }
            Task::Tcp(endpoint) => {
                endpoint.timer(context, &mut self.stack);
                endpoint.next()
            }
            Task::Incast(incast) => {
                let connections = incast.begin_round(context.now());
                self.timers.set(timer, incast.next());
                return self.send_requests(context, &connections);
            }
        };
        self.timers.set(timer, next);
    }
}

impl Node for Host {
    fn receive(&mut self, context: &mut Context<'_>, _port: usize, mut packet: Packet) {
        if self.receive_unwritten(context, &packet).is_none() {
            self.receive_frame(context, packet.bytes());
        }
        context.end(packet);
        self.timers.set(NEIGHBOURS, self.stack.next_timer());
    }

    fn timer(&mut self, context: &mut Context<'_>) {
        while let Some((_, timer)) = self.timers.first().filter(|(time, _)| *time <= context.now()) {
            match timer {
                NEIGHBOURS => self.stack.timer(context),
                task => self.run_task(context, task),
            }
            self.timers.set(NEIGHBOURS, self.stack.next_timer());
        }
    }

    fn next_timer(&self) -> Time {
        self.timers.first().map_or(Time::MAX, |(time, _)| time)
    }

    fn is_end(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
