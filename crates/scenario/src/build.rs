//! From a scenario to a network that runs.

use crate::ScenarioFault;
use crate::controller::{self, Controlled, ControllerMaker, ControllerPlan};
use crate::resolve::{FlowKind, FlowPlan, IncastPlan, Scenario, SwitchKind, SwitchPlan};
use crate::samples::{Carried, Sample};
use crate::stations::Stations;
use crate::topology::routes::{Routes, SwitchRoutes};
use crate::topology::{Links, NodeRef, Topology, TopologySwitch};
use base::OrderedMap;
use core::net::IpAddr;
use sim::channel::ChannelCounters;
use sim::device::QueuePlace;
use sim::external::ExternalHost;
use sim::host::{Host, Incast, IncastFlow, Listener, Ping, TcpFlow, UdpFlow};
use sim::network::{Network, NetworkBuilder, NodeId, PortId};
use sim::router::{HostTable, Router, RouterConfig, RouterPort};
use sim::switch_node::SwitchNode;
use sim::time::Time;
use sim::wire::Mac;
use sim::wire::udp::Ports;
use std::cmp::Reverse;
use std::fmt;
use std::sync::Arc;
use switch::Switch;

/// The first port of receivers of datagrams, and of senders of any kind.
const PORT_FIRST: u16 = 10_000;
/// The first port of servers: one for each list of flows with the same settings.
const SERVER_PORT_FIRST: u16 = 5_001;

/// Flows whose bytes samples have.
const SAMPLED_FLOWS_MAX: usize = 64;

/// Makes the core of a switch that runs a program: of this name, with this plan.
pub type SwitchMaker<'a> = &'a mut dyn FnMut(&str, &SwitchPlan) -> Result<Switch, String>;

/// Why a run cannot reach its end: packets in flight need more memory than they may have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TooManyPackets {
    /// Before this time.
    pub time: Time,
    /// The channel with the longest queue.
    pub channel: String,
    /// The packets in its queue.
    pub packets: usize,
}

impl fmt::Display for TooManyPackets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "packets in flight need too much memory, before {:.6} s of the scenario: {} are queued for link {}; `queue_packets` \
             or `queue_bytes` limits a queue",
            self.time.seconds(),
            self.packets,
            self.channel
        )
    }
}

/// A scenario that runs.
pub struct Simulation {
    /// The network.
    pub network: Network,
    /// The scenario.
    pub scenario: Scenario,
    /// The hosts, in the order of the topology.
    pub hosts: Vec<NodeId>,
    /// The switches, in the order of the topology.
    pub switches: Vec<NodeId>,
    /// The controller.
    pub controller: Option<NodeId>,
    /// For each flow its ports, or the position of a ping among those of its host.
    pub flow_ports: Vec<Ports>,
    /// What the channels had counted at the end of the warm-up.
    pub before: Vec<ChannelCounters>,
    /// Counters over time.
    pub samples: Vec<Sample>,
    /// The flows that samples have: the first ones that carry bytes.
    pub sampled_flows: Vec<usize>,
    /// Bytes of datagrams that sinks had got at the end of the warm-up, when they begin anew.
    pub(super) datagram_bytes_before: u64,
}

impl Simulation {
    /// Builds the network, to be run by at most this many threads.
    pub fn new(scenario: Scenario, threads: usize, make_switch: SwitchMaker<'_>) -> Result<Simulation, ScenarioFault> {
        Simulation::with_controller(scenario, threads, make_switch, &mut controller::built_in)
    }

