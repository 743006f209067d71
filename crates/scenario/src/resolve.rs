//! From the file to a scenario in which everything is decided.
//!
//! * `network`: hosts, switches and links. `switches`: what runs in each switch. `links`: the channels of links.

mod links;
mod network;
mod switches;

pub(crate) use switches::keys_of_programs;

use crate::controller::ControllerPlan;
use crate::cost::Unmeasured;
use crate::faults::{self, Fault};
use crate::flows::Resolver;
use crate::topology::{Links, Topology};
use base::OrderedSet;
use scenario_file::ScenarioFile;
use scenario_file::values::Span;
use scenario_file::{Place, ScenarioFault, Sources};
use sim::arrivals::{Arrivals, Sizes};
use sim::channel::{ChannelConfig, Interval};
use sim::device::Device;
use sim::host::{Exchange, Sending};
use sim::time::Time;
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;

/// The longest packet of hosts without an Ethernet header.
const MTU_DEFAULT: usize = 1_500;
/// Samples of a run: each has the counters of all channels.
const SAMPLES_MAX: u64 = 100_000;
/// Classes of flow sizes, as data-centre papers have them.
const SIZE_CLASSES_DEFAULT: [u64; 5] = [0, 10_000, 100_000, 1_000_000, 10_000_000];
const SIZE_CLASSES_MAX: usize = 64;
const MTU_RANGE: std::ops::RangeInclusive<usize> = 576..=9_216;

/// A scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What random numbers begin with.
    pub seed: u64,
    /// When it ends.
    pub duration: Time,
    /// What is before is not measured.
    pub warmup: Time,
    /// How often counters are read; `None` for only at the end.
    pub sample: Option<Time>,
    /// Hosts, switches, links.
    pub topology: Topology,
    /// Whether hosts resolve their neighbours' addresses.
    pub resolves: bool,
    /// The longest packet of hosts without an Ethernet header.
    pub mtu: usize,
    /// The hosts in whose places real programs are. Files do not name them: it depends on the machine.
    pub external: OrderedSet<usize>,
    /// For each switch what it is.
    pub switches: Vec<SwitchPlan>,
    /// For each link the channel from its first end to its second, and the one back.
    pub channels: Vec<[ChannelConfig; 2]>,
    /// Who answers packets and digests of switches.
    pub controller: Option<ControllerPlan>,
    /// Who sends what.
    pub flows: Vec<FlowPlan>,
    /// The flows that run; `None` for all.
    pub only_flows: Option<OrderedSet<usize>>,
    /// Random faults, which are in the channels and switches already.
    pub faults: Vec<Fault>,
    /// Incasts: requests of a host to many others.
    pub incasts: Vec<IncastPlan>,
    /// The first size of each class of flows, in bytes, from 0 on.
    pub size_classes: Vec<u64>,
}

impl Scenario {
    /// The times at which a link goes down or up, in order.
    pub fn changes(&self) -> Vec<Time> {
        let downs = self.channels.iter().flatten().flat_map(|channel| &channel.down);
        let mut times: Vec<Time> = downs.flat_map(|down| [down.start, down.end]).collect();
        times.sort_unstable();
        times.dedup();
        times
    }

    /// Makes the run end at this time, unless it ends before. What happens until then does not depend on it. A run that
    /// ends in its warm-up is measured from its begin on: nothing else is left of it.
    pub fn end_at(&mut self, end: Time) {
        self.duration = self.duration.min(end);
        if self.duration <= self.warmup {
            self.warmup = Time::ZERO;
        }
    }

    /// Whether the flow with this number runs.
    pub fn runs(&self, flow: usize) -> bool {
        self.only_flows.as_ref().is_none_or(|only| only.contains(&flow))
    }

