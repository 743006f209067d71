//! How long flows over TCP took: completion times and slowdowns by classes of sizes.
//!
//! What enters: a run. What leaves: for each class the flows that started in the measured window, how many of them are
//! complete, and the mean and quantiles of their times, and of these times relative to the ideal ones
//! ([`crate::ideal`]). Quantiles are exact: a value of the list.

use crate::build::Simulation;
use crate::ideal::IdealTimes;
use crate::resolve::FlowKind;
use crate::results::{finished, ns};
use sim::time::Time;
use std::fmt::Write as _;

/// Parts of the flows that take no longer than the quantile.
pub const PARTS: [(&str, f64); 4] = [("median", 0.5), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)];

/// The flows of a class of sizes.
#[derive(Clone, Default, Debug)]
pub struct Class {
    /// The first size in bytes; `None` for all sizes.
    pub first: Option<u64>,
    /// How many flows.
    pub flows: usize,
    /// The times of those that are complete, rising.
    pub times: Vec<Time>,
    /// Their slowdowns, rising.
    pub slowdowns: Vec<f64>,
}

impl Class {
    /// `all`, or the first size.
    pub fn name(&self) -> String {
        self.first.map_or_else(|| "all".to_owned(), |first| first.to_string())
    }

    /// The mean of the times.
    pub fn mean(&self) -> Option<Time> {
        let sum: u128 = self.times.iter().map(|time| u128::from(time.ps())).sum();
        sum.checked_div(self.times.len() as u128).and_then(|mean| u64::try_from(mean).ok()).map(Time::from_ps)
    }

    /// The mean of the slowdowns.
    pub fn mean_slowdown(&self) -> Option<f64> {
        let count = self.slowdowns.len();
        (count > 0).then(|| self.slowdowns.iter().sum::<f64>() / count as f64)
    }
}

/// The value that a part of a sorted list does not exceed.
pub fn quantile<T: Copy>(sorted: &[T], part: f64) -> Option<T> {
    sorted.get(((sorted.len() as f64 * part).ceil() as usize).max(1) - 1).copied()
}

/// All classes, and the last one with all flows; empty if there are no flows of TCP with a size.
pub fn classes(simulation: &Simulation) -> Vec<Class> {
    let scenario = &simulation.scenario;
    let firsts = &scenario.size_classes;
    let mut classes: Vec<Class> =
        firsts.iter().map(|first| Class { first: Some(*first), ..Class::default() }).collect();
    let mut all = Class::default();
    let mut ideal = IdealTimes::new(scenario);
    for (number, (flow, ports)) in scenario.flows.iter().zip(&simulation.flow_ports).enumerate() {
        let FlowKind::Tcp { bytes: Some(bytes), .. } = flow.kind else { continue };
        if flow.start < scenario.warmup || !scenario.runs(number) {
            continue;
        }
        let took = finished(simulation, flow, *ports).map(|finished| finished.since(flow.start));
        let slowdown = took.and_then(|took| slowdown(took, ideal.of(flow)?));
        for class in [&mut classes[firsts.partition_point(|first| *first <= bytes) - 1], &mut all] {
            class.flows += 1;
            class.times.extend(took);
            class.slowdowns.extend(slowdown);
        }
    }
    if all.flows == 0 {
        return Vec::new();
    }
    classes.push(all);
    for class in &mut classes {
        class.times.sort_unstable();
        class.slowdowns.sort_unstable_by(f64::total_cmp);
    }
    classes
}

/// How many times longer than ideal.
pub(super) fn slowdown(took: Time, ideal: Time) -> Option<f64> {
    (ideal > Time::ZERO).then(|| took.ps() as f64 / ideal.ps() as f64)
}

/// The table, if there is anything in it.
pub(super) fn table(simulation: &Simulation) -> Option<String> {
    let classes = classes(simulation);
    let mut text = String::from("bytes_from,flows,complete,mean_ns");
    PARTS.iter().for_each(|(name, _)| text += &format!(",{name}_ns"));
    text += ",slowdown_mean";
    PARTS.iter().for_each(|(name, _)| text += &format!(",slowdown_{name}"));
    text.push('\n');
    classes.iter().for_each(|class| row(&mut text, class));
    (!classes.is_empty()).then_some(text)
}

fn row(text: &mut String, class: &Class) {
    let Class { flows, times, slowdowns, .. } = class;
    let shown = |slowdown: Option<f64>| slowdown.map(|it| format!("{it:.6}")).unwrap_or_default();
    let _ = write!(text, "{},{flows},{},{}", class.name(), times.len(), class.mean().map(ns).unwrap_or_default());
    PARTS.iter().for_each(|(_, part)| *text += &format!(",{}", quantile(times, *part).map(ns).unwrap_or_default()));
    *text += &format!(",{}", shown(class.mean_slowdown()));
    PARTS.iter().for_each(|(_, part)| *text += &format!(",{}", shown(quantile(slowdowns, *part))));
    text.push('\n');
}
