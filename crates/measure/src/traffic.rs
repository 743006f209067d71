//! Packets in memory, and their delivery to a switch.
//!
//! What enters: captures, or a description such as `ipv4,count=4096,dst=10.0.0.0/8`. What leaves: a [`Trace`], in
//! which each frame has a place of its own that begins at a cache line, as in a driver's memory; and [`Lent`], a copy
//! of it on which a switch works.

use base::Rng;
use live::pcap::CaptureDriver;
use live::{Driver as _, DriverError};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use switch::Frame;

/// The most bytes of all frames of a trace. A larger trace is refused before it exhausts the memory.
const TRACE_BYTES_MAX: usize = 2 << 30;

/// The alignment of each frame's place in bytes: a cache line.
const LINE_BYTES: usize = 64;

/// The place of a frame.
#[derive(Clone, Copy, Debug)]
struct Place {
    port: u32,
    start: usize,
    length: usize,
}

/// Frames, each with the port on which it is received.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    bytes: Vec<u8>,
    places: Vec<Place>,
}

impl Trace {
    /// Adds a frame; returns false if the trace is full.
    pub fn push(&mut self, port: u32, frame: &[u8]) -> bool {
        let start = self.bytes.len();
        let end = start + frame.len().next_multiple_of(LINE_BYTES);
        if end > TRACE_BYTES_MAX {
            return false;
        }
        self.bytes.extend_from_slice(frame);
        self.bytes.resize(end, 0);
        self.places.push(Place { port, start, length: frame.len() });
        true
    }

    /// Adds the frames of a capture, up to `count_max` frames in total; returns false if the trace cannot hold all of
    /// them.
    pub fn read(&mut self, port: u32, capture: &Path, count_max: usize) -> Result<bool, DriverError> {
        let mut driver = CaptureDriver::open(Some(capture), None)?;
        let mut has_room = true;
        while has_room && self.len() < count_max && !driver.exhausted() {
            let limit = (count_max - self.len()).min(1024);
            driver.receive(limit, &mut |frame, _| has_room = has_room && self.push(port, frame))?;
        }
        Ok(has_room)
    }

    /// Removes all frames and keeps their memory for reuse.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }

    /// The number of frames.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are no frames.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The frames, with their ports.
    pub fn frames(&self) -> impl Iterator<Item = (u32, &[u8])> {
        self.places.iter().map(|place| (place.port, &self.bytes[place.start..place.start + place.length]))
    }

    /// The total size of all frames in bytes.
    pub fn frame_bytes(&self) -> u64 {
        self.places.iter().map(|place| place.length as u64).sum()
    }
}

/// The frames of a trace in memory that is lent to a switch, one close to the next, so that other switches can be
/// measured on the same layout. If the program adds headers, each frame has headroom for them. The switch changes
/// frames; they are restored before they are lent again.
#[derive(Clone, Debug)]
pub struct Lent {
    original: Vec<u8>,
    bytes: Vec<u8>,
    places: Vec<Place>,
    distinct: usize,
    /// Headroom in bytes before each frame.
    room: usize,
}

impl Lent {
    /// The first frames of a trace, at most `frames_max`, repeated until there are at least `frames_min`. Each has as
    /// much headroom as the program needs ([`switch::Switch::headroom_bytes`]).
    pub fn of(trace: &Trace, frames_max: usize, frames_min: usize, headroom_bytes: usize) -> Lent {
        let distinct = trace.len().min(frames_max);
        let count = if distinct == 0 { 0 } else { frames_min.div_ceil(distinct).max(1) * distinct };
        let again = (0..count).map(|number| &trace.places[number % distinct]);
        Lent::from(again, &trace.bytes, distinct, headroom_bytes.next_multiple_of(LINE_BYTES))
    }

    /// A copy that begins at another frame.
    pub fn beginning_at(&self, first: usize) -> Lent {
        let (before, rest) = self.places.split_at(first);
        Lent::from(rest.iter().chain(before), &self.original, self.distinct, self.room)
    }