    /// Puts real programs in the places of hosts. Flows that need the simulated host at one of their ends do not run:
    /// all but pings to it. Returns how many flows and incasts these are.
    pub fn make_external(&mut self, hosts: OrderedSet<usize>) -> usize {
        let is_left_out = |flow: &FlowPlan| {
            hosts.contains(&flow.from) || hosts.contains(&flow.to) && !matches!(flow.kind, FlowKind::Ping { .. })
        };
        let ran: Vec<usize> = (0..self.flows.len()).filter(|flow| self.runs(*flow)).collect();
        let runs: OrderedSet<usize> = ran.iter().copied().filter(|flow| !is_left_out(&self.flows[*flow])).collect();
        let incasts = self.incasts.len();
        self.incasts.retain(|incast| !hosts.contains(&incast.to) && !incast.from.iter().any(|it| hosts.contains(it)));
        let left_out = ran.len() - runs.len() + incasts - self.incasts.len();
        self.only_flows = Some(runs);
        self.external = hosts;
        left_out
    }
}

/// A switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchPlan {
    /// What runs in it.
    pub kind: SwitchKind,
    /// Where the scenario sets it.
    pub place: Place,
    /// Where it names its entries.
    pub entries_place: Place,
    /// Where commands are, by the times at which they take effect.
    pub command_places: Vec<(Time, Place)>,
    /// From the last bit of a packet to the moment at which the program sees it.
    pub ingress_latency: Time,
    /// From the queues to the first bit on the line.
    pub egress_latency: Time,
    /// The rest of its timing, if a program runs in it.
    pub device: Device,
    /// Whether its cost is to be measured before the run.
    pub unmeasured: Option<Unmeasured>,
    /// How long after a link has gone down or up a router takes other routes; `None` for never.
    pub reroute: Option<Time>,
    /// When it restarts: it is down, and has lost its registers, counters and packets afterwards.
    pub restarts: Vec<Interval>,
    /// Whether it still has its tables after a restart.
    pub keeps_tables: bool,
}

impl SwitchPlan {
    /// What it is after a restart.
    pub fn after_restart(&self) -> SwitchPlan {
        let mut plan = self.clone();
        if let SwitchKind::Program { entries, .. } = &mut plan.kind
            && !self.keeps_tables
        {
            entries.clear();
        }
        plan
    }
}

/// What runs in a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SwitchKind {
    /// A router along shortest paths.
    Router,
    /// A program.
    Program {
        /// Its file.
        program: String,
        /// Files of its entries.
        entries: Vec<String>,
        /// Whether the interpreter runs it.
        is_interpreted: bool,
    },
}

/// A flow between two hosts.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// Who sends.
    pub from: usize,
    /// Who receives.
    pub to: usize,
    /// Over IPv6.
    pub is_v6: bool,
    /// From when on.
    pub start: Time,
    /// Before when.
    pub end: Time,
    /// What.
    pub kind: FlowKind,
}

impl FlowPlan {
    /// Whether it is a flow over TCP that has no end.
    pub fn is_endless(&self) -> bool {
        matches!(self.kind, FlowKind::Tcp { bytes: None, .. })
    }
}

/// What a flow is.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields are those of the hosts' flows")]
pub enum FlowKind {
    /// Datagrams.
    Udp { arrivals: Arrivals, sizes: Sizes, count: u64, traffic_class: u8 },
    /// A connection.
    Tcp { bytes: Option<u64>, config: Arc<tcp::Config>, sending: Sending },
    /// Echo requests.
    Ping { interval: Time, count: u64, bytes: usize },
}

impl FlowKind {
    /// The kind for results; of TCP also the congestion control.
    pub fn label(&self) -> &'static str {
        match self {
            FlowKind::Udp { .. } => "udp",
            FlowKind::Tcp { config, .. } => config.congestion.name(),
            FlowKind::Ping { .. } => "ping",
        }
    }
}

/// A host that sends requests to many others, round by round.
#[derive(Clone, Debug)]
pub struct IncastPlan {
    /// The hosts that get requests.
    pub from: Vec<usize>,
    /// The host that sends the requests and receives the answers.
    pub to: usize,
    /// Over IPv6.
    pub is_v6: bool,
    /// Requests and answers.
    pub exchange: Exchange,
    /// How often.
    pub rounds: u64,
    /// Between two rounds.
    pub pause: Time,
    /// When the first begins.
    pub start: Time,
    /// The settings of the connections.
    pub config: Arc<tcp::Config>,
}

