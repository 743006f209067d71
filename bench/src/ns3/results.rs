//! What a network has done, here or in ns-3, in the same form.

use ::scenario::{FlowKind, Simulation, results};
use serde_json::Value;

/// A run.
#[derive(Debug, Default)]
pub struct Results {
    /// Flows in the order of the scenario.
    pub flows: Vec<FlowResult>,
    /// Channels: for each link that from its first end, then that back.
    pub channels: Vec<ChannelResult>,
    /// Packets in the measured window that the peer counts as dropped without a place.
    pub refused: f64,
    /// Packets on links.
    pub hops: u64,
    /// Processor time.
    pub processor_s: f64,
}

#[derive(Debug)]
pub struct FlowResult {
    /// From its start to its last byte, if that has arrived.
    pub completion_s: Option<f64>,
    /// Bytes that arrived in the measured window.
    pub window_bytes: f64,
}

#[derive(Debug)]
pub struct ChannelResult {
    pub queue_mean_packets: f64,
    pub packets: f64,
    pub dropped: f64,
    pub marked: f64,
}

/// Those of a simulation that has ended.
pub fn ours(simulation: &Simulation, processor_s: f64) -> Results {
    let window_ps = simulation.scenario.duration.since(simulation.scenario.warmup).ps() as f64;
    let channels = 0..simulation.network.channels().len();
    let hops = channels.clone().map(|channel| simulation.network.counters(channel).packets).sum();
    let channels = channels.map(|index| {
        let counters = simulation.network.counters(index).since(&simulation.before[index]);
        ChannelResult {
            queue_mean_packets: counters.queueing_ps as f64 / window_ps,
            packets: counters.packets as f64,
            dropped: counters.dropped() as f64,
            marked: counters.marked as f64,
        }
    });
    let flows = flows(simulation, window_ps / 1e12);
    Results { flows, channels: channels.collect(), refused: 0.0, hops, processor_s }
}

/// The flows as their table has them.
fn flows(simulation: &Simulation, window_s: f64) -> Vec<FlowResult> {
    let files = results::files(simulation);
    let table = files.iter().find(|file| file.name == "flows.csv").map_or("", |file| &file.text);
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap_or_default();
    let column = |name: &str| header.iter().position(|it| *it == name).unwrap_or(usize::MAX);
    let (completion, goodput) = (column("completion_ns"), column("goodput_bits_per_s"));
    let value = |line: &[&str], column: usize| line.get(column).and_then(|text| text.parse::<f64>().ok());
    let endless = simulation.scenario.flows.iter().map(|flow| matches!(flow.kind, FlowKind::Tcp { bytes: None, .. }));
    let flow = |(line, is_endless): (Vec<&str>, bool)| FlowResult {
        completion_s: value(&line, completion).map(|ns| ns / 1e9),
        window_bytes: value(&line, goodput).filter(|_| is_endless).map_or(0.0, |rate| rate * window_s / 8.0),
    };
    lines.zip(endless).map(flow).collect()
}

/// Those that the peer has printed.
pub fn of_peer(text: &str) -> Result<Results, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("the peer's results: {error}"))?;
    let number = |value: &Value, name: &str| value[name].as_f64().ok_or_else(|| format!("the peer gave no `{name}`"));
    let list = |name: &str| value[name].as_array().ok_or_else(|| format!("the peer gave no `{name}`"));
    let flow = |flow: &Value| {
        let completion = number(flow, "completion_ps")?;
        let completion_s = (completion >= 0.0).then_some(completion / 1e12);
        Ok(FlowResult { completion_s, window_bytes: number(flow, "window_bytes")? })
    };
    let channel = |channel: &Value| {
        Ok(ChannelResult {
            queue_mean_packets: number(channel, "queue_mean_packets")?,
            packets: number(channel, "packets")?,
            dropped: number(channel, "dropped")?,
            marked: number(channel, "marked")?,
        })
    };
    Ok(Results {
        flows: list("flows")?.iter().map(flow).collect::<Result<_, String>>()?,
        channels: list("channels")?.iter().map(channel).collect::<Result<_, String>>()?,
        refused: number(&value, "refused")?,
        hops: number(&value, "hops")? as u64,
        processor_s: number(&value, "processor_s")?,
    })
}
