//! How long flows took: completion times by classes of sizes.
//!
//! What enters: a run. What leaves: for each class the flows that started in the measured window, how many of them are
//! complete, and the mean and quantiles of the times that these took. Quantiles are exact: a time of the list.

use crate::scenario::build::Simulation;
use crate::scenario::resolve::FlowKind;
use crate::scenario::results::{finished, ns};
use crate::time::Time;
use std::fmt::Write as _;

/// The first size of each class, in bytes. A size is in the last class that it reaches.
const CLASSES: [u64; 5] = [0, 10_000, 100_000, 1_000_000, 10_000_000];

/// Parts of the flows that take no longer than the quantile.
const PARTS: [(&str, f64); 4] = [("median", 0.5), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)];

/// The flows of one class.
#[derive(Clone, Default)]
pub(crate) struct Class {
    /// How many.
    pub(crate) flows: usize,
    /// How long those took that are complete.
    pub(crate) times: Vec<Time>,
}

/// The classes with the first sizes of each, and all together.
pub(crate) fn classes(simulation: &Simulation) -> (Vec<(u64, Class)>, Class) {
    let mut classes = vec![Class::default(); CLASSES.len()];
    let mut all = Class::default();
    for (number, (flow, ports)) in simulation.scenario.flows.iter().zip(&simulation.flow_ports).enumerate() {
        let FlowKind::Tcp { bytes: Some(bytes), .. } = flow.kind else { continue };
        if flow.start < simulation.scenario.warmup || !simulation.scenario.runs(number) {
            continue;
        }
        let took = finished(simulation, flow, *ports).map(|finished| finished.since(flow.start));
        let class = CLASSES.partition_point(|first| *first <= bytes) - 1;
        for class in [&mut classes[class], &mut all] {
            class.flows += 1;
            class.times.extend(took);
        }
    }
    (CLASSES.into_iter().zip(classes).collect(), all)
}

/// The table, if there are flows of TCP with a size.
pub(super) fn table(simulation: &Simulation) -> Option<String> {
    let (classes, all) = classes(simulation);
    (all.flows > 0).then(|| {
        let mut text = String::from("bytes_from,flows,complete,mean_ns");
        PARTS.iter().for_each(|(name, _)| text += &format!(",{name}_ns"));
        text.push('\n');
        for (name, class) in
            classes.into_iter().map(|(from, class)| (from.to_string(), class)).chain([("all".to_owned(), all)])
        {
            row(&mut text, &name, class);
        }
        text
    })
}

fn row(text: &mut String, name: &str, class: Class) {
    let Class { flows, mut times } = class;
    times.sort_unstable();
    let sum: u128 = times.iter().map(|time| u128::from(time.ps())).sum();
    let mean = sum.checked_div(times.len() as u128).and_then(|mean| u64::try_from(mean).ok()).map(Time::from_ps);
    let _ = write!(text, "{name},{flows},{},{}", times.len(), mean.map(ns).unwrap_or_default());
    for (_, part) in PARTS {
        let index = ((times.len() as f64 * part).ceil() as usize).max(1) - 1;
        let _ = write!(text, ",{}", times.get(index).copied().map(ns).unwrap_or_default());
    }
    text.push('\n');
}