/// Reads a file that a scenario names: its bytes, or why it cannot be read.
pub type ReadFile<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;

/// Reads a file that has text.
pub(super) fn read_text(read: ReadFile<'_>, name: &str) -> Result<String, String> {
    String::from_utf8(read(name)?).map_err(|_| format!("{name} is not UTF-8"))
}

impl Scenario {
    /// Reads a scenario with the values that the caller sets; all faults.
    pub fn read(text: &str, sets: &[String], read_file: ReadFile<'_>) -> Result<Scenario, Vec<ScenarioFault>> {
        let sources = Sources::new(text, sets);
        let file = scenario_file::read(&sources).map_err(|fault| vec![fault])?;
        let topology = network::topology(&sources, &file.topology, read_file)?;
        let mut draft = Draft { sources: &sources, topology: &topology, faults: Vec::new() };
        let times = draft.times(&file);
        let mut switches = draft.switches(&file);
        draft.commands(&file, &mut switches);
        let mut controller = draft.controller(file.controller.as_ref(), &switches);
        let mut channels = draft.channels(&file, &switches);
        let size_classes = draft.size_classes(&file);
        let mtu = draft.mtu(&file);
        let seed = file.seed.unwrap_or(1);
        let mut faults = draft.faults;
        let period = (times.warmup, times.duration);
        let random = faults::draw(&sources, file.faults.as_ref(), &topology, controller.is_some(), (seed, period));
        let random = random.unwrap_or_else(|fault| {
            faults.push(fault);
            Vec::new()
        });
        let tables = file.faults.as_ref().and_then(|it| it.get_ref().tables);
        faults::apply(&random, tables, &topology, &mut switches, &mut channels);
        controller.iter_mut().for_each(|controller| faults::pause(&random, &mut controller.pauses));
        let mut resolver = Resolver {
            sources: &sources,
            topology: &topology,
            links: Links::new(&topology),
            channels: &channels,
            seed,
            duration: times.duration,
            mtu,
            receive_window: file.hosts.receive_window.clone(),
            read: read_file,
            faults,
        };
        let (flows, incasts) = resolver.all(&file);
        let mut faults = resolver.faults;
        let known = |flow: &&usize| **flow < flows.len();
        if let Some((only, flow)) =
            file.only_flows.as_ref().and_then(|only| Some((only, only.get_ref().iter().find(|flow| !known(flow))?)))
        {
            let message = format!("there is no flow {flow}: the scenario has {}, numbered from 0", flows.len());
            faults.push(sources.fault(Some(only.span()), message));
        }
        if !faults.is_empty() {
            faults.sort_by(|a, b| a.place.cmp(&b.place));
            return Err(faults);
        }
        let Times { duration, warmup, sample } = times;
        let scenario = Scenario {
            seed,
            duration,
            warmup,
            sample,
            topology,
            resolves: file.hosts.resolve.unwrap_or(true),
            mtu,
            external: OrderedSet::new(),
            switches,
            channels,
            controller,
            flows,
            only_flows: file.only_flows.map(|only| only.into_inner().into_iter().collect()),
            faults: random,
            incasts,
            size_classes,
        };
        let span = file.faults.as_ref().map_or(file.topology.span(), Spanned::span);
        scenario.bounded().map_err(|message| vec![sources.fault(Some(span), message)])
    }

    /// The scenario, if its routes fit into memory.
    fn bounded(self) -> Result<Scenario, String> {
        let (routes, most) = (self.routes(), network::ROUTES_MAX);
        if routes <= most {
            return Ok(self);
        }
        let changes = self.changes().len();
        Err(format!(
            "links go down or up at {changes} times, and routers take other routes each time: that are {routes} routes, and \
             there are at most {most}"
        ))
    }

