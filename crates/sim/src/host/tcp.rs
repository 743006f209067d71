//! Flows over TCP: a client opens a connection, sends bytes and closes it; a server accepts and receives them.
//!
//! The connections themselves are the crate `tcp`; here they meet packets, timers and an application. The bytes of a
//! flow follow from its ports and their positions, so the receiver checks that they arrive as they were sent.

use crate::host::stack::Stack;
use crate::node::Context;
use crate::packet::Content;
use crate::time::{Serialiser, Time};
use crate::wire::ip;
use crate::wire::udp::Ports;
use core::net::IpAddr;
use tcp::wire::Addresses;
use tcp::{Config, Connection, Ecn, Event, Flags, Segment, Statistics};

/// What a client sends.
#[derive(Clone, Debug)]
pub struct TcpFlow {
    /// To whom.
    pub to: IpAddr,
    /// From which port to which. Flows of a host differ in them.
    pub ports: Ports,
    /// From when on.
    pub start: Time,
    /// How many bytes; `None` for a flow that never ends.
    pub bytes: Option<u64>,
    /// The settings of the client.
    pub config: Config,
    /// What its host and its application make of it.
    pub sending: Sending,
}

/// What a host and an application make of what a client sends.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Sending {
    /// The upper six bits of the traffic class (IPv6) or the type of service (IPv4) of the client's segments. The lower
    /// two are ECN's.
    pub traffic_class: u8,
    /// How fast the application writes; 0 for all at once.
    pub bits_per_s: u64,
    /// How much it writes at a time; 0 for the payload of a full segment.
    pub block_bytes: u64,
}

/// A port on which a host accepts connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Listener {
    /// The settings of its connections.
    pub config: Config,
    /// What answers requests; `None` to only receive.
    pub exchange: Option<Exchange>,
}

/// Requests and their answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exchange {
    /// Bytes of a request; above 0.
    pub request_bytes: u64,
    /// Bytes of its answer.
    pub answer_bytes: u64,
}

/// One end of a connection, with its application.
pub struct TcpEndpoint {
    /// `None` before a client's start, and when the connection needs nothing any more.
    connection: Option<Box<Connection>>,
    config: Config,
    peer: IpAddr,
    /// As in segments that this end sends.
    ports: Ports,
    is_client: bool,
    /// Bytes that the application has not written yet.
    to_write: u64,
    /// Bytes that the application has only later, and when it has the next.
    later: u64,
    next_write: Time,
    sending: Sending,
    closes: bool,
    exchange: Option<Exchange>,
    /// Requests that a server has answered.
    answered: u64,
    /// The received bytes with which the answer that a client expects is complete.
    awaited: Option<u64>,
    start: Time,
    /// When the connection was established.
    pub established: Option<Time>,
    /// When the peer's last byte had arrived.
    pub finished: Option<Time>,
    /// How the connection failed, if it did.
    pub failure: Option<Event>,
    /// Bytes of the peer that were received in order.
    pub received_bytes: u64,
    /// The same when the measured window began.
    pub received_before: u64,
    /// Segments with other bytes than were sent, though their checksum is right.
    pub altered: u64,
    /// Of a connection that needs nothing any more.
    statistics: Option<Box<Statistics>>,
}

impl TcpEndpoint {
    pub(super) fn client(flow: TcpFlow) -> TcpEndpoint {
        let TcpFlow { to, ports, start, bytes, config, sending } = flow;
        let all = bytes.unwrap_or(u64::MAX);
        let (to_write, later) = if sending.bits_per_s > 0 { (0, all) } else { (all, 0) };
        let endpoint = TcpEndpoint::new(None, config, to, ports, start, Some((to_write, bytes.is_some())));
        TcpEndpoint { later, sending, ..endpoint }
    }

