//! One run: a scheme, a workload, a load, a seed.
//!
//! In the network of section 7 of the paper queues of switches let packets out evenly, at a rate in packets, as those
//! of the reference switch do; lines are so fast that they make no difference.

use crate::scheme::{Programs, Scheme};
use crate::setting::{Fault, PAYLOAD_BYTES, Parameters, Setting, Tuning};
use crate::workload::{self, Flow, Senders, Share, Workload};
use p4te::simulated::{Controlled, Local, is_leaf, places};
use p4te::{Measures, Settings};
use scenario::controller::ControllerPlan;
use scenario::ideal::IdealTimes;
use scenario::results::finished;
use scenario::topology::{NodeRef, Topology};
use scenario::{FlowKind, FlowPlan, Scenario, Simulation, SwitchKind};
use serde::{Deserialize, Serialize};
use sim::Time;
use sim::channel::Interval;
use sim::controller::{Latencies, SwitchFacts};
use sim::device::{Device, QueueChange};
use sim::host::{Host, Sending, TcpEndpoint};
use sim::switch_node::SwitchNode;
use std::sync::{Arc, Mutex};
use te::fabric::{self, FabricSettings};

/// What is run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Experiment {
    /// How paths are chosen.
    pub scheme: Scheme,
    /// What is sent.
    pub workload: Workload,
    /// Where.
    pub setting: Setting,
    /// The part of the uplinks that is used.
    pub load_percent: u32,
    /// The pause between flowlets.
    pub flowlet_us: u64,
    /// What random numbers begin with.
    pub seed: u64,
    /// What is not as usual.
    #[serde(default)]
    pub tuning: Tuning,
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
    /// Those of them whose sender has given up: as many segments in sequence as Linux sends again had no answer.
    #[serde(default)]
    pub given_up: u64,
    /// Segments that short and large flows sent again.
    pub retransmissions: [u64; 2],
    /// Packets on each link from a leaf to a spine, by leaf.
    pub uplink_packets: Vec<Vec<u64>>,
    /// Packets that found a queue full.
    pub dropped: u64,
    /// Fake acknowledgments: narrower, wider, and orders for flows that are not known.
    pub fakes: [u64; 3],
    /// Events that controllers have dealt with.
    pub reports: u64,
    /// Where rates are those of lines: sizes of complete flows in bytes, and how many thousandths of the ideal time
    /// each took; by size.
    #[serde(default)]
    pub slowdowns: Vec<(u64, u64)>,
}

/// Half of the packets have data, the others acknowledge.
const MEAN_PACKET_BYTES: u64 = 800;
/// How many spans of the estimator a report counts: 10 ms of 256 us, as the authors have it.
const CONGA_AGE_SPANS: u64 = 40;
/// How long after the first flows a link fails that does not from the beginning.
const FAILS_AFTER: Time = Time::from_ms(2);
/// How long after a link has failed all controllers know it.
const NEWS_AFTER: Time = Time::from_ms(2);
/// How much slower a slow link is.
const SLOWER: u64 = 4;
/// A queue that takes all: probes.
const UNLIMITED: usize = 1 << 20;
/// Incasts of section 7 take longer: 20 MB leave at 40 packets a second.
const END_INCAST: Time = Time::from_s(3_000);

impl Experiment {
    fn settings(&self) -> Settings {
        let parameters = self.setting.parameters();
        let has_rate_control = !matches!(self.scheme, Scheme::P4teNra | Scheme::P4teReleasedNra | Scheme::P4teQueue);
        let [committed, peak] = self.tuning.shares.unwrap_or(parameters.shares);
        Settings {
            delta: self.tuning.delta.unwrap_or(parameters.delta),
            committed_share: committed,
            peak_share: peak,
            burst_us: parameters.burst_us,
            flowlet_us: self.flowlet_us,
            control_window: if has_rate_control { parameters.control_window } else { 0 },
            mark_from: parameters.marks_p4te.then_some(parameters.mark_from),
            measures: match self.scheme {
                Scheme::P4teQueue => Measures::QueueOnly,
                Scheme::P4teColours => Measures::ColoursOnly,
                Scheme::P4teRates => Measures::Neither,
                _ => Measures::Both,
            },
            ..Settings::default()
        }
    }

