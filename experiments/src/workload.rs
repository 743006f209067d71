//! Workloads: how large flows are, and when they begin.
//!
//! What enters: published distributions of sizes, which the repository does not have but names, a load, a seed. What
//! leaves: flows between hosts.

use scenario::workload::{SizeDistribution, draw};
use serde::{Deserialize, Serialize};
use sim::Time;
use sim::random::stream;
use std::path::Path;

/// A distribution of flow sizes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// Web search (DCTCP).
    WebSearch,
    /// Data mining (VL2).
    DataMining,
    /// 24 flows of 512 kB and 8 of 1024 kB to one host at the same time.
    Incast,
    /// This many flows of 64 kB to one host at the same time.
    IncastOf(usize),
}

impl Workload {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Workload::WebSearch => "web-search",
            Workload::DataMining => "data-mining",
            Workload::Incast | Workload::IncastOf(_) => "incast",
        }
    }

    /// Its name, with the number of flows if it has one.
    pub fn label(self) -> String {
        match self {
            Workload::IncastOf(flows) => format!("incast of {flows}"),
            _ => self.name().to_owned(),
        }
    }

    fn file(self) -> &'static str {
        match self {
            Workload::DataMining => "datamining_vl2_bytes.csv",
            Workload::WebSearch | Workload::Incast | Workload::IncastOf(_) => "websearch_dctcp_bytes.csv",
        }
    }
}

/// A flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flow {
    /// Host that sends, from 0.
    pub from: usize,
    /// Host that receives.
    pub to: usize,
    /// When it begins.
    pub start: Time,
    /// Bytes.
    pub bytes: u64,
    /// Whether it is one of the largest tenth.
    pub is_large: bool,
}

/// The points of a published distribution: bytes and the part of flows that are not larger.
fn published(workload: Workload) -> Result<Vec<(f64, f64)>, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/flow-sizes").join(workload.file());
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let point = |line: &str| {
        let (size, part) = line.split_once(',')?;
        Some((size.trim().parse().ok()?, part.trim().parse().ok()?))
    };
    Ok(text.lines().filter_map(point).collect())
}

/// Where the sizes of data-mining begin to be compressed, and the greatest size then.
const COMPRESSED_FROM: f64 = 10_000.0;
const COMPRESSED_TO: f64 = 600_000.0;
/// What web-search sizes are divided by.
const SCALE: f64 = 100.0;

/// The points for links of some packets a second (docs/design/p4te.md).
fn scaled(workload: Workload, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let most = points.last().map_or(1.0, |point| point.0);
    let exponent = (COMPRESSED_TO / COMPRESSED_FROM).ln() / (most / COMPRESSED_FROM).ln();
    let scale = |size: f64| match workload {
        Workload::DataMining if size > COMPRESSED_FROM => COMPRESSED_FROM * (size / COMPRESSED_FROM).powf(exponent),
        Workload::DataMining => size,
        _ => size / SCALE,
    };
    points.iter().map(|(size, part)| (scale(*size).round(), *part)).collect()
}

/// The size that a part of flows does not exceed.
fn quantile(points: &[(f64, f64)], part: f64) -> f64 {
    let index = points.partition_point(|point| point.1 < part).min(points.len() - 1);
    let (size, until) = points[index];
    match index.checked_sub(1).map(|before| points[before]) {
        Some((smaller, from)) if until > from => smaller + (size - smaller) * (part - from) / (until - from),
        _ => size,
    }
}

/// How hosts send: of which leaf each is one, and what their uplinks carry.
///
/// Where packets are counted and not bytes, a load is one of all packets of flows: data, an acknowledgment for each,
/// and those that open and close connections.
#[derive(Clone, Copy, Debug)]
pub struct Senders {
    /// Leaves.
    pub leaves: usize,
    /// Hosts of each.
    pub hosts_per_leaf: usize,
    /// To which leaf the hosts of a leaf send, counted from it.
    pub stride: usize,
    /// What each host has of its leaf's uplinks.
    pub share: Share,
}

/// A part of the uplinks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Share {
    /// Packets a second, whose data packets have this much payload.
    Packets(u64, u64),
    /// Bits of payload a second.
    Bits(u64),
}

/// Packets that open and close a connection, in both directions.
const FRAMING_PACKETS: f64 = 6.0;

