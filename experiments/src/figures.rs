//! Figures: which runs each needs, and what it shows of them.
//!
//! * [`tables`]: means with intervals over seeds, and charts of them.

mod tables;

use crate::P4teArguments;
use crate::experiment::Experiment;
use crate::runs;
use crate::scheme::Scheme;
use crate::setting::Setting;
use crate::workload::Workload;
use std::thread::available_parallelism;

/// A figure of the paper.
struct Figure {
    name: &'static str,
    title: &'static str,
    schemes: &'static [Scheme],
    workloads: &'static [Workload],
    setting: Setting,
    loads: &'static [u32],
    flowlets_us: &'static [u64],
    shows: Shows,
}

/// What a figure shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shows {
    /// Mean completion times and retransmissions of both classes, by load.
    Means,
    /// The standard deviation of packets on uplinks, by leaf.
    Spread,
    /// Distributions of completion times.
    Distributions,
}

/// The schemes of the paper. Its ECMP hashes the five parts of a flow's address, so flowlets change nothing.
const COMPARED: &[Scheme] = &[Scheme::Ecmp, Scheme::Hula, Scheme::P4te];
const LOADS: &[u32] = &[20, 40, 60, 80];
/// The flowlet interval of the paper.
const FLOWLET_US: &[u64] = &[40_000];

const FIGURES: [Figure; 12] = [
    Figure {
        name: "fig8",
        title: "what control of rates adds",
        schemes: &[Scheme::P4teNra, Scheme::P4te],
        workloads: &[Workload::WebSearch, Workload::DataMining],
        loads: LOADS,
        setting: Setting::Paper,
        flowlets_us: FLOWLET_US,
        shows: Shows::Means,
    },
    Figure {
        name: "fig9",
        title: "web-search",
        schemes: COMPARED,
        workloads: &[Workload::WebSearch],
        loads: LOADS,
        setting: Setting::Paper,
        flowlets_us: FLOWLET_US,
        shows: Shows::Means,
    },
    Figure {
        name: "fig10",
        title: "data-mining",
        schemes: COMPARED,
        workloads: &[Workload::DataMining],
        loads: LOADS,
        setting: Setting::Paper,
        flowlets_us: FLOWLET_US,
        shows: Shows::Means,
    },
    Figure {
        name: "fig11",
        title: "load of uplinks, web-search at 80 %",
        schemes: COMPARED,
        workloads: &[Workload::WebSearch],
        loads: &[80],
        setting: Setting::Paper,
        flowlets_us: FLOWLET_US,
        shows: Shows::Spread,
    },
    Figure {
        name: "fig12",
        title: "incast",
        schemes: COMPARED,
        workloads: &[Workload::Incast],
        loads: &[0],
        setting: Setting::Paper,
        flowlets_us: FLOWLET_US,
        shows: Shows::Means,
    },
    Figure {
        name: "fig13",
        title: "flowlet intervals, web-search at 80 %",
        schemes: &[Scheme::P4te],
        workloads: &[Workload::WebSearch],
        loads: &[80],
        setting: Setting::Paper,
        flowlets_us: &[10_000, 20_000, 30_000, 40_000, 50_000, 60_000, 70_000],
        shows: Shows::Distributions,
    },
    Figure {
        name: "fig14",
        title: "completion times, data-mining",
        schemes: COMPARED,
        workloads: &[Workload::DataMining],
        loads: LOADS,
        setting: Setting::Paper,
        flowlets_us: FLOWLET_US,
        shows: Shows::Distributions,
    },
    Figure {
        name: "fig15",
        title: "completion times, web-search",
        schemes: COMPARED,
        workloads: &[Workload::WebSearch],
        loads: LOADS,
        setting: Setting::Paper,
        flowlets_us: FLOWLET_US,
        shows: Shows::Distributions,
    },
    Figure {
        name: "parts",
        title: "what each part does, in the paper's network",
        schemes: ALL,
        workloads: &[Workload::WebSearch, Workload::DataMining],
        loads: &[60, 80],
        setting: Setting::Paper,
        flowlets_us: FLOWLET_US,
        shows: Shows::Means,
    },
    Figure {
        name: "deep",
        title: "the same with four times the room in queues",
        schemes: ALL,
        workloads: &[Workload::WebSearch, Workload::DataMining],
        loads: &[60, 80],
        setting: Setting::PaperDeep,
        flowlets_us: FLOWLET_US,
        shows: Shows::Means,
    },
    Figure {
        name: "10g",
        title: "10 Gb/s",
        schemes: ALL,
        workloads: &[Workload::WebSearch],
        loads: &[30, 50, 70, 90],
        setting: Setting::Gbps10,
        flowlets_us: &[100],
        shows: Shows::Means,
    },
    Figure {
        name: "10g-slow",
        title: "10 Gb/s, a link with a quarter",
        schemes: ALL,
        workloads: &[Workload::WebSearch],
        loads: &[30, 50, 70],
        setting: Setting::Gbps10Slow,
        flowlets_us: &[100],
        shows: Shows::Means,
    },
];

/// Every scheme, and P4TE's parts.
const ALL: &[Scheme] = &[
    Scheme::Ecmp,
    Scheme::EcmpFlowlet,
    Scheme::LetFlow,
    Scheme::Hula,
    Scheme::Drill,
    Scheme::P4te,
    Scheme::P4teNra,
    Scheme::P4teQueue,
    Scheme::P4teColours,
];

impl Figure {
    /// The runs that it needs.
    fn experiments(&self, seeds: u64) -> Vec<Experiment> {
        let mut all = Vec::new();
        for seed in 1..=seeds {
            for (&workload, &load_percent) in self.workloads.iter().flat_map(|w| self.loads.iter().map(move |l| (w, l)))
            {
                for (&scheme, &flowlet_us) in
                    self.schemes.iter().flat_map(|s| self.flowlets_us.iter().map(move |f| (s, f)))
                {
                    all.push(Experiment { scheme, workload, setting: self.setting, load_percent, flowlet_us, seed });
                }
            }
        }
        all
    }
}

/// Makes a figure, or all.
pub fn make(arguments: &P4teArguments) -> Result<(), String> {
    let wanted = |figure: &&Figure| {
        arguments.figure == figure.name || arguments.figure == "all" && figure.name.starts_with("fig")
    };
    let figures: Vec<&Figure> = FIGURES.iter().filter(wanted).collect();
    if figures.is_empty() {
        let names: Vec<&str> = FIGURES.iter().map(|figure| figure.name).collect();
        return Err(format!("there is no `{}`; there are {} and all", arguments.figure, names.join(", ")));
    }
    let mut experiments: Vec<Experiment> = figures.iter().flat_map(|it| it.experiments(arguments.seeds)).collect();
    experiments.sort();
    experiments.dedup();
    let (part, parts) = arguments.shard.unwrap_or((1, 1));
    let own: Vec<Experiment> = experiments.into_iter().skip(part - 1).step_by(parts).collect();
    let jobs = arguments.jobs.unwrap_or_else(|| available_parallelism().map_or(1, Into::into));
    runs::make(&own, &arguments.output, jobs)?;
    if parts == 1 {
        let outcomes = runs::kept(&arguments.output);
        for figure in figures {
            tables::write(figure, &figure.experiments(arguments.seeds), &outcomes, &arguments.output)?;
        }
    }
    Ok(())
}
