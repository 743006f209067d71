//! A program against C by hand: the same packets from memory to memory on one core, in turns.

use crate::Arguments;
use crate::limit::{FRAME_BYTES, Frames, Limit};
use base::limits::BURST_PACKETS_MAX;
use measure::figures::{median, range};
use measure::memory::{self, Bench, Pass};
use measure::traffic::Burst;
use serde_json::json;
use std::error::Error;
use std::time::{Duration, Instant};
use switch::Switch;

/// Packets of the interpreter's run, which is too slow for more.
const INTERPRETER_PACKETS: usize = 5_000;

/// Bytes from one frame to the next.
pub const STRIDE_BYTES: usize = 64;

/// Who takes part.
pub struct Contest<'a> {
    /// The name of the benchmark.
    pub benchmark: &'static str,
    /// What is measured, for people.
    pub title: String,
    /// The program, by its path from the repository's root.
    pub program: &'a str,
    /// The frames, of 60 bytes each.
    pub frames: Frames,
    /// The program as native code.
    pub native: Switch,
    /// The program in the interpreter.
    pub interpreter: Switch,
    /// The same by hand.
    pub limit: Limit,
}

impl Contest<'_> {
    /// Runs the contestants in turn and prints what a packet costs each.
    pub fn run(mut self, arguments: &Arguments) -> Result<(), Box<dyn Error>> {
        let lent: Vec<&[u8]> = self.frames.frames().collect();
        let burst = |frames: &[_]| Burst { port: 1, frames: frames.to_vec() };
        let bursts: Vec<Burst<'_>> = lent.chunks(BURST_PACKETS_MAX).map(burst).collect();
        let few = &bursts[..bursts.len().min(INTERPRETER_PACKETS.div_ceil(BURST_PACKETS_MAX))];
        let rounds = (arguments.packets as usize).div_ceil(self.frames.count());
        let mut times = Times::default();
        for _ in 0..arguments.runs {
            let (native_ns, native_sent) = drive_in_place(&mut self.native, &self.frames, rounds);
            times.copied.push(drive(&mut self.native, &bursts, rounds).packet_ns());
            let (limit_ns, limit_sent) = drive_limit(&mut self.limit, &self.frames, rounds)?;
            if native_sent != limit_sent {
                return Err(format!("the two disagree: {native_sent} and {limit_sent} packets sent").into());
            }
            times.native.push(native_ns);
            times.by_hand.push(limit_ns);
            times.interpreter.push(drive(&mut self.interpreter, few, 1).packet_ns());
        }
        let stages = Bench::new(&mut self.native).stages(&bursts, rounds);
        let Contest { benchmark, title, program, .. } = &self;
        times.print(arguments, [benchmark, title, program], &stages);
        Ok(())
    }
}

/// Some rounds through all bursts, in which no time passes.
fn drive(switch: &mut Switch, bursts: &[Burst<'_>], rounds: usize) -> Pass {
    memory::drive(switch, (0..rounds).flat_map(|_| bursts), || 0)
}

/// Nanoseconds per packet and packets sent, with frames that are lent as a driver lends its buffers. They are changed,
/// so that each round gets them anew, which is not measured.
fn drive_in_place(switch: &mut Switch, frames: &Frames, rounds: usize) -> (f64, u64) {
    let (mut sent, mut spent, mut changed) = (0, Duration::ZERO, frames.clone());
    for _ in 0..rounds {
        changed.bytes.copy_from_slice(&frames.bytes);
        let pass = memory::drive_in_place(switch, &mut changed.bytes, frames.stride, FRAME_BYTES);
        sent += pass.sent;
        spent += pass.elapsed;
    }
    (spent.as_nanos() as f64 / (rounds * frames.count()) as f64, sent)
}

/// The same of the limit. It changes the frames, so that each round gets them anew, which is not measured.
fn drive_limit(limit: &mut Limit, frames: &Frames, rounds: usize) -> Result<(f64, u64), Box<dyn Error>> {
    let (mut sent, mut spent, mut changed) = (0, Duration::ZERO, frames.clone());
    for _ in 0..rounds {
        changed.bytes.copy_from_slice(&frames.bytes);
        let started = Instant::now();
        sent += limit.forward(&mut changed)?;
        spent += started.elapsed();
    }
    Ok((spent.as_nanos() as f64 / (rounds * frames.count()) as f64, sent))
}

/// Nanoseconds per packet of each run.
#[derive(Default)]
struct Times {
    native: Vec<f64>,
    copied: Vec<f64>,
    by_hand: Vec<f64>,
    interpreter: Vec<f64>,
}

impl Times {
    fn print(&self, arguments: &Arguments, [benchmark, title, program]: [&str; 3], stages: &[(&str, f64)]) {
        let [native, by_hand, interpreter] = [&self.native, &self.by_hand, &self.interpreter].map(|it| median(it));
        if arguments.json {
            let stages: serde_json::Map<_, _> =
                stages.iter().map(|(name, ns)| ((*name).to_owned(), json!(ns))).collect();
            println!(
                "{}",
                json!({
                    "benchmark": benchmark, "program": program, "packets": arguments.packets,
                    "routes": arguments.routes, "destinations": arguments.destinations,
                    "native_ns": self.native,
                    "native_copied_ns": self.copied, "by_hand_ns": self.by_hand, "interpreter_ns": self.interpreter,
                    "stages_ns": stages,
                })
            );
            return;
        }
        let destinations = arguments.destinations;
        println!("{title}, {destinations} destinations, {FRAME_BYTES}-byte frames, memory to memory, one core");
        println!("median of {} runs of {} packets (least to greatest)", arguments.runs, arguments.packets);
        for (name, runs) in [
            ("native", &self.native),
            ("native, copied", &self.copied),
            ("by hand", &self.by_hand),
            ("interpreter", &self.interpreter),
        ] {
            let (least, greatest) = range(runs);
            println!("  {name:<15} {:>9.1} ns per packet  ({least:.1} to {greatest:.1})", median(runs));
        }
        println!("native is {:.0} times as fast as the interpreter", interpreter / native);
        println!("native takes {:.2} times what the same work takes by hand in place", native / by_hand);
        println!("stages of the core, ns per packet:");
        for (name, ns) in stages.iter().filter(|(_, ns)| *ns > 0.0) {
            println!("  {name:<18} {ns:>6.1}");
        }
    }
}
