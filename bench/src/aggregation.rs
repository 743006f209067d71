//! The programs of `apps/aggregation`, from memory to memory on one core: small packets go through the switch that
//! merges them, what leaves it through the one that takes them apart.
//!
//! Each small packet has a number, and a payload that follows from it. In the middle of the run the first switch is
//! restarted: what it held is lost. In the end each number must have come once, unchanged, but for those that were held
//! when it was restarted or are held in the end; how many these are, the switches' own counters must say. Nothing else
//! is measured than the time in which a core works; to check is not.

use crate::Arguments;
use crate::compiled;
use base::Rng;
use ir::Program;
use measure::figures::{median, range};
use measure::traffic::{Lent, Trace};
use serde_json::{Value as Json, json};
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};
use switch::{Output, Switch};

/// Small packets that go through both switches together.
const CHUNK: u32 = 16_384;

/// Frames lent at once.
const BURST: usize = 64;

/// Ports: small packets come in, aggregates and then small packets go on, the timer.
const IN: u32 = 1;
const OUT: u32 = 2;
const TIMER: u32 = 9;

/// Before a payload: Ethernet, IPv4, UDP.
const HEADER_BYTES: usize = 42;

/// The ring buffer.
const COLUMNS: usize = 4096;
const COLUMN_WORDS: usize = 11;

/// The server's address, and the UDP port.
const SERVER: [u8; 4] = [10, 0, 1, 1];
const SERVER_PORT: u16 = 5000;

/// An entry of both switches.
const ROUTE: &str = "table_add route send 10.0.1.0/24 => 2\n";

#[derive(Clone, Copy)]
enum Design {
    /// So many messages in a packet, taken apart by recirculation or as replicas.
    Fixed { messages: usize, by_multicast: bool },
    /// Messages of so many bytes, or of all sizes; several in a column of the ring buffer.
    Variable { bytes: Option<usize>, is_packed: bool },
}

impl Design {
    fn all() -> Vec<Design> {
        let fixed = [1, 2, 4, 8].map(|messages| Design::Fixed { messages, by_multicast: false });
        let replicated = [2, 4, 8].map(|messages| Design::Fixed { messages, by_multicast: true });
        let sizes = [Some(4), Some(8), Some(16), Some(32), Some(44), None];
        let variable = |is_packed| sizes.map(|bytes| Design::Variable { bytes, is_packed });
        [&fixed[..], &replicated, &variable(false), &variable(true)].concat()
    }

    fn name(self) -> String {
        match self {
            Design::Fixed { messages, by_multicast } => {
                format!("fixed, 16 bytes, N = {messages}{}", if by_multicast { ", by multicast" } else { "" })
            }
            Design::Variable { bytes, is_packed } => {
                let size = bytes.map_or("4 to 44".to_owned(), |bytes| bytes.to_string());
                format!("variable, {size} bytes{}", if is_packed { ", columns shared" } else { "" })
            }
        }
    }

    fn program(self) -> Result<Program, Box<dyn Error>> {
        match self {
            Design::Fixed { messages, .. } => {
                compiled::program_with("apps/aggregation/fixed/fixed.p4", &[("N", messages.to_string())])
            }
            Design::Variable { is_packed, .. } => {
                let packed = [("PACKED", "1".to_owned())];
                let macros = if is_packed { &packed[..] } else { &[] };
                compiled::program_with("apps/aggregation/variable/variable.p4", macros)
            }
        }
    }

    /// The entries of the switch that merges.
    fn together(self) -> String {
        match self {
            Design::Fixed { .. } => format!("{ROUTE}table_add collecting collect 10.0.1.1 5000 => 0\n"),
            Design::Variable { .. } => {
                format!("{ROUTE}table_add aggregated NoAction 10.0.1.1 5000 =>\ntable_add timers NoAction 9 =>\n")
            }
        }
    }

    /// The entries of the switch that takes apart.
    fn apart(self) -> String {
        match self {
            Design::Fixed { messages, by_multicast: true } => {
                let node = |rid| format!("mc_node_create {rid} 2\nmc_node_associate 1 {}\n", rid - 1);
                let nodes: String = (1..=messages).map(node).collect();
                format!("{ROUTE}mc_mgrp_create 1\n{nodes}table_add splitting split_by_multicast 10.0.1.1 5000 => 1\n")
            }
            Design::Fixed { .. } => {
                format!("{ROUTE}mirroring_add 5 2\ntable_add splitting split_by_recirculation 10.0.1.1 5000 => 5\n")
            }
            Design::Variable { .. } => {
                format!("{ROUTE}mirroring_add 5 2\ntable_add disaggregated take_apart 10.0.1.1 5000 => 5\n")
            }
        }
    }

