//! Which host sends what to which.

use crate::arrivals::{Arrivals, Sizes};
use crate::channel::ChannelConfig;
use crate::host::udp::PAYLOAD_BYTES_MIN;
use crate::random;
use crate::scenario::file::{
    ArrivalsName, CongestionName, FlowKindName, FlowSection, PairsName, TcpKeys, WorkloadSection,
};
use crate::scenario::resolve::{FlowKind, FlowPlan, ReadFile};
use crate::scenario::workload::{self, SizeDistribution};
use crate::scenario::{ScenarioFault, Sources};
use crate::time::{Serialiser, Time};
use crate::topology::{NodeRef, Topology};
use base::Rng;
use base::limits::PACKET_BYTES_MAX;
use tcp::{Config, Congestion};
use toml::Spanned;

/// The most flows of a scenario: their ports are numbers of 16 bits for each pair of hosts, and their records are kept.
const FLOWS_MAX: usize = 1 << 20;

/// The payload of datagrams that have no given size: a full Ethernet frame.
const SIZE_DEFAULT: usize = 1_472;

/// The data of pings that have no given size, as `ping` has it.
const PING_BYTES_DEFAULT: usize = 56;

/// What flows are resolved with.
pub(super) struct Resolver<'a> {
    pub(super) sources: &'a Sources,
    pub(super) topology: &'a Topology,
    pub(super) channels: &'a [[ChannelConfig; 2]],
    pub(super) seed: u64,
    pub(super) duration: Time,
    pub(super) mtu: usize,
    pub(super) faults: Vec<ScenarioFault>,
}

