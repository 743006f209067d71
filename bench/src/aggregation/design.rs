//! The designs that aggregate small packets, and the small packets themselves.
//!
//! What enters: a number. What leaves: the small packet with this number; and for each design its programs, its
//! entries, and the number of small packets that an aggregate declares.

use crate::compiled;
use base::Rng;
use std::error::Error;
use wirespeed::Program;

/// The bytes before a payload: Ethernet, IPv4, UDP.
pub const HEADER_BYTES: usize = 42;

/// The offsets of the IPv4 addresses, of UDP, and of its checksum.
const ADDRESSES_AT: usize = 26;
const UDP_AT: usize = 34;
const CHECKSUM_AT: usize = 40;

const PROTOCOL_UDP: u8 = 17;

/// The size of an Ethernet header.
const ETHERNET_BYTES: usize = 14;

/// The shortest Ethernet frame, without its check sequence.
const FRAME_BYTES_MIN: usize = 60;

/// The timer's port.
pub const TIMER: u32 = 9;

/// The server's address, and the UDP port.
const SERVER: [u8; 4] = [10, 0, 1, 1];
pub const SERVER_PORT: u16 = 5000;

/// The UDP port of gateways, and the offset at which their aggregates declare the number of packets.
const TUNNEL_PORT: u16 = 4761;
const PACKETS_AT: usize = HEADER_BYTES + 4;

/// The longest packet on Ethernet.
const MTU_BYTES: usize = 1500;

/// The bytes that a gateway adds before the records, before a payload in an IPv4 record, and at most before one in
/// any record.
const TUNNEL_BYTES: usize = 44;
const RECORD_BYTES: usize = 20;
const RECORD_BYTES_MAX: usize = 45;

/// An entry that all switches have.
const ROUTE: &str = "send 10.0.1.0/24 => 2\n";

/// The program that aggregates and splits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// A fixed number of messages in a packet, split by recirculation or as replicas.
    Fixed { messages: usize, by_multicast: bool },
    /// Messages of all sizes; if packed, several in a column of the ring buffer.
    Variable { is_packed: bool },
    /// Any packets.
    Gateway,
}

/// The form of small packets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Small {
    /// The form of the first paper: a flag, and 16 bytes.
    Fixed,
    /// The form of the second paper: words and padding. This many bytes, or 4 to 44.
    Variable(Option<usize>),
    /// Packets of devices without support for aggregation.
    Plain(Option<usize>),
}

/// Small packets of one form, and the program that aggregates them.
#[derive(Clone, Copy)]
pub struct Design {
    pub by: By,
    small: Small,
    /// How many go into one packet; `None`: as many as fit.
    in_one: Option<usize>,
    /// Whether small packets have UDP checksums.
    pub has_checksums: bool,
}

impl Design {
    pub fn all() -> Vec<Design> {
        let full = |by, small| Design { by, small, in_one: None, has_checksums: false };
        let fixed = |messages, by_multicast| full(By::Fixed { messages, by_multicast }, Small::Fixed);
        let recirculated = [1, 2, 4, 8].map(|messages| fixed(messages, false));
        let replicated = [2, 4, 8].map(|messages| fixed(messages, true));
        let sizes = [Some(4), Some(8), Some(16), Some(32), Some(44), None];
        let variable = |is_packed| sizes.map(|bytes| full(By::Variable { is_packed }, Small::Variable(bytes)));
        let gateway = |small| full(By::Gateway, small);
        let same = [Small::Fixed].into_iter().chain(sizes.map(Small::Variable)).map(gateway);
        let plain = sizes.map(Small::Plain).map(gateway);
        let papers = [&recirculated[..], &replicated, &variable(false), &variable(true)].concat();
        papers.into_iter().chain(same).chain(plain).chain(Design::grid()).collect()
    }

