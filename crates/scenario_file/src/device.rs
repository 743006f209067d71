//! The form of what a scenario says of a switch's device: queues, ports, buffer, pipeline, ways back into the switch.
//! What each key means is in docs/guide/sim.md.

use crate::values::{Names, PacketRate, Rate, Span};
use serde::Deserialize;
use std::num::NonZeroU32;
use toml::Spanned;

/// `timing` of `[switches]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the variants are the values in the file")]
pub enum TimingName {
    Ideal,
    Rmt,
    Software,
    Bmv2,
}

/// One of `queues`, of all switches, of a switch or of a port.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are the keys of the file")]
pub struct QueueSection {
    pub priority: Option<Spanned<u32>>,
    pub packets: Option<usize>,
    pub bytes: Option<u64>,
    pub rate: Option<Rate>,
    pub packet_rate: Option<PacketRate>,
    pub class: Option<u32>,
    pub weight: Option<NonZeroU32>,
}

/// `[switch.NAME.port.NUMBER]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are the keys of the file")]
pub struct PortSection {
    pub rate: Option<Rate>,
    #[serde(default)]
    pub queues: Vec<Spanned<QueueSection>>,
}

/// `buffer` of a switch.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are the keys of the file")]
pub struct BufferSection {
    pub bytes: Spanned<u64>,
    pub threshold: Option<Spanned<f64>>,
}

/// `pipeline` of a switch.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are the keys of the file")]
pub struct PipelineSection {
    pub rate: Option<PacketRate>,
    pub queue_packets: Option<usize>,
    pub queue_bytes: Option<u64>,
}

/// `resubmission`, `recirculation`, `mirror` and `replication` of a switch.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are the keys of the file")]
pub struct InternalPortSection {
    pub rate: Option<Rate>,
    pub packet_rate: Option<PacketRate>,
    pub delay: Option<Span>,
    pub queue_packets: Option<usize>,
    pub queue_bytes: Option<u64>,
}

/// `[[commands]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are the keys of the file")]
pub struct CommandsSection {
    pub at: Spanned<Span>,
    pub switch: Spanned<Names>,
    pub run: Spanned<Names>,
}
