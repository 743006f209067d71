//! A run as a list of numbers, to be compared with other runs.
//!
//! What enters: a run. What leaves: names and values. What a run does not have is not in its list: a network without
//! datagrams has no delays of them.

use crate::build::Simulation;
use crate::completion::{self, PARTS};
use crate::results::{FlowFigures, flow_figures, window};
use base::OrderedMap;
use sim::channel::{ChannelCounters, ChannelDrop};
use sim::statistics::Delays;
use sim::time::Time;

/// At most this many flows have metrics of their own for their goodputs.
const OWN_FLOWS_MAX: usize = 16;

/// The metrics of a run.
pub fn metrics(simulation: &Simulation) -> OrderedMap<String, f64> {
    let mut list = List::default();
    channels(simulation, &mut list);
    flows(simulation, &mut list);
    for class in completion::classes(simulation) {
        let name = class.name();
        list.add(format!("completion.{name}.flows"), class.flows as f64);
        list.add(format!("completion.{name}.complete"), class.times.len() as f64);
        list.add_time(format!("completion.{name}.mean_ns"), class.mean());
        list.add_some(format!("slowdown.{name}.mean"), class.mean_slowdown());
        for (part_name, part) in PARTS {
            list.add_time(format!("completion.{name}.{part_name}_ns"), completion::quantile(&class.times, part));
            list.add_some(format!("slowdown.{name}.{part_name}"), completion::quantile(&class.slowdowns, part));
        }
    }
    for (number, (_, incast)) in simulation.incasts().enumerate() {
        list.add(format!("incast.{number}.complete"), incast.times.count() as f64);
        list.add_delays(&format!("incast.{number}."), &incast.times);
    }
    list.0
}

#[derive(Default)]
struct List(OrderedMap<String, f64>);

impl List {
    fn add(&mut self, name: impl Into<String>, value: f64) {
        self.0.insert(name.into(), value);
    }

    fn add_some(&mut self, name: impl Into<String>, value: Option<f64>) {
        self.0.extend(value.map(|value| (name.into(), value)));
    }

    fn add_time(&mut self, name: impl Into<String>, value: Option<Time>) {
        self.add_some(name, value.map(|value| value.ps() as f64 / 1e3));
    }

    fn add_delays(&mut self, prefix: &str, delays: &Delays) {
        self.add_time(format!("{prefix}mean_ns"), delays.mean());
        PARTS.iter().for_each(|(name, part)| self.add_time(format!("{prefix}{name}_ns"), delays.quantile(*part)));
        self.add_time(format!("{prefix}max_ns"), delays.greatest());
    }
}

fn channels(simulation: &Simulation, list: &mut List) {
    let window_ps = window(simulation).ps() as f64;
    let count = simulation.network.channels().len();
    let all: Vec<ChannelCounters> =
        (0..count).map(|it| simulation.network.counters(it).since(&simulation.before[it])).collect();
    let sum = |value: fn(&ChannelCounters) -> u64| all.iter().map(value).sum::<u64>() as f64;
    let most = |value: &dyn Fn(&ChannelCounters) -> f64| all.iter().map(value).fold(0.0, f64::max);
    list.add("packet_hops", sum(|it| it.packets));
    list.add("marked", sum(|it| it.marked));
    for reason in ChannelDrop::ALL {
        let drops: u64 = all.iter().map(|it| it.drops[reason as usize]).sum();
        list.add(format!("dropped_{}", reason.name()), drops as f64);
    }
    list.add("utilisation_max", most(&|it| it.busy_ps as f64 / window_ps));
    list.add("queue_mean_packets_max", most(&|it| it.queueing_ps as f64 / window_ps));
    list.add("queue_max_packets", most(&|it| it.queue_packets_max as f64));
    list.add("queue_max_bytes", most(&|it| it.queue_bytes_max as f64));
}

/// What the flows of a kind have together.
#[derive(Default)]
struct Sums {
    flows: u64,
    sent: u64,
    received: u64,
    missing: u64,
    retransmitted_bytes: u64,
    timeouts: u64,
    delays: Delays,
}

impl Sums {
    fn add(&mut self, figures: &FlowFigures) {
        self.flows += 1;
        self.sent += figures.sent.unwrap_or(0);
        self.received += figures.received.unwrap_or(0);
        self.missing += figures.missing.unwrap_or(0);
        self.retransmitted_bytes += figures.retransmitted_bytes.unwrap_or(0);
        self.timeouts += figures.timeouts.unwrap_or(0);
        self.delays.merge(&figures.delays);
    }
}

fn flows(simulation: &Simulation, list: &mut List) {
    let scenario = &simulation.scenario;
    let (mut udp, mut tcp, mut ping) = (Sums::default(), Sums::default(), Sums::default());
    let mut bytes = 0;
    let mut rates = Vec::new();
    for (number, (flow, ports)) in scenario.flows.iter().zip(&simulation.flow_ports).enumerate() {
        if !scenario.runs(number) {
            continue;
        }
        let (kind, figures) = flow_figures(simulation, flow, *ports);
        match kind {
            "udp" => udp.add(&figures),
            "ping" => ping.add(&figures),
            _ => tcp.add(&figures),
        }
        bytes += figures.window_bytes.unwrap_or(0);
        if let Some(goodput) = figures.goodput_bits_per_s.filter(|_| scenario.flows.len() <= OWN_FLOWS_MAX) {
            list.add(format!("flow.{number}.goodput_bits_per_s"), goodput);
        }
        rates.extend(figures.goodput_bits_per_s.filter(|_| flow.is_endless()));
    }
    if udp.flows + tcp.flows > 0 {
        list.add("goodput_bits_per_s", bytes as f64 * 8.0 / window(simulation).seconds());
    }
    if tcp.flows > 0 {
        list.add("tcp.retransmitted_bytes", tcp.retransmitted_bytes as f64);
        list.add("tcp.timeouts", tcp.timeouts as f64);
    }
    list.add_some("tcp.fairness", fairness(&rates));
    for (name, sums) in [("udp", &udp), ("ping", &ping)].into_iter().filter(|(_, sums)| sums.flows > 0) {
        list.add(format!("{name}.sent"), sums.sent as f64);
        list.add(format!("{name}.received"), sums.received as f64);
        list.add_delays(&format!("{name}.delay_"), &sums.delays);
    }
    if udp.flows > 0 {
        list.add("udp.missing", udp.missing as f64);
    }
}

/// Jain's index: 1 if all are equal, 1 / n if one has everything.
fn fairness(rates: &[f64]) -> Option<f64> {
    let (sum, squares) = rates.iter().fold((0.0, 0.0), |(sum, squares), rate| (sum + rate, squares + rate * rate));
    (rates.len() > 1 && squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_is_jains_index() {
        assert_eq!((fairness(&[3.0, 3.0, 3.0]), fairness(&[5.0, 0.0])), (Some(1.0), Some(0.5)));
        assert_eq!((fairness(&[1.0]), fairness(&[0.0, 0.0])), (None, None));
    }
}
