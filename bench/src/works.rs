//! Kinds of work side by side: each consists of a switch and its frames, and they are measured in turn from memory to
//! memory on one core.
//!
//! What enters: the kinds of work. What leaves: nanoseconds per packet of each, printed. Every packet must leave, so
//! that none is fast because it is dropped. Some of the work may be hand-written C, for comparison.

use crate::Arguments;
use crate::compiled;
use crate::contest::LENT_FRAMES_MAX;
use crate::progress::Progress;
use measure::figures::{median, range};
use measure::memory;
use measure::traffic::{Lent, Trace};
use serde_json::json;
use std::error::Error;
use switch::{Output, Switch};
use wirespeed::Backend;

/// A kind of work.
pub struct Work {
    name: &'static str,
    frames: usize,
    rounds: Rounds,
    packet_ns: Vec<f64>,
}

/// Processes all frames this many times; returns nanoseconds per packet.
type Rounds = Box<dyn FnMut(usize) -> Result<f64, Box<dyn Error>>>;

impl Work {
    /// A switch that receives these frames on port 1, each of which leaves.
    pub fn new(name: &'static str, switch: Switch, frames: &[Vec<u8>]) -> Result<Work, Box<dyn Error>> {
        Work::sending(name, switch, frames, frames.len() as u64)
    }

    /// The same, but `sent` frames leave.
    pub fn sending(
        name: &'static str,
        mut switch: Switch,
        frames: &[Vec<u8>],
        sent: u64,
    ) -> Result<Work, Box<dyn Error>> {
        let mut trace = Trace::default();
        if !frames.iter().all(|frame| trace.push(1, frame)) {
            return Err(format!("{name}: too many frames for the memory").into());
        }
        let mut lent = Lent::of(&trace, usize::MAX, 1, switch.headroom_bytes());
        let run = move |rounds| {
            let pass = memory::drive(&mut switch, &mut lent, LENT_FRAMES_MAX, rounds, || 0);
            let expected = sent * rounds as u64;
            match pass.sent == expected {
                true => Ok(pass.packet_ns()),
                false => Err(format!("{name}: {} packets were sent, not {expected}", pass.sent).into()),
            }
        };
        Ok(Work::by(name, frames.len(), run))
    }

    /// Work that is done by a function.
    pub fn by(
        name: &'static str,
        frames: usize,
        rounds: impl FnMut(usize) -> Result<f64, Box<dyn Error>> + 'static,
    ) -> Work {
        Work { name, frames, rounds: Box::new(rounds), packet_ns: Vec::new() }
    }
}

/// Measures all in turn and prints the cost of a packet, and its ratio to that of the first.
pub fn measure(
    arguments: &Arguments,
    benchmark: &str,
    title: &str,
    mut works: Vec<Work>,
) -> Result<(), Box<dyn Error>> {
    run_all(arguments, &mut works)?;
    if arguments.json {
        let all: serde_json::Map<_, _> = works.iter().map(|it| (it.name.to_owned(), json!(it.packet_ns))).collect();
        println!("{}", json!({ "benchmark": benchmark, "frames": arguments.destinations, "packet_ns": all }));
        return Ok(());
    }
    println!("{title}, {} frames", arguments.destinations);
    let first = works.first().map_or(1.0, |work| median(&work.packet_ns));
    for Work { name, packet_ns, .. } in &works {
        let (least, greatest, middle) = (range(packet_ns).0, range(packet_ns).1, median(packet_ns));
        let times = middle / first;
        println!("  {name:<28} {middle:>6.1} ns per packet  ({least:.1} to {greatest:.1})  {times:.2} times");
    }
    Ok(())
}

/// Runs all in turn, several times.
fn run_all(arguments: &Arguments, works: &mut [Work]) -> Result<(), Box<dyn Error>> {
    let progress = Progress::new("runs", arguments.runs);
    for _ in 0..arguments.runs {
        for work in works.iter_mut() {
            let packet_ns = (work.rounds)((arguments.packets as usize).div_ceil(work.frames.max(1)))?;
            work.packet_ns.push(packet_ns);
        }
        progress.step();
    }
    Ok(())
}

/// The name of each, and the median, minimum and maximum of its nanoseconds per packet.
pub type Medians = Vec<(&'static str, (f64, f64, f64))>;

/// Measures all in turn.
pub fn medians(arguments: &Arguments, mut works: Vec<Work>) -> Result<Medians, Box<dyn Error>> {
    run_all(arguments, &mut works)?;
    let figures = |work: &Work| {
        let (least, greatest) = range(&work.packet_ns);
        (work.name, (median(&work.packet_ns), least, greatest))
    };
    Ok(works.iter().map(figures).collect())
}

/// A switch that runs a program with macros and has had these entries for a while, so that its code is specialised
/// for them.
pub fn switch(path: &str, macros: &[(&str, String)], entries: &str) -> Result<Switch, Box<dyn Error>> {
    let program = compiled::program_with(path, macros)?;
    let mut switch = compiled::switch(&program, Backend::Native, entries)?;
    compiled::specialise(&mut switch)?;
    Ok(switch)
}

/// The output of a switch for frames.
pub fn sent(switch: &mut Switch, frames: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut sent = Sent::default();
    for frame in frames {
        switch.receive(0, 1, frame);
        switch.run(0, &mut sent);
    }
    sent.0
}

/// Stores the output.
#[derive(Default)]
struct Sent(Vec<Vec<u8>>);

impl Output for Sent {
    fn transmit(&mut self, _port: u32, frame: &[u8], _time_ns: u64) {
        self.0.push(frame.to_vec());
    }
}
