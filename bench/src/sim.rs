//! The speed of the simulator: packet hops a second.
//!
//! What enters: nothing. What leaves: for each network the hops (a packet on a link) a second of processor time and the
//! cost of an event, with plain routers and with a compiled P4 router in every switch; how much faster two threads are
//! than one, and how much faster they could be, as evenly as the work was divided; and the memory of switches and of
//! flows. Hosts have TCP flows that never end, each to another host.

use crate::Arguments;
use crate::compiled;
use crate::switches::resident_kb;
use ::scenario::topology::routes::Routes;
use ::scenario::topology::{NodeRef, Topology};
use ::scenario::{Scenario, Simulation};
use ::sim::Time;
use ::sim::network::Windows;
use nix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use std::error::Error;
use std::fmt::Write as _;
use std::time::Instant;
use switch::Switch;
use wirespeed::{Backend, Program};

/// The router that switches with a program run.
const ROUTER: &str = "apps/l3fwd/l3fwd.p4";

/// Networks: name, topology, modelled time.
const NETWORKS: [(&str, &str, &str); 4] = [
    ("leaf-spine, 16 hosts", "kind = \"leaf-spine\"\nleaves = 4\nspines = 2\nhosts_per_leaf = 4", "20ms"),
    ("leaf-spine, 64 hosts", "kind = \"leaf-spine\"\nleaves = 8\nspines = 4\nhosts_per_leaf = 8", "5ms"),
    ("fat-tree, 128 hosts, 80 switches", "kind = \"fat-tree\"\nk = 8", "2ms"),
    ("fat-tree, 1024 hosts, 320 switches", "kind = \"fat-tree\"\nk = 16", "500us"),
];

const FLOWS: &str =
    "[links]\nqueue_packets = 100\n[[flows]]\nkind = \"tcp\"\nfrom = \"*\"\nto = \"*\"\npairs = \"permutation\"\n";

/// Flows of each host where the memory of flows is measured.
const FLOWS_OF_A_HOST: usize = 500;

/// Numbers of threads.
const THREADS: [usize; 2] = [1, 2];

/// What a run has taken.
#[derive(Clone, Copy)]
struct Run {
    hops: u64,
    events: u64,
    wall_s: f64,
    /// Of all threads together.
    processor_s: f64,
    windows: Windows,
}

/// A network with one kind of switches: its best runs.
struct Row {
    name: &'static str,
    kind: &'static str,
    runs: [Run; THREADS.len()],
}

/// What switches and flows hold in memory.
struct Memory {
    router_kb: f64,
    program_kb: f64,
    flow_kb: f64,
}

/// Measures memory and all networks, the best run of each.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let program = compiled::program(arguments.program.as_deref().unwrap_or(ROUTER))?;
    // First, while the process has no memory that is free to be used again.
    let memory = memory(&program)?;
    let mut rows = Vec::new();
    for (name, topology, duration) in NETWORKS {
        for (kind, program) in [("router", None), ("program", Some(&program))] {
            let is_selected = arguments.only.as_ref().is_none_or(|only| format!("{name}, {kind}").contains(only));
            if is_selected {
                rows.push(Row { name, kind, runs: best(topology, duration, program, arguments.runs)? });
            }
        }
    }
    match arguments.json {
        true => println!("{}", as_json(&memory, &rows)),
        false => print(&memory, &rows),
    }
    Ok(())
}

/// The best run on each number of threads.
fn best(
    topology: &str,
    duration: &str,
    program: Option<&Program>,
    runs: usize,
) -> Result<[Run; THREADS.len()], Box<dyn Error>> {
    let mut best: [Option<Run>; THREADS.len()] = [None; THREADS.len()];
    for _ in 0..runs.max(1) {
        for (best, threads) in best.iter_mut().zip(THREADS) {
            let run = measure(&mut simulation(topology, duration, FLOWS, program, threads)?);
            let former = best.get_or_insert(run);
            former.wall_s = former.wall_s.min(run.wall_s);
            former.processor_s = former.processor_s.min(run.processor_s);
        }
    }
    Ok(best.map(|run| run.expect("there was a run")))
}

fn measure(simulation: &mut Simulation) -> Run {
    let (began, before) = (Instant::now(), processor_s());
    simulation.run_until(Time::MAX).unwrap();
    let (wall_s, processor_s) = (began.elapsed().as_secs_f64(), processor_s() - before);
    let channels = 0..simulation.network.channels().len();
    let hops = channels.map(|channel| simulation.network.counters(channel).packets).sum();
    let network = &simulation.network;
    Run { hops, events: network.events(), wall_s, processor_s, windows: network.windows() }
}

/// The processor time of this process: other work on the machine changes it little.
fn processor_s() -> f64 {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID);
    time.map_or(0.0, |time| time.tv_sec() as f64 + time.tv_nsec() as f64 * 1e-9)
}

fn simulation(
    topology: &str,
    duration: &str,
    flows: &str,
    program: Option<&Program>,
    threads: usize,
) -> Result<Simulation, Box<dyn Error>> {
    let switches = if program.is_some() { "[switches]\nprogram = \"router.p4\"\n" } else { "" };
    let text = format!(
        "duration = \"{duration}\"\n[topology]\n{topology}\nrate = \"10Gbps\"\ndelay = \"2us\"\n{switches}{flows}"
    );
    let scenario = Scenario::read(&text, &[], &|_| Err("no file".to_owned()));
    let scenario = scenario.map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))?;
    let topology = scenario.topology.clone();
    let routes = Routes::shortest(&topology);
    let made = Simulation::new(scenario, threads, &mut |name, _| {
        let program = program.ok_or("no program")?;
        let index = topology.switches.iter().position(|switch| switch.name == name).ok_or("no such switch")?;
        core(program, &entries(&topology, &routes, index)).map_err(|error| error.to_string())
    });
    Ok(made?)
}

