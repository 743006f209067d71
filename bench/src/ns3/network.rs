//! A scenario as the peer reads it: `bench/peers/ns3/input.h` describes the lines.

use ::scenario::topology::routes::Routes;
use ::scenario::topology::{NodeRef, Topology};
use ::scenario::{FlowKind, FlowPlan, Scenario, Simulation, SwitchKind};
use ::sim::wire::udp::Ports;
use std::fmt::Write as _;
use std::net::IpAddr;

/// The Ethernet header, which the lengths of packets here have and overheads do not.
const ETHERNET_BYTES: u32 = 14;
/// The bytes that time stamps take of each segment; the peer does not count them.
const TIMESTAMP_BYTES: u16 = 12;

/// The lines, or what of the scenario the peer lacks. The network must not have run.
pub fn lines(simulation: &Simulation, is_traced: bool) -> Result<String, String> {
    let scenario = &simulation.scenario;
    refuse(scenario)?;
    let topology = &scenario.topology;
    let mut text = String::new();
    let traced = u8::from(is_traced);
    line(&mut text, format_args!("run {} {} {traced}", scenario.duration.ps(), scenario.warmup.ps()));
    for host in 0..topology.hosts.len() {
        line(&mut text, format_args!("host {}", address(topology, host)?));
    }
    for switch in &topology.switches {
        let seed = ::sim::random::stream(scenario.seed, &format!("{} hash", switch.name)).next_u64();
        line(&mut text, format_args!("switch {seed}"));
    }
    links(scenario, &mut text);
    for (switch, routes) in Routes::shortest(topology).switches.iter().enumerate() {
        for (host, &group) in routes.hosts.iter().enumerate() {
            let ports: Vec<String> = routes.groups[group as usize].iter().map(ToString::to_string).collect();
            line(&mut text, format_args!("route {} {host} {}", topology.hosts.len() + switch, ports.join(" ")));
        }
    }
    scenario.flows.iter().zip(&simulation.flow_ports).try_for_each(|(plan, ports)| flow(plan, *ports, &mut text))?;
    Ok(text)
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    let _ = writeln!(text, "{line}");
}

/// What the peer cannot do.
fn refuse(scenario: &Scenario) -> Result<(), String> {
    if scenario.switches.iter().any(|switch| switch.kind != SwitchKind::Router) {
        return Err("a switch runs a program, which ns-3 cannot".to_owned());
    }
    let mut channels = scenario.channels.iter().flatten();
    if channels.any(|it| it.is_impaired() || !it.down.is_empty() || it.queue_bytes < u64::MAX || it.bits_per_s == 0) {
        return Err("links with impairments, failures, queues in bytes or without a rate are not translated".to_owned());
    }
    Ok(())
}

fn address(topology: &Topology, host: usize) -> Result<IpAddr, String> {
    let host = &topology.hosts[host];
    let address = host.addresses.iter().map(|it| it.ip).find(IpAddr::is_ipv4);
    address.ok_or_else(|| format!("host {} has no IPv4 address", host.name))
}

fn links(scenario: &Scenario, text: &mut String) {
    let topology = &scenario.topology;
    let number = |node: NodeRef| match node {
        NodeRef::Host(index) => index,
        NodeRef::Switch(index) => topology.hosts.len() + index,
    };
    for (link, channels) in topology.links.iter().zip(&scenario.channels) {
        let [a, b] = link.ends.map(|(end, _)| number(end));
        let [there, back] = channels;
        let overhead = there.overhead_bytes + ETHERNET_BYTES;
        let _ = write!(text, "link {a} {b} {} {} {overhead}", there.bits_per_s, there.delay.ps());
        for channel in [there, back] {
            let limit = |packets: usize| u32::try_from(packets).unwrap_or(u32::MAX);
            let marks = if channel.ecn_packets == usize::MAX { 0 } else { channel.ecn_packets };
            let _ = write!(text, " {} {}", limit(channel.queue_packets), limit(marks));
        }
        text.push('\n');
    }
}

fn flow(plan: &FlowPlan, ports: Ports, text: &mut String) -> Result<(), String> {
    let FlowKind::Tcp { bytes, config, .. } = &plan.kind else {
        return Err("only flows over TCP are translated".to_owned());
    };
    let congestion = config.congestion.name();
    let Ports { source, destination } = ports;
    let _ = write!(text, "flow {} {} {source} {destination} {} ", plan.from, plan.to, plan.start.ps());
    let segment_bytes = config.mss - TIMESTAMP_BYTES;
    let _ = write!(text, "{} {congestion} {} ", bytes.unwrap_or(0), config.initial_window_segments);
    let _ = write!(text, "{segment_bytes} {} {} ", config.min_rto.ps(), config.min_rto_variance.ps());
    let buffers = (config.receive_buffer_bytes, config.send_buffer_bytes);
    let _ = writeln!(text, "{} {} {}", config.delayed_ack.ps(), buffers.0, buffers.1);
    Ok(())
}
