//! What was measured, as text: tables as CSV, a summary as JSON.
//!
//! Nothing in them depends on the machine or the time of the run. Times are in nanoseconds with their picoseconds as
//! decimals.

use crate::build::Simulation;
use crate::completion;
use crate::device_results;
use crate::drops;
use crate::faults::Faulty;
use crate::ideal::IdealTimes;
use crate::report;
use crate::resolve::{FlowKind, FlowPlan, Scenario};
use crate::samples;
use crate::topology::NodeRef;
use core::net::IpAddr;
use serde_json::{Value, json};
use sim::channel::{ChannelCounters, ChannelDrop, Interval};
use sim::controller::ControllerNode;
use sim::host::{Host, TcpEndpoint};
use sim::statistics::Delays;
use sim::time::Time;
use sim::wire::udp::Ports;
use std::fmt::Write as _;

/// A file of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultFile {
    /// Its name.
    pub name: String,
    /// Its content.
    pub text: String,
}

fn file(name: &str, text: String) -> ResultFile {
    ResultFile { name: name.to_owned(), text }
}

/// The files that only some runs have, of all those that `wirespeed sim` writes but captures.
pub const OF_SOME_RUNS: [&str; 13] = [
    "faults.csv",
    "controllers.csv",
    "queues.csv",
    "completion.csv",
    "incasts.csv",
    "samples.csv",
    "flow_samples.csv",
    "queues.svg",
    "utilisation.svg",
    "goodput.svg",
    "completion.svg",
    "taps.csv",
    "trace.txt",
];

/// All files of a run, but the page of [`report::page`].
pub fn files(simulation: &Simulation) -> Vec<ResultFile> {
    let mut files = vec![
        file("flows.csv", flows(simulation)),
        file("channels.csv", channels(simulation)),
        file("hosts.csv", hosts(simulation)),
        file("switches.csv", device_results::switches(simulation)),
        file("drops.csv", drops::table(simulation)),
    ];
    if let Some(text) = faults(simulation) {
        files.push(file("faults.csv", text));
    }
    files.extend(controller(simulation).map(|text| file("controllers.csv", text)));
    files.extend(device_results::queues(simulation).map(|text| file("queues.csv", text)));
    if let Some(text) = completion::table(simulation) {
        files.push(file("completion.csv", text));
    }
    if !simulation.scenario.incasts.is_empty() {
        files.push(file("incasts.csv", incasts(simulation)));
    }
    if simulation.scenario.sample.is_some() {
        files.push(file("samples.csv", samples::channels(simulation)));
        files.push(file("flow_samples.csv", samples::flows(simulation)));
    }
    files.extend(report::pictures(simulation));
    // The last: where it is, the others are.
    files.push(file("summary.json", format!("{:#}\n", summary(simulation))));
    files
}

/// Nanoseconds, exactly.
pub(super) fn ns(time: Time) -> String {
    let (whole, rest) = (time.ps() / 1_000, time.ps() % 1_000);
    if rest == 0 { whole.to_string() } else { format!("{whole}.{rest:03}") }
}

fn optional_ns(time: Option<Time>) -> String {
    time.map(ns).unwrap_or_default()
}

/// The measured time.
pub(super) fn window(simulation: &Simulation) -> Time {
    simulation.scenario.duration.since(simulation.scenario.warmup)
}

/// A flow's figures. What its kind does not have stays empty.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowFigures {
    pub(super) bytes: Option<u64>,
    /// Bytes that the receiver's application got in the measured window.
    pub(super) window_bytes: Option<u64>,
    pub(super) completion: Option<Time>,
    pub(super) goodput_bits_per_s: Option<f64>,
    pub(super) sent: Option<u64>,
    pub(super) received: Option<u64>,
    /// Sent in the measured window, and not there at its end.
    pub(super) missing: Option<u64>,
    pub(super) duplicates: Option<u64>,
    pub(super) late: Option<u64>,
    pub(super) delays: Delays,
    pub(super) jitter: Option<Time>,
    pub(super) retransmitted_bytes: Option<u64>,
    pub(super) timeouts: Option<u64>,
    pub(super) state: &'static str,
}

