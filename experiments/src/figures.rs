//! Figures: which runs each needs, and what it shows of them.
//!
//! * [`list`]: all of them. [`tables`]: means with intervals over seeds, and charts of them. [`slowdowns`]: completion
//!   times beside ideal ones.

mod list;
mod slowdowns;
mod tables;

use crate::P4teArguments;
use crate::experiment::Experiment;
use crate::runs;
use crate::scheme::Scheme;
use crate::setting::{Setting, Tuning};
use crate::workload::Workload;
use list::FIGURES;
use std::thread::available_parallelism;

/// A figure.
struct Figure {
    name: &'static str,
    title: &'static str,
    schemes: &'static [Scheme],
    workloads: &'static [Workload],
    setting: Setting,
    tunings: &'static [Tuning],
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
    /// Completion times beside ideal ones, by size of flows.
    Slowdowns,
}

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
                    let run = |tuning: &Tuning| Experiment {
                        scheme,
                        workload,
                        setting: self.setting,
                        load_percent,
                        flowlet_us,
                        seed,
                        tuning: *tuning,
                    };
                    all.extend(self.tunings.iter().map(run));
                }
            }
        }
        all
    }

    /// What a line of a chart is called.
    fn line(&self, run: &Experiment) -> String {
        let mut parts = Vec::new();
        if self.schemes.len() > 1 || self.tunings.len() + self.flowlets_us.len() == 2 {
            parts.push(run.scheme.name().to_owned());
        }
        parts.extend(Some(run.tuning.name()).filter(|tuning| !tuning.is_empty()));
        if self.flowlets_us.len() > 1 {
            parts.push(format!("{} µs", run.flowlet_us));
        }
        parts.join(", ")
    }
}

/// Makes a figure, or all of the paper.
pub fn make(arguments: &P4teArguments) -> Result<(), String> {
    let is_selected = |figure: &&Figure| {
        arguments.figure == figure.name || arguments.figure == "all" && figure.name.starts_with("fig")
    };
    let figures: Vec<&Figure> = FIGURES.iter().filter(is_selected).collect();
    if figures.is_empty() {
        let names: Vec<&str> = FIGURES.iter().map(|figure| figure.name).collect();
        return Err(format!("there is no `{}`; there are {}, all and trace", arguments.figure, names.join(", ")));
    }
    let mut experiments: Vec<Experiment> = figures.iter().flat_map(|it| it.experiments(arguments.seeds)).collect();
    experiments.sort();
    experiments.dedup();
    let (part, parts) = arguments.shard.unwrap_or((1, 1));
    let own: Vec<Experiment> = experiments.into_iter().skip(part - 1).step_by(parts).collect();
    let jobs = arguments.jobs.unwrap_or_else(|| available_parallelism().map_or(1, Into::into));
    runs::make(&own, &arguments.output, jobs)?;
    if parts == 1 {
        let outcomes = runs::stored(&arguments.output);
        for figure in figures {
            tables::write(figure, &figure.experiments(arguments.seeds), &outcomes, &arguments.output)?;
        }
    }
    Ok(())
}