    pub(super) fn server(listener: &Listener, peer: IpAddr, port: u16, peer_port: u16, now: Time) -> TcpEndpoint {
        let ports = Ports { source: port, destination: peer_port };
        let connection = Connection::listen(&listener.config, initial_sequence(ports));
        let endpoint = TcpEndpoint::new(Some(Box::new(connection)), listener.config, peer, ports, now, None);
        TcpEndpoint { exchange: listener.exchange, ..endpoint }
    }

    /// A client that sends requests on demand ([`TcpEndpoint::request`]). It connects with the first.
    pub(super) fn requester(to: IpAddr, ports: Ports, config: Config, exchange: Exchange) -> TcpEndpoint {
        let endpoint = TcpEndpoint::new(None, config, to, ports, Time::MAX, Some((0, false)));
        TcpEndpoint { exchange: Some(exchange), ..endpoint }
    }

    /// Its segment with this number was too long for a link of its path with this MTU. No link has a smaller
    /// MTU than 68 bytes (IPv4, RFC 1191) or 1280 (IPv6, RFC 8201): such reports are not believed.
    pub(super) fn limit(&mut self, context: &mut Context<'_>, stack: &mut Stack, sequence: u32, mtu: u32) {
        let Some(connection) = &mut self.connection else { return };
        let (header_bytes, mtu_min) = match self.peer {
            IpAddr::V4(_) => (ip::V4_HEADER_BYTES, 68),
            IpAddr::V6(_) => (ip::V6_HEADER_BYTES, 1_280),
        };
        if mtu >= mtu_min {
            let mss = mtu - (header_bytes + tcp::wire::HEADER_BYTES) as u32;
            connection.on_packet_too_big(sequence, mss.min(u32::from(u16::MAX)) as u16);
            self.drive(context, stack);
        }
    }

    /// Sends a request.
    pub(super) fn request(&mut self, context: &mut Context<'_>, stack: &mut Stack) {
        let Some(exchange) = self.exchange else { return };
        self.to_write += exchange.request_bytes;
        self.awaited = Some(self.received_bytes + exchange.answer_bytes);
        match &self.connection {
            Some(_) if self.established.is_some() => self.write(),
            Some(_) => {}
            None => self.connect(),
        }
        self.drive(context, stack);
    }

    /// Whether the pending answer is complete; once for each request.
    pub(super) fn takes_answer(&mut self) -> bool {
        self.awaited.take_if(|awaited| self.received_bytes >= *awaited).is_some()
    }

    fn connect(&mut self) {
        self.connection = Some(Box::new(Connection::connect(&self.config, initial_sequence(self.ports))));
    }

    fn new(
        connection: Option<Box<Connection>>,
        config: Config,
        peer: IpAddr,
        ports: Ports,
        start: Time,
        application: Option<(u64, bool)>,
    ) -> TcpEndpoint {
        let (to_write, closes) = application.unwrap_or((0, false));
        TcpEndpoint {
            connection,
            config,
            peer,
            ports,
            is_client: application.is_some(),
            to_write,
            later: 0,
            next_write: Time::MAX,
            sending: Sending::default(),
            closes,
            exchange: None,
            answered: 0,
            awaited: None,
            start,
            established: None,
            finished: None,
            failure: None,
            received_bytes: 0,
            received_before: 0,
            altered: 0,
            statistics: None,
        }
    }

    /// The peer's address.
    pub fn peer(&self) -> IpAddr {
        self.peer
    }

    /// The ports of segments that this end sends.
    pub fn ports(&self) -> Ports {
        self.ports
    }

    /// Whether it has opened the connection.
    pub fn is_client(&self) -> bool {
        self.is_client
    }

    /// When the flow starts, or the connection was accepted.
    pub fn start(&self) -> Time {
        self.start
    }

    /// Figures of the connection, also after its end; `None` before its start.
    pub fn statistics(&self) -> Option<Statistics> {
        self.connection.as_ref().map(|connection| connection.statistics()).or(self.statistics.as_deref().copied())
    }

    pub(super) fn begin_window(&mut self) {
        self.received_before = self.received_bytes;
    }

