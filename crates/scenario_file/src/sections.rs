//! The sections of a scenario. What each key means is in docs/guide/sim.md.

use crate::controller::ControllerSection;
use crate::device::{
    BufferSection, CommandsSection, InternalPortSection, PipelineSection, PortSection, QueueSection, TimingName,
};
use crate::loads::{FlowListSection, IncastSection, SensorSection, WorkloadSection};
use crate::values::{CongestionName, Cost, Names, PacketRate, Probability, Rate, Span};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// A scenario as it was written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are the keys of the file")]
pub struct ScenarioFile {
    pub seed: Option<u64>,
    pub duration: Spanned<Span>,
    pub warmup: Option<Spanned<Span>>,
    pub sample: Option<Spanned<Span>>,
    pub size_classes: Option<Spanned<Vec<u64>>>,
    pub topology: Spanned<TopologySection>,
    #[serde(default)]
    pub switches: SwitchSection,
    #[serde(default)]
    pub switch: BTreeMap<Spanned<String>, SwitchSection>,
    #[serde(default)]
    pub commands: Vec<CommandsSection>,
    #[serde(default)]
    pub links: LinkSection,
    #[serde(default)]
    pub link: BTreeMap<Spanned<String>, LinkSection>,
    #[serde(default)]
    pub hosts: HostSection,
    #[serde(default)]
    pub flows: Vec<Spanned<FlowSection>>,
    #[serde(default)]
    pub workloads: Vec<Spanned<WorkloadSection>>,
    pub controller: Option<Spanned<ControllerSection>>,
    pub faults: Option<Spanned<FaultSection>>,
    pub only_flows: Option<Spanned<Vec<usize>>>,
    /// Read by sweeps of scenarios.
    pub sweep: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    pub incasts: Vec<Spanned<IncastSection>>,
    #[serde(default)]
    pub flow_lists: Vec<Spanned<FlowListSection>>,
    #[serde(default)]
    pub sensors: Vec<Spanned<SensorSection>>,
}

/// `[topology]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are the keys of the file")]
pub struct TopologySection {
    pub file: Option<Spanned<String>>,
    pub kind: Option<Spanned<TopologyKind>>,
    pub pairs: Option<Spanned<u32>>,
    pub hosts: Option<Spanned<u32>>,
    pub switches: Option<Spanned<u32>>,
    pub hosts_per_switch: Option<Spanned<u32>>,
    pub leaves: Option<Spanned<u32>>,
    pub spines: Option<Spanned<u32>>,
    pub hosts_per_leaf: Option<Spanned<u32>>,
    pub k: Option<Spanned<u32>>,
    pub rate: Option<Rate>,
    pub delay: Option<Span>,
    pub core_rate: Option<Rate>,
    pub core_delay: Option<Span>,
}

/// `kind` of `[topology]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the variants are the values in the file")]
pub enum TopologyKind {
    Dumbbell,
    Star,
    Chain,
    LeafSpine,
    FatTree,
}

/// `[switches]`, and `[switch.NAME]` for one of them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are the keys of the file")]
pub struct SwitchSection {
    pub kind: Option<Spanned<SwitchKindName>>,
    pub program: Option<Spanned<String>>,
    pub entries: Option<Spanned<Names>>,
    pub backend: Option<Spanned<BackendName>>,
    pub timing: Option<Spanned<TimingName>>,
    pub ingress_latency: Option<Span>,
    pub egress_latency: Option<Span>,
    pub reroute: Option<Spanned<Span>>,
    pub restarts: Option<Spanned<Vec<[Span; 2]>>>,
    pub tables: Option<Spanned<TablesName>>,
    pub cores: Option<Spanned<u32>>,
    pub cost: Option<Spanned<Cost>>,
    pub pipeline: Option<Spanned<PipelineSection>>,
    pub priorities: Option<Spanned<u32>>,
    pub queue_rate: Option<Spanned<PacketRate>>,
    pub control_latency: Option<Spanned<Span>>,
    #[serde(default)]
    pub queues: Vec<Spanned<QueueSection>>,
    pub buffer: Option<Spanned<BufferSection>>,
    pub resubmission: Option<Spanned<InternalPortSection>>,
    pub recirculation: Option<Spanned<InternalPortSection>>,
    pub mirror: Option<Spanned<InternalPortSection>>,
    pub replication: Option<Spanned<InternalPortSection>>,
    #[serde(default)]
    pub port: BTreeMap<Spanned<String>, PortSection>,
}