    /// Copies the frames at these places in `memory`, one after the other.
    fn from<'p>(places: impl Iterator<Item = &'p Place>, memory: &[u8], distinct: usize, room: usize) -> Lent {
        let mut lent = Lent { original: Vec::new(), bytes: Vec::new(), places: Vec::new(), distinct, room };
        for place in places {
            let start = lent.original.len() + room;
            lent.original.resize(start, 0);
            lent.original.extend_from_slice(&memory[place.start..place.start + place.length]);
            lent.original.resize((start + place.length).next_multiple_of(LINE_BYTES), 0);
            lent.places.push(Place { start, ..*place });
        }
        lent.bytes.clone_from(&lent.original);
        lent
    }

    /// The number of frames.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are no frames.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The number of distinct frames of the trace among them.
    pub fn distinct(&self) -> usize {
        self.distinct
    }

    /// Restores the original bytes of all frames.
    pub fn restore(&mut self) {
        self.bytes.copy_from_slice(&self.original);
    }

    /// Lends all frames, `burst` at a time, each burst with the clock's current time as its time of reception.
    pub fn each_burst(&mut self, burst: usize, clock: impl Fn() -> u64, mut work: impl FnMut(&mut [Frame<'_>])) {
        let mut frames = Vec::with_capacity(burst);
        let (mut rest, mut start, room) = (&mut self.bytes[..], 0, self.room);
        for places in self.places.chunks(burst) {
            frames.clear();
            let now_ns = clock();
            for place in places {
                let (_, from) = std::mem::take(&mut rest).split_at_mut(place.start - room - start);
                let (memory, behind) = from.split_at_mut(room + place.length);
                (rest, start) = (behind, place.start + place.length);
                frames.push(Frame::behind_headroom(memory, room, place.port, now_ns));
            }
            work(&mut frames);
        }
    }
}

/// Addresses with a common prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Prefix<const BITS: u32> {
    /// The first of them.
    first: u128,
    /// The length of the prefix in bits.
    length: u32,
}

impl<const BITS: u32> Prefix<BITS> {
    fn new(address: u128, length: Option<&str>) -> Result<Prefix<BITS>, String> {
        let length = match length {
            None => BITS,
            Some(text) => text
                .parse()
                .ok()
                .filter(|length| *length <= BITS)
                .ok_or_else(|| format!("/{text}: the length of a prefix is a number from 0 to {BITS}"))?,
        };
        Ok(Prefix { first: address & !Self::rest(length), length })
    }

    fn rest(length: u32) -> u128 {
        let bits = BITS - length;
        if bits == 128 { u128::MAX } else { (1 << bits) - 1 }
    }

    fn pick(&self, rng: &mut Rng) -> u128 {
        let random = u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
        self.first | random & Self::rest(self.length)
    }
}

/// A description of generated packets. Everything that it leaves open is chosen at random from the seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generate {
    is_ipv6: bool,
    is_tcp: bool,
    /// The number of packets.
    pub count: usize,
    frame_bytes: usize,
    source: Prefix<128>,
    destination: Prefix<128>,
    ethernet_source: Prefix<48>,
    ethernet_destination: Prefix<48>,
    vlan: Option<u16>,
    source_port: Option<u16>,
    destination_port: Option<u16>,
}

/// The syntax of a description, for people.
pub const GENERATE_HELP: &str = "ipv4 or ipv6, udp or tcp, count=N, bytes=N, dst=PREFIX, src=PREFIX, dmac=ADDRESS[/BITS], \
     smac=ADDRESS[/BITS], vlan=ID, dport=N, sport=N";

/// The most packets that are generated.
const GENERATED_MAX: usize = 16 << 20;