    /// All combinations of payload sizes and numbers of payloads in one packet.
    fn grid() -> impl Iterator<Item = Design> {
        let variable = |bytes| (By::Variable { is_packed: false }, Small::Variable(Some(bytes)));
        let gateway = |bytes| (By::Gateway, Small::Plain(Some(bytes)));
        let kinds = [4, 16, 44].into_iter().flat_map(move |bytes| [variable(bytes), gateway(bytes)]);
        let few = |number, by, small| Design { by, small, in_one: Some(number), has_checksums: false };
        kinds.flat_map(move |(by, small)| [2, 4, 8, 16].map(|number| few(number, by, small)))
    }

    pub fn name(self) -> String {
        let who = match self.by {
            By::Fixed { messages, .. } => format!("fixed, N = {messages}"),
            By::Variable { .. } => "variable".to_owned(),
            By::Gateway => "gateway".to_owned(),
        };
        let of = |bytes: Option<usize>| bytes.map_or("4 to 44".to_owned(), |bytes| bytes.to_string());
        let what = match (self.small, self.by) {
            (Small::Fixed, By::Gateway) => "16 bytes as for fixed".to_owned(),
            (Small::Fixed, _) => "16 bytes".to_owned(),
            (Small::Variable(bytes), By::Gateway) => format!("{} bytes as for variable", of(bytes)),
            (Small::Variable(bytes) | Small::Plain(bytes), _) => format!("{} bytes", of(bytes)),
        };
        let how = match self.by {
            By::Fixed { by_multicast: true, .. } => ", by multicast",
            By::Variable { is_packed: true } => ", columns shared",
            _ => "",
        };
        let number = self.in_one.map_or(String::new(), |number| format!(", {number} in one"));
        let checksum = if self.has_checksums { ", UDP checksums" } else { "" };
        format!("{who}, {what}{how}{number}{checksum}")
    }

    pub fn program(self) -> Result<Program, Box<dyn Error>> {
        match self.by {
            By::Fixed { messages, .. } => {
                compiled::program_with("apps/aggregation/fixed/fixed.p4", &[("N", messages.to_string())])
            }
            By::Variable { is_packed } => {
                let packed = [("PACKED", "1".to_owned())];
                let macros = if is_packed { &packed[..] } else { &[] };
                compiled::program_with("apps/aggregation/variable/variable.p4", macros)
            }
            By::Gateway => compiled::program("apps/aggregation/gateway/gateway.p4"),
        }
    }

    /// The entries of the switch that aggregates.
    pub fn together(self) -> String {
        match self.by {
            By::Fixed { .. } => {
                format!("table_add route {ROUTE}table_add collecting collect 10.0.1.1 5000 => 0\n")
            }
            By::Variable { .. } => format!(
                "table_add route {ROUTE}table_add aggregated NoAction 10.0.1.1 5000 =>\n\
                 table_add timers NoAction {TIMER} =>\n"
            ),
            By::Gateway => format!(
                "table_set_default hops take 0\ntable_add route_ipv4 {ROUTE}\
                 table_add classes_ipv4 aggregate 10.0.1.0&&&0xffffff00 5000->5009 => 3 200 20000 1\n\
                 table_add tunnels over_ipv4 3 => 2 {} 192.0.2.1 192.0.2.2 7 0\n",
                self.mtu_bytes()
            ),
        }
    }

    /// The longest packet of a gateway's tunnel: no more records fit than are meant to, but for one record of
    /// any packet with this payload.
    pub fn mtu_bytes(self) -> usize {
        let payload_bytes = self.payload_bytes(0);
        let records_bytes =
            |number: usize| (number * (RECORD_BYTES + payload_bytes)).max(RECORD_BYTES_MAX + payload_bytes);
        self.in_one.map_or(MTU_BYTES, |number| TUNNEL_BYTES + records_bytes(number))
    }

    /// Whether the timer ticks after the packet with this number, so that no later packets join those that are held.
    pub fn has_tick_behind(self, number: u32) -> bool {
        let is_last = |in_one: usize| (number as usize + 1).is_multiple_of(in_one);
        matches!(self.by, By::Variable { .. }) && self.in_one.is_some_and(is_last)
    }

