//! Queues and colours of a run as time passes: why a scheme is slow.
//!
//! What enters: schemes, web-search at 80 % in the network of the paper. What leaves: for each scheme the uplinks of
//! the first leaf in its first minute (`trace-SCHEME.csv`), and of the whole run how long uplinks' queues are, how
//! often they are not green in ingress at each length, where packets are lost (`trace.csv`). Both are sampled every
//! 50 ms, the time of a packet.

use crate::experiment::Experiment;
use crate::report;
use crate::scheme::{Programs, Scheme};
use crate::setting::{Setting, Tuning};
use crate::workload::Workload;
use p4te::simulated::is_leaf;
use scenario::Simulation;
use scenario::topology::NodeRef;
use sim::Time;
use sim::switch_node::SwitchNode;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;

const SCHEMES: [Scheme; 6] =
    [Scheme::EcmpFlowlet, Scheme::LetFlow, Scheme::P4te, Scheme::P4teNra, Scheme::P4teReleasedNra, Scheme::P4teQueue];
const SAMPLE: Time = Time::from_ms(50);
/// How long samples are written one by one.
const WRITTEN: Time = Time::from_s(60);
/// Lengths of queues that are distinguished; the last is that and more.
const DEPTHS: usize = 5;

/// What was seen of uplinks.
#[derive(Default)]
struct Seen {
    /// By length of the queue: samples, and those in which ingress has another colour than green.
    by_depth: [(u64, u64); DEPTHS],
    /// The longest queue of a leaf less the shortest, summed up.
    spread: u64,
    leaves: u64,
    lines: String,
}

/// An uplink as it is.
struct Uplink {
    port: u32,
    depth: usize,
    colour: u64,
    sent: u64,
}

/// Makes the files.
pub fn make(folder: &Path) -> Result<(), String> {
    let programs = Mutex::new(Programs::default());
    let mut text = "scheme,value,number\n".to_owned();
    for scheme in SCHEMES {
        report(&format!("trace: {}", scheme.name()));
        let experiment = Experiment {
            scheme,
            workload: Workload::WebSearch,
            setting: Setting::Paper,
            load_percent: 80,
            flowlet_us: 40_000,
            seed: 1,
            tuning: Tuning::default(),
        };
        let seen = trace(&experiment, &programs, &mut text)?;
        let name: String = scheme.name().to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect();
        save(folder, &format!("trace-{name}.csv"), &seen.lines)?;
    }
    save(folder, "trace.csv", &text)
}

fn save(folder: &Path, name: &str, text: &str) -> Result<(), String> {
    let path = folder.join(name);
    let written = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, text));
    written.map_err(|error| format!("{}: {error}", path.display()))
}

fn trace(experiment: &Experiment, programs: &Mutex<Programs>, text: &mut String) -> Result<Seen, String> {
    let sending = experiment.setting.parameters().sending;
    let (mut simulation, flows) = experiment.prepare(sending, programs)?;
    let mut seen = Seen { lines: "time_ms,port,depth,colour,packets\n".to_owned(), ..Seen::default() };
    let mut is_over = false;
    while !is_over {
        is_over = experiment.proceed(&mut simulation, SAMPLE, sending)?;
        if simulation.network.now() < sending {
            seen.sample(&mut simulation);
        }
    }
    let lost = lost(&mut simulation);
    let outcome = experiment.outcome(&mut simulation, &flows);
    let name = experiment.scheme.name();
    let mut line = |value: &str, number: f64| {
        let _ = writeln!(text, "{name},{value},{number:.4}");
    };
    let samples: u64 = seen.by_depth.iter().map(|(samples, _)| samples).sum();
    for (depth, (count, coloured)) in seen.by_depth.iter().enumerate() {
        line(&format!("part of samples with {depth} packets in the queue"), *count as f64 / samples.max(1) as f64);
        line("of these not green", *coloured as f64 / (*count).max(1) as f64);
    }
    line("longest queue of a leaf less shortest", seen.spread as f64 / seen.leaves.max(1) as f64);
    for (place, packets) in ["from leaves to spines", "from spines to leaves", "to hosts"].iter().zip(lost) {
        line(&format!("lost {place}"), packets as f64);
    }
    line("retransmissions", outcome.retransmissions.iter().sum::<u64>() as f64);
    line("fake acknowledgments", (outcome.fakes[0] + outcome.fakes[1]) as f64);
    for (class, times) in ["short", "large"].iter().zip(&outcome.times_us) {
        line(&format!("mean time of {class} flows, s"), times.iter().sum::<u64>() as f64 / times.len() as f64 / 1e6);
    }
    Ok(seen)
}