impl Generate {
    /// Reads a description: parts separated by commas.
    pub fn parse(text: &str) -> Result<Generate, String> {
        let parts = || text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let is_ipv6 = parts().any(|part| part == "ipv6");
        let mut it = Generate::plain(is_ipv6);
        for part in parts() {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let number = |least: usize, most: usize| {
                let number = value.parse().ok().filter(|number| (least..=most).contains(number));
                number.ok_or_else(|| format!("`{part}`: {name} is a number from {least} to {most}"))
            };
            let blame = |why: String| format!("`{part}`: {why}");
            let port = || number(0, 65_535).map(|number| Some(number as u16));
            match name {
                "ipv4" | "ipv6" | "udp" | "tcp" if part.contains('=') => {
                    return Err(format!("`{part}`: {name} takes no value"));
                }
                "ipv4" if is_ipv6 => return Err("packets are of ipv4 or of ipv6: write one of the two".to_owned()),
                "ipv4" | "ipv6" | "udp" => {}
                "tcp" => it.is_tcp = true,
                "count" => it.count = number(1, GENERATED_MAX)?,
                "bytes" => it.frame_bytes = number(60, 9_000)?,
                "dst" => it.destination = internet_prefix(value, is_ipv6).map_err(blame)?,
                "src" => it.source = internet_prefix(value, is_ipv6).map_err(blame)?,
                "dmac" => it.ethernet_destination = ethernet_prefix(value).map_err(blame)?,
                "smac" => it.ethernet_source = ethernet_prefix(value).map_err(blame)?,
                "vlan" => it.vlan = Some(number(0, 4_095)? as u16),
                "dport" => it.destination_port = port()?,
                "sport" => it.source_port = port()?,
                _ => return Err(format!("`{part}` says nothing of packets; what does: {GENERATE_HELP}")),
            }
        }
        let least = it.headers_bytes();
        if it.frame_bytes < least {
            return Err(format!("`bytes={}`: the headers alone take {least}", it.frame_bytes));
        }
        Ok(it)
    }

    fn plain(is_ipv6: bool) -> Generate {
        let everything = |first: u128| Prefix { first, length: if is_ipv6 { 32 } else { 104 } };
        let (source, destination) = match is_ipv6 {
            // Addresses for documentation (IPv6) and of private networks (IPv4).
            true => (everything(0x2001_0db8 << 96), everything(0x2001_0db8 << 96)),
            false => (everything(10 << 24), everything(10 << 24)),
        };
        Generate {
            is_ipv6,
            is_tcp: false,
            count: 65_536,
            frame_bytes: if is_ipv6 { 64 } else { 60 },
            source,
            destination,
            ethernet_source: Prefix { first: 0x0200_0000_0101, length: 48 },
            ethernet_destination: Prefix { first: 0x0200_0000_0001, length: 48 },
            vlan: None,
            source_port: None,
            destination_port: None,
        }
    }

    fn headers_bytes(&self) -> usize {
        let vlan = if self.vlan.is_some() { 4 } else { 0 };
        14 + vlan + if self.is_ipv6 { 40 } else { 20 } + if self.is_tcp { 20 } else { 8 }
    }

    /// Generates the packets, all received on one port; `None` if they do not fit into a trace.
    pub fn trace(&self, port: u32, seed: u64) -> Option<Trace> {
        let mut rng = Rng::new(seed);
        let mut trace = Trace::default();
        (0..self.count).all(|_| trace.push(port, &self.frame(&mut rng))).then_some(trace)
    }

    fn frame(&self, rng: &mut Rng) -> Vec<u8> {
        let mut frame = Vec::with_capacity(self.frame_bytes);
        frame.extend_from_slice(&self.ethernet_destination.pick(rng).to_be_bytes()[10..]);
        frame.extend_from_slice(&self.ethernet_source.pick(rng).to_be_bytes()[10..]);
        if let Some(vlan) = self.vlan {
            frame.extend_from_slice(&[0x81, 0]);
            frame.extend_from_slice(&vlan.to_be_bytes());
        }
        let below = self.headers_bytes() - if self.is_tcp { 20 } else { 8 };
        let payload_bytes = (self.frame_bytes - below) as u16;
        let protocol = if self.is_tcp { 6 } else { 17 };
        let (source, destination) = (self.source.pick(rng).to_be_bytes(), self.destination.pick(rng).to_be_bytes());
        match self.is_ipv6 {
            true => {
                frame.extend_from_slice(&[0x86, 0xdd, 0x60, 0, 0, 0]);
                frame.extend_from_slice(&payload_bytes.to_be_bytes());
                frame.extend_from_slice(&[protocol, 64]);
                frame.extend_from_slice(&source);
                frame.extend_from_slice(&destination);
            }
            false => {
                frame.extend_from_slice(&[8, 0]);
                let start = frame.len();
                let identification = rng.next_u64() as u16;
                frame.extend_from_slice(&[0x45, 0]);
                frame.extend_from_slice(&(payload_bytes + 20).to_be_bytes());
                frame.extend_from_slice(&identification.to_be_bytes());
                frame.extend_from_slice(&[0, 0, 64, protocol, 0, 0]);
                frame.extend_from_slice(&source[12..]);
                frame.extend_from_slice(&destination[12..]);
                let checksum = live::offload::checksum(0, &frame[start..]);
                frame[start + 10..start + 12].copy_from_slice(&checksum.to_be_bytes());
            }
        }
        self.transport(&mut frame, payload_bytes, rng);
        frame.resize(self.frame_bytes, 0);
        frame
    }

