//! Sections that make many flows: workloads, incasts, lists of flows, sensors.

use crate::flow_list;
use crate::flows::{FLOWS_MAX, Pairs, Resolver};
use crate::resolve::{FlowKind, FlowPlan, IncastPlan, read_text};
use crate::topology::NodeRef;
use crate::workload::{self, SizeDistribution};
use base::limits::PACKET_BYTES_MAX;
use base::{OrderedSet, Rng};
use scenario_file::loads::HasTcpKeys as _;
use scenario_file::loads::{FlowListSection, IncastSection, SensorSection, WorkloadSection};
use scenario_file::sections::PairsName;
use scenario_file::values::Names;
use sim::arrivals::{Arrivals, Sizes};
use sim::host::udp::PAYLOAD_BYTES_MIN;
use sim::host::{Exchange, Sending};
use sim::random;
use sim::time::Time;
use std::sync::Arc;
use tcp::Config;
use toml::Spanned;

/// The default request of an incast.
const REQUEST_BYTES_DEFAULT: u64 = 100;

/// What a sensor reports by default: number and time, and a few values.
const SENSOR_BYTES_DEFAULT: usize = 24;

/// A workload with its values.
struct Workload<'a> {
    section: &'a WorkloadSection,
    number: usize,
    sizes: SizeDistribution,
    config: Arc<Config>,
    load: f64,
    times: (Time, Time),
}

impl Workload<'_> {
    fn flow(&self, from: usize, to: usize, start: Time, bytes: u64, end: Time) -> FlowPlan {
        let kind = FlowKind::Tcp { bytes: Some(bytes), config: Arc::clone(&self.config), sending: Sending::default() };
        FlowPlan { from, to, is_v6: self.section.ipv6.unwrap_or(false), start, end, kind }
    }
}

