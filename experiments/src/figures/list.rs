//! The figures: those of the paper, and what it does not have.

use super::{Figure, Shows};
use crate::scheme::Scheme;
use crate::setting::{Congestion, Fault, Setting, Shape, Tuning};
use crate::workload::Workload;

/// The schemes of the paper, each for flowlets as there; P4TE as its authors released it and as the paper prints it,
/// and the variant of P4TE.
const COMPARED: &[Scheme] = &[Scheme::EcmpFlowlet, Scheme::Hula, Scheme::P4teReleased, Scheme::P4te, Scheme::P4teQueue];
/// Every scheme, and P4TE's parts.
const ALL: &[Scheme] = &[
    Scheme::Ecmp,
    Scheme::EcmpFlowlet,
    Scheme::LetFlow,
    Scheme::Conga,
    Scheme::Hula,
    Scheme::HulaPolled,
    Scheme::Drill,
    Scheme::P4te,
    Scheme::P4teNra,
    Scheme::P4teRates,
    Scheme::P4teReleased,
    Scheme::P4teReleasedNra,
    Scheme::P4teQueue,
    Scheme::P4teColours,
];
/// Those that are compared where links fail.
const FAULTY: &[Scheme] = &[
    Scheme::Ecmp,
    Scheme::LetFlow,
    Scheme::Conga,
    Scheme::Hula,
    Scheme::P4te,
    Scheme::P4teReleased,
    Scheme::P4teQueue,
];
/// Those that are defined in three layers.
const LAYERED: &[Scheme] = &[Scheme::Ecmp, Scheme::LetFlow, Scheme::Hula, Scheme::P4te, Scheme::P4teQueue];
const P4TE: &[Scheme] = &[Scheme::P4te, Scheme::P4teQueue];

const WEB_SEARCH: &[Workload] = &[Workload::WebSearch];
const BOTH: &[Workload] = &[Workload::WebSearch, Workload::DataMining];
const LOADS: &[u32] = &[20, 40, 60, 80];
const ALL_LOADS: &[u32] = &[10, 20, 30, 40, 50, 60, 70, 80, 90];

const USUAL: Tuning = Tuning { congestion: Congestion::Dctcp, delta: None, shares: None, latency_us: None };

/// A figure of the paper, unless it sets something else. The flowlet interval is that of the paper.
const PAPER: Figure = Figure {
    name: "",
    title: "",
    schemes: COMPARED,
    workloads: WEB_SEARCH,
    setting: Setting::Paper,
    tunings: &[USUAL],
    loads: LOADS,
    flowlets_us: &[40_000],
    shows: Shows::Means,
};

const fn at(gbps: u64, shape: Shape, fault: Fault) -> Setting {
    Setting::Lines { gbps, shape, fault }
}

/// Lines of 10 Gb/s, unless it sets something else.
const LINES: Figure = Figure {
    setting: at(10, Shape::LeafSpine, Fault::None),
    schemes: ALL,
    loads: &[30, 50, 70, 90],
    flowlets_us: &[50],
    shows: Shows::Slowdowns,
    ..PAPER
};

/// A sweep of parameters of P4TE at one load.
const SWEEP: Figure = Figure { schemes: P4TE, loads: &[70], ..LINES };

const DELTAS: &[Tuning] = &[
    Tuning { delta: Some(1), ..USUAL },
    Tuning { delta: Some(4), ..USUAL },
    Tuning { delta: Some(16), ..USUAL },
    Tuning { delta: Some(64), ..USUAL },
];

const METERS: &[Tuning] = &[
    Tuning { shares: Some([500, 700]), ..USUAL },
    Tuning { shares: Some([750, 950]), ..USUAL },
    Tuning { shares: Some([900, 1_000]), ..USUAL },
];

const LATENCIES: &[Tuning] = &[
    Tuning { latency_us: Some(10), ..USUAL },
    Tuning { latency_us: Some(100), ..USUAL },
    Tuning { latency_us: Some(1_000), ..USUAL },
    Tuning { latency_us: Some(10_000), ..USUAL },
];

const CONGESTION: &[Tuning] =
    &[USUAL, Tuning { congestion: Congestion::Cubic, ..USUAL }, Tuning { congestion: Congestion::NewReno, ..USUAL }];

