//! From a scenario's settings of a switch's device, and the presets of `timing`, to the device.
//!
//! Where the numbers of the presets come from is in docs/design/simulator.md.

use crate::cost::Unmeasured;
use crate::resolve::{Draft, SwitchKind, SwitchPlan, keys_of_programs};
use crate::topology::NodeRef;
use scenario_file::ScenarioFile;
use scenario_file::device::{
    BufferSection, InternalPortSection, PipelineSection, PortSection, QueueSection, TimingName,
};
use scenario_file::sections::SwitchSection;
use scenario_file::values::Cost;
use sim::device::{Device, QueueChange};
use sim::pipeline::{PipelineConfig, Service};
use sim::time::Time;
use std::num::NonZeroU32;
use switch::{BufferSettings, DynamicThreshold, InternalPort, InternalPortSettings};
use toml::Spanned;

/// Parser and ingress pipeline of the preset `rmt`, and its egress pipeline and deparser.
const RMT_LATENCY: Time = Time::from_ns(150);
/// Packets that its pipeline takes in a second: one in each clock.
const RMT_PACKETS_PER_S: u64 = 1_000_000_000;
/// The rate of its internal ports: that of a port.
const RMT_INTERNAL_BITS_PER_S: u64 = 100_000_000_000;
/// Capacity of the queue of a core of the preset `software`: descriptors of a receive queue.
const RECEIVE_QUEUE_PACKETS: usize = 1_024;
/// Capacity of the queue before another pipeline. A hardware pipeline has hardly any before its parser.
const PIPELINE_QUEUE_PACKETS: usize = 64;
/// Packets in a queue of the reference switch.
const BMV2_QUEUE_PACKETS: usize = switch::traffic::QUEUE_CAPACITY_DEFAULT;
/// Queues for each port.
const PRIORITIES_MAX: u32 = 64;
/// Cores of a software switch.
const CORES_MAX: u32 = 1_024;
/// The denominator of thresholds.
const THRESHOLD_PARTS: u32 = 65_536;

/// The sections of a switch: its own, which has precedence, and that of all switches.
#[derive(Clone, Copy)]
pub(super) struct SwitchSections<'a> {
    pub(super) own: &'a SwitchSection,
    pub(super) all: &'a SwitchSection,
}

impl<'a> SwitchSections<'a> {
    fn first<T>(self, value: impl Fn(&'a SwitchSection) -> Option<T>) -> Option<T> {
        value(self.own).or_else(|| value(self.all))
    }
}

impl Draft<'_> {
    /// The latencies before and behind the queues of a switch, its device, and whether its cost is to be measured.
    pub(super) fn device(
        &mut self,
        index: usize,
        sections: SwitchSections<'_>,
    ) -> (Time, Time, Device, Option<Unmeasured>) {
        let timing = sections.first(|it| it.timing.as_ref()).map_or(TimingName::Ideal, |it| *it.get_ref());
        let written = self.cost(timing, sections);
        let cost = if let Cost::Fixed(cost) = written { cost } else { Time::ZERO };
        let (ingress, egress) = match timing {
            TimingName::Ideal | TimingName::Bmv2 => (Time::ZERO, Time::ZERO),
            TimingName::Rmt => (RMT_LATENCY, RMT_LATENCY),
            TimingName::Software => (cost, Time::ZERO),
        };
        let own_ingress = sections.first(|it| it.ingress_latency);
        let unmeasured = (written == Cost::Measured).then(|| Unmeasured { is_latency: own_ingress.is_none() });
        let ingress = own_ingress.map_or(ingress, |it| it.0);
        let egress = sections.first(|it| it.egress_latency).map_or(egress, |it| it.0);
        let priorities = self.priorities(sections);
        let device = Device {
            priorities: priorities as u8,
            is_blind: timing == TimingName::Bmv2,
            pipeline: self.pipeline(timing, cost, sections),
            queues: self.queues(index, timing, priorities, sections),
            port_rates: self.port_rates(index, sections.own),
            buffer: sections.first(|it| it.buffer.as_ref()).and_then(|it| self.buffer(it)),
            commands: Vec::new(),
            internal_ports: internal_ports(timing, (ingress, egress), sections),
        };
        (ingress, egress, device, unmeasured)
    }

