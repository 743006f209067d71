//! One run: a scheme, a workload, a load, a seed.
//!
//! The network is that of section 7 of the paper: queues of switches let packets out evenly, so many a second, as those
//! of the reference switch do; lines are so fast that they make no difference.

use crate::controllers::{Controlled, Local};
use crate::network::{is_leaf, places};
use crate::scheme::{Programs, Scheme};
use crate::workload::{self, Flow, Senders, Workload};
use p4te::Settings;
use serde::{Deserialize, Serialize};
use sim::Time;
use sim::controller::{Latencies, SwitchFacts};
use sim::device::{Device, QueueChange};
use sim::host::{Host, Sending};
use sim::scenario::controller::ControllerPlan;
use sim::scenario::results::finished;
use sim::scenario::{FlowKind, FlowPlan, Scenario, Simulation, SwitchKind};
use sim::switch_node::SwitchNode;
use sim::topology::{NodeRef, Topology};
use std::sync::Mutex;
use te::fabric::{self, FabricSettings};

/// What is run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Experiment {
    /// How paths are chosen.
    pub scheme: Scheme,
    /// What is sent.
    pub workload: Workload,
    /// The part of the uplinks that is used.
    pub load_percent: u32,
    /// The pause between flowlets.
    pub flowlet_us: u64,
    /// What random numbers begin with.
    pub seed: u64,
}

/// What came of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// What was run.
    pub experiment: Experiment,
    /// Completion times of short and of large flows, in microseconds, rising.
    pub times_us: [Vec<u64>; 2],
    /// Short and large flows that are not complete.
    pub unfinished: [u64; 2],
    /// Segments that short and large flows sent again.
    pub retransmissions: [u64; 2],
    /// Packets on each link from a leaf to a spine, by leaf.
    pub uplink_packets: Vec<Vec<u64>>,
    /// Packets that found no room in a queue.
    pub dropped: u64,
    /// Fake acknowledgments: narrower, wider, and orders for flows that are not known.
    pub fakes: [u64; 3],
    /// Events that controllers have dealt with.
    pub reports: u64,
}

/// Leaves, spines, hosts of each leaf.
const LEAVES: usize = 4;
const SPINES: usize = 4;
const HOSTS_PER_LEAF: usize = 4;
/// Packets a second to hosts and between switches.
const HOST_PACKETS_PER_S: u64 = 40;
const FABRIC_PACKETS_PER_S: u64 = 20;
/// Buffers hold what leaves in this part of a second: 0.2.
const BUFFER_PARTS: u64 = 5;
/// A queue that takes all: probes.
const UNLIMITED: usize = 1 << 20;
/// Payload of a full segment over IPv6 with time stamps.
const PAYLOAD_BYTES: u64 = 1_428;
/// What an application writes at most.
const APPLICATION_BITS_PER_S: u64 = 48_000;
/// What a receiver takes.
const WINDOW_BYTES: u64 = 16 << 10;
/// Packets in a queue from which on others are marked.
const MARK_FROM: u32 = 3;
/// Controllers are this far from their switches.
const CONTROLLER_LATENCY: Time = Time::from_ms(1);
/// From one probe of HULA to the next, and after how long without one a way is not used: three are missing.
const PROBE_INTERVAL: Time = Time::from_ms(100);
const PROBE_AGE_US: u64 = 350_000;
/// HULA's estimator spans 2^18 us, some packets.
const SPAN_SHIFT: u8 = 18;

/// When flows begin, and when no more do; when the run ends.
const BEGIN: Time = Time::from_s(1);
const SENDING: Time = Time::from_s(500);
const END: Time = Time::from_s(900);
/// Incasts end later: 20 MB leave at 40 packets a second.
const END_INCAST: Time = Time::from_s(3_000);

impl Experiment {
    fn settings(&self) -> Settings {
        Settings {
            delta: 2,
            committed_share: 900,
            peak_share: 1_000,
            flowlet_us: self.flowlet_us,
            control_window: if self.scheme == Scheme::P4te { PAYLOAD_BYTES as u32 } else { 0 },
            mark_from: Some(MARK_FROM),
            ..Settings::default()
        }
    }

    fn fabric_settings(&self) -> FabricSettings {
        let mark_from = Some(u64::from(MARK_FROM));
        FabricSettings { flowlet_us: self.flowlet_us, mark_from, span_shift: SPAN_SHIFT, age_us: PROBE_AGE_US }
    }