/// All figures.
pub(super) const FIGURES: &[Figure] = &[
    Figure {
        name: "fig8",
        title: "what control of rates adds",
        schemes: &[Scheme::P4teReleasedNra, Scheme::P4teReleased, Scheme::P4teNra, Scheme::P4te],
        workloads: BOTH,
        ..PAPER
    },
    Figure { name: "fig9", title: "web-search", ..PAPER },
    Figure { name: "fig10", title: "data-mining", workloads: &[Workload::DataMining], ..PAPER },
    Figure { name: "fig11", title: "load of uplinks, web-search at 80 %", loads: &[80], shows: Shows::Spread, ..PAPER },
    Figure { name: "fig12", title: "incast", workloads: &[Workload::Incast], loads: &[0], ..PAPER },
    Figure {
        name: "fig13",
        title: "flowlet intervals, web-search at 80 %",
        schemes: &[Scheme::EcmpFlowlet],
        loads: &[80],
        flowlets_us: &[10_000, 20_000, 30_000, 40_000, 50_000, 60_000, 70_000],
        shows: Shows::Distributions,
        ..PAPER
    },
    Figure {
        name: "fig14",
        title: "completion times, data-mining",
        workloads: &[Workload::DataMining],
        shows: Shows::Distributions,
        ..PAPER
    },
    Figure { name: "fig15", title: "completion times, web-search", shows: Shows::Distributions, ..PAPER },
    Figure {
        name: "released",
        title: "P4TE as released",
        schemes: &[Scheme::EcmpFlowlet, Scheme::Hula, Scheme::P4teReleased, Scheme::P4teReleasedNra, Scheme::P4teQueue],
        ..PAPER
    },
    Figure {
        name: "parts",
        title: "what each part does, in the paper's network",
        schemes: ALL,
        workloads: BOTH,
        loads: &[60, 80],
        ..PAPER
    },
    Figure {
        name: "deep",
        title: "the same with four times the capacity of queues",
        schemes: ALL,
        workloads: BOTH,
        loads: &[60, 80],
        setting: Setting::PaperDeep,
        ..PAPER
    },
    Figure { name: "10g", title: "10 Gb/s", ..LINES },
    Figure {
        name: "40g",
        title: "40 Gb/s",
        setting: at(40, Shape::LeafSpine, Fault::None),
        schemes: LAYERED,
        loads: ALL_LOADS,
        ..LINES
    },
    Figure {
        name: "100g",
        title: "100 Gb/s",
        setting: at(100, Shape::LeafSpine, Fault::None),
        schemes: LAYERED,
        loads: ALL_LOADS,
        ..LINES
    },
    Figure {
        name: "400g",
        title: "400 Gb/s",
        setting: at(400, Shape::LeafSpine, Fault::None),
        schemes: LAYERED,
        loads: ALL_LOADS,
        ..LINES
    },
    Figure {
        name: "failed-link",
        title: "10 Gb/s, a link that is down",
        setting: at(10, Shape::LeafSpine, Fault::FailedLink),
        schemes: FAULTY,
        workloads: BOTH,
        loads: &[50, 70],
        ..LINES
    },
    Figure {
        name: "failing-link",
        title: "10 Gb/s, a link that goes down",
        setting: at(10, Shape::LeafSpine, Fault::FailingLink),
        schemes: FAULTY,
        loads: &[30, 50, 70],
        ..LINES
    },
    Figure {
        name: "slow-link",
        title: "10 Gb/s, a link with a quarter of the rate",
        setting: at(10, Shape::LeafSpine, Fault::SlowLink),
        schemes: FAULTY,
        workloads: BOTH,
        loads: &[50, 70],
        ..LINES
    },
    Figure {
        name: "fat-tree-4",
        title: "10 Gb/s, a fat-tree of switches with 4 ports",
        setting: at(10, Shape::FatTree(4), Fault::None),
        schemes: LAYERED,
        loads: ALL_LOADS,
        ..LINES
    },
    Figure {
        name: "fat-tree-8",
        title: "10 Gb/s, a fat-tree of switches with 8 ports",
        setting: at(10, Shape::FatTree(8), Fault::None),
        schemes: LAYERED,
        loads: &[30, 50, 70, 90],
        ..LINES
    },
    Figure {
        name: "incast",
        title: "10 Gb/s, many to one",
        workloads: &[Workload::IncastOf(8), Workload::IncastOf(16), Workload::IncastOf(32), Workload::IncastOf(64)],
        loads: &[0],
        ..LINES
    },
    Figure {
        name: "congestion",
        title: "10 Gb/s, congestion control of hosts",
        schemes: LAYERED,
        loads: &[50, 70],
        tunings: CONGESTION,
        ..LINES
    },
    Figure {
        name: "flowlets",
        title: "10 Gb/s, a link that is down, flowlet intervals",
        setting: at(10, Shape::LeafSpine, Fault::FailedLink),
        schemes: &[Scheme::LetFlow, Scheme::Conga, Scheme::Hula, Scheme::P4teQueue],
        loads: &[70],
        flowlets_us: &[20, 50, 100, 500],
        ..LINES
    },
    Figure { name: "deltas", title: "10 Gb/s, Δ", tunings: DELTAS, ..SWEEP },
    Figure { name: "meters", title: "10 Gb/s, rates of meters", tunings: METERS, ..SWEEP },
    Figure { name: "latency", title: "10 Gb/s, latency of controllers", tunings: LATENCIES, ..SWEEP },
];