    /// Writes the transport header. Its checksum field is 0; for UDP over IPv4 this means that there is no checksum.
    fn transport(&self, frame: &mut Vec<u8>, payload_bytes: u16, rng: &mut Rng) {
        for port in [self.source_port, self.destination_port] {
            let random = rng.next_u64() as u16;
            frame.extend_from_slice(&port.unwrap_or(random).to_be_bytes());
        }
        match self.is_tcp {
            // Sequence numbers, header length, the ACK flag, a window.
            true => frame.extend_from_slice(&[0, 0, 0, 1, 0, 0, 0, 1, 0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0]),
            false => {
                frame.extend_from_slice(&payload_bytes.to_be_bytes());
                frame.extend_from_slice(&[0, 0]);
            }
        }
    }
}

fn internet_prefix(text: &str, is_ipv6: bool) -> Result<Prefix<128>, String> {
    let (address, length) = text.split_once('/').map_or((text, None), |(address, length)| (address, Some(length)));
    let family = if is_ipv6 { "IPv6" } else { "IPv4" };
    match address.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) if !is_ipv6 => {
            let Prefix { first, length } = Prefix::<32>::new(u32::from(address).into(), length)?;
            Ok(Prefix { first, length: length + 96 })
        }
        Ok(IpAddr::V6(address)) if is_ipv6 => Prefix::new(address.into(), length),
        _ => {
            let example = if is_ipv6 { Ipv6Addr::LOCALHOST.into() } else { IpAddr::from(Ipv4Addr::new(10, 0, 0, 0)) };
            Err(format!("it is an {family} address or prefix, as {example}/{}", if is_ipv6 { 64 } else { 8 }))
        }
    }
}