    /// What a packet costs a core of a software switch.
    fn cost(&mut self, timing: TimingName, sections: SwitchSections<'_>) -> Cost {
        let is_software = timing == TimingName::Software;
        let cores = sections.first(|it| it.cores.as_ref());
        if let Some(at) = cores.filter(|it| !(1..=CORES_MAX).contains(it.get_ref())) {
            self.fault_once(at.span(), format!("a switch has from 1 to {CORES_MAX} cores"));
        }
        let cost = sections.first(|it| it.cost.as_ref());
        if !is_software {
            for at in cores.map(Spanned::span).into_iter().chain(cost.map(Spanned::span)) {
                self.fault_once(at, "only a switch with timing = \"software\" has `cores` and a `cost`");
            }
            return Cost::Fixed(Time::ZERO);
        }
        match (cost, sections.first(|it| it.timing.as_ref())) {
            (Some(cost), _) => {
                if *cost.get_ref() == Cost::Fixed(Time::ZERO) {
                    self.fault_once(cost.span(), "a packet costs more than 0");
                }
                *cost.get_ref()
            }
            (None, Some(timing)) => {
                let message = "a software switch has a cost for each packet, as in cost = \"80ns\": `wirespeed bench PROGRAM.p4` \
                               measures it (\"ns per packet\"); cost = \"measured\" measures it before the run";
                self.fault_once(timing.span(), message);
                Cost::Fixed(Time::ZERO)
            }
            (None, None) => Cost::Fixed(Time::ZERO),
        }
    }

    fn priorities(&mut self, sections: SwitchSections<'_>) -> u32 {
        let Some(at) = sections.first(|it| it.priorities.as_ref()) else { return 1 };
        if !(1..=PRIORITIES_MAX).contains(at.get_ref()) {
            self.fault_once(at.span(), format!("a port has from 1 to {PRIORITIES_MAX} priorities"));
            return 1;
        }
        *at.get_ref()
    }

    fn pipeline(&mut self, timing: TimingName, cost: Time, sections: SwitchSections<'_>) -> Option<PipelineConfig> {
        let preset = match timing {
            TimingName::Ideal | TimingName::Bmv2 => None,
            TimingName::Rmt => Some((1, Service::PacketsPerS(RMT_PACKETS_PER_S), PIPELINE_QUEUE_PACKETS)),
            TimingName::Software => {
                let cores = sections.first(|it| it.cores.as_ref()).map_or(1, |it| *it.get_ref());
                Some((cores as usize, Service::Cost(cost), RECEIVE_QUEUE_PACKETS))
            }
        };
        let none = PipelineSection::default();
        let written = sections.first(|it| it.pipeline.as_ref());
        let section = written.map_or(&none, Spanned::get_ref);
        let preset = match (preset, section.rate) {
            (Some((_, _, queue)), Some(rate)) => Some((1, Service::PacketsPerS(rate.0), queue)),
            (None, Some(rate)) => Some((1, Service::PacketsPerS(rate.0), PIPELINE_QUEUE_PACKETS)),
            (preset, None) => preset,
        };
        if let (Some(at), None) = (written, preset) {
            self.fault_once(at.span(), "a pipeline has a rate, as in pipeline = { rate = \"1Gpps\" }");
        }
        let (servers, service, queue_packets) = preset?;
        Some(PipelineConfig {
            servers,
            service,
            queue_packets: section.queue_packets.unwrap_or(queue_packets),
            queue_bytes: section.queue_bytes.unwrap_or(u64::MAX),
        })
    }