    /// The same with a controller of the caller in the place of the one that the scenario describes.
    pub fn with_controller(
        scenario: Scenario,
        threads: usize,
        make_switch: SwitchMaker<'_>,
        make_controller: ControllerMaker<'_>,
    ) -> Result<Simulation, ScenarioFault> {
        if let Some(switch) = scenario.unmeasured().first() {
            let name = &scenario.topology.switches[*switch].name;
            let message = format!(
                "switch {name}: only single runs of `wirespeed sim` measure a cost; sweeps and checks, whose runs have \
                 the same cost, need it written, as in cost = \"80ns\""
            );
            return Err(message.into());
        }
        let mut builder = NetworkBuilder::default();
        let topology = &scenario.topology;
        let hosts: Vec<NodeId> = topology.hosts.iter().map(|host| builder.add(&host.name)).collect();
        let switches: Vec<NodeId> = topology.switches.iter().map(|switch| builder.add(&switch.name)).collect();
        let cores = make_cores(&scenario, &mut *make_switch)?;
        link(&mut builder, &scenario, &hosts, &switches, &cores);
        let (made, flow_ports) = make_hosts(&scenario)?;
        for (index, (id, host)) in hosts.iter().zip(made).enumerate() {
            match scenario.external.contains(&index) {
                true => builder.place(*id, Box::new(ExternalHost::default())),
                false => builder.place(*id, Box::new(host)),
            }
        }
        let mut programs = make_switches(&mut builder, &scenario, &switches, cores, make_switch)?;
        let mut controller = None;
        if let Some(plan) = &scenario.controller {
            let controlled = controlled(&scenario, plan, &switches, &mut programs);
            controller = Some(controller::attach(&mut builder, plan, controlled, make_controller)?);
        }
        programs.into_iter().for_each(|(index, node)| builder.place(switches[index], Box::new(node)));
        let network = builder.build(scenario.seed, threads);
        let before = vec![ChannelCounters::default(); network.channels().len()];
        let carries =
            |(number, flow): &(usize, &FlowPlan)| scenario.runs(*number) && !matches!(flow.kind, FlowKind::Ping { .. });
        let sampled_flows = scenario.flows.iter().enumerate().filter(carries).map(|(index, _)| index);
        let sampled_flows = sampled_flows.take(SAMPLED_FLOWS_MAX).collect();
        let samples = Vec::new();
        let datagram_bytes_before = 0;
        Ok(Simulation {
            network,
            scenario,
            hosts,
            switches,
            controller,
            flow_ports,
            before,
            samples,
            sampled_flows,
            datagram_bytes_before,
        })
    }

    /// Runs until `end`, but not beyond the end of the scenario: warm-up, samples and all. Returns whether the scenario
    /// has ended.
    ///
    /// # Errors
    /// If packets need more memory than [`Network::limit_packets`] lets them have. It cannot run further.
    pub fn run_until(&mut self, end: Time) -> Result<bool, TooManyPackets> {
        let end = end.min(self.scenario.duration);
        while self.network.now() < end {
            let now = self.network.now();
            let next_sample = self.scenario.sample.map_or(Time::MAX, |interval| {
                let taken = self.samples.last().map_or(Time::ZERO, |sample| sample.time);
                taken + interval
            });
            let warmup = if now < self.scenario.warmup { self.scenario.warmup } else { Time::MAX };
            let stop = end.min(next_sample).min(warmup);
            self.network.run_until(stop);
            if self.network.is_exhausted() {
                return Err(self.too_many_packets());
            }
            if stop == warmup {
                self.begin_window();
            }
            if stop == next_sample {
                self.take_sample();
            }
        }
        Ok(self.network.now() >= self.scenario.duration)
    }

    /// What passes between the arrival of a packet's last bit at a node and the moment at which the node works on it:
    /// events have the time of the latter.
    pub fn ingress_latency(&self, node: NodeId) -> Time {
        let index = self.switches.iter().position(|it| *it == node);
        index.map_or(Time::ZERO, |index| self.scenario.switches[index].ingress_latency)
    }

    fn too_many_packets(&mut self) -> TooManyPackets {
        let channels = 0..self.network.channels().len();
        let (packets, channel) = channels
            .map(|channel| (self.network.backlog(channel).0, channel))
            .max_by_key(|(packets, channel)| (*packets, Reverse(*channel)))
            .unwrap_or_default();
        let channel = self.network.channels().get(channel).map(|channel| channel.name.clone()).unwrap_or_default();
        TooManyPackets { time: self.network.now(), channel, packets }
    }

    /// The incasts with their hosts' figures.
    pub fn incasts(&self) -> impl Iterator<Item = (&IncastPlan, &Incast)> {
        // A host has its incasts in the order of the scenario.
        let mut before = vec![0; self.hosts.len()];
        self.scenario.incasts.iter().filter_map(move |plan| {
            let host = self.network.node::<Host>(self.hosts[plan.to])?;
            before[plan.to] += 1;
            Some((plan, host.incasts().nth(before[plan.to] - 1)?))
        })
    }

    fn begin_window(&mut self) {
        let now = self.network.now();
        for host in &self.hosts {
            if let Some(host) = self.network.node_mut::<Host>(*host) {
                self.datagram_bytes_before += host.sinks().map(|sink| sink.bytes).sum::<u64>();
                host.begin_window(now);
            }
        }
        let channels = 0..self.network.channels().len();
        self.before = channels.map(|channel| self.network.counters(channel)).collect();
    }

    fn take_sample(&mut self) {
        let channels = (0..self.network.channels().len()).map(|channel| {
            let (packets, bytes) = self.backlog(channel);
            (self.network.counters(channel), packets, bytes)
        });
        let channels = channels.collect();
        let flows = self.sampled_flows.iter().map(|&flow| Carried::by_flow(self, flow)).collect();
        self.samples.push(Sample { time: self.network.now(), channels, flows, all: Carried::by_all(self) });
    }

