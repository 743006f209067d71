//! How long a flow over TCP would take alone: what slowdowns are relative to.
//!
//! The ideal time of a flow is the time from its SYN until its last byte arrives in a network that carries nothing
//! else, if its sender may send everything at once: the SYN and its answer pass the path, then full segments follow
//! each other as fast as the slowest link of the path takes them, each link storing a frame before it forwards it.
//! Framing, headers, propagation and the constant latencies of switches count; windows, acknowledgments and the
//! resolution of neighbours do not. So no flow is faster, and one that fits into the initial window is as fast in an
//! empty network. The path is a shortest one; of several, the one that a router lists first.

use crate::channel::ChannelConfig;
use crate::scenario::resolve::{FlowKind, FlowPlan, Scenario};
use crate::time::{Serialiser, Time};
use crate::topology::NodeRef;
use crate::topology::routes::Routes;
use crate::wire::{ethernet, ip};
use std::collections::BTreeMap;
use tcp::segment::{Options, Segment, Timestamps};

/// Ideal times in a scenario.
pub struct IdealTimes<'a> {
    scenario: &'a Scenario,
    routes: Routes,
    /// For each switch its links and which end of them it is, in the order of its ports.
    links: Vec<Vec<(usize, usize)>>,
    /// Paths between hosts, as far as they were asked for.
    paths: BTreeMap<(usize, usize), Option<Vec<Hop>>>,
}

/// A channel of a path.
#[derive(Clone, Debug)]
struct Hop {
    channel: ChannelConfig,
    line: Serialiser,
}

impl Hop {
    /// How long a frame occupies the line.
    fn occupied(&self, frame_bytes: usize) -> Time {
        self.line.duration(self.channel.line_bytes(frame_bytes))
    }

    /// From the end of that until the frame has arrived: the gap does not delay it.
    fn arrival(&self, end: Time) -> Time {
        end.since(self.line.duration(self.channel.gap_bytes())) + self.channel.delay.max(Time::from_ps(1))
    }
}

impl IdealTimes<'_> {
    /// None computed yet.
    pub fn new(scenario: &Scenario) -> IdealTimes<'_> {
        let topology = &scenario.topology;
        let links = |switch| topology.links_at(NodeRef::Switch(switch)).collect();
        IdealTimes {
            scenario,
            routes: Routes::shortest(topology),
            links: (0..topology.switches.len()).map(links).collect(),
            paths: BTreeMap::new(),
        }
    }

    /// The ideal time of a flow; `None` if it has no size or no path.
    pub fn of(&mut self, flow: &FlowPlan) -> Option<Time> {
        let FlowKind::Tcp { bytes: Some(bytes), config } = &flow.kind else { return None };
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

    fn path(&mut self, from: usize, to: usize) -> Option<&[Hop]> {
        if !self.paths.contains_key(&(from, to)) {
            let path = self.find(from, to);
            self.paths.insert((from, to), path);
        }
        self.paths.get(&(from, to))?.as_deref()
    }

    fn find(&self, from: usize, to: usize) -> Option<Vec<Hop>> {
        let topology = &self.scenario.topology;
        let mut next = topology.links_at(NodeRef::Host(from)).next()?;
        let mut path = Vec::new();
        loop {
            let (link, end) = next;
            let channel = self.scenario.channels[link][end].clone();
            path.push(Hop { line: Serialiser::new(channel.bits_per_s), channel });
            match topology.links[link].ends[1 - end].0 {
                NodeRef::Host(host) => return (host == to).then_some(path),
                NodeRef::Switch(switch) => {
                    let routes = &self.routes.switches[switch];
                    let group = &routes.groups[routes.hosts[to] as usize];
                    next = self.links[switch][*group.first()?];
                }
            }
        }
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

/// When the last of so many frames of one length, and another one behind them, has passed a path.
fn train(path: &[Hop], count: u64, frame_bytes: usize, last_bytes: usize) -> Time {
    // When the first of the equal frames and the last frame have arrived at the node before the hop.
    let (mut first, mut last) = (Time::ZERO, Time::ZERO);
    let mut slowest = Time::ZERO;
    for hop in path {
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

    fn hop(bits_per_s: u64, delay: Time) -> Hop {
        let channel = ChannelConfig { bits_per_s, delay, ..ChannelConfig::default() };
        Hop { line: Serialiser::new(bits_per_s), channel }
    }

    /// The same, frame by frame.
    fn one_by_one(path: &[Hop], count: u64, frame_bytes: usize, last_bytes: usize) -> Time {
        let mut arrivals = vec![Time::ZERO; count as usize + 1];
        for hop in path {
            let mut free = Time::ZERO;
            for (index, arrival) in arrivals.iter_mut().enumerate() {
                let bytes = if index as u64 == count { last_bytes } else { frame_bytes };
                free = free.max(*arrival) + hop.occupied(bytes);
                *arrival = hop.arrival(free);
            }
        }
        arrivals[count as usize]
    }

    #[test]
    fn a_train_passes_as_its_frames_do() {
        let delays = [Time::from_us(1), Time::from_ns(300), Time::ZERO, Time::from_us(20)];
        let mut rng = base::Rng::new(1);
        for _ in 0..2_000 {
            let path: Vec<Hop> = (0..rng.between(1, 6))
                .map(|_| hop(*rng.pick(&[1_000_000_000, 10_000_000_000, 2_000_000_000]), *rng.pick(&delays)))
                .collect();
            let (count, last) = (rng.below(30), rng.between(60, 1_514) as usize);
            assert_eq!(train(&path, count, 1_514, last), one_by_one(&path, count, 1_514, last));
        }
    }
}
