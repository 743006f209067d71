//! Which host sends what to which.

use crate::resolve::{FlowKind, FlowPlan, IncastPlan, ReadFile};
use crate::topology::{Links, NodeRef, Topology};
use crate::trace;
use base::Rng;
use base::limits::PACKET_BYTES_MAX;
use scenario_file::ScenarioFile;
use scenario_file::loads::{HasTcpKeys as _, TcpKeys};
use scenario_file::sections::{ArrivalsName, FlowKindName, FlowSection, PairsName, SizesName};
use scenario_file::values::Names;
use scenario_file::{ScenarioFault, Sources};
use sim::arrivals::{Arrivals, Sizes};
use sim::channel::ChannelConfig;
use sim::host::Sending;
use sim::host::udp::PAYLOAD_BYTES_MIN;
use sim::random;
use sim::time::{Serialiser, Time};
use std::sync::Arc;
use tcp::Config;
use toml::Spanned;

/// The most flows of a scenario: their ports are numbers of 16 bits for each pair of hosts, and their records stay in
/// memory.
pub(super) const FLOWS_MAX: usize = 1 << 20;

/// The most pairs of senders and receivers, which are listed.
const PAIRS_MAX: usize = 1 << 26;

/// The payload of datagrams that have no given size: a full Ethernet frame.
const SIZE_DEFAULT: usize = 1_472;

/// The data of pings that have no given size, as `ping` has it.
const PING_BYTES_DEFAULT: usize = 56;

/// The least MSS: that of the least MTU of IPv4, without space for options.
const MSS_MIN: usize = 88;

/// Receive windows: from a few segments to the most that window scaling can announce.
const WINDOW_RANGE: std::ops::RangeInclusive<u64> = 1_024..=1 << 30;

/// What flows are resolved with.
pub(super) struct Resolver<'a> {
    pub(super) sources: &'a Sources,
    pub(super) topology: &'a Topology,
    pub(super) links: Links,
    pub(super) channels: &'a [[ChannelConfig; 2]],
    pub(super) seed: u64,
    pub(super) duration: Time,
    pub(super) mtu: usize,
    /// Of hosts, if the scenario sets it.
    pub(super) receive_window: Option<Spanned<u64>>,
    pub(super) read: ReadFile<'a>,
    pub(super) faults: Vec<ScenarioFault>,
}

