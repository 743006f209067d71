//! The programs of `apps/aggregation`, from memory to memory on one core: small packets pass the switch that
//! aggregates them, and its output passes the switch that splits the aggregates.
//!
//! Each small packet has a number, which determines its payload. In the middle of a run the first switch is
//! restarted, and the packets that it holds are lost. At the end each number must have arrived once, unchanged (with
//! a gateway, in order), except for those that were held at the restart or are held at the end; their number must
//! equal the switches' own counters. Only the processor time of the switches is measured, not that of the checks.
//!
//! Small packets have no UDP checksums unless `--udp-checksums` is given: a design that makes new packets then
//! verifies each checksum and computes new ones.
//!
//! For designs that exist in hand-written C (`peers/aggregation.c`), that does the same jobs in turns with the
//! switches, on the same packets, and must send the same frames, byte for byte and in order.
//!
//! A gateway gets the same small packets as the papers' designs, and also packets of devices without support for
//! aggregation. As many go into one packet as fit. For a few sizes fewer are tried, too: the second
//! paper's design then gets a timer tick after each such number of packets, and a gateway an MTU into which no more
//! fit.

mod by_hand;
mod design;
mod picture;

use crate::Arguments;
use crate::compiled;
use crate::growth::processor_time;
use by_hand::Hands;
use design::{By, Design, TIMER};
use measure::figures::{median, range};
use measure::traffic::{Lent, Trace};
use serde_json::{Value as Json, json};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use switch::{Config, Output, Switch};
use wirespeed::{Backend, Program};

/// Small packets that pass both switches together.
const CHUNK: u32 = 16_384;

/// Frames that are lent at once.
const BURST: usize = 64;

/// Ports: small packets arrive on the first; aggregates and then small packets leave on the second.
const IN: u32 = 1;
const OUT: u32 = 2;

/// The start numbers of the first switch, before and after it is restarted.
const FIRST_START: u32 = 1;
const SECOND_START: u32 = 2;

/// The bytes that a frame takes on an Ethernet link besides its own: check sequence, preamble, gap.
const WIRE_BYTES: u64 = 24;

/// The least total of both.
const WIRE_BYTES_MIN: u64 = 84;

/// The size of the ring buffer.
const COLUMNS: usize = 4096;
const COLUMN_WORDS: usize = 11;

fn counter(switch: &mut Switch, name: &str) -> u64 {
    let program = Arc::clone(switch.program());
    let found = program.counters.iter_enumerated().find(|(_, it)| it.name.ends_with(name));
    let Some((id, _)) = found else { return 0 };
    switch.externs_mut().counters[id].iter().map(|cell| cell.packets).sum()
}

/// Copies the output, as a driver copies it to its ring.
#[derive(Default)]
struct Sent(Trace);

impl Output for Sent {
    fn transmit(&mut self, _port: u32, frame: &[u8], _time_ns: u64) {
        self.0.push(OUT, frame);
    }
}

/// A switch, its latest output, and its processor time.
struct Measured {
    switch: Switch,
    sent: Sent,
    worked: Duration,
}

impl Measured {
    fn new(switch: Switch) -> Measured {
        Measured { switch, sent: Sent::default(), worked: Duration::ZERO }
    }

    /// The output for these packets.
    fn pass(&mut self, packets: &Trace) -> &Trace {
        self.sent.0.clear();
        let mut lent = Lent::of(packets, usize::MAX, 1, self.switch.headroom_bytes());
        lent.each_burst(
            BURST,
            || 0,
            |frames| {
                let began = processor_time();
                self.switch.forward(0, frames, &mut self.sent);
                self.worked += processor_time().saturating_sub(began);
            },
        );
        &self.sent.0
    }

    /// The output when no more packets arrive, but the timer ticks, if the design has one.
    fn flush(&mut self, design: Design) -> &Trace {
        if matches!(design.by, By::Variable { .. }) {
            let mut tick = Trace::default();
            tick.push(TIMER, &design::udp_frame(&[0x0c]));
            return self.pass(&tick);
        }
        self.sent.0.clear();
        while let Some(due_ns) = self.switch.next_event_ns() {
            let began = processor_time();
            self.switch.run(due_ns, &mut self.sent);
            self.worked += processor_time().saturating_sub(began);
        }
        &self.sent.0
    }
}

/// The result of a run.
#[derive(Default)]
struct Found {
    messages: u64,
    aggregates: u64,
    aggregate_bytes: u64,
    small_bytes: u64,
    payload_bytes: u64,
    /// The bytes that small packets and aggregates take on an Ethernet link.
    small_wire_bytes: u64,
    aggregate_wire_bytes: u64,
    held: u64,
    together_ns: f64,
    apart_ns: f64,
    /// The same of both jobs by hand, for designs that exist by hand.
    by_hand_ns: Option<[f64; 2]>,
}