fn flows(simulation: &Simulation) -> String {
    let mut text = String::from(
        "flow,kind,from,to,start_ns,state,bytes,completion_ns,goodput_bits_per_s,sent,received,missing,duplicates,late,\
         delay_mean_ns,delay_median_ns,delay_p99_ns,delay_max_ns,jitter_ns,retransmitted_bytes,timeouts,\
         size_bytes,ideal_ns,slowdown\n",
    );
    let hosts = &simulation.scenario.topology.hosts;
    let mut ideal = IdealTimes::new(&simulation.scenario);
    for (number, (flow, ports)) in simulation.scenario.flows.iter().zip(&simulation.flow_ports).enumerate() {
        if !simulation.scenario.runs(number) {
            continue;
        }
        let (kind, figures) = flow_figures(simulation, flow, *ports);
        let show = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
        let _ = write!(text, "{number},{kind},{},{},", hosts[flow.from].name, hosts[flow.to].name);
        let _ = write!(text, "{},{},{},", ns(flow.start), figures.state, show(figures.bytes));
        let goodput = figures.goodput_bits_per_s.map(|it| format!("{it:.0}")).unwrap_or_default();
        let _ = write!(text, "{},{goodput},", optional_ns(figures.completion));
        for value in [figures.sent, figures.received, figures.missing, figures.duplicates, figures.late] {
            let _ = write!(text, "{},", show(value));
        }
        let delays = &figures.delays;
        for delay in [delays.mean(), delays.quantile(0.5), delays.quantile(0.99), delays.greatest(), figures.jitter] {
            let _ = write!(text, "{},", optional_ns(delay));
        }
        let _ = write!(text, "{},{},", show(figures.retransmitted_bytes), show(figures.timeouts));
        let ideal = ideal.of(flow);
        let slowdown = figures.completion.zip(ideal).and_then(|(took, ideal)| completion::slowdown(took, ideal));
        let slowdown = slowdown.map(|it| format!("{it:.6}")).unwrap_or_default();
        let _ = writeln!(text, "{},{},{slowdown}", show(size(flow)), optional_ns(ideal));
    }
    text
}

/// The bytes of a flow over TCP that ends.
fn size(flow: &FlowPlan) -> Option<u64> {
    match flow.kind {
        FlowKind::Tcp { bytes, .. } => bytes,
        _ => None,
    }
}

pub(super) fn flow_figures(simulation: &Simulation, flow: &FlowPlan, ports: Ports) -> (&'static str, FlowFigures) {
    let host = |index: usize| simulation.network.node::<Host>(simulation.hosts[index]);
    let ends = host(flow.from).zip(host(flow.to));
    let (kind, figures) = match &flow.kind {
        FlowKind::Udp { .. } => ("udp", ends.and_then(|(from, to)| udp_figures(simulation, from, to, ports))),
        FlowKind::Tcp { bytes, .. } => {
            ("tcp", ends.and_then(|(from, to)| tcp_figures(simulation, from, to, *bytes, flow, ports)))
        }
        // What is pinged may be outside of the simulation.
        FlowKind::Ping { .. } => ("ping", host(flow.from).and_then(|from| ping_figures(from, ports))),
    };
    (kind, figures.unwrap_or_default())
}

fn ping_figures(from: &Host, ports: Ports) -> Option<FlowFigures> {
    let ping = from.pings().find(|ping| ping.identifier() == ports.source)?;
    Some(FlowFigures {
        sent: Some(ping.sent),
        received: Some(ping.received),
        delays: ping.delays.clone(),
        ..FlowFigures::default()
    })
}

fn rate(bytes: u64, time: Time) -> Option<f64> {
    (time > Time::ZERO).then(|| bytes as f64 * 8.0 / time.seconds())
}

