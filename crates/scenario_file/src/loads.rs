//! The sections that make many flows: workloads, incasts, lists of flows, sensors.

use crate::sections::{FlowSection, PairsName};
use crate::values::{CongestionName, Names, Span};
use serde::Deserialize;
use toml::Spanned;

/// `[[workloads]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are the keys of the file")]
pub struct WorkloadSection {
    pub from: Spanned<Names>,
    pub to: Spanned<Names>,
    pub pairs: Option<PairsName>,
    pub stride: Option<Spanned<usize>>,
    pub fan_in: Option<Spanned<usize>>,
    pub load: Spanned<f64>,
    pub sizes: Option<Spanned<String>>,
    pub packet_bytes: Option<Spanned<u64>>,
    pub bytes: Option<Spanned<u64>>,
    pub ipv6: Option<bool>,
    pub start: Option<Span>,
    pub end: Option<Span>,
    pub congestion: Option<CongestionName>,
    pub ecn: Option<bool>,
    pub initial_window: Option<Spanned<u32>>,
    pub min_rto: Option<Span>,
    pub delayed_ack: Option<Span>,
    pub receive_window: Option<Spanned<u64>>,
    pub mss: Option<Spanned<usize>>,
}

/// `[[incasts]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are the keys of the file")]
pub struct IncastSection {
    pub from: Spanned<Names>,
    pub to: Spanned<String>,
    pub bytes: Spanned<u64>,
    pub request_bytes: Option<Spanned<u64>>,
    pub rounds: Option<Spanned<u64>>,
    pub pause: Option<Span>,
    pub ipv6: Option<bool>,
    pub start: Option<Span>,
    pub congestion: Option<CongestionName>,
    pub ecn: Option<bool>,
    pub initial_window: Option<Spanned<u32>>,
    pub min_rto: Option<Span>,
    pub delayed_ack: Option<Span>,
    pub receive_window: Option<Spanned<u64>>,
    pub mss: Option<Spanned<usize>>,
}

/// `[[flow_lists]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are the keys of the file")]
pub struct FlowListSection {
    pub file: Spanned<String>,
    pub ipv6: Option<bool>,
    pub start: Option<Span>,
    pub congestion: Option<CongestionName>,
    pub ecn: Option<bool>,
    pub initial_window: Option<Spanned<u32>>,
    pub min_rto: Option<Span>,
    pub delayed_ack: Option<Span>,
    pub receive_window: Option<Spanned<u64>>,
    pub mss: Option<Spanned<usize>>,
}

/// `[[sensors]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields are the keys of the file")]
pub struct SensorSection {
    pub from: Spanned<Names>,
    pub to: Spanned<Names>,
    pub per_host: Option<Spanned<usize>>,
    pub interval: Spanned<Span>,
    pub jitter: Option<Spanned<Span>>,
    pub size: Option<Spanned<usize>>,
    pub traffic_class: Option<u8>,
    pub ipv6: Option<bool>,
    pub start: Option<Span>,
    pub end: Option<Span>,
}

/// What sections say of TCP.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields are keys of the file")]
pub struct TcpKeys<'a> {
    pub is_v6: bool,
    pub congestion: Option<CongestionName>,
    pub ecn: Option<bool>,
    pub initial_window: &'a Option<Spanned<u32>>,
    pub min_rto: Option<Span>,
    pub delayed_ack: Option<Span>,
    pub receive_window: &'a Option<Spanned<u64>>,
    pub mss: &'a Option<Spanned<usize>>,
}

/// A section with settings of TCP.
pub trait HasTcpKeys {
    /// These settings.
    fn tcp(&self) -> TcpKeys<'_>;
}

macro_rules! has_tcp_keys {
    ($($section:ty),*) => {$(
        impl HasTcpKeys for $section {
            fn tcp(&self) -> TcpKeys<'_> {
                let Self { congestion, ecn, min_rto, delayed_ack, .. } = *self;
                let Self { initial_window, receive_window, mss, .. } = self;
                let is_v6 = self.ipv6.unwrap_or(false);
                TcpKeys { is_v6, congestion, ecn, initial_window, min_rto, delayed_ack, receive_window, mss }
            }
        }
    )*};
}

has_tcp_keys!(FlowSection, WorkloadSection, IncastSection, FlowListSection);