impl Share {
    /// Bits of payload a second of flows with these sizes.
    fn bits_per_s(self, sizes: &SizeDistribution) -> u64 {
        let (packets_per_s, payload_bytes) = match self {
            Share::Bits(bits_per_s) => return bits_per_s,
            Share::Packets(packets_per_s, payload_bytes) => (packets_per_s, payload_bytes),
        };
        // The mean number of segments has no closed form: draws have it.
        const DRAWS: u64 = 20_000;
        let mut rng = base::Rng::new(1);
        let segments: u64 = (0..DRAWS).map(|_| sizes.draw(&mut rng).div_ceil(payload_bytes)).sum();
        let packets = 2.0 * segments as f64 / DRAWS as f64 + FRAMING_PACKETS;
        (packets_per_s as f64 * sizes.mean() * 8.0 / packets) as u64
    }
}

/// The flows of a workload: host i of leaf j sends to host i + 1 of the leaf at the stride, with Poisson arrivals that
/// load the uplinks to this part until `end`.
pub fn flows(
    workload: Workload,
    is_scaled: bool,
    load: f64,
    seed: u64,
    senders: &Senders,
    (begin, end): (Time, Time),
) -> Result<Vec<Flow>, String> {
    match workload {
        Workload::Incast => return Ok(incast(senders, begin)),
        Workload::IncastOf(flows) => return Ok(incast_of(flows, senders, begin)),
        Workload::WebSearch | Workload::DataMining => {}
    }
    let points = published(workload)?;
    let points = if is_scaled { scaled(workload, &points) } else { points };
    let large = quantile(&points, 0.9);
    let table: String = points.iter().map(|(size, part)| format!("{size},{part}\n")).collect();
    let sizes = SizeDistribution::parse(&table, None)?;
    let Senders { leaves, hosts_per_leaf, stride, share } = *senders;
    let bits_per_s = share.bits_per_s(&sizes);
    let mut flows = Vec::new();
    for from in 0..leaves * hosts_per_leaf {
        let (leaf, host) = (from / hosts_per_leaf, from % hosts_per_leaf);
        let to = (leaf + stride) % leaves * hosts_per_leaf + (host + 1) % hosts_per_leaf;
        let mut rng = stream(seed, &format!("{} host {from}", workload.name()));
        let drawn = draw(&sizes, load, bits_per_s, (begin, end), &mut rng);
        flows.extend(drawn.into_iter().map(|(start, bytes)| Flow {
            from,
            to,
            start,
            bytes,
            is_large: bytes as f64 > large,
        }));
    }
    Ok(flows)
}

/// Section 7.2: 24 short and 8 large flows from the twelve hosts of the other leaves to the first host.
fn incast(senders: &Senders, begin: Time) -> Vec<Flow> {
    let others = senders.leaves * senders.hosts_per_leaf - senders.hosts_per_leaf;
    let flow = |number: usize| {
        let is_large = number >= 24;
        let bytes = if is_large { 1_024_000 } else { 512_000 };
        Flow { from: senders.hosts_per_leaf + number % others, to: 0, start: begin, bytes, is_large }
    };
    (0..32).map(flow).collect()
}

/// `flows` short flows from the hosts of the other leaves, one after the other, to the first host.
fn incast_of(flows: usize, senders: &Senders, begin: Time) -> Vec<Flow> {
    let others = senders.leaves * senders.hosts_per_leaf - senders.hosts_per_leaf;
    let flow = |number: usize| {
        let from = senders.hosts_per_leaf + number % others;
        Flow { from, to: 0, start: begin, bytes: 64_000, is_large: false }
    };
    (0..flows).map(flow).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENDERS: Senders = Senders { leaves: 4, hosts_per_leaf: 4, stride: 1, share: Share::Packets(20, 1_428) };

    #[test]
    fn an_incast_has_twelve_senders() {
        let flows = incast(&SENDERS, Time::ZERO);
        assert_eq!(flows.iter().filter(|flow| flow.is_large).count(), 8);
        assert!(flows.iter().all(|flow| (4..16).contains(&flow.from) && flow.to == 0));
    }

    #[test]
    fn a_load_of_packets_has_all_packets() {
        // Ten segments and as many acknowledgments, and six packets: 26 packets carry 14,280 bytes.
        let sizes = SizeDistribution::fixed(14_280);
        assert_eq!(Share::Packets(26, 1_428).bits_per_s(&sizes), 114_240);
    }

    #[test]
    fn sizes_are_scaled_as_in_the_design() {
        let points = [(0.0, 0.0), (10_000.0, 0.8), (1e9, 1.0)];
        assert_eq!(scaled(Workload::DataMining, &points), [(0.0, 0.0), (10_000.0, 0.8), (600_000.0, 1.0)]);
        assert_eq!(scaled(Workload::WebSearch, &points)[1], (100.0, 0.8));
        assert_eq!(quantile(&points, 0.4), 5_000.0);
    }
}