    /// Whether only the available space limits how many go into one packet.
    pub fn is_full(self) -> bool {
        self.in_one.is_none()
    }

    /// The entries of the switch that splits.
    pub fn apart(self) -> String {
        match self.by {
            By::Fixed { messages, by_multicast: true } => {
                let node = |rid| format!("mc_node_create {rid} 2\nmc_node_associate 1 {}\n", rid - 1);
                let nodes: String = (1..=messages).map(node).collect();
                format!(
                    "table_add route {ROUTE}mc_mgrp_create 1\n{nodes}\
                     table_add splitting split_by_multicast 10.0.1.1 5000 => 1\n"
                )
            }
            By::Fixed { .. } => format!(
                "table_add route {ROUTE}mirroring_add 5 2\n\
                 table_add splitting split_by_recirculation 10.0.1.1 5000 => 5\n"
            ),
            By::Variable { .. } => format!(
                "table_add route {ROUTE}mirroring_add 5 2\ntable_add disaggregated take_apart 10.0.1.1 5000 => 5\n"
            ),
            By::Gateway => format!(
                "table_set_default hops take 0\ntable_add route_ipv4 {ROUTE}\
                 table_add peers_ipv4 is_peer 192.0.2.1 192.0.2.2 7 => 0\n"
            ),
        }
    }

    /// The counter of the first switch for small packets that it has accepted.
    pub fn taken_in(self) -> &'static str {
        match self.by {
            By::Fixed { .. } => "messages_in",
            By::Variable { .. } => "stored",
            By::Gateway => "gathered",
        }
    }

    /// The number of small packets that an aggregate declares.
    pub fn carried(self, aggregate: &[u8]) -> u64 {
        let word = |at: usize| aggregate.get(at..at + 2).map_or(0, |word| u16::from_be_bytes([word[0], word[1]]));
        match (self.by, aggregate.get(HEADER_BYTES)) {
            (By::Fixed { messages, .. }, Some(0xfc)) => messages as u64,
            // A short aggregate declares its number.
            (By::Fixed { .. }, Some(0xfd)) => aggregate.get(HEADER_BYTES + 1).copied().unwrap_or(0).into(),
            (By::Variable { .. }, Some(2)) => word(HEADER_BYTES + 1).into(),
            (By::Gateway, Some(1)) if word(36) == TUNNEL_PORT => word(PACKETS_AT).into(),
            _ => 0,
        }
    }

    /// The length of the message with this number.
    pub fn payload_bytes(self, number: u32) -> usize {
        match self.small {
            Small::Fixed => 16,
            Small::Variable(Some(bytes)) | Small::Plain(Some(bytes)) => bytes,
            Small::Variable(None) | Small::Plain(None) => 4 * (1 + Rng::new(u64::from(number)).below(11) as usize),
        }
    }

    /// The small packet with this number, as devices send it.
    pub fn frame(self, number: u32) -> Vec<u8> {
        let mut payload = vec![0; self.payload_bytes(number)];
        fill(number, &mut payload);
        let mut frame = match self.small {
            Small::Fixed => udp_frame(&[&[0xfa, 0, 0, 0, 0, 0], &payload[..]].concat()),
            Small::Variable(_) => {
                let padding = vec![0; [15, 11, 7, 3].get(payload.len() / 4 - 1).copied().unwrap_or(0)];
                let words = (payload.len() / 4) as u8;
                udp_frame(&[&[1, padding.len() as u8], &padding[..], &[words], &payload].concat())
            }
            Small::Plain(_) => udp_frame(&payload),
        };
        if self.has_checksums {
            add_checksum(&mut frame);
        }
        frame.resize(frame.len().max(FRAME_BYTES_MIN), 0);
        frame
    }

    /// The payload of a small packet; `None` for another packet.
    fn payload(self, frame: &[u8]) -> Option<&[u8]> {
        let inner = frame.get(HEADER_BYTES..)?;
        match (self.small, inner.first()?) {
            (Small::Fixed, 0xfa) => inner.get(6..),
            (Small::Variable(_), 1) => {
                let padding = usize::from(*inner.get(1)?);
                let words = usize::from(*inner.get(2 + padding)?);
                inner.get(3 + padding..).filter(|payload| payload.len() == 4 * words)
            }
            (Small::Plain(_), _) => {
                let udp_bytes = u16::from_be_bytes([*frame.get(38)?, *frame.get(39)?]);
                inner.get(..usize::from(udp_bytes).checked_sub(8)?)
            }
            _ => None,
        }
    }

    /// The number of a small packet in the output, which must be unchanged: its payload and, after a gateway, the
    /// whole IP packet.
    pub fn number(self, frame: &[u8]) -> Result<u32, String> {
        let payload = self.payload(frame).ok_or("something else than a small packet has come")?;
        let number =
            payload.first_chunk().map(|bytes| u32::from_be_bytes(*bytes)).ok_or("a packet without a number")?;
        let mut expected = [0; 44];
        let expected = &mut expected[..self.payload_bytes(number)];
        fill(number, expected);
        if payload != expected {
            return Err(format!("packet {number} has come with another payload"));
        }
        if !has_right_checksum(frame) {
            return Err(format!("packet {number} has come with a wrong UDP checksum"));
        }
        let packet_bytes = usize::from(u16::from_be_bytes([frame[16], frame[17]]));
        let packet = |frame: &[u8]| frame[ETHERNET_BYTES..][..packet_bytes].to_vec();
        if self.by == By::Gateway && packet(frame) != packet(&self.frame(number)) {
            return Err(format!("packet {number} has come with other headers"));
        }
        Ok(number)
    }
}