impl Resolver<'_> {
    /// The flows of a workload: each sender draws its own; with `fan_in`, each receiver.
    pub(super) fn workload(&mut self, number: usize, at: &Spanned<WorkloadSection>, flows: &mut Vec<FlowPlan>) {
        let section = at.get_ref();
        let (from, to) = (self.hosts(&section.from, section.ipv6), self.hosts(&section.to, section.ipv6));
        let (sizes, config) = (self.sizes(at), self.tcp(&section.tcp()));
        let load = *section.load.get_ref();
        if !(load > 0.0 && load <= 10.0) {
            self.fault(&section.load, "a load is a part of the rate of the senders' links: above 0, and at most 10");
            return;
        }
        let (Some(sizes), Some(config)) = (sizes, config) else { return };
        let times = (section.start.map_or(Time::ZERO, |it| it.0), section.end.map_or(self.duration, |it| it.0));
        let workload = Workload { section, number, sizes, config: Arc::new(config), load, times };
        match &section.fan_in {
            None => self.by_senders(&workload, (&from, &to), at, flows),
            Some(fan_in) => self.by_receivers(&workload, (&from, &to), fan_in, flows),
        }
    }

    fn by_senders(
        &mut self,
        workload: &Workload<'_>,
        (from, to): (&[usize], &[usize]),
        at: &Spanned<WorkloadSection>,
        flows: &mut Vec<FlowPlan>,
    ) {
        let (section, number) = (workload.section, workload.number);
        let pairs = Pairs { rule: section.pairs, stream: format!("workload {number} permutation") };
        let Some(lists) = self.receivers(&pairs, &section.stride, (from, to), &section.to) else { return };
        for (&sender, receivers) in from.iter().zip(&lists) {
            let name = &self.topology.hosts[sender].name;
            let mut rng = random::stream(self.seed, &format!("workload {number} {name}"));
            let Some(rate) = self.rate_of(sender, 0).filter(|_| !receivers.is_empty()) else {
                let message = format!("host {name} has no receiver, or no link with a rate");
                return self.fault(&section.from, message);
            };
            if self.is_too_much(workload, rate, flows) {
                return self.fault(at, format!("these are more than {FLOWS_MAX} flows"));
            }
            let drawn = workload::draw(&workload.sizes, workload.load, rate, workload.times, &mut rng);
            let end = self.duration;
            flows.extend(
                drawn.into_iter().map(|(start, bytes)| workload.flow(sender, *rng.pick(receivers), start, bytes, end)),
            );
        }
    }

    /// At each of the receivers' arrivals several hosts send at the same time.
    fn by_receivers(
        &mut self,
        workload: &Workload<'_>,
        (from, to): (&[usize], &[usize]),
        fan_in: &Spanned<usize>,
        flows: &mut Vec<FlowPlan>,
    ) {
        let section = workload.section;
        if section.pairs.is_some_and(|pairs| pairs != PairsName::All) {
            return self.fault(fan_in, "with `fan_in` the senders are chosen at random: remove `pairs`");
        }
        for &receiver in to {
            let mut senders: Vec<usize> = from.iter().copied().filter(|sender| *sender != receiver).collect();
            let (count, name) = (*fan_in.get_ref(), &self.topology.hosts[receiver].name);
            if !(1..=senders.len()).contains(&count) {
                let message = format!("`fan_in` is from 1 to {}, the hosts that can send to {name}", senders.len());
                return self.fault(fan_in, message);
            }
            let mut rng = random::stream(self.seed, &format!("workload {} {name} fan-in", workload.number));
            let Some(rate) = self.rate_of(receiver, 1) else {
                return self.fault(&section.to, format!("host {name} has no link with a rate"));
            };
            if self.is_too_much(workload, rate, flows) {
                return self.fault(fan_in, format!("these are more than {FLOWS_MAX} flows"));
            }
            let load = workload.load / count as f64;
            for (start, bytes) in workload::draw(&workload.sizes, load, rate, workload.times, &mut rng) {
                select(&mut senders, count, &mut rng);
                for (index, &sender) in senders[..count].iter().enumerate() {
                    let bytes = if index == 0 { bytes } else { workload.sizes.draw(&mut rng) };
                    flows.push(workload.flow(sender, receiver, start, bytes, self.duration));
                }
            }
        }
    }

    /// Whether one more host that loads a link makes too many flows.
    fn is_too_much(&self, workload: &Workload<'_>, rate: u64, flows: &[FlowPlan]) -> bool {
        let seconds = workload.times.1.since(workload.times.0).seconds();
        let expected = workload.load * rate as f64 * seconds / (8.0 * workload.sizes.mean());
        flows.len() as f64 + expected > FLOWS_MAX as f64
    }

    fn sizes(&mut self, section: &Spanned<WorkloadSection>) -> Option<SizeDistribution> {
        let WorkloadSection { sizes, bytes, packet_bytes, .. } = section.get_ref();
        match (sizes, bytes) {
            (Some(file), None) => {
                let packet_bytes = packet_bytes.as_ref().map(|it| *it.get_ref());
                let parse = |text: String| {
                    SizeDistribution::parse(&text, packet_bytes)
                        .map_err(|message| format!("{}: {message}", file.get_ref()))
                };
                let read = read_text(self.read, file.get_ref()).and_then(parse);
                read.map_err(|message| self.fault(file, message)).ok()
            }
            (None, Some(bytes)) if *bytes.get_ref() > 0 && packet_bytes.is_none() => {
                Some(SizeDistribution::fixed(*bytes.get_ref()))
            }
            _ => {
                self.fault(section, "a workload has either `sizes`, a file, or `bytes` above 0");
                None
            }
        }
    }

    /// The rate of a host's link, from the host (0) or to it (1).
    fn rate_of(&self, host: usize, direction: usize) -> Option<u64> {
        let (link, end) = *self.links.at(NodeRef::Host(host)).first()?;
        Some(self.channels[link][(end + direction) % 2].bits_per_s).filter(|rate| *rate > 0)
    }

    /// An incast.
    pub(super) fn incast(&mut self, section: &Spanned<IncastSection>) -> Option<IncastPlan> {
        let incast = section.get_ref();
        let to = Spanned::new(incast.to.span(), Names(vec![incast.to.get_ref().clone()]));
        let (mut from, to) = (self.hosts(&incast.from, incast.ipv6), self.hosts(&to, incast.ipv6));
        let config = self.tcp(&incast.tcp())?;
        let [to] = to[..] else {
            if to.len() > 1 {
                self.fault(&incast.to, "an incast has one receiver");
            }
            return None;
        };
        from.retain(|from| *from != to);
        if from.is_empty() {
            self.fault(&incast.from, "no host sends to another one");
            return None;
        }
        let request_bytes = incast.request_bytes.as_ref().map_or(REQUEST_BYTES_DEFAULT, |it| *it.get_ref());
        let counts = [Some(&incast.bytes), incast.request_bytes.as_ref(), incast.rounds.as_ref()];
        if let Some(at) = counts.into_iter().flatten().find(|count| *count.get_ref() == 0) {
            self.fault(at, "`bytes`, `request_bytes` and `rounds` are above 0");
            return None;
        }
        Some(IncastPlan {
            from,
            to,
            is_v6: incast.ipv6.unwrap_or(false),
            exchange: Exchange { request_bytes, answer_bytes: *incast.bytes.get_ref() },
            rounds: incast.rounds.as_ref().map_or(u64::MAX, |it| *it.get_ref()),
            pause: incast.pause.map_or(Time::ZERO, |it| it.0),
            start: incast.start.map_or(Time::ZERO, |it| it.0),
            config: Arc::new(config),
        })
    }

    /// The flows of a list.
    pub(super) fn flow_list(&mut self, section: &Spanned<FlowListSection>, flows: &mut Vec<FlowPlan>) {
        let list = section.get_ref();
        let Some(config) = self.tcp(&list.tcp()).map(Arc::new) else { return };
        let (topology, later) = (self.topology, list.start.map_or(Time::ZERO, |it| it.0));
        let host = |name: &str| match topology.find(name) {
            Some(NodeRef::Host(index)) => Some(index),
            _ => None,
        };
        let read = read_text(self.read, list.file.get_ref()).and_then(|text| {
            flow_list::parse(&text, &host).map_err(|message| format!("{}:{message}", list.file.get_ref()))
        });
        let listed = match read {
            Ok(listed) => listed,
            Err(message) => return self.fault(&list.file, message),
        };
        if flows.len() + listed.len() > FLOWS_MAX {
            return self.fault(&list.file, format!("these are more than {FLOWS_MAX} flows"));
        }
        let ends: OrderedSet<usize> = listed.iter().flat_map(|it| [it.from, it.to]).collect();
        self.check_addresses(&list.file, &Vec::from_iter(ends), list.ipv6);
        let end = self.duration;
        flows.extend(listed.into_iter().map(|it| FlowPlan {
            from: it.from,
            to: it.to,
            is_v6: list.ipv6.unwrap_or(false),
            start: it.start + later,
            end,
            kind: FlowKind::Tcp { bytes: Some(it.bytes), config: Arc::clone(&config), sending: Sending::default() },
        }));
    }

    /// The flows of sensors: each reports to one of the receivers.
    pub(super) fn sensors(&mut self, number: usize, at: &Spanned<SensorSection>, flows: &mut Vec<FlowPlan>) {
        let section = at.get_ref();
        let (from, to) = (self.hosts(&section.from, section.ipv6), self.hosts(&section.to, section.ipv6));
        let interval = section.interval.get_ref().0;
        let jitter = section.jitter.as_ref().map_or(Time::ZERO, |it| it.get_ref().0);
        if interval == Time::ZERO {
            return self.fault(&section.interval, "sensors report at intervals above 0");
        }
        if let Some(at) = section.jitter.as_ref().filter(|_| jitter > interval) {
            return self.fault(at, format!("the jitter of reports is at most their interval, {interval}"));
        }
        let size = section.size.as_ref().map_or(SENSOR_BYTES_DEFAULT, |size| *size.get_ref());
        let range = PAYLOAD_BYTES_MIN..=PACKET_BYTES_MAX - 100;
        if let Some(at) = section.size.as_ref().filter(|_| !range.contains(&size)) {
            return self.fault(at, format!("a report has {} to {} bytes", range.start(), range.end()));
        }
        let per_host = section.per_host.as_ref().map_or(1, |it| *it.get_ref());
        if from.len().saturating_mul(per_host).saturating_add(flows.len()) > FLOWS_MAX {
            return self.fault(at, format!("these are more than {FLOWS_MAX} flows"));
        }
        let mut rng = random::stream(self.seed, &format!("sensors {number}"));
        for sender in from {
            let receivers: Vec<usize> = to.iter().copied().filter(|to| *to != sender).collect();
            if receivers.is_empty() {
                continue;
            }
            flows.extend((0..per_host).map(|_| FlowPlan {
                from: sender,
                to: *rng.pick(&receivers),
                is_v6: section.ipv6.unwrap_or(false),
                start: section.start.map_or(Time::ZERO, |it| it.0),
                end: section.end.map_or(self.duration, |it| it.0),
                kind: FlowKind::Udp {
                    arrivals: Arrivals::periodic(interval, jitter),
                    sizes: Sizes::Fixed(size),
                    count: u64::MAX,
                    traffic_class: section.traffic_class.unwrap_or(0),
                },
            }));
        }
    }
}

/// Moves `count` randomly selected ones to the front.
fn select(hosts: &mut [usize], count: usize, rng: &mut Rng) {
    for index in 0..count {
        let other = rng.between(index as u64, hosts.len() as u64 - 1) as usize;
        hosts.swap(index, other);
    }
}