fn udp_figures(simulation: &Simulation, from: &Host, to: &Host, ports: Ports) -> Option<FlowFigures> {
    let generator = from.udp().find(|generator| generator.flow().ports == ports)?;
    let sink = to.sink(ports.destination)?;
    Some(FlowFigures {
        bytes: Some(sink.bytes),
        window_bytes: Some(sink.bytes),
        goodput_bits_per_s: rate(sink.bytes, window(simulation)),
        sent: Some(generator.sent),
        received: Some(sink.received),
        missing: Some(generator.sent.saturating_sub(sink.received)),
        duplicates: Some(sink.duplicates),
        late: Some(sink.late),
        delays: sink.delays.clone(),
        jitter: Some(sink.jitter),
        ..FlowFigures::default()
    })
}

fn address(host: &Host, flow: &FlowPlan) -> Option<IpAddr> {
    host.config().addresses.iter().find(|it| it.ip.is_ipv6() == flow.is_v6).map(|it| it.ip)
}

/// The sending end of a flow over TCP.
fn client_of<'a>(from: &'a Host, to: &Host, flow: &FlowPlan, ports: Ports) -> Option<&'a TcpEndpoint> {
    from.tcp_with(ports.source, address(to, flow)?, ports.destination)
}

/// The same in a run.
pub(super) fn sender_of<'a>(simulation: &'a Simulation, flow: &FlowPlan, ports: Ports) -> Option<&'a TcpEndpoint> {
    let host = |index: usize| simulation.network.node::<Host>(simulation.hosts[index]);
    client_of(host(flow.from)?, host(flow.to)?, flow, ports)
}

/// The receiving end of a flow over TCP, once there is one.
fn server_of<'a>(from: &Host, to: &'a Host, flow: &FlowPlan, ports: Ports) -> Option<&'a TcpEndpoint> {
    to.tcp_with(ports.destination, address(from, flow)?, ports.source)
}

/// The bytes that the receiver's application has got of a flow until now; of datagrams since the warm-up ended.
pub(super) fn receiver_bytes(simulation: &Simulation, flow: usize) -> u64 {
    let (flow, ports) = (&simulation.scenario.flows[flow], simulation.flow_ports[flow]);
    let host = |index: usize| simulation.network.node::<Host>(simulation.hosts[index]);
    let (Some(from), Some(to)) = (host(flow.from), host(flow.to)) else { return 0 };
    match flow.kind {
        FlowKind::Tcp { .. } => server_of(from, to, flow, ports).map_or(0, |server| server.received_bytes),
        _ => to.sink(ports.destination).map_or(0, |sink| sink.bytes),
    }
}

/// When the last byte of a flow over TCP had arrived.
pub fn finished(simulation: &Simulation, flow: &FlowPlan, ports: Ports) -> Option<Time> {
    let host = |index: usize| simulation.network.node::<Host>(simulation.hosts[index]);
    server_of(host(flow.from)?, host(flow.to)?, flow, ports)?.finished
}

fn tcp_figures(
    simulation: &Simulation,
    from: &Host,
    to: &Host,
    bytes: Option<u64>,
    flow: &FlowPlan,
    ports: Ports,
) -> Option<FlowFigures> {
    let client = client_of(from, to, flow, ports)?;
    let server = server_of(from, to, flow, ports);
    let counters = client.statistics().map(|statistics| statistics.counters);
    let received = server.map_or(0, |server| server.received_bytes - server.received_before);
    let completion = server.and_then(|server| server.finished).map(|finished| finished.since(flow.start));
    let goodput = match (completion, bytes) {
        (Some(completion), Some(bytes)) => rate(bytes, completion),
        _ => rate(received, window(simulation)),
    };
    Some(FlowFigures {
        state: state(client, completion.is_some(), simulation.network.now()),
        bytes: Some(server.map_or(0, |server| server.received_bytes)),
        window_bytes: Some(received),
        completion,
        goodput_bits_per_s: goodput,
        retransmitted_bytes: counters.map(|counters| counters.retransmitted_bytes),
        timeouts: counters.map(|counters| counters.timeouts),
        ..FlowFigures::default()
    })
}

