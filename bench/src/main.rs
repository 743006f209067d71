//! Benchmarks. Run them with `cargo run --release -p bench`; they are not tests.
//!
//! * [`router`]: an IPv4 router from memory to memory on one core: native code, the interpreter and, as the limit,
//!   the same work in hand-written C, in place ([`limit`]). Several interleaved runs, so that all three see the same
//!   state of the machine.
//! * [`bridge`]: the same for a bridge, with an exact match of addresses. [`contest`] runs both.
//! * [`peers`]: the router against other implementations.
//! * [`updates`]: the control plane while a worker forwards at full speed: updates per second, the worker's slowdown,
//!   the delay of a write.
//! * [`drivers`]: the same router between interfaces, with each driver that can carry its frames.
//! * [`tables`]: the match engines alone, against hand-written tables; bytes per entry. [`entries`] generates their
//!   contents.
//! * [`cascade`]: the cost of an additional table: programs with one to ten tables.
//! * [`tunnels`]: the cost of VXLAN and GRE for a packet that uses them, and for one that does not.
//! * [`zipline`]: the cost of compression for a packet. [`works`] runs this and the tunnels. `zipline-sizes`,
//!   `zipline-rates`, `zipline-interfaces`, `zipline-latency` and `zipline-learning` reproduce the paper's figures.
//! * [`balance`]: the cost of selecting one of several hops by a hash.
//! * [`copies`]: the cost of clones, replicas and further passes.
//! * [`growth`]: the duration of single updates while tables grow, and when they are full.
//! * [`aggregation`]: the programs of `apps/aggregation`: small packets are aggregated and split, and each is
//!   checked; beside hand-written C that must send the same bytes.
//! * [`compile`]: the time that large programs take to compile, stage by stage.
//! * [`event_queue`]: event queues for the simulator. [`mod@sim`]: packet hops a second of simulated networks.
//!   [`ns3`]: the same networks here and in ns-3.
//! * [`workers`]: several workers against one, from memory to memory.
//! * [`usecases`]: the use cases in `apps` beside hand-written C, with the traffic of `wirespeed gen`.
//! * [`churn`]: two of them with their controllers, while bindings and stations come and go: is each frame right?
//! * [`switches`]: many switches of one program in one process: what each costs to make and to hold.
//!
//! [`progress`] shows the progress of long benchmarks on a terminal.
//!
//! Runs are made by `measure`, as those of `wirespeed bench`. Every figure is a ratio, or stands beside that of its
//! peer in the same run. `--json` prints what `bench/runs/` stores, and [`csv`] converts it to tables.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command")]

mod aggregation;
mod balance;
mod bridge;
mod cascade;
mod churn;
mod compile;
mod compiled;
mod contest;
mod copies;
mod csv;
mod drivers;
mod entries;
mod event_queue;
mod growth;
mod limit;
mod ns3;
mod peers;
mod progress;
mod recorded;
mod router;
mod rules;
mod sim;
mod switches;
mod tables;
mod tunnels;
mod updates;
mod usecases;
mod workers;
mod works;
mod zipline;

use clap::{Parser, ValueEnum};
use std::process::ExitCode;

