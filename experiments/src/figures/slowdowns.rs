//! Tables of slowdowns: how many times the ideal time flows take, by their size.
//!
//! What enters: outcomes of runs over lines. What leaves: for each size class the mean with its interval over seeds,
//! and quantiles of the flows of all seeds; a chart of the means.

use super::tables::{of_setting, push, settings};
use super::{Experiment, Figure};
use crate::experiment::Outcome;
use scenario::report::chart::Chart;
use sim::statistics::Estimate;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

/// Size classes in bytes.
const CLASSES: [(&str, Range<u64>); 4] = [
    ("up to 100 kB", 0..100_001),
    ("up to 1 MB", 100_001..1_000_001),
    ("more", 1_000_001..u64::MAX),
    ("all", 0..u64::MAX),
];

/// Parts of flows, in ten-thousandths.
const PARTS: [(&str, u64); 5] = [("p50", 5_000), ("p90", 9_000), ("p95", 9_500), ("p99", 9_900), ("p999", 9_990)];

pub(super) fn slowdowns(
    figure: &Figure,
    runs: &[Experiment],
    outcomes: &BTreeMap<Experiment, Outcome>,
    text: &mut String,
) -> Vec<(String, Chart)> {
    text.push_str(
        "workload,load_percent,scheme,size,flows,mean,interval95,p50,p90,p95,p99,p999,mean_time_of_all_ms,unfinished,\
         retransmissions,seeds\n",
    );
    let mut charts = Vec::new();
    for workload in figure.workloads {
        for (number, (class, sizes)) in CLASSES.into_iter().enumerate() {
            let mut chart = Chart {
                title: format!("{}, {}: flows {class}", figure.title, workload.name()),
                x: "load, %".to_owned(),
                y: "mean slowdown".to_owned(),
                ..Chart::default()
            };
            for setting in settings(runs).iter().filter(|it| it.workload == *workload) {
                let of_seeds: Vec<&Outcome> = of_setting(runs, outcomes, setting).collect();
                let Some(estimate) = row(figure, setting, (class, &sizes), &of_seeds, text) else { continue };
                push(&mut chart, &figure.line(setting), f64::from(setting.load_percent), &estimate);
            }
            if figure.loads.len() > 1 && !chart.series.is_empty() {
                charts.push((format!("{}-{}", workload.name(), number + 1), chart));
            }
        }
    }
    charts
}

/// The line of a setting and a class; the mean of the seeds' means.
fn row(
    figure: &Figure,
    setting: &Experiment,
    (class, sizes): (&str, &Range<u64>),
    of_seeds: &[&Outcome],
    text: &mut String,
) -> Option<Estimate> {
    let of = |outcome: &&Outcome| -> Vec<u64> {
        outcome.slowdowns.iter().filter(|(bytes, _)| sizes.contains(bytes)).map(|(_, slowdown)| *slowdown).collect()
    };
    let by_seed: Vec<Vec<u64>> = of_seeds.iter().map(of).filter(|slowdowns| !slowdowns.is_empty()).collect();
    let means = by_seed.iter().map(|it| it.iter().sum::<u64>() as f64 / it.len() as f64 / 1e3);
    let estimate = Estimate::of(&means.collect::<Vec<f64>>())?;
    let mut all: Vec<u64> = by_seed.concat();
    all.sort_unstable();
    let count = all.len() as u64;
    let _ = write!(
        text,
        "{},{},\"{}\",{class},{count},{:.3},{:.3}",
        setting.workload.label(),
        setting.load_percent,
        figure.line(setting),
        estimate.mean,
        estimate.half_width
    );
    for (_, part) in PARTS {
        let at = (count * part).div_ceil(10_000).max(1) - 1;
        let _ = write!(text, ",{:.3}", all[at as usize] as f64 / 1e3);
    }
    let times: Vec<u64> = of_seeds.iter().flat_map(|it| it.times_us.iter().flatten().copied()).collect();
    let _ = write!(text, ",{:.3}", times.iter().sum::<u64>() as f64 / times.len().max(1) as f64 / 1e3);
    let unfinished: u64 = of_seeds.iter().flat_map(|it| it.unfinished).sum();
    let resent: u64 = of_seeds.iter().flat_map(|it| it.retransmissions).sum();
    let _ = writeln!(text, ",{unfinished},{resent},{}", by_seed.len());
    Some(estimate)
}