fn state(client: &TcpEndpoint, is_complete: bool, now: Time) -> &'static str {
    match (client.failure, client.established) {
        (Some(tcp::Event::Reset), _) => "reset",
        (Some(_), _) => "timed out",
        (None, _) if is_complete => "complete",
        (None, Some(_)) => "running",
        (None, None) if client.start() >= now => "not started",
        (None, None) => "opening",
    }
}

/// Incasts by their receivers: how long rounds took that began in the measured window.
fn incasts(simulation: &Simulation) -> String {
    let mut text = String::from("incast,to,senders,answer_bytes,begun,complete,mean_ns");
    completion::PARTS.iter().for_each(|(name, _)| text += &format!(",{name}_ns"));
    text += ",max_ns\n";
    for (number, (plan, incast)) in simulation.incasts().enumerate() {
        let name = &simulation.scenario.topology.hosts[plan.to].name;
        let _ = write!(text, "{number},{name},{},{},", plan.from.len(), plan.exchange.answer_bytes);
        let _ = write!(text, "{},{},{}", incast.begun, incast.times.count(), optional_ns(incast.times.mean()));
        for (_, part) in completion::PARTS {
            let _ = write!(text, ",{}", optional_ns(incast.times.quantile(part)));
        }
        let _ = writeln!(text, ",{}", optional_ns(incast.times.greatest()));
    }
    text
}

fn channels(simulation: &Simulation) -> String {
    let mut text = String::from(
        "channel,packets,bytes,utilisation,queue_mean_packets,queue_mean_bytes,queue_max_packets,queue_max_bytes,marked,\
         corrupted,duplicated,reordered",
    );
    ChannelDrop::ALL.iter().for_each(|reason| text += &format!(",dropped_{}", reason.name()));
    text.push('\n');
    let window_ps = window(simulation).ps() as f64;
    for (index, channel) in simulation.network.channels().iter().enumerate() {
        let counters = simulation.network.counters(index).since(&simulation.before[index]);
        let part = |sum: u128| sum as f64 / window_ps;
        let is_limited = simulation.network.transmitter(index).config().bits_per_s > 0;
        let utilisation = if is_limited { format!("{:.6}", part(counters.busy_ps)) } else { String::new() };
        let _ = write!(text, "{},{},{},{utilisation},", channel.name, counters.packets, counters.bytes);
        let _ = write!(text, "{:.6},{:.3},", part(counters.queueing_ps), part(counters.queueing_byte_ps));
        let _ = write!(text, "{},{},", counters.queue_packets_max, counters.queue_bytes_max);
        let ChannelCounters { marked, corrupted, duplicated, reordered, .. } = counters;
        let _ = write!(text, "{marked},{corrupted},{duplicated},{reordered}");
        counters.drops.iter().for_each(|count| text += &format!(",{count}"));
        text.push('\n');
    }
    text
}

fn hosts(simulation: &Simulation) -> String {
    let mut text = String::from(
        "host,received,sent,malformed,wrong_checksum,fragments,incomplete,for_others,unknown_protocol,no_listener,errors,unreachable\n",
    );
    for id in &simulation.hosts {
        let Some(host) = simulation.network.node::<Host>(*id) else { continue };
        let it = host.counters();
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{},{},{}",
            host.config().name,
            it.received,
            it.sent,
            it.malformed,
            it.wrong_checksum,
            it.fragments,
            it.incomplete,
            it.for_others,
            it.unknown_protocol,
            it.no_listener,
            it.errors,
            it.unreachable
        );
    }
    text
}

