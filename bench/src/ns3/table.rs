//! Two results of one scenario beside each other.

use crate::ns3::results::{ChannelResult, Results};
use ::scenario::{FlowKind, Scenario};
use serde_json::{Value, json};

/// Quantiles of completion times.
const QUANTILES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];
/// Channels whose queues are shown, those with the longest first; shorter queues than this are not.
const CHANNELS_MAX: usize = 4;
const QUEUE_MIN: f64 = 0.5;
/// Flows without an end that are shown one by one.
const FLOWS_MAX: usize = 16;

/// A value here and in ns-3.
struct Row {
    name: String,
    values: [f64; 2],
}

impl Row {
    fn difference(&self) -> Option<f64> {
        let [ours, theirs] = self.values;
        (theirs != 0.0).then(|| (ours / theirs - 1.0) * 100.0)
    }
}

/// Prints the table.
pub fn print(name: &str, scenario: &Scenario, results: [&Results; 2]) {
    println!("{name:<44}{:>14}{:>14}{:>12}", "here", "ns-3", "difference");
    for row in rows(scenario, results) {
        let [ours, theirs] = row.values.map(shown);
        let difference = row.difference().map(|it| format!("{it:+.1} %")).unwrap_or_default();
        println!("  {:<42}{ours:>14}{theirs:>14}{difference:>12}", row.name);
    }
}

/// Four digits, and all before the point.
fn shown(value: f64) -> String {
    match value.abs() {
        it if it >= 1e3 || value == 0.0 => format!("{value:.0}"),
        it if it >= 1e2 => format!("{value:.1}"),
        it if it >= 1e1 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// The table as JSON.
pub fn as_json(name: &str, scenario: &Scenario, results: [&Results; 2]) -> Value {
    let row = |row: Row| {
        let difference = row.difference();
        json!({"value": row.name, "here": row.values[0], "ns3": row.values[1], "difference_percent": difference})
    };
    let rows: Vec<Value> = rows(scenario, results).into_iter().map(row).collect();
    json!({"benchmark": "ns3", "scenario": name, "seed": scenario.seed, "rows": rows})
}

fn rows(scenario: &Scenario, results: [&Results; 2]) -> Vec<Row> {
    let mut rows = Vec::new();
    goodputs(scenario, results, &mut rows);
    completions(scenario, results, &mut rows);
    let names: Vec<String> = scenario
        .topology
        .links
        .iter()
        .flat_map(|link| {
            let [a, b] = link.ends.map(|(end, _)| scenario.topology.name(end));
            [format!("{a}>{b}"), format!("{b}>{a}")]
        })
        .collect();
    let mut order: Vec<usize> = (0..names.len()).collect();
    let queue = |channel: usize| results[1].channels[channel].queue_mean_packets;
    order.sort_by(|a, b| queue(*b).total_cmp(&queue(*a)));
    for &channel in order.iter().take(CHANNELS_MAX).filter(|channel| queue(**channel) >= QUEUE_MIN) {
        let values = results.map(|it| it.channels[channel].queue_mean_packets);
        rows.push(Row { name: format!("mean queue {}, packets", names[channel]), values });
    }
    let sum = |value: fn(&ChannelResult) -> f64| results.map(|it| it.channels.iter().map(value).sum::<f64>());
    rows.push(Row { name: "mean queues of all links, packets".to_owned(), values: sum(|it| it.queue_mean_packets) });
    let mut dropped = sum(|it| it.dropped);
    dropped.iter_mut().zip(results).for_each(|(dropped, it)| *dropped += it.refused);
    rows.push(Row { name: "dropped".to_owned(), values: dropped });
    rows.push(Row { name: "marked".to_owned(), values: sum(|it| it.marked) });
    rows.push(Row { name: "packet hops in the window".to_owned(), values: sum(|it| it.packets) });
    let rates = results.map(|it| it.hops as f64 / it.processor_s);
    rows.push(Row { name: "packet hops a second of processor time".to_owned(), values: rates });
    rows.retain(|row| row.values != [0.0, 0.0]);
    rows
}

fn goodputs(scenario: &Scenario, results: [&Results; 2], rows: &mut Vec<Row>) {
    let window_s = scenario.duration.since(scenario.warmup).seconds();
    let endless: Vec<usize> = (0..scenario.flows.len()).filter(|flow| scenario.flows[*flow].is_endless()).collect();
    let rate = |it: &Results, flow: usize| it.flows[flow].window_bytes * 8.0 / window_s / 1e6;
    if endless.is_empty() {
        return;
    }
    let total = results.map(|it| endless.iter().map(|flow| rate(it, *flow)).sum());
    rows.push(Row { name: "goodput, Mb/s".to_owned(), values: total });
    for &flow in endless.iter().take(FLOWS_MAX) {
        let [from, to] =
            [scenario.flows[flow].from, scenario.flows[flow].to].map(|it| &scenario.topology.hosts[it].name);
        rows.push(Row { name: format!("  {from} to {to}"), values: results.map(|it| rate(it, flow)) });
    }
}

/// Completion times of the flows that are complete in both, by size.
fn completions(scenario: &Scenario, results: [&Results; 2], rows: &mut Vec<Row>) {
    let sizes: Vec<Option<u64>> = scenario
        .flows
        .iter()
        .map(|flow| match flow.kind {
            FlowKind::Tcp { bytes, .. } => bytes,
            _ => None,
        })
        .collect();
    let count = sizes.iter().flatten().count();
    if count == 0 {
        return;
    }
    let complete = |it: &Results| it.flows.iter().filter(|flow| flow.completion_s.is_some()).count() as f64;
    rows.push(Row { name: format!("complete of {count} flows"), values: results.map(complete) });
    let ends = scenario.size_classes.iter().skip(1).copied().chain([u64::MAX]);
    let classes = scenario.size_classes.iter().copied().zip(ends);
    for (from, to) in std::iter::once((0, u64::MAX)).chain(classes) {
        let is_in = |flow: &usize| {
            let has_size = sizes[*flow].is_some_and(|size| (from..to).contains(&size));
            has_size && results.iter().all(|it| it.flows[*flow].completion_s.is_some())
        };
        let flows: Vec<usize> = (0..sizes.len()).filter(is_in).collect();
        if flows.is_empty() {
            continue;
        }
        let times = results.map(|it| sorted(flows.iter().filter_map(|flow| it.flows[*flow].completion_s)));
        let class = match (from, to) {
            (0, u64::MAX) => "all".to_owned(),
            (_, u64::MAX) => format!("from {} kB", from / 1000),
            _ => format!("{} to {} kB", from / 1000, to / 1000),
        };
        let mean = times.each_ref().map(|it| it.iter().sum::<f64>() / it.len() as f64 * 1e3);
        rows.push(Row { name: format!("completion, {class} ({}), mean, ms", flows.len()), values: mean });
        for part in QUANTILES {
            let values = times.each_ref().map(|it| quantile(it, part) * 1e3);
            rows.push(Row { name: format!("  {}th percentile, ms", part * 100.0), values });
        }
    }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The least value that this part of the values does not exceed.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let rank = (part * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1]
}
