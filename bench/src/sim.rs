//! The speed of the simulator: packet hops a second.
//!
//! What enters: nothing. What leaves: for each network the hops (a packet on a link) and events a second, and how much
//! faster two threads are than one. All switches are plain routers; hosts have TCP flows that never end, each to
//! another host.

use crate::Arguments;
use ::sim::Time;
use ::sim::scenario::{Scenario, Simulation};
use serde_json::{Value, json};
use std::error::Error;
use std::time::Instant;

/// Networks: name, topology, modelled time.
const NETWORKS: [(&str, &str, &str); 4] = [
    ("leaf-spine, 16 hosts", "kind = \"leaf-spine\"\nleaves = 4\nspines = 2\nhosts_per_leaf = 4", "20ms"),
    ("leaf-spine, 64 hosts", "kind = \"leaf-spine\"\nleaves = 8\nspines = 4\nhosts_per_leaf = 8", "5ms"),
    ("fat-tree, 128 hosts, 80 switches", "kind = \"fat-tree\"\nk = 8", "2ms"),
    ("fat-tree, 1024 hosts, 320 switches", "kind = \"fat-tree\"\nk = 16", "200us"),
];

/// Numbers of threads.
const THREADS: [usize; 2] = [1, 2];

/// What a run has taken.
#[derive(Clone, Copy)]
struct Run {
    hops: u64,
    events: u64,
    seconds: f64,
}

/// Measures all networks, the best run of each.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let mut rows = Vec::new();
    for (name, topology, duration) in NETWORKS {
        let mut best: [Option<Run>; THREADS.len()] = [None; THREADS.len()];
        for _ in 0..arguments.runs {
            for (best, threads) in best.iter_mut().zip(THREADS) {
                let run = simulate(topology, duration, threads)?;
                if best.is_none_or(|best| run.seconds < best.seconds) {
                    *best = Some(run);
                }
            }
        }
        let [Some(one), Some(two)] = best else { return Err("there are no runs".into()) };
        if (one.hops, one.events) != (two.hops, two.events) {
            return Err(format!("{name}: two threads do not give the same result as one").into());
        }
        rows.push((name, one, two));
    }
    match arguments.json {
        true => println!("{}", as_json(&rows)),
        false => print(&rows),
    }
    Ok(())
}

fn simulate(topology: &str, duration: &str, threads: usize) -> Result<Run, Box<dyn Error>> {
    let text = format!(
        "duration = \"{duration}\"\n[topology]\n{topology}\nrate = \"10Gbps\"\ndelay = \"2us\"\n\
         [links]\nqueue_packets = 100\n\
         [[flows]]\nkind = \"tcp\"\nfrom = \"*\"\nto = \"*\"\npairs = \"permutation\"\n"
    );
    let scenario = Scenario::read(&text, &[], &|_| Err("no file".to_owned()));
    let scenario = scenario.map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    let mut simulation = Simulation::new(scenario, threads, &mut |_, _| Err("no program".to_owned()))?;
    let began = Instant::now();
    simulation.run_until(Time::MAX);
    let seconds = began.elapsed().as_secs_f64();
    let channels = 0..simulation.network.channels().len();
    let hops = channels.map(|channel| simulation.network.counters(channel).packets).sum();
    Ok(Run { hops, events: simulation.network.events(), seconds })
}

fn as_json(rows: &[(&str, Run, Run)]) -> Value {
    let row = |(name, one, two): &(&str, Run, Run)| {
        json!({
            "network": name, "hops": one.hops, "events": one.events,
            "seconds": one.seconds, "seconds_two_threads": two.seconds,
        })
    };
    json!({"benchmark": "sim", "rows": rows.iter().map(row).collect::<Vec<_>>()})
}

fn print(rows: &[(&str, Run, Run)]) {
    println!("{:<36}{:>12}{:>14}{:>14}{:>12}", "", "hops", "hops/s", "ns per event", "2 threads");
    for (name, one, two) in rows {
        let hops_per_s = one.hops as f64 / one.seconds;
        let event_ns = one.seconds * 1e9 / one.events as f64;
        println!("{name:<36}{:>12}{hops_per_s:>14.0}{event_ns:>14.0}{:>11.2}x", one.hops, one.seconds / two.seconds);
    }
}