    fn fabric_settings(&self) -> FabricSettings {
        let Parameters { mark_from, span_shift, probe_age_us, .. } = self.setting.parameters();
        // CONGA's reports come with packets, not at an interval.
        let age_us = if self.scheme == Scheme::Conga { CONGA_AGE_SPANS << span_shift } else { probe_age_us };
        FabricSettings { flowlet_us: self.flowlet_us, mark_from: Some(mark_from.into()), span_shift, age_us }
    }

    /// Runs it.
    pub fn run(&self, programs: &Mutex<Programs>) -> Result<Outcome, String> {
        self.run_for(self.setting.parameters().sending, programs)
    }

    /// The same with flows that begin within so long.
    fn run_for(&self, sending: Time, programs: &Mutex<Programs>) -> Result<Outcome, String> {
        let (mut simulation, flows) = self.prepare(sending, programs)?;
        let slice = simulation.scenario.duration.divided(50);
        while !self.proceed(&mut simulation, slice, sending)? {}
        Ok(self.outcome(&mut simulation, &flows))
    }

    /// Runs for a slice of time; whether that was the end of it.
    pub fn proceed(&self, simulation: &mut Simulation, slice: Time, sending: Time) -> Result<bool, String> {
        let last_start = self.setting.parameters().begin + sending;
        let has_ended = simulation.run_until(simulation.network.now() + slice).map_err(|it| it.to_string())?;
        Ok(has_ended || is_done(simulation, last_start))
    }

    /// The network before it runs, and its flows.
    pub fn prepare(&self, sending: Time, programs: &Mutex<Programs>) -> Result<(Simulation, Vec<Flow>), String> {
        let parameters = self.setting.parameters();
        let Parameters { counts_packets, fabric_rate, begin, .. } = parameters;
        let shape = self.setting.shape();
        let (leaves, hosts_per_leaf, stride) = (shape.leaves(), shape.hosts_per_leaf(), shape.stride());
        let per_host = fabric_rate * shape.uplinks() as u64 / hosts_per_leaf as u64;
        let share = match counts_packets {
            true => Share::Packets(per_host, PAYLOAD_BYTES),
            // With headers and what the line adds.
            false => Share::Bits(per_host * PAYLOAD_BYTES / (PAYLOAD_BYTES + 110)),
        };
        let senders = Senders { leaves, hosts_per_leaf, stride, share };
        let load = f64::from(self.load_percent) / 100.0;
        let flows =
            workload::flows(self.workload, counts_packets, load, self.seed, &senders, (begin, begin + sending))?;
        let end = if self.workload == Workload::Incast && counts_packets { END_INCAST } else { parameters.end };
        Ok((self.simulation(&flows, end, programs)?, flows))
    }

    fn simulation(&self, flows: &[Flow], end: Time, programs: &Mutex<Programs>) -> Result<Simulation, String> {
        let parameters = self.setting.parameters();
        let mut scenario = self.scenario(end)?;
        let topology = scenario.topology.clone();
        for (index, plan) in scenario.switches.iter_mut().enumerate() {
            plan.kind = SwitchKind::Program { program: String::new(), entries: Vec::new(), is_interpreted: false };
            plan.device = self.device(&topology, index);
        }
        // Hosts queue packets for their own lines: nothing is lost there.
        for (link, channels) in topology.links.iter().zip(&mut scenario.channels) {
            for (end, channel) in link.ends.iter().zip(channels) {
                if matches!(end.0, NodeRef::Host(_)) {
                    channel.queue_packets = usize::MAX;
                }
            }
        }
        let failure = match self.setting.fault() {
            Fault::FailingLink => self.failure(),
            _ => Time::ZERO,
        };
        for (from, to) in self.failed(&topology) {
            let ends = [from, to].map(NodeRef::Switch);
            let link = topology.links.iter().position(|link| link.ends.map(|(end, _)| end) == ends);
            for channel in link.map(|link| &mut scenario.channels[link]).into_iter().flatten() {
                channel.down.push(Interval { start: failure, end: Time::MAX });
            }
        }
        let all = (0..topology.switches.len()).collect();
        let latency = self.tuning.latency_us.map_or(parameters.controller_latency, Time::from_us);
        let latencies = Latencies { to_controller: latency, to_switch: latency };
        scenario.controller = Some(ControllerPlan { latencies, ..ControllerPlan::outside(all) });
        let congestion = self.tuning.congestion.control();
        scenario.flows = flows.iter().map(|flow| plan(flow, end, &parameters, congestion)).collect();
        let mut make_switch = |name: &str, _: &_| {
            let index = topology.switches.iter().position(|switch| switch.name == name).unwrap_or(0);
            let leaf = is_leaf(&topology, index);
            let program =
                programs.lock().map_err(|_| "a run has failed")?.get(self.scheme, leaf, parameters.counts_packets)?;
            let builder = program.switch().seed(self.seed + index as u64).queues(2);
            builder.build_core().map_err(|error| error.to_string())
        };
        let mut make_controller = |_: &ControllerPlan, facts: &[SwitchFacts]| {
            Ok(Box::new(self.controller(&topology, facts)?) as Box<dyn sim::controller::Controller>)
        };
        Simulation::with_controller(scenario, 1, &mut make_switch, &mut make_controller).map_err(|it| it.to_string())
    }