/// The numbers that have arrived, one bit each.
struct Seen {
    bits: Vec<u64>,
    count: u64,
    /// The latest number, if they must arrive in order.
    last: Option<u32>,
}

impl Seen {
    fn note(&mut self, number: u32, in_order: bool) -> Result<(), String> {
        let word = self.bits.get_mut(number as usize / 64).ok_or(format!("packet {number} was never sent"))?;
        let bit = 1 << (number % 64);
        if *word & bit != 0 {
            return Err(format!("packet {number} has come twice"));
        }
        if let Some(before) = self.last.replace(number).filter(|before| in_order && *before > number) {
            return Err(format!("packet {number} has come after {before}"));
        }
        *word |= bit;
        self.count += 1;
        Ok(())
    }
}

/// One run of a design.
fn measure(design: Design, program: &Program, messages: u32) -> Result<Found, Box<dyn Error>> {
    let switch = |entries: &str, start_number: u32| {
        let config = Config { start_number: start_number.into(), ..Config::default() };
        compiled::switch_with(program, Backend::Native, entries, config)
    };
    let mut together = Measured::new(switch(&design.together(), FIRST_START)?);
    let mut apart = Measured::new(switch(&design.apart(), FIRST_START)?);
    let mut hands = Hands::new(design, FIRST_START)?;
    let mut seen = Seen { bits: vec![0; (messages as usize).div_ceil(64)], count: 0, last: None };
    let mut found = Found { messages: messages.into(), ..Found::default() };
    let mut carried = 0;
    let mut is_restarted = false;
    for first in (0..messages).step_by(CHUNK as usize) {
        if first >= messages / 2 && !std::mem::replace(&mut is_restarted, true) {
            found.held += held(design, &mut together.switch, std::mem::take(&mut carried))?;
            together.switch = switch(&design.together(), SECOND_START)?;
            hands.iter_mut().try_for_each(|hands| hands.restart(SECOND_START))?;
        }
        let end = messages.min(first.saturating_add(CHUNK));
        let packets = small_packets(design, first..end, &mut found);
        let large = together.pass(&packets);
        hands.iter_mut().try_for_each(|hands| hands.together(&packets, large))?;
        carried += note_aggregates(design, large, &mut found);
        split(design, large, &mut apart, &mut hands, &mut seen)?;
    }
    let large = together.flush(design);
    hands.iter_mut().try_for_each(|hands| hands.flush(large))?;
    carried += note_aggregates(design, large, &mut found);
    split(design, large, &mut apart, &mut hands, &mut seen)?;
    found.held += held(design, &mut together.switch, carried)?;
    let dropped = counter(&mut together.switch, "dropped") + counter(&mut apart.switch, "dropped");
    if dropped > 0 || seen.count + found.held != u64::from(messages) {
        let (came, held) = (seen.count, found.held);
        let what = format!("{messages} packets went in, {came} came out, {held} are held, {dropped} were dropped");
        return Err(what.into());
    }
    found.together_ns = together.worked.as_nanos() as f64 / f64::from(messages);
    found.apart_ns = apart.worked.as_nanos() as f64 / seen.count as f64;
    found.by_hand_ns = hands.map(|hands| {
        let [together, apart] = hands.worked().map(|worked| worked.as_nanos() as f64);
        [together / f64::from(messages), apart / seen.count as f64]
    });
    Ok(found)
}

/// The second switch splits these, and so does what does its job by hand.
fn split(
    design: Design,
    large: &Trace,
    apart: &mut Measured,
    hands: &mut Option<Hands>,
    seen: &mut Seen,
) -> Result<(), Box<dyn Error>> {
    let small = apart.pass(large);
    hands.iter_mut().try_for_each(|hands| hands.apart(large, small))?;
    Ok(check(design, small, seen)?)
}

/// The bytes that a frame takes on an Ethernet link.
fn wire_bytes(frame: &[u8]) -> u64 {
    (frame.len() as u64 + WIRE_BYTES).max(WIRE_BYTES_MIN)
}

fn small_packets(design: Design, numbers: std::ops::Range<u32>, found: &mut Found) -> Trace {
    let mut trace = Trace::default();
    for number in numbers {
        let frame = design.frame(number);
        found.small_bytes += frame.len() as u64;
        found.small_wire_bytes += wire_bytes(&frame);
        found.payload_bytes += design.payload_bytes(number) as u64;
        trace.push(IN, &frame);
        if design.has_tick_behind(number) {
            trace.push(TIMER, &design::udp_frame(&[0x0c]));
        }
    }
    trace
}