    /// The counter of the first switch that says how many small packets it has taken in.
    fn taken_in(self) -> &'static str {
        if matches!(self, Design::Fixed { .. }) { "messages_in" } else { "stored" }
    }

    /// How many small packets an aggregate says that it carries.
    fn carried(self, aggregate: &[u8]) -> u64 {
        match (self, aggregate.get(HEADER_BYTES..)) {
            (Design::Fixed { messages, .. }, Some([0xfc, ..])) => messages as u64,
            (Design::Variable { .. }, Some([2, high, low, ..])) => u64::from(u16::from_be_bytes([*high, *low])),
            _ => 0,
        }
    }

    /// How long a message is.
    fn payload_bytes(self, number: u32) -> usize {
        match self {
            Design::Fixed { .. } => 16,
            Design::Variable { bytes: Some(bytes), .. } => bytes,
            Design::Variable { bytes: None, .. } => 4 * (1 + Rng::new(u64::from(number)).below(11) as usize),
        }
    }

    /// A small packet with this payload.
    fn frame(self, payload: &[u8]) -> Vec<u8> {
        match self {
            Design::Fixed { .. } => udp_frame(&[&[0xfa, 0, 0, 0, 0, 0], payload].concat()),
            Design::Variable { .. } => {
                let padding = vec![0; [15, 11, 7, 3].get(payload.len() / 4 - 1).copied().unwrap_or(0)];
                let words = (payload.len() / 4) as u8;
                udp_frame(&[&[1, padding.len() as u8], &padding[..], &[words], payload].concat())
            }
        }
    }

    /// The payload of a small packet; none if it is something else.
    fn payload(self, frame: &[u8]) -> Option<&[u8]> {
        let inner = frame.get(HEADER_BYTES..)?;
        match (self, inner.first()?) {
            (Design::Fixed { .. }, 0xfa) => inner.get(6..),
            (Design::Variable { .. }, 1) => {
                let padding = usize::from(*inner.get(1)?);
                let words = usize::from(*inner.get(2 + padding)?);
                inner.get(3 + padding..).filter(|payload| payload.len() == 4 * words)
            }
            _ => None,
        }
    }
}

/// A UDP packet for the server, without a UDP checksum.
fn udp_frame(payload: &[u8]) -> Vec<u8> {
    let udp_bytes = (8 + payload.len()) as u16;
    let mut ip = [0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 0, 0, 0, 0];
    ip[2..4].copy_from_slice(&(20 + udp_bytes).to_be_bytes());
    ip[16..].copy_from_slice(&SERVER);
    let sum: u32 = ip.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    ip[10..12].copy_from_slice(&(!(sum as u16 + (sum >> 16) as u16)).to_be_bytes());
    let udp = [4001, SERVER_PORT, udp_bytes, 0].map(u16::to_be_bytes).concat();
    [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0][..], &ip, &udp, payload].concat()
}

/// The payload of a number.
fn fill(number: u32, payload: &mut [u8]) {
    let mut rng = Rng::new(u64::from(number) << 32 | 1);
    payload.iter_mut().for_each(|byte| *byte = rng.next_u64() as u8);
    payload[..4].copy_from_slice(&number.to_be_bytes());
}

fn counter(switch: &mut Switch, name: &str) -> u64 {
    let program = Arc::clone(switch.program());
    let found = program.counters.iter_enumerated().find(|(_, it)| it.name.ends_with(name));
    let Some((id, _)) = found else { return 0 };
    switch.externs_mut().counters[id].iter().map(|cell| cell.packets).sum()
}

/// Keeps what leaves, as a driver does that copies it to its ring.
#[derive(Default)]
struct Sent(Trace);

impl Output for Sent {
    fn transmit(&mut self, _port: u32, frame: &[u8], _time_ns: u64) {
        self.0.push(OUT, frame);
    }
}

/// A switch and how long it has worked.
struct Measured {
    switch: Switch,
    elapsed: Duration,
}

