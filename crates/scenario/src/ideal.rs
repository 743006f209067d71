//! How long a flow over TCP would take alone: what slowdowns are relative to.
//!
//! The ideal time of a flow is the time from its SYN until its last byte arrives in a network that carries nothing
//! else, if its sender may send everything at once: the SYN and its answer pass the path, then full segments follow
//! each other as fast as the slowest link or device of the path takes them, each link storing a frame before it
//! forwards it. Framing, headers, propagation, the constant latencies of switches and the rates of their pipelines,
//! ports and queues count; windows, acknowledgments, further passes and the resolution of neighbours do not. So no flow
//! is faster, and one that fits into the initial window is as fast in an empty network. The path is a shortest one; of
//! several, the one that a router lists first.

use crate::resolve::{FlowKind, FlowPlan, Scenario, SwitchKind};
use crate::topology::routes::Routes;
use crate::topology::{Links, NodeRef};
use base::OrderedMap;
use sim::channel::ChannelConfig;
use sim::device::Device;
use sim::time::{Serialiser, Time};
use sim::wire::{ethernet, ip};
use std::cell::OnceCell;
use tcp::segment::{Options, Segment, Timestamps};

/// Ideal times in a scenario.
pub struct IdealTimes<'a> {
    scenario: &'a Scenario,
    /// Found when they are needed: in a large network that takes seconds.
    routes: OnceCell<Routes>,
    links: Links,
    /// The paths between hosts that were needed so far.
    paths: OrderedMap<(usize, usize), Option<Vec<Hop<'a>>>>,
}

/// A channel of a path, and the device of the switch before it, if that runs a program: with the port's number.
#[derive(Clone, Debug)]
struct Hop<'a> {
    device: Option<(&'a Device, u32)>,
    channel: &'a ChannelConfig,
    line: Serialiser,
}

impl Hop<'_> {
    /// How far apart the device lets equal frames leave. It does not delay a frame that comes alone.
    fn spacing(&self, frame_bytes: usize) -> Time {
        self.device.map_or(Time::ZERO, |(device, port)| device.spacing(port, self.channel, frame_bytes))
    }

    /// How long a frame occupies the line.
    fn occupied(&self, frame_bytes: usize) -> Time {
        self.line.duration(self.channel.line_bytes(frame_bytes))
    }

    /// From the end of that until the frame has arrived: the gap does not delay it.
    fn arrival(&self, end: Time) -> Time {
        end.since(self.line.duration(self.channel.gap_bytes())) + self.channel.delay.max(Time::from_ps(1))
    }
}

impl<'a> IdealTimes<'a> {
    /// None computed yet.
    pub fn new(scenario: &'a Scenario) -> IdealTimes<'a> {
        IdealTimes {
            scenario,
            routes: OnceCell::new(),
            links: Links::new(&scenario.topology),
            paths: OrderedMap::new(),
        }
    }

    /// The ideal time of a flow; `None` if it has no size or no path.
    pub fn of(&mut self, flow: &FlowPlan) -> Option<Time> {
        let FlowKind::Tcp { bytes: Some(bytes), config, .. } = &flow.kind else { return None };
        let headers = ethernet::HEADER_BYTES + if flow.is_v6 { ip::V6_HEADER_BYTES } else { ip::V4_HEADER_BYTES };
        let syn = headers + tcp::wire::length(&Segment { options: options(config, true), ..Segment::default() });
        let empty = tcp::wire::length(&Segment { options: options(config, false), ..Segment::default() });
        let segment = u64::from(config.mss) + tcp::wire::HEADER_BYTES as u64 - empty as u64;
        let (full, rest) = (bytes.saturating_sub(1) / segment, bytes.saturating_sub(1) % segment + 1);
        let frame = |payload: u64| headers + empty + payload as usize;
        let answer = train(self.path(flow.to, flow.from)?, 0, 0, syn);
        let there = self.path(flow.from, flow.to)?;
        Some(train(there, 0, 0, syn) + answer + train(there, full, frame(segment), frame(rest)))
    }

    fn path(&mut self, from: usize, to: usize) -> Option<&[Hop<'a>]> {
        if !self.paths.contains_key(&(from, to)) {
            let path = self.find(from, to);
            self.paths.insert((from, to), path);
        }
        self.paths.get(&(from, to))?.as_deref()
    }

    fn find(&self, from: usize, to: usize) -> Option<Vec<Hop<'a>>> {
        let Scenario { topology, channels, .. } = self.scenario;
        let mut next = *self.links.at(NodeRef::Host(from)).first()?;
        let mut path = Vec::new();
        loop {
            let (link, end) = next;
            let channel = &channels[link][end];
            let device = self.device(topology.links[link].ends[end]);
            path.push(Hop { device, line: Serialiser::new(channel.bits_per_s), channel });
            match topology.links[link].ends[1 - end].0 {
                NodeRef::Host(host) => return (host == to).then_some(path),
                NodeRef::Switch(switch) => {
                    let routes = &self.routes.get_or_init(|| Routes::shortest(topology)).switches[switch];
                    let group = &routes.groups[routes.hosts[to] as usize];
                    next = self.links.at(NodeRef::Switch(switch))[*group.first()?];
                }
            }
        }
    }