/// Counts aggregates and returns how many small packets are in them.
fn note_aggregates(design: Design, large: &Trace, found: &mut Found) -> u64 {
    found.aggregates += large.len() as u64;
    found.aggregate_bytes += large.frame_bytes();
    found.aggregate_wire_bytes += large.frames().map(|(_, frame)| wire_bytes(frame)).sum::<u64>();
    large.frames().map(|(_, frame)| design.carried(frame)).sum()
}

/// The number of small packets that the first switch holds after it has sent this many.
fn held(design: Design, switch: &mut Switch, carried: u64) -> Result<u64, String> {
    let taken_in = counter(switch, design.taken_in());
    taken_in.checked_sub(carried).ok_or(format!("{taken_in} packets were taken in and {carried} sent"))
}

/// Checks that each packet was sent and has not arrived before.
fn check(design: Design, out: &Trace, seen: &mut Seen) -> Result<(), String> {
    out.frames().try_for_each(|(_, frame)| seen.note(design.number(frame)?, design.by == By::Gateway))
}

/// How many messages the ring buffer holds when no worker takes any, and the share of its words that they use; `None`
/// for a design without a ring buffer.
fn ring_use(design: Design, program: &Program) -> Result<Option<(u64, f64)>, Box<dyn Error>> {
    if !matches!(design.by, By::Variable { .. }) || !design.is_full() {
        return Ok(None);
    }
    let entries = format!("{}table_set_default limits limit 0\n", design.together());
    let switch = compiled::switch(program, Backend::Native, &entries)?;
    let mut ring = Measured::new(switch);
    let mut first = 0;
    while counter(&mut ring.switch, "dropped") == 0 {
        ring.pass(&small_packets(design, first..first + BURST as u32, &mut Found::default()));
        first += BURST as u32;
    }
    let stored = counter(&mut ring.switch, "stored");
    let words: usize = (0..stored as u32).map(|number| design.payload_bytes(number) / 4).sum();
    Ok(Some((stored, words as f64 / (COLUMNS * COLUMN_WORDS) as f64)))
}

/// Runs all designs and prints the cost of a small packet.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    if let Some(file) = &arguments.picture_of {
        return picture::print(file);
    }
    if !arguments.json {
        println!(
            "{:<40} {:>7} {:>5} {:>8} {:>7} {:>14} {:>15} {:>5} {:>15} {:>5} {:>12}",
            "",
            "in each",
            "held",
            "overhead",
            "alone",
            "wire, of alone",
            "together, ns",
            "M/s",
            "apart, ns",
            "M/s",
            "ring holds"
        );
    }
    let is_selected = |design: &Design| arguments.only.as_ref().is_none_or(|only| design.name().contains(only));
    for mut design in Design::all().into_iter().filter(is_selected) {
        design.has_checksums = arguments.udp_checksums;
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
    let by_hand =
        |job: usize| runs.iter().map(|run| run.by_hand_ns.map(|figures| figures[job])).collect::<Option<Vec<f64>>>();
    if arguments.json {
        let row: Json = json!({
            "benchmark": "aggregation", "design": design.name(), "packets": first.messages, "held": first.held,
            "aggregates": first.aggregates, "aggregate_bytes": first.aggregate_bytes,
            "small_bytes": first.small_bytes, "payload_bytes": first.payload_bytes,
            "overhead": overhead, "overhead_alone": alone, "ring_messages": ring.map(|(messages, _)| messages),
            "small_wire_bytes": first.small_wire_bytes, "aggregate_wire_bytes": first.aggregate_wire_bytes,
            "ring_use": ring.map(|(_, part)| part), "together_ns": together, "apart_ns": apart,
            "together_by_hand_ns": by_hand(0), "apart_by_hand_ns": by_hand(1),
        });
        println!("{row}");
        return;
    }
    let on_wire = |bytes: u64, of: f64| bytes as f64 / of;
    let wire = [on_wire(first.aggregate_wire_bytes, carried), on_wire(first.small_wire_bytes, first.messages as f64)];
    println!(
        "{:<40} {:>7.1} {:>5} {:>6.1} % {:>5.1} % {:>14} {:>15} {:>5.1} {:>15} {:>5.1} {:>12}",
        design.name(),
        carried / first.aggregates as f64,
        first.held,
        100.0 * overhead,
        100.0 * alone,
        format!("{:.1} of {:.1}", wire[0], wire[1]),
        spread(&together, 0),
        1000.0 / median(&together),
        spread(&apart, 0),
        1000.0 / median(&apart),
        ring.map_or(String::new(), |(messages, part)| format!("{messages}, {:.0} %", 100.0 * part))
    );
    if let [Some(together_by_hand), Some(apart_by_hand)] = [by_hand(0), by_hand(1)] {
        let beside = |ours: &[f64], by_hand: &[f64]| {
            let times: Vec<f64> = ours.iter().zip(by_hand).map(|(ours, by_hand)| ours / by_hand).collect();
            format!("{} ns, {} times as long here", spread(by_hand, 1), spread(&times, 1))
        };
        println!("    by hand, together: {}", beside(&together, &together_by_hand));
        println!("    by hand, apart:    {}", beside(&apart, &apart_by_hand));
    }
}