    /// Runs it.
    pub fn run(&self, programs: &Mutex<Programs>) -> Result<Outcome, String> {
        let is_incast = self.workload == Workload::Incast;
        let bits_per_s = FABRIC_PACKETS_PER_S * PAYLOAD_BYTES * 8 * SPINES as u64 / HOSTS_PER_LEAF as u64;
        let senders = Senders { leaves: LEAVES, hosts_per_leaf: HOSTS_PER_LEAF, bits_per_s };
        let load = f64::from(self.load_percent) / 100.0;
        let flows = workload::flows(self.workload, true, load, self.seed, &senders, (BEGIN, BEGIN + SENDING))?;
        let end = if is_incast { END_INCAST } else { END };
        let mut simulation = self.simulation(&flows, end, programs)?;
        while !(simulation.run_until(simulation.network.now() + Time::from_s(20)) || is_done(&simulation)) {}
        Ok(self.outcome(&mut simulation, &flows))
    }

    fn simulation(&self, flows: &[Flow], end: Time, programs: &Mutex<Programs>) -> Result<Simulation, String> {
        let mut scenario = scenario(self.seed, end)?;
        let topology = scenario.topology.clone();
        for (index, plan) in scenario.switches.iter_mut().enumerate() {
            plan.kind = SwitchKind::Program { program: String::new(), entries: Vec::new(), is_interpreted: false };
            plan.device = device(&topology, index);
        }
        let all = (0..topology.switches.len()).collect();
        let latencies = Latencies { to_controller: CONTROLLER_LATENCY, to_switch: CONTROLLER_LATENCY };
        scenario.controller = Some(ControllerPlan { latencies, ..ControllerPlan::outside(all) });
        scenario.flows = flows.iter().map(|flow| plan(flow, end)).collect();
        let mut make_switch = |name: &str, _: &_| {
            let index = topology.switches.iter().position(|switch| switch.name == name).unwrap_or(0);
            let leaf = is_leaf(&topology, index);
            let program = programs.lock().map_err(|_| "a run has failed")?.get(self.scheme, leaf, true)?;
            let builder = program.switch().seed(self.seed + index as u64).queues(2);
            builder.build_core().map_err(|error| error.to_string())
        };
        let mut make_controller = |_: &ControllerPlan, facts: &[SwitchFacts]| {
            Ok(Box::new(self.controller(&topology, facts)?) as Box<dyn sim::controller::Controller>)
        };
        Simulation::with_controller(scenario, 1, &mut make_switch, &mut make_controller).map_err(|it| it.to_string())
    }

    fn controller(&self, topology: &Topology, facts: &[SwitchFacts]) -> Result<Local, String> {
        let places = places(topology, &rate);
        let controlled = |(place, facts): (&te::Place, &SwitchFacts)| match self.scheme {
            Scheme::P4te | Scheme::P4teNra => Controlled::p4te(facts, place, &self.settings()),
            Scheme::Hula => {
                let settings = self.fabric_settings();
                let mut orders = fabric::set_up(place, &settings);
                orders.extend(fabric::set_up_probes(place, &settings));
                Controlled::new(facts, orders, place.leaf.is_some())
            }
            _ => Controlled::new(facts, fabric::set_up(place, &self.fabric_settings()), false),
        };
        let switches = places.iter().zip(facts).map(controlled).collect();
        Local::new(switches, (self.scheme == Scheme::Hula).then_some(PROBE_INTERVAL))
    }

    fn outcome(&self, simulation: &mut Simulation, flows: &[Flow]) -> Outcome {
        let mut outcome = Outcome {
            experiment: self.clone(),
            times_us: Default::default(),
            unfinished: [0; 2],
            retransmissions: [0; 2],
            uplink_packets: Vec::new(),
            dropped: 0,
            fakes: [0; 3],
            reports: 0,
        };
        for (index, flow) in flows.iter().enumerate() {
            let (class, plan, ports) =
                (usize::from(flow.is_large), &simulation.scenario.flows[index], simulation.flow_ports[index]);
            match finished(simulation, plan, ports) {
                Some(time) => outcome.times_us[class].push(time.since(flow.start).ns() / 1_000),
                None => outcome.unfinished[class] += 1,
            }
            outcome.retransmissions[class] += retransmissions(simulation, plan, ports.source, ports.destination);
        }
        outcome.times_us.iter_mut().for_each(|times| times.sort_unstable());
        let topology = simulation.scenario.topology.clone();
        for switch in 0..topology.switches.len() {
            if is_leaf(&topology, switch) {
                outcome.uplink_packets.push(uplinks(simulation, &topology.switches[switch].name));
            }
            let id = simulation.switches[switch];
            let Some(node) = simulation.network.node_mut::<SwitchNode>(id) else { continue };
            outcome.dropped += node.core().stats().drops(switch::DropReason::QueueFull);
            for (sum, count) in outcome.fakes.iter_mut().zip(fakes(node)) {
                *sum += count;
            }
        }
        let controller =
            simulation.controller.and_then(|id| simulation.network.node::<sim::controller::ControllerNode>(id));
        outcome.reports = controller.map_or(0, |node| node.counters().packets_in);
        outcome
    }
}