impl Measured {
    /// What leaves when these packets come.
    fn pass(&mut self, packets: &Trace) -> Trace {
        let mut lent = Lent::of(packets, usize::MAX, 1);
        let mut sent = Sent::default();
        lent.each_burst(
            BURST,
            || 0,
            |frames| {
                let began = Instant::now();
                self.switch.forward(0, frames, &mut sent);
                self.elapsed += began.elapsed();
            },
        );
        sent.0
    }
}

/// What a run has found.
#[derive(Default)]
struct Found {
    messages: u64,
    aggregates: u64,
    aggregate_bytes: u64,
    small_bytes: u64,
    payload_bytes: u64,
    held: u64,
    together_ns: f64,
    apart_ns: f64,
}

/// The numbers that have come, a bit each.
struct Seen {
    bits: Vec<u64>,
    count: u64,
}

impl Seen {
    fn note(&mut self, number: u32) -> Result<(), String> {
        let word = self.bits.get_mut(number as usize / 64).ok_or(format!("packet {number} was never sent"))?;
        let bit = 1 << (number % 64);
        if *word & bit != 0 {
            return Err(format!("packet {number} has come twice"));
        }
        *word |= bit;
        self.count += 1;
        Ok(())
    }
}

/// One run of a design.
fn measure(design: Design, program: &Arc<Program>, messages: u32) -> Result<Found, Box<dyn Error>> {
    let switch = |entries: &str| compiled::switch(program, compiled::native(program)?, entries);
    let mut together = Measured { switch: switch(&design.together())?, elapsed: Duration::ZERO };
    let mut apart = Measured { switch: switch(&design.apart())?, elapsed: Duration::ZERO };
    let mut seen = Seen { bits: vec![0; (messages as usize).div_ceil(64)], count: 0 };
    let mut found = Found { messages: messages.into(), ..Found::default() };
    let mut carried = 0;
    let mut is_restarted = false;
    for first in (0..messages).step_by(CHUNK as usize) {
        if first >= messages / 2 && !std::mem::replace(&mut is_restarted, true) {
            found.held += held(design, &mut together.switch, std::mem::take(&mut carried))?;
            together.switch = switch(&design.together())?;
        }
        let end = messages.min(first.saturating_add(CHUNK));
        let large = together.pass(&small_packets(design, first..end, &mut found));
        carried += note_aggregates(design, &large, &mut found);
        check(design, &apart.pass(&large), &mut seen)?;
    }
    if matches!(design, Design::Variable { .. }) {
        let mut timer = Trace::default();
        timer.push(TIMER, &udp_frame(&[0x0c]));
        let large = together.pass(&timer);
        carried += note_aggregates(design, &large, &mut found);
        check(design, &apart.pass(&large), &mut seen)?;
    }
    found.held += held(design, &mut together.switch, carried)?;
    let dropped = counter(&mut together.switch, "dropped") + counter(&mut apart.switch, "dropped");
    if dropped > 0 || seen.count + found.held != u64::from(messages) {
        let (came, held) = (seen.count, found.held);
        let what = format!("{messages} packets went in, {came} came out, {held} are held, {dropped} were dropped");
        return Err(what.into());
    }
    found.together_ns = together.elapsed.as_nanos() as f64 / f64::from(messages);
    found.apart_ns = apart.elapsed.as_nanos() as f64 / seen.count as f64;
    Ok(found)
}

fn small_packets(design: Design, numbers: std::ops::Range<u32>, found: &mut Found) -> Trace {
    let mut trace = Trace::default();
    for number in numbers {
        let mut payload = vec![0; design.payload_bytes(number)];
        fill(number, &mut payload);
        let frame = design.frame(&payload);
        found.small_bytes += frame.len() as u64;
        found.payload_bytes += payload.len() as u64;
        trace.push(IN, &frame);
    }
    trace
}

/// Counts aggregates and returns how many small packets are in them.
fn note_aggregates(design: Design, large: &Trace, found: &mut Found) -> u64 {
    found.aggregates += large.len() as u64;
    found.aggregate_bytes += large.frames().map(|(_, frame)| frame.len() as u64).sum::<u64>();
    large.frames().map(|(_, frame)| design.carried(frame)).sum()
}

/// How many small packets the first switch holds that has sent so many.
fn held(design: Design, switch: &mut Switch, carried: u64) -> Result<u64, String> {
    let taken_in = counter(switch, design.taken_in());
    taken_in.checked_sub(carried).ok_or(format!("{taken_in} packets were taken in and {carried} sent"))
}

