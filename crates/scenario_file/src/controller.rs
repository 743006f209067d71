//! The form of a scenario's section of its controller. What each key means is in docs/guide/sim.md.

use crate::values::{Names, Span};
use serde::Deserialize;
use toml::Spanned;

/// `[controller]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are the keys of the file")]
pub struct ControllerSection {
    pub kind: ControllerKindName,
    pub switches: Option<Spanned<Names>>,
    pub cpu_port: Option<Spanned<u32>>,
    pub to_controller: Option<Span>,
    pub to_switch: Option<Span>,
    pub write_time: Option<Span>,
    pub read_time: Option<Span>,
    pub event_time: Option<Span>,
    pub pauses: Option<Spanned<Vec<[Span; 2]>>>,
    pub learn: Option<Spanned<LearnName>>,
    pub digest: Option<Spanned<String>>,
    pub packet_in: Option<Spanned<String>>,
    pub packet_out: Option<Spanned<String>>,
    pub write: Option<Spanned<Names>>,
    pub idle: Option<Spanned<Span>>,
    pub delta: Option<Spanned<u32>>,
    pub flowlet: Option<Spanned<Span>>,
    pub control_window: Option<Spanned<u32>>,
    pub mark_from: Option<Spanned<u32>>,
}

/// `kind` of `[controller]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the variants are the values in the file")]
pub enum ControllerKindName {
    Learning,
    P4te,
}

impl ControllerKindName {
    /// As in the file.
    pub const fn name(self) -> &'static str {
        match self {
            ControllerKindName::Learning => "learning",
            ControllerKindName::P4te => "p4te",
        }
    }
}

/// `learn` of `[controller]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the variants are the values in the file")]
pub enum LearnName {
    Digest,
    PacketIn,
}