/// The network without programs.
fn scenario(seed: u64, end: Time) -> Result<Scenario, String> {
    let text = format!(
        "seed = {seed}\nduration = \"{}ms\"\n[topology]\nkind = \"leaf-spine\"\nleaves = {LEAVES}\nspines = {SPINES}\n\
         hosts_per_leaf = {HOSTS_PER_LEAF}\nrate = \"1Gbps\"\ndelay = \"100us\"\n[hosts]\nresolve = false\n",
        end.ns() / 1_000_000
    );
    let read = Scenario::read(&text, &[], &|_| Err("there are no files".to_owned()));
    read.map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

/// What leaves one node for another at most, in packets a second: hosts send as fast as they like, and what comes in
/// from them is measured as if they sent as fast as they receive.
fn rate(from: NodeRef, to: NodeRef) -> u64 {
    match (from, to) {
        (NodeRef::Switch(_), NodeRef::Switch(_)) => FABRIC_PACKETS_PER_S,
        _ => HOST_PACKETS_PER_S,
    }
}

/// The queues of a switch: one that lets packets out evenly, and one for probes.
fn device(topology: &Topology, switch: usize) -> Device {
    let own = NodeRef::Switch(switch);
    let queue = |(link, end): (usize, usize)| {
        let ends = topology.links[link].ends;
        let packets_per_s = rate(own, ends[1 - end].0);
        let capacity = (packets_per_s / BUFFER_PARTS) as usize;
        let of = |priority, packets_per_s, capacity| QueueChange {
            port: Some(ends[end].1),
            priority: Some(priority),
            packets_per_s: Some(packets_per_s),
            capacity_packets: Some(capacity),
            ..QueueChange::default()
        };
        [of(0, packets_per_s, capacity), of(1, 0, UNLIMITED)]
    };
    let queues = topology.links_at(own).flat_map(queue).collect();
    Device { priorities: 2, is_blind: true, queues, ..Device::default() }
}

fn plan(flow: &Flow, end: Time) -> FlowPlan {
    let config = tcp::Config {
        mss: 1_440,
        congestion: tcp::Congestion::Dctcp,
        receive_buffer_bytes: WINDOW_BYTES,
        ..tcp::Config::default()
    };
    let traffic_class = if flow.is_large { 0x10 } else { 0x08 };
    let sending = Sending { traffic_class, bits_per_s: APPLICATION_BITS_PER_S };
    let kind = FlowKind::Tcp { bytes: Some(flow.bytes), config: Box::new(config), sending };
    FlowPlan { from: flow.from, to: flow.to, is_v6: true, start: flow.start, end, kind }
}

/// Whether all flows are complete.
fn is_done(simulation: &Simulation) -> bool {
    let flows = simulation.scenario.flows.iter().zip(&simulation.flow_ports);
    simulation.network.now() > BEGIN + SENDING
        && flows.into_iter().all(|(flow, ports)| finished(simulation, flow, *ports).is_some())
}

/// The segments that a flow has sent again.
fn retransmissions(simulation: &Simulation, flow: &FlowPlan, source: u16, destination: u16) -> u64 {
    let to = simulation.scenario.topology.hosts[flow.to].addresses.iter().find(|it| it.ip.is_ipv6());
    let host = simulation.network.node::<Host>(simulation.hosts[flow.from]);
    let client = to.zip(host).and_then(|(to, host)| host.tcp_with(source, to.ip, destination));
    let counters = client.and_then(|client| client.statistics()).map(|statistics| statistics.counters);
    counters.map_or(0, |it| it.fast_retransmissions + it.timeout_retransmissions + it.tail_probes)
}

/// Packets from a leaf to each spine.
fn uplinks(simulation: &Simulation, leaf: &str) -> Vec<u64> {
    let channels = simulation.network.channels().iter().enumerate();
    let up = channels.filter(|(_, channel)| channel.name.starts_with(&format!("{leaf}>s")));
    up.map(|(index, _)| simulation.network.counters(index).packets).collect()
}

/// What a leaf has counted of fake acknowledgments.
fn fakes(node: &mut SwitchNode) -> Vec<u64> {
    let program = node.core().program().clone();
    let Some((id, _)) = program.counters.iter_enumerated().find(|(_, it)| it.name.ends_with("fakes")) else {
        return Vec::new();
    };
    node.core_mut().externs_mut().counters[id].iter().map(|cell| cell.packets).collect()
}