fn core(program: &Program, entries: &str) -> Result<Switch, Box<dyn Error>> {
    compiled::switch(program, Backend::Native, entries)
}

/// A route to each host. Of several ports with the same distance, hosts and switches take turns.
fn entries(topology: &Topology, routes: &Routes, switch: usize) -> String {
    let links: Vec<(usize, usize)> = topology.links_at(NodeRef::Switch(switch)).collect();
    let routes = &routes.switches[switch];
    let mut text = String::new();
    for (number, host) in topology.hosts.iter().enumerate() {
        let group = &routes.groups[routes.hosts[number] as usize];
        let (link, end) = links[group[(number + switch) % group.len()]];
        let [(_, own), (peer, peer_port)] = [topology.links[link].ends[end], topology.links[link].ends[1 - end]];
        let to = match peer {
            NodeRef::Host(host) => topology.hosts[host].mac,
            NodeRef::Switch(peer) => Topology::port_mac(peer, peer_port),
        };
        let from = Topology::port_mac(switch, own);
        for ip in host.addresses.iter().map(|address| address.ip).filter(|ip| ip.is_ipv4()) {
            let _ = writeln!(text, "table_add route forward {ip}/32 => {own} {from} {to}");
        }
    }
    text
}

/// What is resident for each switch of a large network, and for each flow between two hosts when all of them run.
fn memory(program: &Program) -> Result<Memory, Box<dyn Error>> {
    // What the first switch and flow need once.
    measure(&mut simulation("kind = \"dumbbell\"\npairs = 1", "1ms", FLOWS, Some(program), 1)?);
    let (_, fabric, _) = NETWORKS[2];
    let mut of_switches = [0.0; 2];
    let mut networks = Vec::new();
    for (kb, program) in of_switches.iter_mut().zip([None, Some(program)]) {
        let before_kb = resident_kb()?;
        let mut network = simulation(fabric, "100us", "", program, 1)?;
        measure(&mut network);
        *kb = (resident_kb()? - before_kb) / network.switches.len() as f64;
        networks.push(network);
    }
    // All are open, and a short packet of each is on a long link.
    let pairs = "kind = \"dumbbell\"\npairs = 10\ncore_delay = \"100ms\"";
    let flows = "[[flows]]\nkind = \"tcp\"\nfrom = \"*\"\nto = \"*\"\npairs = \"permutation\"\nbytes = 50\n";
    let before_kb = resident_kb()?;
    let mut network = simulation(pairs, "350ms", &flows.repeat(FLOWS_OF_A_HOST), None, 1)?;
    measure(&mut network);
    let flow_kb = (resident_kb()? - before_kb) / (FLOWS_OF_A_HOST * network.hosts.len()) as f64;
    Ok(Memory { router_kb: of_switches[0], program_kb: of_switches[1], flow_kb })
}

/// How much faster a run on several threads could be than on one: all events, by those of the busiest thread of each
/// window.
fn balance(run: &Run) -> f64 {
    run.windows.events as f64 / run.windows.longest.max(1) as f64
}

fn as_json(memory: &Memory, rows: &[Row]) -> Value {
    let row = |Row { name, kind, runs: [one, two] }: &Row| {
        json!({
            "network": name, "switches": kind, "hops": one.hops, "events": one.events,
            "processor_seconds": one.processor_s, "seconds": one.wall_s,
            "processor_seconds_two_threads": two.processor_s, "seconds_two_threads": two.wall_s,
            "windows": two.windows.count, "possible_speedup": balance(two),
        })
    };
    json!({
        "benchmark": "sim", "rows": rows.iter().map(row).collect::<Vec<_>>(), "kb_per_router": memory.router_kb,
        "kb_per_program": memory.program_kb, "kb_per_flow": memory.flow_kb,
    })
}

fn print(memory: &Memory, rows: &[Row]) {
    let Memory { router_kb, program_kb, flow_kb } = memory;
    println!(
        "memory: {router_kb:.0} kB a router, {program_kb:.0} kB a switch with the program, {flow_kb:.2} kB a flow"
    );
    println!(
        "{:<36}{:<9}{:>11}{:>12}{:>11}{:>11}{:>11}{:>11}",
        "", "switches", "hops", "hops/s", "ns/event", "2 threads", "possible", "processor"
    );
    for Row { name, kind, runs: [one, two] } in rows {
        let hops_per_s = one.hops as f64 / one.processor_s;
        let event_ns = one.processor_s * 1e9 / one.events as f64;
        println!(
            "{name:<36}{kind:<9}{:>11}{hops_per_s:>12.0}{event_ns:>11.0}{:>10.2}x{:>10.2}x{:>10.2}x",
            one.hops,
            one.wall_s / two.wall_s,
            balance(two),
            two.processor_s / one.processor_s
        );
    }
    println!(
        "2 threads: time of one by that of two; possible: as evenly as events were divided; processor: time of both"
    );
}