impl Resolver<'_> {
    pub(super) fn fault<T>(&mut self, at: &Spanned<T>, message: impl Into<String>) {
        self.faults.push(self.sources.fault(Some(at.span()), message));
    }

    /// All flows of a scenario.
    pub(super) fn all(&mut self, file: &ScenarioFile) -> (Vec<FlowPlan>, Vec<IncastPlan>) {
        let mut flows = Vec::new();
        file.flows.iter().enumerate().for_each(|(number, it)| self.flows(number, it, &mut flows));
        file.workloads.iter().enumerate().for_each(|(number, it)| self.workload(number, it, &mut flows));
        file.flow_lists.iter().for_each(|it| self.flow_list(it, &mut flows));
        file.sensors.iter().enumerate().for_each(|(number, it)| self.sensors(number, it, &mut flows));
        let incasts = file.incasts.iter().filter_map(|it| self.incast(it)).collect();
        (flows, incasts)
    }

    /// The flows of a section.
    fn flows(&mut self, number: usize, section: &Spanned<FlowSection>, flows: &mut Vec<FlowPlan>) {
        let flow = section.get_ref();
        self.check_keys(flow);
        let (from, to) = (self.hosts(&flow.from, flow.ipv6), self.hosts(&flow.to, flow.ipv6));
        let pairs = Pairs { rule: flow.pairs, stream: format!("permutation {number}") };
        let receivers = self.receivers(&pairs, &flow.stride, (&from, &to), &flow.to).unwrap_or_default();
        let joined = from.iter().zip(receivers).flat_map(|(from, to)| to.into_iter().map(|to| (*from, to)));
        let pairs: Vec<(usize, usize)> = joined.collect();
        if flows.len() + pairs.len() > FLOWS_MAX {
            return self.fault(section, format!("these are more than {FLOWS_MAX} flows"));
        }
        let Some(kind) = self.kind(flow) else { return };
        let start = flow.start.map_or(Time::ZERO, |it| it.0);
        let end = flow.end.map_or(self.duration, |it| it.0);
        if flow.end.is_some() && end <= start {
            return self.fault(&flow.kind, format!("the flow ends at {end}, which is not after its start at {start}"));
        }
        flows.extend(pairs.into_iter().map(|(from, to)| FlowPlan {
            from,
            to,
            is_v6: flow.ipv6.unwrap_or(false),
            start,
            end,
            kind: kind.clone(),
        }));
    }

    /// The hosts of these names, in order, for flows over this version of IP; `*` stands for the rest of a name.
    pub(super) fn hosts(&mut self, names: &Spanned<Names>, ipv6: Option<bool>) -> Vec<usize> {
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
        self.check_addresses(names, &found, ipv6);
        found
    }

    /// Hosts without an address of the version of IP are faults.
    pub(super) fn check_addresses<T>(&mut self, at: &Spanned<T>, hosts: &[usize], ipv6: Option<bool>) {
        let is_v6 = ipv6.unwrap_or(false);
        let has_none = |host: &&usize| self.topology.hosts[**host].addresses.iter().all(|it| it.ip.is_ipv6() != is_v6);
        let Some(&host) = hosts.iter().find(has_none) else { return };
        let name = &self.topology.hosts[host].name;
        self.fault(
            at,
            match is_v6 {
                true => format!("host {name} has no IPv6 address: without ipv6 = true flows are over IPv4"),
                false => format!("host {name} has no IPv4 address: flows over IPv6 have ipv6 = true"),
            },
        );
    }

    /// For each sender its receivers, without itself. Wrong pairs are faults at `at`.
    pub(super) fn receivers(
        &mut self,
        pairs: &Pairs,
        stride: &Option<Spanned<usize>>,
        (from, to): (&[usize], &[usize]),
        at: &Spanned<Names>,
    ) -> Option<Vec<Vec<usize>>> {
        if from.is_empty() || to.is_empty() {
            // They are faults already.
            return None;
        }
        let rule = pairs.rule.unwrap_or(PairsName::All);
        if rule == PairsName::All && from.len().saturating_mul(to.len()) > PAIRS_MAX {
            let message =
                format!("these are {} times {} hosts; there are at most {PAIRS_MAX} pairs", from.len(), to.len());
            self.fault(at, message);
            return None;
        }
        if let Some(stride) = stride.as_ref().filter(|_| rule != PairsName::Stride) {
            self.fault(stride, "`stride` is how far a receiver is with pairs = \"stride\"; other pairs have none");
            return None;
        }
        let lists = receivers(rule, stride.as_ref().map(|it| *it.get_ref()), &pairs.stream, self.seed, (from, to));
        let mut lists: Vec<Vec<usize>> = lists.map_err(|message| self.fault(at, message)).ok()?;
        lists.iter_mut().zip(from).for_each(|(list, from)| list.retain(|to| to != from));
        if lists.iter().all(Vec::is_empty) {
            self.fault(at, "no host sends to another one");
            return None;
        }
        Some(lists)
    }

    /// Keys that mean nothing for the kind of flow would be ignored: they are faults.
    fn check_keys(&mut self, flow: &FlowSection) {
        let both = [("rate", flow.rate.is_some()), ("traffic_class", flow.traffic_class.is_some())];
        let udp = [
            ("arrivals", flow.arrivals.is_some()),
            ("sizes", flow.sizes.is_some()),
            ("on", flow.on.is_some()),
            ("off", flow.off.is_some()),
            ("trace", flow.trace.is_some()),
        ];
        let tcp = [
            ("bytes", flow.bytes.is_some()),
            ("congestion", flow.congestion.is_some()),
            ("ecn", flow.ecn.is_some()),
            ("initial_window", flow.initial_window.is_some()),
            ("min_rto", flow.min_rto.is_some()),
            ("delayed_ack", flow.delayed_ack.is_some()),
            ("receive_window", flow.receive_window.is_some()),
            ("mss", flow.mss.is_some()),
        ];
        let ping = [("interval", flow.interval.is_some())];
        let (count, size) = (("count", flow.count.is_some()), ("size", flow.size.is_some()));
        let (name, wrong): (&str, Vec<(&str, bool)>) = match flow.kind.get_ref() {
            FlowKindName::Udp => ("udp", [&tcp[..], &ping].concat()),
            FlowKindName::Tcp => ("tcp", [&udp[..], &ping, &[count, size, ("end", flow.end.is_some())]].concat()),
            FlowKindName::Ping => ("ping", [&both[..], &udp, &tcp].concat()),
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
                let traffic_class = flow.traffic_class.unwrap_or(0);
                let sending = Sending { traffic_class, bits_per_s: flow.rate.map_or(0, |rate| rate.0), block_bytes: 0 };
                Some(FlowKind::Tcp { bytes: flow.bytes, config: Arc::new(config), sending })
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
        if let Some(file) = &flow.trace {
            return self.trace(flow, file);
        }
        let Some(rate) = flow.rate else {
            let message = "a flow of the kind udp has a rate, as in rate = \"1Gbps\", or a capture as its `trace`";
            self.fault(&flow.kind, message);
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
        if flow.on.is_some_and(|on| on.0 == Time::ZERO) {
            self.fault(&flow.kind, "`on`, the mean length of phases with datagrams, is above 0");
            return None;
        }
        let arrivals = match (kind, flow.on, flow.off) {
            (ArrivalsName::OnOff, Some(on), Some(off)) => Arrivals::on_off(rate.0, bytes, on.0, off.0),
            (ArrivalsName::Poisson, ..) => Arrivals::poisson(rate.0, bytes),
            _ => Arrivals::constant(rate.0, bytes),
        };
        let (count, traffic_class) = (flow.count.unwrap_or(u64::MAX), flow.traffic_class.unwrap_or(0));
        let sizes = match flow.sizes.unwrap_or(SizesName::Constant) {
            SizesName::Constant => Sizes::Fixed(size),
            SizesName::Uniform => Sizes::Uniform(PAYLOAD_BYTES_MIN, (2 * size - PAYLOAD_BYTES_MIN).min(*range.end())),
            SizesName::Exponential => Sizes::Exponential { least: PAYLOAD_BYTES_MIN, mean: size as f64 },
        };
        Some(FlowKind::Udp { arrivals, sizes, count, traffic_class })
    }

    /// Datagrams as the packets of a capture.
    fn trace(&mut self, flow: &FlowSection, file: &Spanned<String>) -> Option<FlowKind> {
        let FlowSection { rate, size, sizes, arrivals, on, off, .. } = flow;
        let of_rates = [
            ("rate", rate.is_some()),
            ("size", size.is_some()),
            ("sizes", sizes.is_some()),
            ("arrivals", arrivals.is_some()),
            ("on", on.is_some()),
            ("off", off.is_some()),
        ];
        if let Some((key, _)) = of_rates.into_iter().find(|(_, is_given)| *is_given) {
            self.fault(file, format!("a `trace` has the times and lengths of datagrams: remove `{key}`"));
            return None;
        }
        let read = (self.read)(file.get_ref())
            .and_then(|bytes| trace::parse(&bytes).map_err(|message| format!("{}: {message}", file.get_ref())));
        let trace = read.map_err(|message| self.fault(file, message)).ok()?;
        Some(FlowKind::Udp {
            arrivals: Arrivals::trace(trace.gaps),
            sizes: Sizes::Trace(trace::payloads(&trace.frame_bytes, flow.ipv6.unwrap_or(false))),
            count: flow.count.unwrap_or(u64::MAX).min(trace.frame_bytes.len() as u64),
            traffic_class: flow.traffic_class.unwrap_or(0),
        })
    }

    /// The settings of both ends of connections.
    pub(super) fn tcp(&mut self, keys: &TcpKeys<'_>) -> Option<Config> {
        let header = if keys.is_v6 { 60 } else { 40 };
        let defaults = Config::default();
        let initial_window_segments =
            keys.initial_window.as_ref().map_or(defaults.initial_window_segments, |it| *it.get_ref());
        if let Some(at) = keys.initial_window.as_ref().filter(|_| !(1..=10_000).contains(&initial_window_segments)) {
            self.fault(at, "an initial window has 1 to 10,000 segments");
            return None;
        }
        let mss = self.mss(keys.mss, self.mtu - header)?;
        let receive_buffer_bytes = self.receive_window(keys.receive_window)?.unwrap_or(defaults.receive_buffer_bytes);
        Some(Config {
            mss,
            receive_buffer_bytes,
            // The window of the receiver is the limit, not the sender's buffer.
            send_buffer_bytes: defaults.send_buffer_bytes.max(receive_buffer_bytes),
            congestion: keys.congestion.map_or(defaults.congestion, |it| it.0),
            ecn: keys.ecn.unwrap_or(false),
            initial_window_segments,
            min_rto: keys.min_rto.map_or(defaults.min_rto, |it| it.0),
            min_rto_variance: keys.min_rto.map_or(defaults.min_rto_variance, |it| it.0),
            delayed_ack: keys.delayed_ack.map_or(defaults.delayed_ack, |it| it.0),
            ..defaults
        })
    }
}

impl Resolver<'_> {
    /// The most payload and TCP options of a segment.
    fn mss(&mut self, mss: &Option<Spanned<usize>>, most: usize) -> Option<u16> {
        let value = mss.as_ref().map_or(most, |it| *it.get_ref());
        if let Some(at) = mss.as_ref().filter(|_| !(MSS_MIN..=most).contains(&value)) {
            let message =
                format!("an MSS is {MSS_MIN} bytes to the MTU of the hosts without 40 or 60 bytes of headers");
            self.fault(at, format!("{message}, here {most}"));
            return None;
        }
        Some(value as u16)
    }

    /// The receive window of a flow, or that of hosts; `Some(None)` if neither is set.
    fn receive_window(&mut self, own: &Option<Spanned<u64>>) -> Option<Option<u64>> {
        let Some(given) = own.clone().or(self.receive_window.clone()) else { return Some(None) };
        let bytes = *given.get_ref();
        if !WINDOW_RANGE.contains(&bytes) {
            let (least, most) = WINDOW_RANGE.into_inner();
            self.fault(&given, format!("a receive window has {least} to {most} bytes"));
            return None;
        }
        Some(Some(bytes))
    }
}