    /// Changes of queues: of the preset, of all switches, of the switch, and of its ports.
    fn queues(
        &mut self,
        index: usize,
        timing: TimingName,
        priorities: u32,
        sections: SwitchSections<'_>,
    ) -> Vec<QueueChange> {
        let mut changes = Vec::new();
        let queue_rate = sections.first(|it| it.queue_rate.as_ref());
        if timing == TimingName::Bmv2 {
            let packets_per_s = queue_rate.map(|rate| rate.get_ref().0);
            let capacity_packets = Some(BMV2_QUEUE_PACKETS);
            changes.push(QueueChange { capacity_packets, packets_per_s, ..QueueChange::default() });
        } else if let Some(at) = queue_rate {
            let message =
                "only a switch with timing = \"bmv2\" has a `queue_rate`; others have queues with a `packet_rate`";
            self.fault_once(at.span(), message);
        }
        for section in sections.all.queues.iter().chain(&sections.own.queues) {
            changes.push(self.queue(None, priorities, section));
        }
        for (name, port) in &sections.own.port {
            let number = self.port_number(index, name);
            changes.extend(port.queues.iter().map(|section| self.queue(number, priorities, section)));
        }
        changes
    }

    fn queue(&mut self, port: Option<u32>, priorities: u32, section: &Spanned<QueueSection>) -> QueueChange {
        let queue = section.get_ref();
        if let Some(at) = queue.priority.as_ref().filter(|it| *it.get_ref() >= priorities) {
            let message = match priorities {
                1 => "a port has one queue, of priority 0: write priorities = N for more".to_owned(),
                _ => format!("a port has the priorities 0 to {}: write priorities = N for more", priorities - 1),
            };
            self.fault_once(at.span(), message);
        }
        QueueChange {
            port,
            priority: queue.priority.as_ref().map(|it| *it.get_ref()),
            capacity_packets: queue.packets,
            capacity_bytes: queue.bytes,
            bits_per_s: queue.rate.map(|it| it.0),
            packets_per_s: queue.packet_rate.map(|it| it.0),
            class: queue.class,
            weight: queue.weight,
        }
    }

    fn port_rates(&mut self, index: usize, own: &SwitchSection) -> Vec<(u32, u64)> {
        let rate =
            |(name, port): (&Spanned<String>, &PortSection)| Some((self.port_number(index, name)?, port.rate?.0));
        own.port.iter().filter_map(rate).collect()
    }

    /// The port of this name: one that has a link.
    fn port_number(&mut self, index: usize, name: &Spanned<String>) -> Option<u32> {
        let topology = self.topology;
        let links = topology.links_at(NodeRef::Switch(index));
        let numbers: Vec<u32> = links.map(|(link, end)| topology.links[link].ends[end].1).collect();
        let number = name.get_ref().parse().ok().filter(|number| numbers.contains(number));
        if number.is_none() {
            let listed: Vec<String> = numbers.iter().take(16).map(u32::to_string).collect();
            let switch = &topology.switches[index].name;
            let message =
                format!("switch {switch} has no port `{}`; its ports are {}", name.get_ref(), listed.join(", "));
            self.fault_once(name.span(), message);
        }
        number
    }

    fn buffer(&mut self, section: &Spanned<BufferSection>) -> Option<BufferSettings> {
        let BufferSection { bytes, threshold } = section.get_ref();
        if *bytes.get_ref() == 0 {
            self.fault_once(bytes.span(), "a buffer has more than 0 bytes");
        }
        let of_free = |it: &Spanned<f64>| (it.get_ref() * f64::from(THRESHOLD_PARTS)).round();
        let is_good = |parts: f64| parts >= 1.0 && parts <= f64::from(u32::MAX);
        if let Some(at) = threshold.as_ref().filter(|it| !is_good(of_free(it))) {
            let message =
                "a threshold is the part of the free buffer that a queue may have: above 0, as in threshold = 0.5";
            self.fault_once(at.span(), message);
            return None;
        }
        let denominator = NonZeroU32::new(THRESHOLD_PARTS)?;
        let threshold = threshold.as_ref().map(|it| DynamicThreshold { numerator: of_free(it) as u32, denominator });
        Some(BufferSettings { bytes: *bytes.get_ref(), threshold })
    }

