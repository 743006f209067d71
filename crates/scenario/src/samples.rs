//! What happens over time: counters that are read at equal intervals, as tables.
//!
//! What enters: a run with its samples. What leaves: of each channel what it carried between two samples and its
//! queue, of flows what their receivers got and what was sent again.

use crate::build::Simulation;
use crate::resolve::FlowKind;
use crate::results::{ns, receiver_bytes, sender_of};
use sim::channel::ChannelCounters;
use sim::host::Host;
use sim::time::Time;
use std::fmt::Write as _;

/// What was counted at a time.
#[derive(Clone, Debug)]
pub struct Sample {
    /// When.
    pub time: Time,
    /// Of each channel: its counters, and the packets and bytes in its queue.
    pub channels: Vec<(ChannelCounters, usize, u64)>,
    /// Of each sampled flow.
    pub flows: Vec<Carried>,
    /// Of all flows and incasts.
    pub all: Carried,
}

/// What flows have carried so far.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Carried {
    /// Bytes that receiving applications have got; of a flow of datagrams since the warm-up ended.
    pub received_bytes: u64,
    /// Bytes that were sent again.
    pub retransmitted_bytes: u64,
}

impl Carried {
    /// What a flow has carried.
    pub(super) fn by_flow(simulation: &Simulation, flow: usize) -> Carried {
        let plan = &simulation.scenario.flows[flow];
        let sender = match plan.kind {
            FlowKind::Tcp { .. } => sender_of(simulation, plan, simulation.flow_ports[flow]),
            _ => None,
        };
        let statistics = sender.and_then(|sender| sender.statistics());
        Carried {
            received_bytes: receiver_bytes(simulation, flow),
            retransmitted_bytes: statistics.map_or(0, |it| it.counters.retransmitted_bytes),
        }
    }

    /// What all hosts have got and sent again.
    pub(super) fn by_all(simulation: &Simulation) -> Carried {
        let mut sum = Carried { received_bytes: simulation.datagram_bytes_before, retransmitted_bytes: 0 };
        for host in simulation.hosts.iter().filter_map(|id| simulation.network.node::<Host>(*id)) {
            sum.received_bytes += host.sinks().map(|sink| sink.bytes).sum::<u64>();
            for endpoint in host.tcp() {
                sum.received_bytes += endpoint.received_bytes;
                sum.retransmitted_bytes += endpoint.statistics().map_or(0, |it| it.counters.retransmitted_bytes);
            }
        }
        sum
    }

    /// What came after an earlier time.
    pub fn since(self, earlier: Carried) -> Carried {
        Carried {
            // A sink begins anew when the measured window does.
            received_bytes: self.received_bytes.checked_sub(earlier.received_bytes).unwrap_or(self.received_bytes),
            retransmitted_bytes: self.retransmitted_bytes - earlier.retransmitted_bytes,
        }
    }
}

/// The channels over time.
pub(super) fn channels(simulation: &Simulation) -> String {
    let mut text = String::from("time_ns,channel,packets,bytes,dropped,marked,queue_packets,queue_bytes,utilisation\n");
    let network = &simulation.network;
    let mut before = vec![ChannelCounters::default(); network.channels().len()];
    let mut last = Time::ZERO;
    for sample in &simulation.samples {
        let span_ps = sample.time.since(last).ps() as f64;
        for (index, (counters, packets, bytes)) in sample.channels.iter().enumerate() {
            let since = counters.since(&before[index]);
            let name = &network.channels()[index].name;
            let _ = write!(text, "{},{name},{},{},", ns(sample.time), since.packets, since.bytes);
            let _ = write!(text, "{},{},{packets},{bytes},", since.dropped(), since.marked);
            if network.transmitter(index).config().bits_per_s > 0 {
                let _ = write!(text, "{:.6}", since.busy_ps as f64 / span_ps);
            }
            text.push('\n');
            before[index] = counters.clone();
        }
        last = sample.time;
    }
    text
}

/// The flows over time: all together, and those that are sampled.
pub(super) fn flows(simulation: &Simulation) -> String {
    let mut text = String::from("time_ns,flow,bytes,goodput_bits_per_s,retransmitted_bytes\n");
    let names = simulation.sampled_flows.iter().map(usize::to_string);
    let names: Vec<String> = std::iter::once("all".to_owned()).chain(names).collect();
    let mut before = vec![Carried::default(); names.len()];
    let mut last = Time::ZERO;
    for sample in &simulation.samples {
        let seconds = sample.time.since(last).seconds();
        let carried = std::iter::once(&sample.all).chain(&sample.flows);
        for ((name, carried), before) in names.iter().zip(carried).zip(&mut before) {
            let Carried { received_bytes, retransmitted_bytes } = carried.since(*before);
            let goodput = received_bytes as f64 * 8.0 / seconds;
            let _ = write!(text, "{},{name},{received_bytes},{goodput:.0},", ns(sample.time));
            let _ = writeln!(text, "{retransmitted_bytes}");
            *before = *carried;
        }
        last = sample.time;
    }
    text
}
