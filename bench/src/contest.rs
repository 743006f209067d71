//! A program against hand-written C: the same packets from memory to memory on one core, in turns.

use crate::Arguments;
use crate::limit::{FRAME_BYTES, Frames, Limit};
use crate::progress::Progress;
use measure::figures::{median, quantile, range};
use measure::memory::{self, BURSTS_AT_ONCE, Bench};
use measure::traffic::Lent;
use serde_json::json;
use std::collections::BTreeMap;
use std::error::Error;
use std::time::{Duration, Instant};
use switch::{CoreStage, Switch};

/// Packets of a run in the interpreter, which is too slow for more.
const INTERPRETER_PACKETS: usize = 5_000;

/// How long each run measures the stages of the core.
const STAGES_RUN: Duration = Duration::from_millis(20);

/// Frames that are lent to the switch at once.
pub const LENT_FRAMES_MAX: usize = 256;

/// Bytes from one frame to the next.
pub const STRIDE_BYTES: usize = 64;

/// The contestants.
pub struct Contest<'a> {
    /// The name of the benchmark.
    pub benchmark: &'static str,
    /// The title, for people.
    pub title: String,
    /// The program, by its path from the repository's root.
    pub program: &'a str,
    /// The frames, of 60 bytes each.
    pub frames: Frames,
    /// The program as native code.
    pub native: Switch,
    /// The program in the interpreter.
    pub interpreter: Switch,
    /// The same in hand-written C.
    pub limit: Limit,
}

impl Contest<'_> {
    /// Runs the contestants in turn and prints the cost of a packet for each.
    pub fn run(mut self, arguments: &Arguments) -> Result<(), Box<dyn Error>> {
        let trace = self.frames.trace();
        let mut lent = Lent::of(&trace, usize::MAX, 1, self.native.headroom_bytes());
        let mut few = Lent::of(&trace, INTERPRETER_PACKETS, 1, 0);
        let rounds = (arguments.packets as usize).div_ceil(self.frames.count());
        let mut times = Times::default();
        // The first time, the system allocates the memory of tables and frames.
        memory::drive(&mut self.native, &mut lent, LENT_FRAMES_MAX, 1, || 0);
        drive_limit(&mut self.limit, &self.frames, 1)?;
        let progress = Progress::new("runs", arguments.runs);
        for _ in 0..arguments.runs {
            let pass = memory::drive(&mut self.native, &mut lent, LENT_FRAMES_MAX, rounds, || 0);
            let (limit_ns, limit_sent) = drive_limit(&mut self.limit, &self.frames, rounds)?;
            if pass.sent != limit_sent {
                return Err(format!("the two disagree: {} and {limit_sent} packets sent", pass.sent).into());
            }
            times.native.push(pass.packet_ns());
            times.by_hand.push(limit_ns);
            let pass = memory::drive(&mut self.interpreter, &mut few, LENT_FRAMES_MAX, 1, || 0);
            times.interpreter.push(pass.packet_ns());
            for (stage, ns) in Bench::new(&mut self.native, &trace, LENT_FRAMES_MAX, STAGES_RUN).stages() {
                times.stages.entry(stage).or_default().push(ns);
            }
            progress.step();
        }
        drop(progress);
        times.stages.retain(|_, runs| runs.iter().any(|ns| *ns > 0.0));
        let Contest { benchmark, title, program, .. } = &self;
        times.print(arguments, [benchmark, title, program]);
        Ok(())
    }
}

/// The same for the hand-written C, with as many frames in a call as the switch gets between two readings of the
/// clock. It changes the frames, so they are restored in each round, which is not measured.
fn drive_limit(limit: &mut Limit, frames: &Frames, rounds: usize) -> Result<(f64, u64), Box<dyn Error>> {
    let (mut sent, mut spent, mut changed) = (0, Duration::ZERO, frames.clone());
    for _ in 0..rounds {
        changed.bytes.copy_from_slice(&frames.bytes);
        sent += limit.forward(&mut changed, LENT_FRAMES_MAX * BURSTS_AT_ONCE, |body| {
            let started = Instant::now();
            body();
            spent += started.elapsed();
        })?;
    }
    Ok((spent.as_nanos() as f64 / (rounds * frames.count()) as f64, sent))
}

/// Nanoseconds per packet of each run.
#[derive(Default)]
struct Times {
    native: Vec<f64>,
    by_hand: Vec<f64>,
    interpreter: Vec<f64>,
    /// Of each stage of the core that takes any time.
    stages: BTreeMap<&'static str, Vec<f64>>,
}

impl Times {
    /// These figures as ratios to the hand-written C in the same run, because a temporarily slow machine affects
    /// both: median and quartiles.
    fn as_by_hand(&self, runs: &[f64]) -> String {
        let parts: Vec<f64> = runs.iter().zip(&self.by_hand).map(|(ns, by_hand)| ns / by_hand).collect();
        format!("{:.2} ({:.2} to {:.2})", median(&parts), quantile(&parts, 0.25), quantile(&parts, 0.75))
    }

    fn print(&self, arguments: &Arguments, [benchmark, title, program]: [&str; 3]) {
        let [native, interpreter] = [&self.native, &self.interpreter].map(|it| median(it));
        if arguments.json {
            println!(
                "{}",
                json!({
                    "benchmark": benchmark, "program": program, "packets": arguments.packets,
                    "routes": arguments.routes, "destinations": arguments.destinations,
                    "native_ns": self.native, "by_hand_ns": self.by_hand, "interpreter_ns": self.interpreter,
                    "stages_ns": self.stages,
                })
            );
            return;
        }
        let destinations = arguments.destinations;
        println!("{title}, {destinations} destinations, {FRAME_BYTES}-byte frames, memory to memory, one core");
        println!("median of {} runs of {} packets (least to greatest)", arguments.runs, arguments.packets);
        for (name, runs) in [("native", &self.native), ("by hand", &self.by_hand), ("interpreter", &self.interpreter)] {
            let (least, greatest) = range(runs);
            println!("  {name:<12} {:>9.1} ns per packet  ({least:.1} to {greatest:.1})", median(runs));
        }
        println!("native is {:.0} times as fast as the interpreter", interpreter / native);
        println!("native takes {} times what the same work takes by hand in place", self.as_by_hand(&self.native));
        if let Some(generated) = self.stages.get(CoreStage::FastPath.name()) {
            println!("its generated code takes {} times that", self.as_by_hand(generated));
        }
        println!("stages of the core, ns per packet, median of all runs:");
        for (name, runs) in &self.stages {
            println!("  {name:<18} {:>6.1}", median(runs));
        }
    }
}