    /// Packets and bytes in the queue of a channel, also in the traffic manager of a program before it.
    fn backlog(&mut self, channel: usize) -> (usize, u64) {
        let PortId { node, port } = self.network.channels()[channel].from;
        match self.network.node::<SwitchNode>(node) {
            Some(switch) if switch.queue_place() != QueuePlace::Behind => switch.backlog(port),
            _ => self.network.backlog(channel),
        }
    }
}

/// Puts routers in their places, and makes the switches that run programs.
fn make_switches(
    builder: &mut NetworkBuilder,
    scenario: &Scenario,
    switches: &[NodeId],
    cores: Vec<Option<Switch>>,
    make_switch: SwitchMaker<'_>,
) -> Result<OrderedMap<usize, SwitchNode>, ScenarioFault> {
    let topology = &scenario.topology;
    let updates = route_changes(scenario);
    let table = Arc::new(host_table(topology));
    let mut programs = OrderedMap::new();
    let (routes, links) = (Routes::shortest(topology).switches, Links::new(topology));
    for (index, ((plan, routes), core)) in scenario.switches.iter().zip(routes).zip(cores).enumerate() {
        let Some(core) = core else {
            let links = links.at(NodeRef::Switch(index));
            let router = Router::new(router(scenario, (index, links), routes, &updates, &table));
            builder.place(switches[index], Box::new(router));
            continue;
        };
        let name = &topology.switches[index].name;
        let refused = |error: String| refused(plan, name, &error);
        let ports = program_ports(scenario, links.at(NodeRef::Switch(index)));
        let mut node = SwitchNode::new(core, &ports, plan.ingress_latency, &plan.device).map_err(refused)?;
        for restart in &plan.restarts {
            node.add_restart(*restart, make_switch(name, &plan.after_restart()).map_err(refused)?);
        }
        programs.insert(index, node);
    }
    Ok(programs)
}

/// The switches of a controller, in the order of its plan.
fn controlled<'a>(
    scenario: &'a Scenario,
    plan: &ControllerPlan,
    switches: &[NodeId],
    programs: &'a mut OrderedMap<usize, SwitchNode>,
) -> Vec<Controlled<'a>> {
    let place = |index: usize| plan.switches.iter().position(|it| *it == index);
    let links = Links::new(&scenario.topology);
    let mut controlled: Vec<(usize, Controlled<'a>)> = programs
        .iter_mut()
        .filter_map(|(&index, node)| {
            let ports = program_ports(scenario, links.at(NodeRef::Switch(index)));
            let ports = ports.iter().map(|(number, _)| *number).collect();
            let name = &*scenario.topology.switches[index].name;
            Some((place(index)?, Controlled { id: switches[index], name, node, ports }))
        })
        .collect();
    controlled.sort_by_key(|(place, _)| *place);
    controlled.into_iter().map(|(_, it)| it).collect()
}

/// The cores of the switches that run a program.
fn make_cores(scenario: &Scenario, make_switch: SwitchMaker<'_>) -> Result<Vec<Option<Switch>>, ScenarioFault> {
    let make = |(plan, switch): (&SwitchPlan, &TopologySwitch)| match plan.kind {
        SwitchKind::Router => Ok(None),
        SwitchKind::Program { .. } => {
            make_switch(&switch.name, plan).map(Some).map_err(|error| refused(plan, &switch.name, &error))
        }
    };
    scenario.switches.iter().zip(&scenario.topology.switches).map(make).collect()
}

/// What is wrong with a switch, at the place where the scenario names its program, or the entries or commands that the
/// error is about.
fn refused(plan: &SwitchPlan, name: &str, error: &str) -> ScenarioFault {
    let of_commands = plan.command_places.iter().find(|(at, _)| error.starts_with(&format!("commands at {at}:")));
    let is_of_entries = match &plan.kind {
        SwitchKind::Program { entries, .. } => entries.iter().any(|file| error.contains(&**file)),
        SwitchKind::Router => false,
    };
    let place = match of_commands {
        Some((_, place)) => place,
        None if is_of_entries => &plan.entries_place,
        None => &plan.place,
    };
    ScenarioFault { place: place.clone(), message: format!("switch {name}: {error}") }
}