/// What the controller has counted, if there is one.
fn controller(simulation: &Simulation) -> Option<String> {
    let it = simulation.network.node::<ControllerNode>(simulation.controller?)?.counters();
    let mut text = String::from("controller,packets_in,packets_out,digests,idle_entries,updates,updates_refused,");
    text += "reads,entities_read,wait_mean_ns,wait_max_ns\n";
    let mean_ns = it.waited_ps as f64 / 1e3 / it.events.max(1) as f64;
    let _ = write!(text, "controller,{},{},{},{},", it.packets_in, it.packets_out, it.digests, it.idle_entries);
    let _ = write!(text, "{},{},", it.updates, it.updates_refused);
    let _ = writeln!(text, "{},{},{mean_ns:.3},{}", it.reads, it.entities_read, ns(it.wait_max));
    Some(text)
}

/// What fails, if something does: random faults have numbers.
fn faults(simulation: &Simulation) -> Option<String> {
    let Scenario { topology, faults, switches, channels, .. } = &simulation.scenario;
    let mut lines = Vec::new();
    for fault in faults {
        lines.push((fault.at, Some(fault.number), fault.what.names(topology)));
    }
    let is_random = |what: Faulty, at: &Interval| faults.iter().any(|fault| fault.what == what && fault.at == *at);
    for (number, plan) in switches.iter().enumerate() {
        let what = Faulty::Switch(number);
        let given = plan.restarts.iter().filter(|at| !is_random(what, at));
        lines.extend(given.map(|at| (*at, None, what.names(topology))));
    }
    let pauses = simulation.scenario.controller.iter().flat_map(|controller| &controller.pauses);
    let given = pauses.filter(|at| !is_random(Faulty::Controller, at));
    lines.extend(given.map(|at| (*at, None, Faulty::Controller.names(topology))));
    for (index, channel) in simulation.network.channels().iter().enumerate() {
        let restarts = |at: &Interval| {
            let ends = topology.links[index / 2].ends.map(|(end, _)| end);
            ends.into_iter().any(|end| matches!(end, NodeRef::Switch(it) if switches[it].restarts.contains(at)))
        };
        let downs = channels[index / 2][index % 2].down.iter();
        let given = downs.filter(|at| !is_random(Faulty::Link(index / 2), at) && !restarts(at));
        lines.extend(given.map(|at| (*at, None, ("direction", channel.name.clone()))));
    }
    lines.sort();
    let mut text = String::from("start_ns,end_ns,kind,name,random\n");
    for (at, number, (kind, name)) in &lines {
        let number = number.map(|number| number.to_string()).unwrap_or_default();
        let _ = writeln!(text, "{},{},{kind},{name},{number}", ns(at.start), ns(at.end));
    }
    (!lines.is_empty()).then_some(text)
}

/// The run in a few numbers.
pub fn summary(simulation: &Simulation) -> Value {
    let scenario = &simulation.scenario;
    let counters = |index: usize| simulation.network.counters(index).since(&simulation.before[index]);
    let all: Vec<ChannelCounters> = (0..simulation.network.channels().len()).map(counters).collect();
    let drops: serde_json::Map<String, Value> = ChannelDrop::ALL
        .iter()
        .map(|reason| {
            let count: u64 = all.iter().map(|counters| counters.drops[*reason as usize]).sum();
            (reason.name().to_owned(), json!(count))
        })
        .collect();
    json!({
        "seed": scenario.seed,
        "duration_ns": ns(scenario.duration),
        "warmup_ns": ns(scenario.warmup),
        "hosts": scenario.topology.hosts.len(),
        "switches": scenario.topology.switches.len(),
        "links": scenario.topology.links.len(),
        "flows": scenario.flows.len(),
        "events": simulation.network.events(),
        "packet_hops": all.iter().map(|counters| counters.packets).sum::<u64>(),
        "bytes": all.iter().map(|counters| counters.bytes).sum::<u64>(),
        "marked": all.iter().map(|counters| counters.marked).sum::<u64>(),
        "dropped_by_channels": drops,
    })
}