    /// The network without programs.
    fn scenario(&self, end: Time) -> Result<Scenario, String> {
        let Parameters { counts_packets, host_rate, fabric_rate, fabric_queue, delay_us, .. } =
            self.setting.parameters();
        let rates = match counts_packets {
            true => "rate = \"1Gbps\"".to_owned(),
            false => format!("rate = \"{host_rate}bps\"\ncore_rate = \"{fabric_rate}bps\""),
        };
        let links = if counts_packets { String::new() } else { format!("[links]\nqueue_packets = {fabric_queue}\n") };
        let shape = self.setting.shape();
        let slow = match self.setting.fault() {
            Fault::SlowLink => {
                format!("[link.\"s1-s{}\"]\nrate = \"{}bps\"\n", shape.leaves() + 1, fabric_rate / SLOWER)
            }
            Fault::FailedLink | Fault::FailingLink | Fault::None => String::new(),
        };
        let text = format!(
            "seed = {}\nduration = \"{}us\"\n[topology]\n{}\n{rates}\ndelay = \"{delay_us}us\"\n{links}{slow}[hosts]\nresolve = false\n",
            self.seed,
            end.ns() / 1_000,
            shape.keys()
        );
        let read = Scenario::read(&text, &[], &|_| Err("there are no files".to_owned()));
        read.map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    }

    /// What leaves one node for another at most, in packets or bytes a second: hosts send as fast as they like where
    /// packets are counted, and what comes in from them is measured as if they sent as fast as they receive.
    fn units_per_s(&self, from: NodeRef, to: NodeRef) -> u64 {
        let Parameters { counts_packets, host_rate, fabric_rate, .. } = self.setting.parameters();
        let first_spine = NodeRef::Switch(self.setting.shape().leaves());
        let is_slow = |a, b| a == NodeRef::Switch(0) && b == first_spine;
        let rate = match (from, to) {
            (NodeRef::Switch(_), NodeRef::Switch(_)) => fabric_rate,
            _ => host_rate,
        };
        let has_slow_link = self.setting.fault() == Fault::SlowLink;
        let slower = if has_slow_link && (is_slow(from, to) || is_slow(to, from)) { SLOWER } else { 1 };
        if counts_packets { rate } else { rate / slower / 8 }
    }

    /// The queues of a switch. Where packets are counted: one that lets them out evenly, and one for probes.
    fn device(&self, topology: &Topology, switch: usize) -> Device {
        let Parameters { counts_packets, host_queue, fabric_queue, .. } = self.setting.parameters();
        let own = NodeRef::Switch(switch);
        if !counts_packets {
            return Device::default();
        }
        let queue = |(link, end): (usize, usize)| {
            let ends = topology.links[link].ends;
            let peer = ends[1 - end].0;
            let capacity = if matches!(peer, NodeRef::Host(_)) { host_queue } else { fabric_queue };
            let of = |priority, packets_per_s, capacity| QueueChange {
                port: Some(ends[end].1),
                priority: Some(priority),
                packets_per_s: Some(packets_per_s),
                capacity_packets: Some(capacity),
                ..QueueChange::default()
            };
            [of(0, self.units_per_s(own, peer), capacity), of(1, 0, UNLIMITED)]
        };
        let queues = topology.links_at(own).flat_map(queue).collect();
        Device { priorities: 2, is_blind: true, queues, ..Device::default() }
    }

    /// When a link fails that does not from the beginning.
    fn failure(&self) -> Time {
        self.setting.parameters().begin + FAILS_AFTER
    }

    /// The links between two switches that are down, or go down.
    fn failed(&self, topology: &Topology) -> Vec<(usize, usize)> {
        let first_above = (0..topology.switches.len()).find(|switch| !is_leaf(topology, *switch));
        let is_failed = matches!(self.setting.fault(), Fault::FailedLink | Fault::FailingLink);
        first_above.filter(|_| is_failed).map(|above| (0, above)).into_iter().collect()
    }