/// Benchmarks of the compiled pipeline.
#[derive(Parser, Debug)]
pub struct Arguments {
    /// What is measured
    #[arg(value_enum, default_value = "router")]
    benchmark: Benchmark,
    /// Runs of each contestant
    #[arg(long, default_value_t = 7)]
    runs: usize,
    /// Packets of one run; at least 8,000,000 for `workers`
    #[arg(long, default_value_t = 1_000_000)]
    packets: u32,
    /// Routes, addresses that the bridge knows, entries of each table of a cascade, or bases of ZipLine
    #[arg(long, visible_alias = "addresses", default_value_t = 100)]
    routes: u32,
    /// Distinct frames, each to a random host behind a route, or to a random address
    #[arg(long, default_value_t = 65_536)]
    destinations: u32,
    /// The router or bridge, by its path from the repository's root [default: those of bench/programs]
    #[arg(long)]
    program: Option<String>,
    /// Of the match engines only those whose name has this in it, as "exact", "lpm IPv6" or "ternary"; of the programs
    /// that aggregate, "fixed", "variable, 44" or "gateway"; of the router's peers, "l3fwd"; of large programs,
    /// "chain"; of the places of ZipLine's controller, "own", "encoder" or "decoder"; of `churn`, "bng" or "l2fwd"; of
    /// `copies`, "cloned" or "recirculated"
    #[arg(long)]
    only: Option<String>,
    /// Measures nothing: prints a picture (SVG) of what the same with `--json` has printed to this file; of
    /// `aggregation`, `copies` (also with lines of `router`, `bridge`, `tunnels`, `balance`, `zipline`, `cascade`),
    /// `usecases`, `zipline-sizes`, `zipline-rates`, `zipline-interfaces`, `zipline-latency` and `zipline-learning`
    #[arg(long, value_name = "FILE")]
    picture_of: Option<std::path::PathBuf>,
    /// Measures nothing: prints as CSV what any benchmark with `--json` has printed to this file; a list of figures has
    /// a row for each
    #[arg(long, value_name = "FILE", conflicts_with = "picture_of")]
    csv_of: Option<std::path::PathBuf>,
    /// Small packets have UDP checksums, for `aggregation`
    #[arg(long)]
    udp_checksums: bool,
    /// How many switches one process has, for `switches`
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    switches: u32,
    /// Seconds of each case of `churn`
    #[arg(long, default_value_t = 60.0, value_parser = seconds)]
    duration: f64,
    /// Flows or stations that are active at a time, for `churn`
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u32).range(2..=50_000))]
    flows: u32,
    /// How many several workers are
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(2..=64))]
    workers: u32,
    /// The length of frames of `usecases`, without their checksum: a number, or imix; headers are never cut
    #[arg(long, default_value = "60")]
    bytes: generate::flows::Sizes,
    /// Measures `usecases` between virtual interfaces as well, by packet sockets and AF_XDP; as root
    #[arg(long)]
    interfaces: bool,
    /// What random numbers begin with, for `zipline-sizes` and `ns3`
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Packets in a second, for `zipline-sizes`
    #[arg(long, default_value_t = 1e4)]
    rate: f64,
    /// How long learning a basis takes, beside the paper's 1,770 microseconds, for `zipline-sizes`; as
    /// `zipline-learning` has measured it
    #[arg(long)]
    learning_us: Option<f64>,
    /// From one packet to the next, at least, for `zipline-learning`: so exact are its figures
    #[arg(long, default_value_t = 10)]
    pace_us: u64,
    /// A scenario of `wirespeed sim` instead of those of bench/peers/ns3, for `ns3`
    #[arg(long, value_name = "FILE")]
    scenario: Option<std::path::PathBuf>,
    /// Replaces a value of the scenarios, as for `wirespeed sim`; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// One JSON object instead of the table
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (1.0..=100_000.0).contains(seconds));
    seconds.ok_or_else(|| "it is a number of seconds, from 1 to 100000".to_owned())
}