/// Each packet is one that was sent and has not come before.
fn check(design: Design, out: &Trace, seen: &mut Seen) -> Result<(), String> {
    let mut wanted = [0; 44];
    for (_, frame) in out.frames() {
        let payload = design.payload(frame).ok_or("something else than a small packet has come")?;
        let number =
            payload.first_chunk().map(|bytes| u32::from_be_bytes(*bytes)).ok_or("a packet without a number")?;
        let wanted = &mut wanted[..design.payload_bytes(number)];
        fill(number, wanted);
        if payload != wanted {
            return Err(format!("packet {number} has come with another payload"));
        }
        seen.note(number)?;
    }
    Ok(())
}

/// How many messages the ring buffer holds where no worker may take any, and which part of its words they use; none for
/// a design without one.
fn ring_use(design: Design, program: &Arc<Program>) -> Result<Option<(u64, f64)>, Box<dyn Error>> {
    if matches!(design, Design::Fixed { .. }) {
        return Ok(None);
    }
    let entries = format!("{}table_set_default limits limit 0\n", design.together());
    let switch = compiled::switch(program, compiled::native(program)?, &entries)?;
    let mut ring = Measured { switch, elapsed: Duration::ZERO };
    let mut first = 0;
    while counter(&mut ring.switch, "dropped") == 0 {
        ring.pass(&small_packets(design, first..first + BURST as u32, &mut Found::default()));
        first += BURST as u32;
    }
    let stored = counter(&mut ring.switch, "stored");
    let words: usize = (0..stored as u32).map(|number| design.payload_bytes(number) / 4).sum();
    Ok(Some((stored, words as f64 / (COLUMNS * COLUMN_WORDS) as f64)))
}

/// Runs all designs and prints what a small packet costs.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    if !arguments.json {
        println!(
            "{:<38} {:>7} {:>7} {:>10} {:>8} {:>16} {:>16} {:>16}",
            "", "in each", "held", "overhead", "alone", "together, ns", "apart, ns", "ring holds"
        );
    }
    let wanted = |design: &Design| arguments.only.as_ref().is_none_or(|only| design.name().contains(only));
    for design in Design::all().into_iter().filter(wanted) {
        let program = Arc::new(design.program()?);
        let runs: Result<Vec<Found>, _> =
            (0..arguments.runs).map(|_| measure(design, &program, arguments.packets)).collect();
        let runs = runs.map_err(|error| format!("{}: {error}", design.name()))?;
        print(arguments, design, &runs, ring_use(design, &program)?);
    }
    Ok(())
}

fn print(arguments: &Arguments, design: Design, runs: &[Found], ring: Option<(u64, f64)>) {
    let Some(first) = runs.first() else { return };
    let carried = (first.messages - first.held) as f64;
    let payload = first.payload_bytes as f64 / first.messages as f64;
    let overhead = 1.0 - payload * carried / first.aggregate_bytes as f64;
    let alone = 1.0 - first.payload_bytes as f64 / first.small_bytes as f64;
    let together: Vec<f64> = runs.iter().map(|run| run.together_ns).collect();
    let apart: Vec<f64> = runs.iter().map(|run| run.apart_ns).collect();
    if arguments.json {
        let row: Json = json!({
            "benchmark": "aggregation", "design": design.name(), "packets": first.messages, "held": first.held,
            "aggregates": first.aggregates, "aggregate_bytes": first.aggregate_bytes,
            "small_bytes": first.small_bytes, "payload_bytes": first.payload_bytes,
            "overhead": overhead, "overhead_alone": alone, "ring_messages": ring.map(|(messages, _)| messages),
            "ring_use": ring.map(|(_, part)| part), "together_ns": together, "apart_ns": apart,
        });
        println!("{row}");
        return;
    }
    let spread = |figures: &[f64]| {
        let (least, greatest) = range(figures);
        format!("{:.0} ({least:.0}-{greatest:.0})", median(figures))
    };
    println!(
        "{:<38} {:>7.1} {:>7} {:>8.1} % {:>6.1} % {:>16} {:>16} {:>16}",
        design.name(),
        carried / first.aggregates as f64,
        first.held,
        100.0 * overhead,
        100.0 * alone,
        spread(&together),
        spread(&apart),
        ring.map_or(String::new(), |(messages, part)| format!("{messages}, {:.0} %", 100.0 * part))
    );
}
