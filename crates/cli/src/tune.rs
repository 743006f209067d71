//! `wirespeed tune`: measures the settings of a program's plan on a capture.
//!
//! What enters: a program with its entries and packets. What leaves: a row for each setting that makes a difference,
//! and the best one, stored beside the compiled code for every later run of the same program on this machine.
//!
//! Two settings are tried: how many packets of a burst are processed together, and whether tables are looked up once
//! per burst or packet by packet. The candidates take turns, so that all see the same state of the machine; the
//! planner's default is replaced only by a setting that is better by more than the measurements vary.

use crate::Exit;
use crate::args::TuneArguments;
use crate::backend;
use crate::bench::Captures;
use crate::frontend;
use crate::terminal::{self, Progress, say};
use cgen::{CompileOptions, Tuning};
use measure::figures::median;
use measure::memory::Bench;
use serde_json::json;
use std::time::Duration;
use switch::Switch;
use wirespeed::Program;

/// Burst sizes that are tried.
const BURSTS: [u32; 4] = [64, 32, 16, 8];

/// Packets that a driver delivers at once.
const LENT: usize = 256;

/// How much better than the default a setting must be.
const BETTER: f64 = 0.97;

/// A setting, and its cost.
struct Choice {
    tuning: Tuning,
    switch: Switch,
    /// Nanoseconds per packet, run by run.
    runs_ns: Vec<f64>,
}

/// Measures and stores the best setting.
pub fn tune(arguments: &TuneArguments) -> Result<Exit, Exit> {
    let program = frontend::load(&arguments.file, &arguments.switch.source, true)?.program;
    let options = backend::compiler(arguments.switch.cc.as_deref());
    if arguments.forget {
        let was_kept = Tuning::forget(program.ir(), &options).map_err(system_error)?;
        say!("{}", if was_kept { "the stored tuning was deleted" } else { "no tuning was stored" });
        return Ok(Exit::Success);
    }
    let number_max = program.ir().architecture.port_max;
    let captures = Captures { option: "--pcap", files: &arguments.captures, in_port: arguments.in_port, number_max };
    let (trace, _) = captures.trace(arguments.count)?;
    let mut choices = choices(arguments, &program, &options)?;
    {
        let _progress = Progress::start("measuring");
        for _ in 0..arguments.runs {
            for choice in &mut choices {
                let run = Duration::from_secs_f64(arguments.seconds);
                let mut bench = Bench::new(&mut choice.switch, &trace, LENT, run);
                let workers = bench.run(1).map_err(system_error)?;
                choice.runs_ns.extend(workers.first().map(|worker| worker.pass.packet_ns()));
            }
        }
    }
    let best = best(&choices).ok_or(Exit::Internal)?;
    let stored = best.store(program.ir(), &options).map_err(system_error)?;
    report(arguments, &choices, best);
    match stored {
        Some(_) if !arguments.json => say!("stored for the next runs of this program on this machine"),
        Some(_) => {}
        None => terminal::warning("there is no cache in which this could be stored"),
    }
    Ok(Exit::Success)
}

/// The distinct settings, the planner's default first.
fn choices(arguments: &TuneArguments, program: &Program, options: &CompileOptions) -> Result<Vec<Choice>, Exit> {
    let plan = |tuning| backend::plan(program, tuning);
    let general = plan(Tuning::default())?;
    let is_cut = program.c_text(&general) != program.c_text(&plan(Tuning { cuts: false, ..Tuning::default() })?);
    let bursts =
        BURSTS.into_iter().filter(|burst| general.has_fast_path() || general.burst_max > 1 || *burst == BURSTS[0]);
    let mut choices = Vec::new();
    for burst_packets in bursts {
        for cuts in [true, false].into_iter().filter(|cuts| *cuts || is_cut) {
            let tuning = Tuning { burst_packets, cuts };
            let backend = program.tuned_code(tuning, options).map_err(system_error)?.backend();
            let switch = backend::build(program, backend, &arguments.switch)?;
            choices.push(Choice { tuning, switch, runs_ns: Vec::new() });
        }
    }
    Ok(choices)
}

fn best(choices: &[Choice]) -> Option<Tuning> {
    let first = choices.first()?;
    let cost = |choice: &Choice| median(&choice.runs_ns);
    let least = choices.iter().min_by(|one, other| cost(one).total_cmp(&cost(other)))?;
    Some(if cost(least) < cost(first) * BETTER { least.tuning } else { first.tuning })
}

fn report(arguments: &TuneArguments, choices: &[Choice], best: Tuning) {
    if arguments.json {
        let choice = |choice: &Choice| {
            let Tuning { burst_packets, cuts } = choice.tuning;
            json!({"burst_packets": burst_packets, "cuts": cuts, "ns_per_packet": median(&choice.runs_ns)})
        };
        say!("{}", json!({"choices": choices.iter().map(choice).collect::<Vec<_>>(), "best": best}));
        return;
    }
    for choice in choices {
        let mark = if choice.tuning == best { " *" } else { "" };
        say!("{:>8.3} ns per packet  {}{mark}", median(&choice.runs_ns), described(choice.tuning));
    }
}

fn described(Tuning { burst_packets, cuts }: Tuning) -> String {
    let asked = if cuts { "tables looked up once per burst" } else { "tables looked up packet by packet" };
    format!("bursts of {burst_packets}, {asked}")
}

fn system_error(error: impl std::fmt::Display) -> Exit {
    terminal::error(error);
    Exit::System
}