fn ethernet_prefix(text: &str) -> Result<Prefix<48>, String> {
    let (address, length) = text.split_once('/').map_or((text, None), |(address, length)| (address, Some(length)));
    let bytes: Option<Vec<u128>> = address
        .split(':')
        .map(|byte| {
            u8::from_str_radix(byte, 16).ok().filter(|_| byte.bytes().all(|it| it.is_ascii_hexdigit())).map(u128::from)
        })
        .collect();
    let bytes = bytes.filter(|bytes| bytes.len() == 6);
    let bytes = bytes.ok_or("it is an Ethernet address or prefix, as 02:00:00:00:00:00/24")?;
    Prefix::new(bytes.iter().fold(0, |address, byte| address << 8 | byte), length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use std::fmt::Write as _;

    /// Generates packets from the description and shows them, or the error.
    fn check(text: &str, expected: Expect) {
        let shown = match Generate::parse(text) {
            Err(why) => why,
            Ok(generate) => {
                let trace = generate.trace(3, 1).unwrap();
                trace.frames().fold(String::new(), |mut shown, (port, frame)| {
                    let hex: String = frame.iter().map(|byte| format!("{byte:02x}")).collect();
                    writeln!(shown, "{port} {}: {}", frame.len(), hex.trim_end_matches('0')).unwrap();
                    shown
                })
            }
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn packets_are_as_they_are_described() {
        check(
            "count=2,dst=10.1.2.0/24,src=1.2.3.4,dport=53,sport=1024",
            expect![[r#"
            3 60: 02000000000102000000010108004500002e4a21000040111ffb010203040a01029d04000035001a
            3 60: 02000000000102000000010108004500002ef5af000040117449010203040a0102c004000035001a
        "#]],
        );
        check(
            "ipv6,tcp,count=1,dst=2001:db8::/127,src=::1,vlan=7,bytes=80,dport=80,sport=1",
            expect![[r#"
            3 80: 0200000000010200000001018100000786dd60000000001606400000000000000000000000000000000120010db80000000000000000000000010001005000000001000000015010ffff
        "#]],
        );
        check(
            "count=2,dmac=02:00:00:00:aa:00/40,smac=ff:ff:ff:ff:ff:ff,dst=1.1.1.1,src=2.2.2.2,dport=1,sport=1",
            expect![[r#"
                3 60: 02000000aaeaffffffffffff08004500002e4a21000040112a99020202020101010100010001001a
                3 60: 02000000aaf1ffffffffffff08004500002ef5af000040117f0a020202020101010100010001001a
            "#]],
        );
    }

    #[test]
    fn errors_in_a_description_are_reported() {
        check(
            "ipx",
            expect![
                "`ipx` says nothing of packets; what does: ipv4 or ipv6, udp or tcp, count=N, bytes=N, dst=PREFIX, src=PREFIX, dmac=ADDRESS[/BITS], smac=ADDRESS[/BITS], vlan=ID, dport=N, sport=N"
            ],
        );
        check("count=0", expect!["`count=0`: count is a number from 1 to 16777216"]);
        check("bytes=59", expect!["`bytes=59`: bytes is a number from 60 to 9000"]);
        check("ipv6,tcp,bytes=60", expect!["`bytes=60`: the headers alone take 74"]);
        check("ipv4,ipv6", expect!["packets are of ipv4 or of ipv6: write one of the two"]);
        check("tcp=1", expect!["`tcp=1`: tcp takes no value"]);
        check("dst=10.0.0.0/33", expect!["`dst=10.0.0.0/33`: /33: the length of a prefix is a number from 0 to 32"]);
        check("dst=::1", expect!["`dst=::1`: it is an IPv4 address or prefix, as 10.0.0.0/8"]);
        check("ipv6,dst=10.0.0.1", expect!["`dst=10.0.0.1`: it is an IPv6 address or prefix, as ::1/64"]);
        check("dmac=1:2:3", expect!["`dmac=1:2:3`: it is an Ethernet address or prefix, as 02:00:00:00:00:00/24"]);
        check(
            "dmac=1:2:3:4:5:+6",
            expect!["`dmac=1:2:3:4:5:+6`: it is an Ethernet address or prefix, as 02:00:00:00:00:00/24"],
        );
        check("vlan=4096", expect!["`vlan=4096`: vlan is a number from 0 to 4095"]);
    }

    #[test]
    fn frames_are_lent_in_bursts_anew_and_from_any_of_them_on() {
        let mut trace = Trace::default();
        for (port, length) in [(1, 60), (1, 65), (1, 1), (2, 64), (1, 0)] {
            assert!(trace.push(port, &vec![7; length]));
        }
        assert!(trace.places.iter().all(|place| place.start.is_multiple_of(LINE_BYTES)));
        assert_eq!((trace.len(), trace.frame_bytes()), (5, 190));
        let bursts = |lent: &mut Lent| {
            let mut bursts = Vec::new();
            lent.each_burst(
                2,
                || 5,
                |frames| {
                    assert!(
                        frames.iter().all(|frame| frame.time_ns() == 5 && frame.bytes().iter().all(|byte| *byte == 7))
                    );
                    bursts.push(frames.iter().map(|frame| (frame.port(), frame.bytes().len())).collect::<Vec<_>>());
                },
            );
            bursts
        };
        let mut lent = Lent::of(&trace, 3, 5, 100);
        assert_eq!((lent.len(), lent.distinct()), (6, 3));
        lent.bytes.fill(0);
        lent.restore();
        assert_eq!(bursts(&mut lent), [[(1, 60), (1, 65)], [(1, 1), (1, 60)], [(1, 65), (1, 1)]]);
        let mut later = Lent::of(&trace, usize::MAX, 1, 0).beginning_at(3);
        assert_eq!(bursts(&mut later), [vec![(2, 64), (1, 0)], vec![(1, 60), (1, 65)], vec![(1, 1)]]);
    }

    #[test]
    fn a_capture_is_read_up_to_the_requested_number() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in.pcap");
        let mut driver = CaptureDriver::open(None, Some(&path)).unwrap();
        (0..5000).for_each(|number| driver.transmit(&vec![1; 60 + number % 7], 0).unwrap());
        driver.finish().unwrap();
        for (wanted, there) in [(3, 3), (1500, 1500), (usize::MAX, 5000)] {
            let mut trace = Trace::default();
            assert!(trace.read(1, &path, wanted).unwrap());
            assert_eq!(trace.len(), there);
        }
        assert!(Trace::default().read(1, &folder.path().join("none"), 1).is_err());
    }
}