/// Joins the nodes. Channels behind queues of a program have none of their own.
fn link(
    builder: &mut NetworkBuilder,
    scenario: &Scenario,
    hosts: &[NodeId],
    switches: &[NodeId],
    cores: &[Option<Switch>],
) {
    let id = |node: NodeRef| match node {
        NodeRef::Host(index) => hosts[index],
        NodeRef::Switch(index) => switches[index],
    };
    for (link, channels) in scenario.topology.links.iter().zip(&scenario.channels) {
        let config = |end: usize| {
            let channel = channels[end].clone();
            let NodeRef::Switch(index) = link.ends[end].0 else { return channel };
            let core = cores[index].as_ref();
            let place = core.map_or(QueuePlace::Link, |core| scenario.switches[index].device.queue_place(core));
            place.channel(channel)
        };
        builder.link(id(link.ends[0].0), id(link.ends[1].0), [config(0), config(1)]);
    }
}

fn host_table(topology: &Topology) -> HostTable {
    let hosts = (0..).zip(&topology.hosts);
    let addresses = hosts.flat_map(|(number, host)| host.addresses.iter().map(move |it| (it.ip, number)));
    HostTable::new(&addresses.collect::<Vec<_>>())
}

/// The ports at these links of a switch with their numbers, each with its channel.
fn program_ports(scenario: &Scenario, links: &[(usize, usize)]) -> Vec<(u32, sim::channel::ChannelConfig)> {
    let number = |link: usize, end: usize| scenario.topology.links[link].ends[end].1;
    links.iter().map(|&(link, end)| (number(link, end), scenario.channels[link][end].clone())).collect()
}

/// The times at which links go down or up, and the routes of all switches from then on.
fn route_changes(scenario: &Scenario) -> Vec<(Time, Routes)> {
    if scenario.switches.iter().all(|plan| plan.reroute.is_none() || plan.kind != SwitchKind::Router) {
        return Vec::new();
    }
    let is_down =
        |link: usize, time: Time| scenario.channels[link].iter().flat_map(|it| &it.down).any(|it| it.contains(time));
    let change = |time: Time| {
        let down = (0..scenario.channels.len()).filter(|link| is_down(*link, time)).collect();
        (time, Routes::without(&scenario.topology, &down))
    };
    scenario.changes().into_iter().map(change).collect()
}

fn router(
    scenario: &Scenario,
    (switch, links): (usize, &[(usize, usize)]),
    routes: SwitchRoutes,
    changes: &[(Time, Routes)],
    hosts: &Arc<HostTable>,
) -> RouterConfig {
    let (topology, seed) = (&scenario.topology, scenario.seed);
    let reroute = scenario.switches[switch].reroute;
    let update = |(time, routes): &(Time, Routes)| {
        let SwitchRoutes { groups, hosts } = routes.switches[switch].clone();
        reroute.map(|delay| (*time + delay, groups, hosts))
    };
    let mac = |node: NodeRef, number: u32| match node {
        NodeRef::Host(index) => topology.hosts[index].mac,
        NodeRef::Switch(index) => Topology::port_mac(index, number),
    };
    let port = |&(link, end): &(usize, usize)| {
        let ends = topology.links[link].ends;
        let ((_, number), (peer, peer_number)) = (ends[end], ends[1 - end]);
        // It answers for the gateways of its hosts.
        let addresses = match peer {
            NodeRef::Host(index) => topology.hosts[index].gateways.clone(),
            NodeRef::Switch(_) => Vec::new(),
        };
        RouterPort { mac: own_mac(topology, switch, number, peer), peer: mac(peer, peer_number), addresses }
    };
    RouterConfig {
        ports: links.iter().map(port).collect(),
        hosts: Arc::clone(hosts),
        groups: routes.groups,
        routes: routes.hosts,
        updates: changes.iter().filter_map(update).collect(),
        hash_seed: sim::random::stream(seed, &format!("{} hash", topology.switches[switch].name)).next_u64(),
    }
}

/// The Ethernet address of a router's port: the one that its host knows already, if it knows one.
fn own_mac(topology: &Topology, switch: usize, number: u32, peer: NodeRef) -> Mac {
    let known = match peer {
        NodeRef::Host(index) => {
            let host = &topology.hosts[index];
            host.neighbours.iter().find(|(ip, _)| host.gateways.contains(ip)).map(|(_, mac)| *mac)
        }
        NodeRef::Switch(_) => None,
    };
    known.unwrap_or_else(|| Topology::port_mac(switch, number))
}

/// Numbers ports of hosts, from a first one on.
#[derive(Default)]
struct Numbers(OrderedMap<usize, u16>);

impl Numbers {
    fn next(&mut self, host: usize, topology: &Topology) -> Result<u16, String> {
        let next = self.0.entry(host).or_insert(PORT_FIRST);
        let port = *next;
        let name = &topology.hosts[host].name;
        *next = next.checked_add(1).ok_or_else(|| format!("host {name} has more flows than there are ports"))?;
        Ok(port)
    }
}