/// `tables`: what a restart leaves of the tables of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the variants are the values in the file")]
pub enum TablesName {
    Kept,
    Lost,
}

/// `[faults]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are the keys of the file")]
pub struct FaultSection {
    pub links: Option<u32>,
    pub switches: Option<u32>,
    pub controllers: Option<u32>,
    pub from: Option<Span>,
    pub to: Option<Span>,
    pub lasts: Option<Span>,
    pub tables: Option<TablesName>,
    pub only: Option<Spanned<Vec<usize>>>,
}

/// `kind` of `[switches]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the variants are the values in the file")]
pub enum SwitchKindName {
    Router,
    Program,
}

/// `backend` of `[switches]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the variants are the values in the file")]
pub enum BackendName {
    Native,
    Interp,
}

/// `[links]`, and `[link.NAME]` for one of them or one direction of it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are the keys of the file")]
pub struct LinkSection {
    pub rate: Option<Rate>,
    pub delay: Option<Span>,
    pub overhead: Option<u32>,
    pub queue_packets: Option<usize>,
    pub queue_bytes: Option<u64>,
    pub ecn_packets: Option<usize>,
    pub ecn_bytes: Option<u64>,
    pub mtu: Option<usize>,
    pub loss: Option<Probability>,
    pub corruption: Option<Probability>,
    pub duplication: Option<Probability>,
    pub jitter: Option<Span>,
    pub reordering: Option<Probability>,
    pub reordering_delay: Option<Span>,
    pub down: Option<Spanned<Vec<[Span; 2]>>>,
}

/// `[hosts]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are the keys of the file")]
pub struct HostSection {
    /// Whether neighbours are known without asking.
    pub resolve: Option<bool>,
    pub mtu: Option<Spanned<usize>>,
    pub receive_window: Option<Spanned<u64>>,
}

/// `[[flows]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are the keys of the file")]
pub struct FlowSection {
    pub kind: Spanned<FlowKindName>,
    pub from: Spanned<Names>,
    pub to: Spanned<Names>,
    pub pairs: Option<PairsName>,
    pub stride: Option<Spanned<usize>>,
    pub ipv6: Option<bool>,
    pub start: Option<Span>,
    pub end: Option<Span>,
    pub trace: Option<Spanned<String>>,
    pub rate: Option<Rate>,
    pub size: Option<Spanned<usize>>,
    pub sizes: Option<SizesName>,
    pub arrivals: Option<ArrivalsName>,
    pub on: Option<Span>,
    pub off: Option<Span>,
    pub count: Option<u64>,
    pub interval: Option<Span>,
    pub traffic_class: Option<u8>,
    pub bytes: Option<u64>,
    pub congestion: Option<CongestionName>,
    pub ecn: Option<bool>,
    pub initial_window: Option<Spanned<u32>>,
    pub min_rto: Option<Span>,
    pub delayed_ack: Option<Span>,
    pub receive_window: Option<Spanned<u64>>,
    pub mss: Option<Spanned<usize>>,
}

/// `kind` of `[[flows]]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the variants are the values in the file")]
pub enum FlowKindName {
    Udp,
    Tcp,
    Ping,
}

/// `pairs` of `[[flows]]` and `[[workloads]]`: which senders send to which receivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the variants are the values in the file")]
pub enum PairsName {
    /// Each to each other.
    All,
    /// The first to the first, the second to the second.
    Zip,
    /// Each to another one, at random.
    Permutation,
    /// Each to the one that is this many places further.
    Stride,
}

/// `sizes` of `[[flows]]`: how the lengths of datagrams are distributed, whose mean is `size`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the variants are the values in the file")]
pub enum SizesName {
    Constant,
    /// From the least payload to so much more than the mean as that is less.
    Uniform,
    /// The least payload and an exponentially distributed rest.
    Exponential,
}

/// `arrivals` of `[[flows]]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the variants are the values in the file")]
pub enum ArrivalsName {
    Constant,
    Poisson,
    OnOff,
}