/// The median, the least and the greatest.
fn spread(figures: &[f64], digits: usize) -> String {
    let (least, greatest) = range(figures);
    format!("{:.digits$} ({least:.digits$}-{greatest:.digits$})", median(figures))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A design of each program, and each method of splitting.
    fn designs() -> Vec<Design> {
        let names = [
            "fixed, N = 8, 16 bytes",
            "fixed, N = 8, 16 bytes, by multicast",
            "variable, 4 to 44 bytes",
            "variable, 4 to 44 bytes, columns shared",
            "gateway, 4 to 44 bytes",
        ];
        let found: Vec<Design> =
            Design::all().into_iter().filter(|design| names.contains(&design.name().as_str())).collect();
        assert_eq!(found.len(), names.len());
        found
    }

    /// A run fails if a packet is missing, duplicated or changed, or if the counters are wrong.
    #[test]
    fn every_packet_is_accounted_for() {
        for mut design in designs() {
            let program = Arc::new(design.program().unwrap());
            for has_checksums in [false, true] {
                design.has_checksums = has_checksums;
                let found =
                    measure(design, &program, 20_000).unwrap_or_else(|error| panic!("{}: {error}", design.name()));
                assert!(found.aggregates > 0 && found.aggregates < 20_000 / 7, "{}", design.name());
                // In a design with a fixed number, seven packets are held until the eighth comes; in a ring buffer, as
                // many as 1,467 bytes hold.
                assert!(found.held <= 2 * 1467 / 5, "{}: {} held", design.name(), found.held);
            }
        }
    }

    /// What is written by hand must send what the programs send. A run fails otherwise, as the next test shows.
    #[test]
    fn what_is_written_by_hand_sends_the_same_bytes() {
        let names = [
            "fixed, N = 8, 16 bytes",
            "variable, 4 to 44 bytes",
            "variable, 16 bytes, 8 in one",
            "gateway, 4 to 44 bytes",
            "gateway, 16 bytes as for fixed",
            "gateway, 4 bytes, 2 in one",
        ];
        for mut design in Design::all().into_iter().filter(|design| names.contains(&design.name().as_str())) {
            let program = Arc::new(design.program().unwrap());
            for has_checksums in [false, true] {
                design.has_checksums = has_checksums;
                let found =
                    measure(design, &program, 5_000).unwrap_or_else(|error| panic!("{}: {error}", design.name()));
                assert!(found.by_hand_ns.is_some(), "{}", design.name());
            }
        }
    }

    #[test]
    fn other_bytes_by_hand_are_an_error() {
        let design = designs().into_iter().find(|design| design.by == By::Gateway).unwrap();
        let packets = small_packets(design, 0..40, &mut Found::default());
        let mut expected = Trace::default();
        let mut hands = Hands::new(design, FIRST_START).unwrap().unwrap();
        let error = hands.together(&packets, &expected).unwrap_err().to_string();
        assert_eq!(error, "1 frames were sent by hand and 0 by the switch");
        expected.push(OUT, b"another");
        let error = Hands::new(design, FIRST_START).unwrap().unwrap().together(&packets, &expected).unwrap_err();
        assert_eq!(error.to_string(), "frame 0 of a chunk is another by hand than by the switch");
    }

    /// The columns of the ring buffer as described in the README.
    #[test]
    fn columns_that_are_shared_hold_more_messages() {
        let uses = |name: &str| {
            let design = Design::all().into_iter().find(|design| design.name() == name).unwrap();
            let (messages, part) = ring_use(design, &Arc::new(design.program().unwrap())).unwrap().unwrap();
            (messages, (100.0 * part).round())
        };
        assert_eq!(uses("variable, 4 bytes"), (4_096, 9.0));
        assert_eq!(uses("variable, 4 bytes, columns shared"), (45_056, 100.0));
        assert_eq!(uses("variable, 4 to 44 bytes"), (4_096, 55.0));
        assert_eq!(uses("variable, 4 to 44 bytes, columns shared"), (5_840, 78.0));
    }
}