/// The ports on which hosts accept connections: one for each kind.
#[derive(Default)]
struct Servers(Vec<Listener>);

impl Servers {
    fn port(&mut self, listener: Listener) -> Result<u16, String> {
        let known = self.0.iter().position(|it| *it == listener);
        let index = known.unwrap_or_else(|| {
            self.0.push(listener);
            self.0.len() - 1
        });
        let port = u16::try_from(index).ok().filter(|index| *index < PORT_FIRST - SERVER_PORT_FIRST);
        Ok(port.ok_or("there are too many different settings of TCP flows")? + SERVER_PORT_FIRST)
    }
}

/// The hosts with their flows, and the ports of the flows.
fn make_hosts(scenario: &Scenario) -> Result<(Vec<Host>, Vec<Ports>), String> {
    let topology = &scenario.topology;
    let stations = Stations::new(topology);
    let mut hosts: Vec<Host> =
        (0..topology.hosts.len()).map(|index| Host::new(stations.config(scenario, index))).collect();
    let (mut sources, mut destinations) = (Numbers::default(), Numbers::default());
    let mut servers = Servers::default();
    let mut flow_ports = Vec::with_capacity(scenario.flows.len());
    for (number, flow) in scenario.flows.iter().enumerate() {
        let source = sources.next(flow.from, topology)?;
        let to = address(topology, flow.to, flow.is_v6)?;
        let destination = match &flow.kind {
            FlowKind::Udp { .. } => destinations.next(flow.to, topology)?,
            FlowKind::Tcp { config, .. } => servers.port(Listener { config: **config, exchange: None })?,
            FlowKind::Ping { .. } => 0,
        };
        let ports = Ports { source, destination };
        flow_ports.push(ports);
        if scenario.runs(number) {
            add_flow(&mut hosts, flow, to, ports, scenario.seed);
        }
    }
    for incast in &scenario.incasts {
        add_incast(&mut hosts, incast, topology, (&mut sources, &mut servers))?;
    }
    Ok((hosts, flow_ports))
}

fn add_incast(
    hosts: &mut [Host],
    incast: &IncastPlan,
    topology: &Topology,
    (sources, servers): (&mut Numbers, &mut Servers),
) -> Result<(), String> {
    let IncastPlan { exchange, rounds, pause, start, .. } = *incast;
    let listener = Listener { config: *incast.config, exchange: Some(exchange) };
    let destination = servers.port(listener)?;
    let mut to = Vec::new();
    for &worker in &incast.from {
        let source = sources.next(incast.to, topology)?;
        to.push((address(topology, worker, incast.is_v6)?, Ports { source, destination }));
        hosts[worker].listen(destination, listener);
    }
    hosts[incast.to].add_incast(&IncastFlow { to, exchange, rounds, pause, start, config: *incast.config });
    Ok(())
}

fn add_flow(hosts: &mut [Host], flow: &FlowPlan, to: IpAddr, ports: Ports, seed: u64) {
    let FlowPlan { start, end, .. } = *flow;
    match &flow.kind {
        FlowKind::Udp { arrivals, sizes, count, traffic_class } => {
            let (arrivals, sizes) = (arrivals.clone(), sizes.clone());
            let (count, traffic_class) = (*count, *traffic_class);
            hosts[flow.from].add_udp(UdpFlow { to, ports, arrivals, sizes, traffic_class, start, end, count }, seed);
            hosts[flow.to].add_sink(ports.destination);
        }
        FlowKind::Tcp { bytes, config, sending } => {
            let (bytes, sending) = (*bytes, *sending);
            hosts[flow.from].add_tcp(TcpFlow { to, ports, start, bytes, config: **config, sending });
            hosts[flow.to].listen(ports.destination, Listener { config: **config, exchange: None });
        }
        FlowKind::Ping { interval, count, bytes } => {
            let within = end.since(start).ps().div_ceil(interval.ps());
            let ping = Ping::new(to, ports.source, start, *interval, (*count).min(within), *bytes);
            hosts[flow.from].add_ping(ping);
        }
    }
}

fn address(topology: &Topology, host: usize, is_v6: bool) -> Result<IpAddr, String> {
    let host = &topology.hosts[host];
    let address = host.addresses.iter().find(|it| it.ip.is_ipv6() == is_v6).map(|it| it.ip);
    let version = if is_v6 { 6 } else { 4 };
    address.ok_or_else(|| format!("host {} has no address of IPv{version} for a flow", host.name))
}