    fn controller(&self, topology: &Topology, facts: &[SwitchFacts]) -> Result<Local, String> {
        let parameters = self.setting.parameters();
        let rate = |from, to| self.units_per_s(from, to);
        let after = places(topology, &rate, &self.failed(topology));
        let is_later = self.setting.fault() == Fault::FailingLink;
        let places = if is_later { places(topology, &rate, &[]) } else { after.clone() };
        let packet_bytes = parameters.counts_packets.then_some(MEAN_PACKET_BYTES);
        let settings = self.fabric_settings();
        let controlled = |(place, facts): (&te::Place, &SwitchFacts)| {
            if self.scheme.is_p4te() {
                return Controlled::p4te(facts, place, &self.settings());
            }
            let mut orders = fabric::set_up(place, &settings);
            orders.extend(match self.scheme {
                Scheme::Hula => fabric::set_up_probes(place, &settings),
                Scheme::HulaPolled => fabric::set_up_polling(place),
                Scheme::Conga => fabric::set_up_reports(place, &settings, packet_bytes),
                Scheme::Drill => fabric::set_up_choices(place, packet_bytes),
                _ => Vec::new(),
            });
            match self.scheme {
                Scheme::Hula => Controlled::hula(facts, place, orders),
                Scheme::HulaPolled => Controlled::polled(facts, place, orders),
                Scheme::Conga => Controlled::conga(facts, orders),
                _ => Controlled::new(facts, orders),
            }
        };
        let interval = match self.scheme {
            Scheme::Hula => Some(parameters.probe_interval),
            Scheme::HulaPolled => Some(parameters.poll_interval),
            _ => None,
        };
        let local = Local::new(places.iter().zip(facts).map(controlled).collect(), interval)?;
        Ok(if is_later { local.with_news(self.failure() + NEWS_AFTER, after) } else { local })
    }

    /// What came of a run.
    pub fn outcome(&self, simulation: &mut Simulation, flows: &[Flow]) -> Outcome {
        let mut outcome = Outcome {
            experiment: self.clone(),
            times_us: Default::default(),
            unfinished: [0; 2],
            given_up: 0,
            retransmissions: [0; 2],
            uplink_packets: Vec::new(),
            dropped: 0,
            fakes: [0; 3],
            reports: 0,
            slowdowns: Vec::new(),
        };
        let mut scenario = simulation.scenario.clone();
        let Parameters { counts_packets, fabric_rate, .. } = self.setting.parameters();
        let has_ideal = !counts_packets;
        if has_ideal {
            // A flow that is alone takes no slow link.
            scenario.channels.iter_mut().flatten().for_each(|channel| channel.bits_per_s = fabric_rate);
        }
        let mut ideal = IdealTimes::new(&scenario);
        for (index, flow) in flows.iter().enumerate() {
            let (class, plan, ports) =
                (usize::from(flow.is_large), &simulation.scenario.flows[index], simulation.flow_ports[index]);
            match finished(simulation, plan, ports) {
                Some(time) => {
                    let took = time.since(flow.start);
                    outcome.times_us[class].push(took.ns() / 1_000);
                    let least = ideal.of(plan).filter(|it| has_ideal && *it > Time::ZERO);
                    outcome.slowdowns.extend(least.map(|it| (flow.bytes, took.ns() * 1_000 / it.ns().max(1))));
                }
                None => outcome.unfinished[class] += 1,
            }
            let sender = sender(simulation, plan, ports.source, ports.destination);
            outcome.given_up += u64::from(sender.is_some_and(|sender| sender.failure.is_some()));
            outcome.retransmissions[class] += sender.map_or(0, retransmissions);
        }
        outcome.times_us.iter_mut().for_each(|times| times.sort_unstable());
        outcome.slowdowns.sort_unstable();
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

fn plan(flow: &Flow, end: Time, parameters: &Parameters, congestion: tcp::Congestion) -> FlowPlan {
    let config = tcp::Config {
        mss: 1_440,
        congestion,
        receive_buffer_bytes: parameters.window_bytes,
        min_rto: parameters.min_rto,
        min_rto_variance: parameters.min_rto,
        initial_rto: parameters.initial_rto,
        ..tcp::Config::default()
    };
    let traffic_class = if flow.is_large { 0x10 } else { 0x08 };
    let (bits_per_s, block_bytes) = parameters.application;
    let sending = Sending { traffic_class, bits_per_s, block_bytes };
    let kind = FlowKind::Tcp { bytes: Some(flow.bytes), config: Arc::new(config), sending };
    FlowPlan { from: flow.from, to: flow.to, is_v6: true, start: flow.start, end, kind }
}

/// Whether all flows are complete, or their sender has given up.
fn is_done(simulation: &Simulation, last_start: Time) -> bool {
    let mut flows = simulation.scenario.flows.iter().zip(&simulation.flow_ports);
    simulation.network.now() > last_start
        && flows.all(|(flow, ports)| {
            finished(simulation, flow, *ports).is_some()
                || sender(simulation, flow, ports.source, ports.destination).is_some_and(|it| it.failure.is_some())
        })
}

/// The segments that a flow has sent again.
fn sender<'s>(simulation: &'s Simulation, flow: &FlowPlan, source: u16, destination: u16) -> Option<&'s TcpEndpoint> {
    let to = simulation.scenario.topology.hosts[flow.to].addresses.iter().find(|it| it.ip.is_ipv6())?;
    let host = simulation.network.node::<Host>(simulation.hosts[flow.from])?;
    host.tcp_with(source, to.ip, destination)
}