/// A UDP packet for the server, without a UDP checksum.
pub fn udp_frame(payload: &[u8]) -> Vec<u8> {
    let udp_bytes = (8 + payload.len()) as u16;
    let mut ip = [0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, PROTOCOL_UDP, 0, 0, 10, 0, 0, 1, 0, 0, 0, 0];
    ip[2..4].copy_from_slice(&(20 + udp_bytes).to_be_bytes());
    ip[16..].copy_from_slice(&SERVER);
    let sum: u32 = ip.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    ip[10..12].copy_from_slice(&(!(sum as u16 + (sum >> 16) as u16)).to_be_bytes());
    let udp = [4001, SERVER_PORT, udp_bytes, 0].map(u16::to_be_bytes).concat();
    [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0][..], &ip, &udp, payload].concat()
}

/// Computes the checksum of a UDP packet. A checksum of 0 is sent as all ones.
fn add_checksum(frame: &mut [u8]) {
    let checksum = !udp_sum(frame);
    frame[CHECKSUM_AT..CHECKSUM_AT + 2].copy_from_slice(&if checksum == 0 { 0xffff } else { checksum }.to_be_bytes());
}

/// Whether a UDP packet has a correct checksum, or none.
fn has_right_checksum(frame: &[u8]) -> bool {
    frame[CHECKSUM_AT..CHECKSUM_AT + 2] == [0, 0] || udp_sum(frame) == 0xffff
}

/// The ones' complement sum of a UDP packet over IPv4, including its checksum.
fn udp_sum(frame: &[u8]) -> u16 {
    let udp_bytes = u16::from_be_bytes([frame[38], frame[39]]);
    let bytes = frame.get(ADDRESSES_AT..UDP_AT + usize::from(udp_bytes)).unwrap_or_default();
    let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)));
    let sum = words.sum::<u32>() + u32::from(PROTOCOL_UDP) + u32::from(udp_bytes);
    let sum = (sum & 0xffff) + (sum >> 16);
    sum as u16 + (sum >> 16) as u16
}

/// Writes the payload of a number.
fn fill(number: u32, payload: &mut [u8]) {
    let mut rng = Rng::new(u64::from(number) << 32 | 1);
    payload.iter_mut().for_each(|byte| *byte = rng.next_u64() as u8);
    payload[..4].copy_from_slice(&number.to_be_bytes());
}