/// A benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Benchmark {
    /// An IPv4 router
    Router,
    /// A bridge
    Bridge,
    /// Updates of the control plane
    Updates,
    /// The router against programs of DPDK
    Peers,
    /// Drivers of interfaces
    Drivers,
    /// Match engines by themselves
    Tables,
    /// Programs with one to ten tables
    Cascade,
    /// Packets put into tunnels and taken out
    Tunnels,
    /// A router with groups of hops
    Balance,
    /// Packets that are copied or take another pass
    Copies,
    /// Packets compressed and restored
    Zipline,
    /// What the paper's payloads become, and by gzip
    ZiplineSizes,
    /// Packets and bits in a second with no operation, encoding and decoding
    ZiplineRates,
    /// The same between interfaces
    ZiplineInterfaces,
    /// How long packets take with no operation, encoding and decoding
    ZiplineLatency,
    /// How long it takes until a basis is known
    ZiplineLearning,
    /// The use cases in apps, with tables of --routes entries and frames of --bytes, by one worker and by --workers
    Usecases,
    /// Bindings and stations that come and go by their controllers while traffic flows, each frame checked
    Churn,
    /// Single updates of growing and of full tables
    Growth,
    /// Small packets together and apart again
    Aggregation,
    /// Several workers against one
    Workers,
    /// Many switches of one program
    Switches,
    /// Stages of compiling large programs
    Compile,
    /// Event queues for the simulator
    EventQueue,
    /// Simulated networks
    Sim,
    /// Simulated networks here and in ns-3: results
    Ns3,
    /// Simulated networks here and in ns-3: speed
    Ns3Speed,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    if let Some(path) = &arguments.csv_of {
        return csv::print(path);
    }
    match arguments.benchmark {
        Benchmark::Router => router::run(arguments),
        Benchmark::Bridge => bridge::run(arguments),
        Benchmark::Updates => updates::run(arguments),
        Benchmark::Peers => peers::run(arguments),
        Benchmark::Drivers => drivers::run(arguments),
        Benchmark::Tables => tables::run(arguments),
        Benchmark::Cascade => cascade::run(arguments),
        Benchmark::Tunnels => tunnels::run(arguments),
        Benchmark::Balance => balance::run(arguments),
        Benchmark::Copies => copies::run(arguments),
        Benchmark::Zipline => zipline::run(arguments),
        Benchmark::ZiplineSizes => zipline::sizes::run(arguments),
        Benchmark::ZiplineRates => zipline::rates::run(arguments),
        Benchmark::ZiplineInterfaces => zipline::interfaces::run(arguments),
        Benchmark::ZiplineLatency => zipline::latency::run(arguments),
        Benchmark::ZiplineLearning => zipline::learning::run(arguments),
        Benchmark::Usecases => usecases::run(arguments),
        Benchmark::Churn => churn::run(arguments),
        Benchmark::Growth => growth::run(arguments),
        Benchmark::Aggregation => aggregation::run(arguments),
        Benchmark::Workers => workers::run(arguments),
        Benchmark::Switches => switches::run(arguments),
        Benchmark::Compile => compile::run(arguments),
        Benchmark::EventQueue => event_queue::run(arguments),
        Benchmark::Sim => sim::run(arguments),
        Benchmark::Ns3 => ns3::run(arguments),
        Benchmark::Ns3Speed => ns3::speed::run(arguments),
    }
}

#[cfg(test)]
mod tests {
    use super::Arguments;
    use clap::Parser as _;
    use std::path::{Path, PathBuf};

    /// The pages below a folder.
    fn pages(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let pages = entries.flat_map(|path| match path.is_dir() {
            true => pages(&path),
            false if path.extension().is_some_and(|ending| ending == "md") => vec![path],
            false => Vec::new(),
        });
        pages.collect()
    }

    /// They take too long to be run by a test; these are understood, at least.
    #[test]
    fn commands_in_documents_are_understood() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut count = 0;
        for page in ["docs", "apps"].iter().flat_map(|folder| pages(&root.join(folder))) {
            let text = std::fs::read_to_string(&page).unwrap();
            for command in text.split("-p bench -- ").skip(1).filter(|command| !command.starts_with("...")) {
                let end = command.find(['\n', '`', '#', '&', '|', '>', ';']).unwrap_or(command.len());
                let arguments = std::iter::once("bench").chain(command[..end].split_whitespace());
                if let Err(error) = Arguments::try_parse_from(arguments) {
                    panic!("{}: {}: {error}", page.display(), &command[..end]);
                }
                count += 1;
            }
        }
        assert!(count > 10, "only {count} commands");
    }
}
