//! Published experiments, repeated in the simulator.
//!
//! What enters: the name of a figure. What leaves: its runs in `runs.jsonl`, a table and a chart.
//!
//! * [`figures`]: what each figure needs and shows. [`runs`]: runs that are made, on all cores, and stored.
//! * [`experiment`]: one run. [`setting`]: its rates and queues. [`workload`]: its flows. [`scheme`]: the programs of
//!   its switches, whose controllers are those of `p4te::simulated`.
//! * [`trace`]: queues and colours of a run as time passes.

mod experiment;
mod figures;
mod runs;
mod scheme;
mod setting;
mod trace;
mod workload;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Published experiments, repeated in the simulator.
#[derive(Parser, Debug)]
struct Arguments {
    #[command(subcommand)]
    paper: Paper,
}

#[derive(Subcommand, Debug)]
enum Paper {
    /// P4TE: figures 8 to 15 (docs/design/p4te.md)
    P4te(P4teArguments),
}

/// Arguments of `p4te`.
#[derive(clap::Args, Debug)]
struct P4teArguments {
    /// fig8 to fig15, or `all` for these; `trace`; any other name lists all figures
    figure: String,
    /// The number of seeds, from 1 on
    #[arg(long, default_value_t = 5)]
    seeds: u64,
    /// Runs at the same time [default: one for each core]
    #[arg(long)]
    jobs: Option<usize>,
    /// Make only every N-th run, beginning with the I-th, and no tables
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<(usize, usize)>,
    /// The folder for runs, tables and charts
    #[arg(short, long, default_value = "p4te-results")]
    output: PathBuf,
}

/// `I/N`, with I from 1 to N.
fn shard(text: &str) -> Result<(usize, usize), String> {
    let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
    parts.filter(|(i, n)| (1..=*n).contains(i)).ok_or_else(|| "it is I/N with I from 1 to N, as in 1/2".to_owned())
}

fn main() -> ExitCode {
    let Arguments { paper: Paper::P4te(arguments) } = Arguments::parse();
    let done = if arguments.figure == "trace" { trace::make(&arguments.output) } else { figures::make(&arguments) };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            report(&format!("error: {message}"));
            ExitCode::FAILURE
        }
    }
}

/// A line for the user.
#[allow(clippy::print_stderr, reason = "this is a program for the terminal, with no other output")]
fn report(line: &str) {
    eprintln!("{line}");
}