/// Who sends to whom.
pub(super) struct Pairs {
    pub(super) rule: Option<PairsName>,
    /// The name of its random numbers.
    pub(super) stream: String,
}

/// For each sender its receivers, itself perhaps among them.
fn receivers(
    rule: PairsName,
    stride: Option<usize>,
    stream: &str,
    seed: u64,
    (from, to): (&[usize], &[usize]),
) -> Result<Vec<Vec<usize>>, String> {
    let one = |receivers: Vec<usize>| receivers.into_iter().map(|receiver| vec![receiver]).collect();
    let counts = format!("these are {} and {}", from.len(), to.len());
    match rule {
        PairsName::All => Ok(vec![to.to_vec(); from.len()]),
        PairsName::Zip if from.len() != to.len() => Err(format!("`zip` joins as many hosts to as many; {counts}")),
        PairsName::Zip => Ok(one(to.to_vec())),
        PairsName::Permutation if from.len() > to.len() => {
            Err(format!("`permutation` gives each sender a receiver of its own; {counts}"))
        }
        PairsName::Permutation => Ok(one(permuted(from, to, &mut random::stream(seed, stream)))),
        PairsName::Stride => {
            let stride = stride.ok_or("`stride` has a `stride`: how many places further the receiver is, as in 4")?;
            Ok(one((0..from.len()).map(|index| to[(index + stride % to.len()) % to.len()]).collect()))
        }
    }
}