    /// When it is to be called.
    pub(super) fn next(&self) -> Time {
        match &self.connection {
            Some(connection) => connection.next_timeout().unwrap_or(Time::MAX).min(self.next_write),
            None if self.is_client && self.statistics.is_none() => self.start,
            None => Time::MAX,
        }
    }

    pub(super) fn timer(&mut self, context: &mut Context<'_>, stack: &mut Stack) {
        match &mut self.connection {
            Some(connection) => connection.on_timer(context.now()),
            None => self.connect(),
        }
        if self.next_write <= context.now() {
            self.write_more(context.now());
        }
        self.drive(context, stack);
    }

    /// What a segment's payload has to be.
    pub(super) fn expected(&self, segment: &Segment) -> Option<Content> {
        let position = self.connection.as_ref()?.stream_position(segment);
        Some(Content::Stream { key: stream_key(self.ports.destination, self.ports.source), position })
    }

    /// A segment has come, with the bytes that the peer has sent, or with others.
    pub(super) fn receive(
        &mut self,
        context: &mut Context<'_>,
        stack: &mut Stack,
        segment: &Segment,
        is_expected: bool,
    ) {
        let Some(connection) = &mut self.connection else { return };
        self.altered += u64::from(!is_expected);
        connection.on_segment(context.now(), segment);
        self.drive(context, stack);
    }

    /// Passes events to the application and sends what is due, until neither causes the other. The
    /// application comes first: what it reads is then in the window of the acknowledgment, what it writes carries it.
    fn drive(&mut self, context: &mut Context<'_>, stack: &mut Stack) {
        self.note_events(context.now());
        loop {
            self.transmit(context, stack);
            if !self.note_events(context.now()) {
                break;
            }
        }
        if let Some(connection) = self.connection.take_if(|connection| connection.is_closed()) {
            self.statistics = Some(Box::new(connection.statistics()));
        }
    }

    fn transmit(&mut self, context: &mut Context<'_>, stack: &mut Stack) {
        let Some(connection) = &mut self.connection else { return };
        let Some(header) = stack.header_to(self.peer, ip::TCP) else { return };
        while let Some(segment) = connection.poll_transmit(context.now()) {
            send(context, stack, &header, self.ports, self.sending.traffic_class, &segment);
        }
    }

    /// Returns whether the application has done something.
    fn note_events(&mut self, now: Time) -> bool {
        let mut has_acted = false;
        while let Some(event) = self.connection.as_mut().and_then(|connection| connection.poll_event()) {
            has_acted = true;
            match event {
                Event::Established => {
                    self.established = Some(now);
                    // Not before: closing a connection that is not established would give it up.
                    self.write_more(now);
                }
                Event::Readable => self.read(),
                Event::Writable => self.write(),
                Event::PeerFinished => {
                    self.read();
                    self.finished = Some(now);
                    // The application of a server ends with its client's.
                    if let Some(connection) = self.connection.as_mut().filter(|_| !self.is_client) {
                        connection.close();
                    }
                }
                Event::Closed => {}
                Event::Reset | Event::TimedOut => self.failure = Some(event),
            }
        }
        has_acted
    }

    fn read(&mut self) {
        if let Some(connection) = &mut self.connection {
            self.received_bytes += connection.read(u64::MAX);
        }
        if !self.is_client {
            self.answer();
        }
    }

    /// Answers the requests that have arrived whole.
    fn answer(&mut self) {
        let Some(Exchange { request_bytes, answer_bytes }) = self.exchange else { return };
        let whole = self.received_bytes / request_bytes;
        self.to_write += (whole - self.answered) * answer_bytes;
        self.answered = whole;
        self.write();
    }

    /// The application has another block, if it does not have all at once.
    fn write_more(&mut self, now: Time) {
        let bytes = self.later.min(self.block_bytes());
        self.later -= bytes;
        self.to_write += bytes;
        let line = Serialiser::new(self.sending.bits_per_s);
        self.next_write = if self.later > 0 { now + line.duration(bytes) } else { Time::MAX };
        self.write();
    }