    /// Routes of all routers to all hosts, and again for each time at which they take others.
    fn routes(&self) -> usize {
        let is_rerouted = self.switches.iter().any(|it| it.reroute.is_some() && it.kind == SwitchKind::Router);
        let times = 1 + if is_rerouted { self.changes().len() } else { 0 };
        times.saturating_mul(self.topology.hosts.len()).saturating_mul(self.topology.switches.len())
    }
}

struct Times {
    duration: Time,
    warmup: Time,
    sample: Option<Time>,
}

pub(super) struct Draft<'a> {
    sources: &'a Sources,
    pub(super) topology: &'a Topology,
    faults: Vec<ScenarioFault>,
}

impl Draft<'_> {
    fn fault(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.faults.push(self.sources.fault(Some(span), message));
    }

    /// The same for what is read once for each switch.
    pub(super) fn fault_once(&mut self, span: Range<usize>, message: impl Into<String>) {
        let fault = self.sources.fault(Some(span), message);
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    pub(super) fn place(&self, span: Range<usize>) -> Place {
        self.sources.place(Some(span))
    }

    fn times(&mut self, file: &ScenarioFile) -> Times {
        let duration = file.duration.get_ref().0;
        if duration == Time::ZERO {
            self.fault(file.duration.span(), "a run has a duration above 0");
        }
        let warmup = file.warmup.as_ref().map_or(Time::ZERO, |it| it.get_ref().0);
        if let Some(at) = file.warmup.as_ref().filter(|_| warmup >= duration) {
            self.fault(at.span(), format!("the warm-up ends before the run does, which takes {duration}"));
        }
        let sample = file.sample.as_ref().map(|it| it.get_ref().0);
        if let Some(at) = file.sample.as_ref().filter(|it| it.get_ref().0 == Time::ZERO) {
            self.fault(at.span(), "samples are taken at intervals above 0");
        } else if let Some(at) = file.sample.as_ref().filter(|it| duration.ps() / it.get_ref().0.ps() > SAMPLES_MAX) {
            self.fault(at.span(), format!("these are more than {SAMPLES_MAX} samples"));
        }
        Times { duration, warmup, sample }
    }

    fn mtu(&mut self, file: &ScenarioFile) -> usize {
        let mtu = file.hosts.mtu.as_ref().map_or(MTU_DEFAULT, |it| *it.get_ref());
        if let Some(at) = file.hosts.mtu.as_ref().filter(|_| !MTU_RANGE.contains(&mtu)) {
            self.fault(at.span(), format!("the MTU of hosts is from {} to {}", MTU_RANGE.start(), MTU_RANGE.end()));
            return MTU_DEFAULT;
        }
        mtu
    }

    fn size_classes(&mut self, file: &ScenarioFile) -> Vec<u64> {
        let Some(given) = &file.size_classes else { return SIZE_CLASSES_DEFAULT.to_vec() };
        let classes: Vec<u64> = std::iter::once(0).chain(given.get_ref().iter().copied()).collect();
        if !classes.is_sorted_by(|a, b| a < b) || classes.len() > SIZE_CLASSES_MAX {
            let message = "classes of sizes are where one ends and the next begins: rising numbers of bytes above 0, \
                           at most 63, as in [10_000, 100_000]";
            self.fault(given.span(), message);
        }
        classes
    }

    /// Intervals in order.
    pub(super) fn intervals(&mut self, written: &Spanned<Vec<[Span; 2]>>) -> Vec<Interval> {
        let intervals = written.get_ref().iter().map(|[start, end]| Interval { start: start.0, end: end.0 });
        let intervals: Vec<Interval> = intervals.collect();
        let is_in_order = intervals.iter().all(|it| it.start < it.end)
            && intervals.windows(2).all(|pair| pair[0].end <= pair[1].start);
        if !is_in_order {
            let message =
                "the intervals in which something is down have an end after their start, and follow each other";
            self.fault_once(written.span(), message);
        }
        intervals
    }
}