fn retransmissions(sender: &TcpEndpoint) -> u64 {
    let counters = sender.statistics().map(|statistics| statistics.counters);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::Shape;

    const SCHEMES: [Scheme; 10] = [
        Scheme::Ecmp,
        Scheme::EcmpFlowlet,
        Scheme::LetFlow,
        Scheme::Conga,
        Scheme::Hula,
        Scheme::HulaPolled,
        Scheme::Drill,
        Scheme::P4te,
        Scheme::P4teReleased,
        Scheme::P4teQueue,
    ];

    /// A link between a spine and a leaf fails while flows are active: none stays where nothing arrives.
    #[test]
    fn no_scheme_loses_flows_to_a_link_that_fails() {
        let programs = Mutex::new(Programs::default());
        for scheme in [Scheme::LetFlow, Scheme::Conga, Scheme::Hula, Scheme::P4te] {
            let setting = Setting::Lines { gbps: 10, shape: Shape::LeafSpine, fault: Fault::FailingLink };
            let (workload, tuning) = (Workload::WebSearch, Tuning::default());
            let experiment =
                Experiment { scheme, workload, setting, load_percent: 10, flowlet_us: 50, seed: 1, tuning };
            let outcome = match experiment.run_for(Time::from_ms(3), &programs) {
                Err(message) if message.contains("flow-sizes") => return,
                outcome => outcome.expect("it can be run"),
            };
            assert_eq!(outcome.unfinished, [0, 0], "{scheme:?}");
        }
    }

    /// 12 s of flows with every scheme: all flows are complete, whatever the scheme does.
    #[test]
    fn all_schemes_carry_all_flows() {
        let programs = Mutex::new(Programs::default());
        let mut first: Option<Outcome> = None;
        for scheme in SCHEMES {
            let workload = Workload::WebSearch;
            let (setting, tuning) = (Setting::PaperDeep, Tuning::default());
            let experiment =
                Experiment { scheme, workload, setting, load_percent: 60, flowlet_us: 40_000, seed: 1, tuning };
            let outcome = match experiment.run_for(Time::from_s(12), &programs) {
                Err(message) if message.contains("flow-sizes") => return,
                outcome => outcome.expect("it can be run"),
            };
            assert_eq!(outcome.unfinished, [0, 0], "{scheme:?}");
            let counts = |outcome: &Outcome| [0, 1].map(|class| outcome.times_us[class].len());
            let first = first.get_or_insert_with(|| outcome.clone());
            assert_eq!(counts(first), counts(&outcome), "the flows are the same");
            assert!(outcome.uplink_packets.iter().flatten().all(|packets| *packets > 0), "all paths are used");
            let (faked, reported) = (outcome.fakes[0] + outcome.fakes[1] > 0, outcome.reports > 0);
            assert_eq!(
                (faked, reported),
                (matches!(scheme, Scheme::P4te | Scheme::P4teReleased), scheme.is_p4te()),
                "{scheme:?}: {outcome:?}"
            );
            // A seed gives the same again.
            if scheme == Scheme::P4te {
                assert_eq!(experiment.run_for(Time::from_s(12), &programs), Ok(outcome));
            }
        }
    }
}