impl Seen {
    fn sample(&mut self, simulation: &mut Simulation) {
        let topology = simulation.scenario.topology.clone();
        let now = simulation.network.now();
        for leaf in (0..topology.switches.len()).filter(|switch| is_leaf(&topology, *switch)) {
            let uplinks = uplinks(simulation, leaf);
            for uplink in &uplinks {
                let (samples, coloured) = &mut self.by_depth[uplink.depth.min(DEPTHS - 1)];
                *samples += 1;
                *coloured += u64::from(uplink.colour != 0);
                if leaf == 0 && now < WRITTEN {
                    let Uplink { port, depth, colour, sent } = uplink;
                    let _ = writeln!(self.lines, "{},{port},{depth},{colour},{sent}", now.ns() / 1_000_000);
                }
            }
            let depths = || uplinks.iter().map(|uplink| uplink.depth as u64);
            self.spread += depths().max().unwrap_or(0) - depths().min().unwrap_or(0);
            self.leaves += 1;
        }
    }
}

/// The ports of a switch that lead to other switches.
fn ports_to_switches(simulation: &Simulation, switch: usize) -> Vec<u32> {
    let topology = &simulation.scenario.topology;
    let links = topology.links_at(NodeRef::Switch(switch));
    let ends = links.map(|(link, end)| (topology.links[link].ends[end].1, topology.links[link].ends[1 - end].0));
    ends.filter(|(_, peer)| matches!(peer, NodeRef::Switch(_))).map(|(port, _)| port).collect()
}

fn uplinks(simulation: &mut Simulation, leaf: usize) -> Vec<Uplink> {
    let ports = ports_to_switches(simulation, leaf);
    let id = simulation.switches[leaf];
    let Some(node) = simulation.network.node_mut::<SwitchNode>(id) else { return Vec::new() };
    let queues: Vec<_> = node.core().queues().filter(|queue| queue.priority == 0).collect();
    let program = node.core().program().clone();
    let colours = program.registers.iter_enumerated().find(|(_, it)| it.name.ends_with("port_utilisations"));
    let colours = colours.map(|(id, _)| id);
    let uplink = |port: u32| {
        let queue = queues.iter().find(|queue| queue.port == port);
        let registers = &node.core_mut().externs_mut().registers;
        let colour = colours.and_then(|id| registers[id].read(port.into())).and_then(|it| it.to_u64()).unwrap_or(0);
        let (depth, sent) = queue.map_or((0, 0), |queue| (queue.depth_packets, queue.counts.packets));
        Uplink { port, depth, colour, sent }
    };
    ports.into_iter().map(uplink).collect()
}

/// Packets that found a queue full: upwards, downwards, and to hosts.
fn lost(simulation: &mut Simulation) -> [u64; 3] {
    let mut lost = [0; 3];
    let topology = simulation.scenario.topology.clone();
    for switch in 0..topology.switches.len() {
        let ports = ports_to_switches(simulation, switch);
        let Some(node) = simulation.network.node::<SwitchNode>(simulation.switches[switch]) else { continue };
        for queue in node.core().queues() {
            let place = match (is_leaf(&topology, switch), ports.contains(&queue.port)) {
                (true, true) => 0,
                (false, _) => 1,
                (true, false) => 2,
            };
            lost[place] += queue.refused_packets;
        }
    }
    lost
}
