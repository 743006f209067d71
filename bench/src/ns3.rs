//! The simulator against ns-3, as Debian packages it (`libns3-dev`): the same scenarios, whose results should be the
//! same.
//!
//! What enters: scenarios with plain routers and TCP, those of `bench/peers/ns3` or one that is given. What leaves: a
//! table for each with the values of both and their differences. [`network`](mod@network) translates a scenario for
//! the peer, [`results`] has what comes back, [`table`] compares. [`speed`] compares the speed of both.
//!
//! * Both have the same flows with the same ports, and routers that choose the same of equal paths: what differs is
//!   TCP.
//! * Packets occupy links as long in both, and queues count the same packets.

mod network;
mod results;
pub mod speed;
mod table;

use self::results::Results;
use crate::Arguments;
use ::scenario::{Scenario, Simulation};
use ::sim::Time;
use nix::time::{ClockId, clock_gettime};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// Queues without losses: ns-3.37 ends with a segmentation fault (it sends a segment without payload) if flows of this
/// workload lose packets.
const DEEP: &str = "links.queue_packets=100000";

/// Scenarios: name, file, values that are set.
const CASES: [(&str, &str, &[&str]); 6] = [
    ("dumbbell, NewReno", "dumbbell.toml", &["flows.0.congestion=newreno"]),
    ("dumbbell, CUBIC", "dumbbell.toml", &["flows.0.congestion=cubic"]),
    ("dumbbell, DCTCP", "dumbbell.toml", &["flows.0.congestion=dctcp", "link.\"s1>s2\".ecn_packets=30"]),
    ("leaf-spine, NewReno", "leaf-spine.toml", &["workloads.0.congestion=newreno", DEEP]),
    ("leaf-spine, CUBIC", "leaf-spine.toml", &["workloads.0.congestion=cubic", DEEP]),
    ("leaf-spine, DCTCP", "leaf-spine.toml", &["workloads.0.congestion=dctcp", "links.ecn_packets=65"]),
];

/// Compares the scenarios whose names contain `--only`, or the one that is given.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let peer = Peer::build()?;
    let own = |(name, file, sets): &(&str, &str, &[&str])| {
        let sets = sets.iter().map(|set| (*set).to_owned()).collect::<Vec<_>>();
        ((*name).to_owned(), peers_folder().join(file), sets)
    };
    let mut cases: Vec<_> = CASES.iter().map(own).collect();
    if let Some(path) = &arguments.scenario {
        cases = vec![(path.display().to_string(), path.clone(), Vec::new())];
    }
    cases.retain(|(name, ..)| arguments.only.as_ref().is_none_or(|only| name.contains(only.as_str())));
    for (name, path, mut sets) in cases {
        sets.push(format!("seed={}", arguments.seed));
        sets.extend(arguments.set.iter().cloned());
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let scenario = read(&text, &sets, path.parent().unwrap_or(Path::new(".")))?;
        let simulation = Simulation::new(scenario, 1, &mut |_, _| Err("ns-3 runs no programs".to_owned()))?;
        let lines = network::lines(&simulation, true).map_err(|error| format!("{name}: {error}"))?;
        let theirs = match peer.run(&lines) {
            Ok(results) => results,
            Err(error) => {
                eprintln!("{name}: {error}");
                continue;
            }
        };
        let (simulation, ours) = simulate(simulation)?;
        match arguments.json {
            true => println!("{}", table::as_json(&name, &simulation.scenario, [&ours, &theirs])),
            false => table::print(&name, &simulation.scenario, [&ours, &theirs]),
        }
    }
    Ok(())
}

/// A scenario whose files are in a folder.
fn read(text: &str, sets: &[String], folder: &Path) -> Result<Scenario, String> {
    let read_file = |name: &str| fs::read(folder.join(name)).map_err(|error| format!("{name}: {error}"));
    Scenario::read(text, sets, &read_file)
        .map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

/// Runs a network to its end.
fn simulate(mut simulation: Simulation) -> Result<(Simulation, Results), Box<dyn Error>> {
    let processor = || clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map(Duration::from);
    let began = processor()?;
    simulation.run_until(Time::MAX).unwrap();
    let processor_s = (processor()? - began).as_secs_f64();
    let results = results::ours(&simulation, processor_s);
    Ok((simulation, results))
}

fn peers_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/ns3")
}

/// The program that runs a network in ns-3.
struct Peer {
    folder: TempDir,
}

impl Peer {
    /// Builds it.
    fn build() -> Result<Peer, Box<dyn Error>> {
        let folder = TempDir::new()?;
        let mut compiler = Command::new("c++");
        compiler.args(["-std=c++17", "-O2", "-o"]).arg(folder.path().join("network"));
        compiler.arg(peers_folder().join("network.cc"));
        compiler
            .args(["internet", "point-to-point", "traffic-control", "network", "core"].map(|it| format!("-lns3-{it}")));
        let output = compiler.output().map_err(|error| format!("the C++ compiler `c++`: {error}"))?;
        if !output.status.success() {
            let complaint = String::from_utf8_lossy(&output.stderr);
            return Err(format!("the peer does not compile; is Debian's libns3-dev installed?\n{complaint}").into());
        }
        Ok(Peer { folder })
    }

    /// Runs a network.
    fn run(&self, lines: &str) -> Result<Results, Box<dyn Error>> {
        let file = self.folder.path().join("lines");
        fs::write(&file, lines)?;
        let output = Command::new(self.folder.path().join("network")).arg(&file).output()?;
        if !output.status.success() {
            let complaint = String::from_utf8_lossy(&output.stderr);
            return Err(format!("the peer has ended with {}: {}", output.status, complaint.trim()).into());
        }
        Ok(results::of_peer(&String::from_utf8(output.stdout)?)?)
    }
}