    /// How much the application writes at a time: by default a full segment's payload, for which options leave less
    /// than the MSS. A block of an MSS would leave as a full segment and a tiny one, and each second one would be
    /// acknowledged at once.
    fn block_bytes(&self) -> u64 {
        match (self.sending.block_bytes, &self.connection) {
            (0, Some(connection)) => connection.statistics().mss,
            (0, None) => self.config.mss.into(),
            (bytes, _) => bytes,
        }
    }

    fn write(&mut self) {
        let Some(connection) = self.connection.as_mut().filter(|_| self.to_write > 0 || self.closes) else { return };
        self.to_write -= connection.write(self.to_write);
        if self.to_write == 0 && self.later == 0 && self.closes {
            self.closes = false;
            connection.close();
        }
    }
}

/// What distinguishes the bytes of one direction of a flow from those of another.
fn stream_key(source: u16, destination: u16) -> u64 {
    u64::from(source) << 16 | u64::from(destination)
}

/// Different for connections that follow each other, and the same in every run.
fn initial_sequence(ports: Ports) -> u32 {
    (stream_key(ports.source, ports.destination) as u32).wrapping_mul(0x9e37_79b1)
}

fn addresses(source: IpAddr, destination: IpAddr) -> Option<Addresses> {
    match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => Some(Addresses::V4 { source, destination }),
        (IpAddr::V6(source), IpAddr::V6(destination)) => Some(Addresses::V6 { source, destination }),
        _ => None,
    }
}

/// A segment with its ports and its payload, if its lengths are right.
pub(super) fn parse<'a>(header: &ip::Header, bytes: &'a [u8]) -> Option<(Ports, Segment, &'a [u8])> {
    let (ports, segment, payload) = tcp::wire::parse_unverified(bytes, Ecn::from_bits(header.traffic_class)).ok()?;
    Some((Ports { source: ports.source, destination: ports.destination }, segment, payload))
}

/// Whether the checksum of a segment is right. The payload is of this content and this length behind `bytes`, if it is
/// not in them.
pub(super) fn is_intact(header: &ip::Header, bytes: &[u8], payload: Option<(Content, usize)>) -> bool {
    let Some(addresses) = addresses(header.source, header.destination) else { return false };
    let payload = match payload {
        Some((Content::Stream { key, position }, length)) => (length, tcp::payload::sum(key, position, length)),
        Some((Content::Zeros, length)) => (length, 0),
        None => (0, 0),
    };
    tcp::wire::checksum_of(&addresses, bytes, payload) == 0
}

/// Whether a segment requests a connection.
pub(super) fn opens(segment: &Segment) -> bool {
    segment.flags.has(Flags::SYN) && !segment.flags.has_any(Flags::ACK | Flags::RST)
}

/// Answers a segment that belongs to no connection.
pub(super) fn reset(context: &mut Context<'_>, stack: &mut Stack, cause: &ip::Header, ports: Ports, segment: &Segment) {
    let answer = segment.reset_in_answer();
    if let (Some(answer), Some(header)) = (answer, stack.header_to(cause.source, ip::TCP)) {
        send(context, stack, &header, Ports { source: ports.destination, destination: ports.source }, 0, &answer);
    }
}

fn send(
    context: &mut Context<'_>,
    stack: &mut Stack,
    header: &ip::Header,
    ports: Ports,
    traffic_class: u8,
    segment: &Segment,
) {
    let Some(addresses) = addresses(header.source, header.destination) else { return };
    let header = ip::Header { traffic_class: traffic_class & 0xfc | segment.ecn.bits(), ..*header };
    let key = stream_key(ports.source, ports.destination);
    let ports = tcp::wire::Ports { source: ports.source, destination: ports.destination };
    let payload = Content::Stream { key, position: segment.stream_position };
    let payload = (segment.payload_bytes as usize, payload);
    stack.send_with(context, &header, tcp::wire::header_length(segment), payload, |bytes| {
        tcp::wire::emit_header(segment, ports, &addresses, key, bytes);
    });
}