    /// The device that frames leave by this end of a link. Routers without a program have no rates of their own.
    fn device(&self, (node, port): (NodeRef, u32)) -> Option<(&'a Device, u32)> {
        let NodeRef::Switch(switch) = node else { return None };
        let plan = &self.scenario.switches[switch];
        (plan.kind != SwitchKind::Router).then_some((&plan.device, port))
    }
}

/// The options of a flow's segments.
fn options(config: &tcp::Config, is_syn: bool) -> Options {
    Options {
        mss: is_syn.then_some(config.mss),
        window_scale: (is_syn && config.window_scaling).then_some(0),
        sack_permitted: is_syn && config.sack,
        timestamps: config.timestamps.then_some(Timestamps { value: 0, echo: 0 }),
        ..Options::default()
    }
}

/// When the last of `count` frames of one length, and another one behind them, has passed a path.
fn train(path: &[Hop<'_>], count: u64, frame_bytes: usize, last_bytes: usize) -> Time {
    // When the first of the equal frames and the last frame have arrived at the node before the hop.
    let (mut first, mut last) = (Time::ZERO, Time::ZERO);
    let mut slowest = Time::ZERO;
    for hop in path {
        if count > 0 {
            let spacing = hop.spacing(frame_bytes);
            slowest = slowest.max(spacing);
            // The core of a switch counts whole nanoseconds from when a frame came to it.
            last = last.max(Time::from_ns(first.ns()) + spacing + slowest.times(count - 1));
        }
        let occupied = hop.occupied(frame_bytes);
        slowest = slowest.max(occupied);
        let first_end = first + occupied;
        // Equal frames leave each hop as far apart as the slowest line before has put them.
        let free = if count == 0 { Time::ZERO } else { first_end + slowest.times(count - 1) };
        last = hop.arrival(last.max(free) + hop.occupied(last_bytes));
        first = hop.arrival(first_end);
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::pipeline::{PipelineConfig, Service};

    fn channel(bits_per_s: u64, delay: Time) -> ChannelConfig {
        ChannelConfig { bits_per_s, delay, ..ChannelConfig::default() }
    }

    fn pipeline(packets_per_s: u64) -> Device {
        let service = Service::PacketsPerS(packets_per_s);
        let pipeline = PipelineConfig { servers: 1, service, queue_packets: usize::MAX, queue_bytes: u64::MAX };
        Device { pipeline: Some(pipeline), ..Device::default() }
    }

    /// The same, frame by frame.
    fn one_by_one(path: &[Hop<'_>], count: u64, frame_bytes: usize, last_bytes: usize) -> Time {
        let mut arrivals = vec![Time::ZERO; count as usize + 1];
        for hop in path {
            let (mut taken, mut free) = (Time::ZERO, Time::ZERO);
            for (index, arrival) in arrivals.iter_mut().enumerate() {
                let bytes = if index as u64 == count { last_bytes } else { frame_bytes };
                *arrival = taken.max(*arrival);
                taken = *arrival + hop.spacing(bytes);
                free = free.max(*arrival) + hop.occupied(bytes);
                *arrival = hop.arrival(free);
            }
        }
        arrivals[count as usize]
    }

    #[test]
    fn a_train_passes_as_its_frames_do() {
        let delays = [Time::from_us(1), Time::from_ns(300), Time::ZERO, Time::from_us(20)];
        let rates = [1_000_000_000, 10_000_000_000, 2_000_000_000];
        let channels: Vec<ChannelConfig> =
            rates.iter().flat_map(|rate| delays.map(|delay| channel(*rate, delay))).collect();
        // A packet in 3, 10 and 40 us: as long as a frame on some of the lines, and longer.
        let devices = [333_333, 100_000, 25_000].map(pipeline);
        let mut rng = base::Rng::new(1);
        for _ in 0..2_000 {
            let path: Vec<Hop<'_>> = (0..rng.between(1, 6))
                .map(|_| {
                    let channel = rng.pick(&channels);
                    let device = rng.chance(1, 2).then(|| (rng.pick(&devices), 1));
                    Hop { device, channel, line: Serialiser::new(channel.bits_per_s) }
                })
                .collect();
            let (count, last) = (rng.below(30), rng.between(60, 1_514) as usize);
            let (found, exact) = (train(&path, count, 1_514, last), one_by_one(&path, count, 1_514, last));
            assert!(found <= exact && exact.since(found) < Time::from_ns(1), "{found} {exact}");
        }
    }
}