impl Resolver<'_> {
    fn fault<T>(&mut self, at: &Spanned<T>, message: impl Into<String>) {
        self.faults.push(self.sources.fault(Some(at.span()), message));
    }

    /// The flows of a section.
    pub(super) fn flows(&mut self, number: usize, section: &Spanned<FlowSection>, flows: &mut Vec<FlowPlan>) {
        let flow = section.get_ref();
        self.check_keys(flow);
        let (from, to) = (self.hosts(&flow.from), self.hosts(&flow.to));
        let pairs = self.pairs(number, flow, &from, &to);
        if flows.len() + pairs.len() > FLOWS_MAX {
            return self.fault(section, format!("these are more than {FLOWS_MAX} flows"));
        }
        let Some(kind) = self.kind(flow) else { return };
        let start = flow.start.map_or(Time::ZERO, |it| it.0);
        let end = flow.end.map_or(self.duration, |it| it.0);
        flows.extend(pairs.into_iter().map(|(from, to)| FlowPlan {
            from,
            to,
            is_v6: flow.ipv6.unwrap_or(false),
            start,
            end,
            kind: kind.clone(),
        }));
    }

    /// The hosts of these names, in order; `*` stands for the rest of a name.
    fn hosts(&mut self, names: &Spanned<crate::scenario::values::Names>) -> Vec<usize> {
        let mut found = Vec::new();
        for name in &names.get_ref().0 {
            let before = found.len();
            match name.strip_suffix('*') {
                Some(prefix) => {
                    let hosts = self.topology.hosts.iter().enumerate();
                    found.extend(hosts.filter(|(_, host)| host.name.starts_with(prefix)).map(|(index, _)| index));
                }
                None => match self.topology.find(name) {
                    Some(NodeRef::Host(index)) => found.push(index),
                    Some(NodeRef::Switch(_)) => {
                        self.fault(names, format!("`{name}` is a switch; flows are between hosts"));
                        continue;
                    }
                    None => {}
                },
            }
            if found.len() == before {
                let known: Vec<&str> = self.topology.hosts.iter().take(8).map(|host| &*host.name).collect();
                let more = if self.topology.hosts.len() > known.len() { ", ..." } else { "" };
                let known = known.join(", ");
                self.fault(names, format!("there is no host `{name}`; the hosts are {known}{more}"));
            }
        }
        found
    }

    fn pairs(&mut self, number: usize, flow: &FlowSection, from: &[usize], to: &[usize]) -> Vec<(usize, usize)> {
        let pairs: Vec<(usize, usize)> = match flow.pairs.unwrap_or(PairsName::All) {
            PairsName::All => from.iter().flat_map(|&from| to.iter().map(move |&to| (from, to))).collect(),
            PairsName::Zip if from.len() != to.len() => {
                let message =
                    format!("`zip` joins as many hosts to as many; these are {} and {}", from.len(), to.len());
                self.fault(&flow.to, message);
                return Vec::new();
            }
            PairsName::Zip => from.iter().copied().zip(to.iter().copied()).collect(),
            PairsName::Permutation => {
                let mut rng = random::stream(self.seed, &format!("permutation {number}"));
                from.iter().copied().zip(permuted(to, &mut rng)).collect()
            }
        };
        let pairs: Vec<_> = pairs.into_iter().filter(|(from, to)| from != to).collect();
        if pairs.is_empty() && !from.is_empty() && !to.is_empty() {
            self.fault(&flow.to, "no host sends to another one");
        }
        pairs
    }

    /// Keys that mean nothing for the kind of flow would be ignored: they are faults.
    fn check_keys(&mut self, flow: &FlowSection) {
        let udp = [
            ("rate", flow.rate.is_some()),
            ("arrivals", flow.arrivals.is_some()),
            ("on", flow.on.is_some()),
            ("off", flow.off.is_some()),
            ("traffic_class", flow.traffic_class.is_some()),
        ];
        let tcp = [
            ("bytes", flow.bytes.is_some()),
            ("congestion", flow.congestion.is_some()),
            ("ecn", flow.ecn.is_some()),
            ("initial_window", flow.initial_window.is_some()),
            ("min_rto", flow.min_rto.is_some()),
            ("delayed_ack", flow.delayed_ack.is_some()),
        ];
        let ping = [("interval", flow.interval.is_some())];
        let (count, size) = (("count", flow.count.is_some()), ("size", flow.size.is_some()));
        let (name, wrong): (&str, Vec<(&str, bool)>) = match flow.kind.get_ref() {
            FlowKindName::Udp => ("udp", [&tcp[..], &ping].concat()),
            FlowKindName::Tcp => ("tcp", [&udp[..], &ping, &[count, size]].concat()),
            FlowKindName::Ping => ("ping", [&udp[..], &tcp].concat()),
        };
        for (key, _) in wrong.iter().filter(|(_, is_given)| *is_given) {
            self.fault(&flow.kind, format!("a flow of the kind {name} has no `{key}`"));
        }
    }

    fn kind(&mut self, flow: &FlowSection) -> Option<FlowKind> {
        match flow.kind.get_ref() {
            FlowKindName::Udp => self.udp(flow),
            FlowKindName::Tcp => {
                let config = self.tcp(&flow.tcp())?;
                Some(FlowKind::Tcp { bytes: flow.bytes, config: Box::new(config) })
            }
            FlowKindName::Ping => {
                let bytes = flow.size.as_ref().map_or(PING_BYTES_DEFAULT, |size| *size.get_ref());
                let interval = flow.interval.map_or(Time::from_s(1), |it| it.0);
                if bytes > PACKET_BYTES_MAX - 100 || interval == Time::ZERO {
                    self.fault(
                        &flow.kind,
                        format!("pings have an interval and at most {} bytes", PACKET_BYTES_MAX - 100),
                    );
                    return None;
                }
                Some(FlowKind::Ping { interval, count: flow.count.unwrap_or(u64::MAX), bytes })
            }
        }
    }

    fn udp(&mut self, flow: &FlowSection) -> Option<FlowKind> {
        let Some(rate) = flow.rate else {
            self.fault(&flow.kind, "a flow of the kind udp has a rate, as in rate = \"1Gbps\"");
            return None;
        };
        let size = flow.size.as_ref().map_or(SIZE_DEFAULT, |size| *size.get_ref());
        let range = PAYLOAD_BYTES_MIN..=PACKET_BYTES_MAX - 100;
        if let Some(at) = flow.size.as_ref().filter(|_| !range.contains(&size)) {
            self.fault(at, format!("a datagram has {} to {} bytes of payload", range.start(), range.end()));
            return None;
        }
        let bytes = size as u64;
        if Serialiser::new(rate.0).duration(bytes) == Time::ZERO {
            self.fault(&flow.kind, "at this rate there would be more than one datagram in a picosecond");
            return None;
        }
        let kind = flow.arrivals.unwrap_or(ArrivalsName::Constant);
        let is_phased = kind == ArrivalsName::OnOff;
        if is_phased != (flow.on.is_some() && flow.off.is_some())
            || is_phased != (flow.on.is_some() || flow.off.is_some())
        {
            self.fault(
                &flow.kind,
                "arrivals = \"on-off\" has `on` and `off`, the mean lengths of phases and pauses; others have neither",
            );
            return None;
        }
        let arrivals = match (kind, flow.on, flow.off) {
            (ArrivalsName::OnOff, Some(on), Some(off)) => Arrivals::on_off(rate.0, bytes, on.0, off.0),
            (ArrivalsName::Poisson, ..) => Arrivals::poisson(rate.0, bytes),
            _ => Arrivals::constant(rate.0, bytes),
        };
        let (count, traffic_class) = (flow.count.unwrap_or(u64::MAX), flow.traffic_class.unwrap_or(0));
        Some(FlowKind::Udp { arrivals, sizes: Sizes::Fixed(size), count, traffic_class })
    }

    /// The settings of both ends of connections.
    fn tcp(&mut self, keys: &TcpKeys<'_>) -> Option<Config> {
        let header = if keys.ipv6 { 60 } else { 40 };
        let defaults = Config::default();
        let initial_window_segments =
            keys.initial_window.as_ref().map_or(defaults.initial_window_segments, |it| *it.get_ref());
        if let Some(at) = keys.initial_window.as_ref().filter(|_| !(1..=10_000).contains(&initial_window_segments)) {
            self.fault(at, "an initial window has 1 to 10,000 segments");
            return None;
        }
        Some(Config {
            mss: (self.mtu - header) as u16,
            congestion: match keys.congestion.unwrap_or(CongestionName::Cubic) {
                CongestionName::Newreno => Congestion::NewReno,
                CongestionName::Cubic => Congestion::Cubic,
                CongestionName::Dctcp => Congestion::Dctcp,
            },
            ecn: keys.ecn.unwrap_or(false),
            initial_window_segments,
            min_rto: keys.min_rto.map_or(defaults.min_rto, |it| it.0),
            min_rto_variance: keys.min_rto.map_or(defaults.min_rto_variance, |it| it.0),
            delayed_ack: keys.delayed_ack.map_or(defaults.delayed_ack, |it| it.0),
            ..defaults
        })
    }

    /// The flows of a workload: each sender draws its own.
    pub(super) fn workload(
        &mut self,
        number: usize,
        section: &Spanned<WorkloadSection>,
        read: ReadFile<'_>,
        flows: &mut Vec<FlowPlan>,
    ) {
        let workload = section.get_ref();
        let (from, to) = (self.hosts(&workload.from), self.hosts(&workload.to));
        let (sizes, config) = (self.sizes(section, read), self.tcp(&workload.tcp()));
        let load = *workload.load.get_ref();
        if !(load > 0.0 && load <= 10.0) {
            self.fault(&workload.load, "a load is a part of the rate of the senders' links: above 0, and at most 10");
            return;
        }
        let (Some(sizes), Some(config)) = (sizes, config) else { return };
        let times = (workload.start.map_or(Time::ZERO, |it| it.0), workload.end.map_or(self.duration, |it| it.0));
        let topology = self.topology;
        for sender in from {
            let receivers: Vec<usize> = to.iter().copied().filter(|receiver| *receiver != sender).collect();
            let name = &topology.hosts[sender].name;
            let mut rng = random::stream(self.seed, &format!("workload {number} {name}"));
            let rate = self.rate_of(sender).filter(|_| !receivers.is_empty());
            let Some(rate) = rate else {
                let message = format!("host {name} has nobody to send to, or no link with a rate");
                return self.fault(&workload.from, message);
            };
            let expected = load * rate as f64 * times.1.since(times.0).seconds() / (8.0 * sizes.mean());
            if flows.len() as f64 + expected > FLOWS_MAX as f64 {
                return self.fault(section, format!("these are more than {FLOWS_MAX} flows"));
            }
            flows.extend(workload::draw(&sizes, load, rate, times, &mut rng).into_iter().map(|(start, bytes)| {
                FlowPlan {
                    from: sender,
                    to: *rng.pick(&receivers),
                    is_v6: workload.ipv6.unwrap_or(false),
                    start,
                    end: self.duration,
                    kind: FlowKind::Tcp { bytes: Some(bytes), config: Box::new(config) },
                }
            }));
        }
    }

    fn sizes(&mut self, section: &Spanned<WorkloadSection>, read: ReadFile<'_>) -> Option<SizeDistribution> {
        match (&section.get_ref().sizes, &section.get_ref().bytes) {
            (Some(file), None) => {
                let parse = |text: String| {
                    SizeDistribution::parse(&text).map_err(|message| format!("{}: {message}", file.get_ref()))
                };
                read(file.get_ref()).and_then(parse).map_err(|message| self.fault(file, message)).ok()
            }
            (None, Some(bytes)) if *bytes.get_ref() > 0 => Some(SizeDistribution::fixed(*bytes.get_ref())),
            _ => {
                self.fault(section, "a workload has either `sizes`, a file, or `bytes` above 0");
                None
            }
        }
    }

    /// The rate of a host's link.
    fn rate_of(&self, host: usize) -> Option<u64> {
        let (link, end) = self.topology.links_at(NodeRef::Host(host)).next()?;
        Some(self.channels[link][end].bits_per_s).filter(|rate| *rate > 0)
    }
}

/// The same in a random order (Fisher and Yates).
fn permuted(hosts: &[usize], rng: &mut Rng) -> Vec<usize> {
    let mut hosts = hosts.to_vec();
    for last in (1..hosts.len()).rev() {
        hosts.swap(last, rng.below(last as u64 + 1) as usize);
    }
    hosts
}
