//! How fast the simulator and ns-3 are: packet hops a second of processor time in a leaf-spine network whose hosts send
//! without an end, each to another one. Here every switch runs a P4 program (`bench/programs/fabric.p4`), there it is
//! the router of `bench/peers/ns3/routing.h`; plain routers here are shown beside it.

use crate::Arguments;
use crate::compiled;
use crate::ns3::results::Results;
use crate::ns3::{Peer, network, read, simulate};
use ::scenario::topology::{NodeRef, Topology};
use ::scenario::{Scenario, Simulation};
use measure::figures::median;
use serde_json::{Value, json};
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use wirespeed::{Backend, Program};

/// From how many queued packets on others are marked, as the DCTCP paper has it for 10 Gb/s.
const MARK: u32 = 65;

/// Networks: name, shape, modelled time.
const NETWORKS: [(&str, &str, &str); 2] = [
    ("16 hosts", "leaves = 4\nspines = 2\nhosts_per_leaf = 4", "10ms"),
    ("64 hosts", "leaves = 8\nspines = 4\nhosts_per_leaf = 8", "3ms"),
];

/// Hops a second of processor time of one network: each run.
#[derive(Default)]
struct Rates {
    program: Vec<f64>,
    router: Vec<f64>,
    peer: Vec<f64>,
}

/// Measures all networks; all three take turns in each run.
pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let peer = Peer::build()?;
    let program = compiled::program("bench/programs/fabric.p4")?;
    let marking = compiled::program_with("bench/programs/fabric.p4", &[("MARK", MARK.to_string())])?;
    for (name, shape, duration) in NETWORKS {
        for (congestion, program) in [("cubic", &program), ("dctcp", &marking)] {
            let mut rates = Rates::default();
            for _ in 0..arguments.runs {
                let text = |switches: &str| scenario(shape, duration, congestion, switches);
                let (ours, theirs) = routers(&text(""), &peer)?;
                rates.router.push(hops_per_s(&ours));
                rates.peer.push(hops_per_s(&theirs));
                rates.program.push(hops_per_s(&programs(&text("program = \"fabric.p4\""), program)?));
            }
            match arguments.json {
                true => println!("{}", as_json(name, congestion, &rates)),
                false => print(name, congestion, &rates),
            }
        }
    }
    Ok(())
}

fn scenario(shape: &str, duration: &str, congestion: &str, switches: &str) -> String {
    let marks = if congestion == "dctcp" { format!("ecn_packets = {MARK}\n") } else { String::new() };
    format!(
        "duration = \"{duration}\"\n[topology]\nkind = \"leaf-spine\"\n{shape}\nrate = \"10Gbps\"\ndelay = \"2us\"\n\
         [switches]\n{switches}\n[links]\nqueue_packets = 250\n{marks}\
         [[flows]]\nkind = \"tcp\"\nfrom = \"*\"\nto = \"*\"\npairs = \"permutation\"\ncongestion = \"{congestion}\"\n"
    )
}

fn hops_per_s(results: &Results) -> f64 {
    results.hops as f64 / results.processor_s
}

/// With plain routers, here and in ns-3.
fn routers(text: &str, peer: &Peer) -> Result<(Results, Results), Box<dyn Error>> {
    let simulation = Simulation::new(read(text, &[], Path::new("."))?, 1, &mut |_, _| Err("no program".to_owned()))?;
    let theirs = peer.run(&network::lines(&simulation, false)?)?;
    Ok((simulate(simulation)?.1, theirs))
}

/// With the program in every switch.
fn programs(text: &str, program: &Program) -> Result<Results, Box<dyn Error>> {
    let scenario: Scenario = read(text, &[], Path::new("."))?;
    let topology = scenario.topology.clone();
    let mut make_switch = |name: &str, _: &::scenario::SwitchPlan| {
        let switch = compiled::switch(program, Backend::Native, &entries(&topology, name));
        switch.map_err(|error| error.to_string())
    };
    Ok(simulate(Simulation::new(scenario, 1, &mut make_switch)?)?.1)
}

/// The entries of a leaf: its hosts, and all spines for others; or of a spine: the networks of the leaves.
fn entries(topology: &Topology, switch: &str) -> String {
    let Some(NodeRef::Switch(number)) = topology.find(switch) else { return String::new() };
    let mut text = String::new();
    let mut spines = 0;
    for (link, end) in topology.links_at(NodeRef::Switch(number)) {
        let ends = topology.links[link].ends;
        let (port, (peer, peer_port)) = (ends[end].1, ends[1 - end]);
        let source = Topology::port_mac(number, port);
        let _ = match peer {
            NodeRef::Host(host) => {
                let host = &topology.hosts[host];
                let address = host.addresses[0].ip;
                writeln!(text, "table_add route forward {address}/32 => {port} {source} {}", host.mac)
            }
            NodeRef::Switch(leaf) if leaf < number => {
                let network = format!("10.{}.0.0/16", leaf + 1);
                let destination = Topology::port_mac(leaf, peer_port);
                writeln!(text, "table_add route forward {network} => {port} {source} {destination}")
            }
            NodeRef::Switch(spine) => {
                spines += 1;
                let destination = Topology::port_mac(spine, peer_port);
                writeln!(text, "table_add path forward {} => {port} {source} {destination}", spines - 1)
            }
        };
    }
    if spines > 0 {
        let _ = writeln!(text, "table_add route spread 10.0.0.0/8 => {spines}");
    }
    text
}

fn as_json(name: &str, congestion: &str, rates: &Rates) -> Value {
    json!({
        "benchmark": "ns3-speed", "network": name, "congestion": congestion, "program_hops_per_s": rates.program,
        "router_hops_per_s": rates.router, "ns3_hops_per_s": rates.peer,
    })
}

fn print(name: &str, congestion: &str, rates: &Rates) {
    let ratios: Vec<f64> = rates.program.iter().zip(&rates.peer).map(|(ours, theirs)| ours / theirs).collect();
    let [program, router, peer] = [&rates.program, &rates.router, &rates.peer].map(|it| median(it));
    println!(
        "leaf-spine, {name}, {congestion}: packet hops a second of processor time, median of {} runs",
        ratios.len()
    );
    println!("  P4 program {program:>10.0}   plain routers {router:>10.0}   ns-3 {peer:>10.0}");
    println!("  the program is {:.1} times as fast as ns-3", median(&ratios));
}