    /// The commands that switches get at given times, in the order of these.
    pub(super) fn commands(&mut self, file: &ScenarioFile, switches: &mut [SwitchPlan]) {
        for section in &file.commands {
            for name in &section.switch.get_ref().0 {
                let Some(NodeRef::Switch(index)) = self.topology.find(name) else {
                    self.fault_once(
                        section.switch.span(),
                        format!("there is no switch `{name}`; {}", self.known_switches()),
                    );
                    continue;
                };
                if switches[index].kind == SwitchKind::Router {
                    self.fault_once(
                        section.switch.span(),
                        format!("switch {name} is a router, which takes no commands"),
                    );
                    continue;
                }
                let own = file.switch.iter().find(|(key, _)| key.get_ref() == name).map(|(_, own)| own);
                let latency =
                    own.and_then(|own| own.control_latency.as_ref()).or(file.switches.control_latency.as_ref());
                let at = section.at.get_ref().0 + latency.map_or(Time::ZERO, |it| it.get_ref().0);
                let commands = &mut switches[index].device.commands;
                let before = commands.partition_point(|(time, _)| *time <= at);
                commands.insert(before, (at, section.run.get_ref().0.join("\n")));
                let place = self.place(section.run.span());
                switches[index].command_places.push((at, place));
            }
        }
    }

    /// What a router cannot have is a fault of its own section.
    pub(super) fn check_router(&mut self, index: usize, own: &SwitchSection) {
        let name = &self.topology.switches[index].name;
        for (key, span) in keys_of_programs(own) {
            let is_of_queues = !["entries", "backend", "tables", "control_latency"].contains(&key);
            let reason = if is_of_queues { ": its queues are those of [links]" } else { "" };
            let message = format!("switch {name} is a router, which has no `{key}`{reason}");
            self.fault_once(span, message);
        }
    }
}

/// The internal ports with a delay. A second pass takes the latencies of the first again.
fn internal_ports(
    timing: TimingName,
    (ingress, egress): (Time, Time),
    sections: SwitchSections<'_>,
) -> Vec<(InternalPort, InternalPortSettings)> {
    let setting = |port: InternalPort| {
        let (section, delay): (fn(&SwitchSection) -> Option<&InternalPortSection>, Time) = match port {
            InternalPort::Resubmission => (|it| it.resubmission.as_ref().map(Spanned::get_ref), ingress),
            InternalPort::Recirculation => (|it| it.recirculation.as_ref().map(Spanned::get_ref), ingress + egress),
            InternalPort::Mirror => (|it| it.mirror.as_ref().map(Spanned::get_ref), Time::ZERO),
            InternalPort::Replication => (|it| it.replication.as_ref().map(Spanned::get_ref), Time::ZERO),
        };
        let preset = timing == TimingName::Rmt && port != InternalPort::Replication;
        let written = sections.first(section);
        if written.is_none() && !preset {
            return None;
        }
        let none = InternalPortSection::default();
        let written = written.unwrap_or(&none);
        let standard = InternalPortSettings::default();
        let settings = InternalPortSettings {
            bits_per_s: written.rate.map_or(if preset { RMT_INTERNAL_BITS_PER_S } else { 0 }, |it| it.0),
            packets_per_s: written.packet_rate.map_or(0, |it| it.0),
            delay_ns: written.delay.map_or(delay, |it| it.0).ns(),
            capacity_packets: written.queue_packets.unwrap_or(standard.capacity_packets),
            capacity_bytes: written.queue_bytes.unwrap_or(standard.capacity_bytes),
            ..standard
        };
        Some((port, settings))
    };
    InternalPort::ALL.into_iter().filter_map(setting).collect()
}