/// A receiver for each sender, in a random order (Fisher and Yates). Who would send to itself exchanges its receiver
/// with another one, if there is one with whom that helps.
fn permuted(from: &[usize], to: &[usize], rng: &mut Rng) -> Vec<usize> {
    let mut to = to.to_vec();
    for last in (1..to.len()).rev() {
        to.swap(last, rng.below(last as u64 + 1) as usize);
    }
    for index in 0..from.len() {
        if to[index] == from[index] {
            let first = rng.below(to.len() as u64) as usize;
            let helps = |other: &usize| to[*other] != from[index] && from.get(*other) != Some(&to[index]);
            let other = (first..to.len()).chain(0..first).find(helps);
            to.swap(index, other.unwrap_or(index));
        }
    }
    to.truncate(from.len());
    to
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_host_is_its_own_receiver_in_a_permutation() {
        let mut rng = Rng::new(1);
        let hosts: Vec<usize> = (0..7).collect();
        for count in 2..=7 {
            for _ in 0..200 {
                let receivers = permuted(&hosts[..count], &hosts[..count], &mut rng);
                let mut sorted = receivers.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, hosts[..count]);
                assert!(receivers.iter().zip(&hosts).all(|(to, from)| to != from), "{receivers:?}");
            }
        }
        assert_eq!(permuted(&[3], &[3], &mut rng), [3]);
        assert!(permuted(&[3], &[3, 4], &mut rng) == [4]);
    }
}
