//! Tables and charts of figures.
//!
//! What enters: a figure, the outcomes of its runs. What leaves: `NAME.csv`, and charts as SVG. Values are means over
//! seeds with the half-width of their 95 % interval (Student's distribution).

use super::{Figure, Shows, slowdowns};
use crate::experiment::{Experiment, Outcome};
use crate::report;
use scenario::report::chart::{Chart, Series};
use sim::statistics::Estimate;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

type Outcomes = BTreeMap<Experiment, Outcome>;

/// The classes of flows.
const CLASSES: [&str; 2] = ["short", "large"];

/// A value of a run, by its name.
type Value<'a> = (String, &'a dyn Fn(&Outcome) -> Option<f64>);

/// Writes the table and the charts of a figure.
pub(super) fn write(figure: &Figure, runs: &[Experiment], outcomes: &Outcomes, folder: &Path) -> Result<(), String> {
    let mut text = String::new();
    let charts = match figure.shows {
        Shows::Means => means(figure, runs, outcomes, &mut text),
        Shows::Spread => spread(figure, runs, outcomes, &mut text),
        Shows::Distributions => distributions(figure, runs, outcomes, &mut text),
        Shows::Slowdowns => slowdowns::slowdowns(figure, runs, outcomes, &mut text),
    };
    save(folder, &format!("{}.csv", figure.name), &text)?;
    for (name, chart) in charts {
        save(folder, &format!("{}-{name}.svg", figure.name), &chart.svg(&format!("{}-{name}", figure.name)))?;
    }
    report(&format!("{}: {}", figure.name, folder.join(format!("{}.csv", figure.name)).display()));
    Ok(())
}

fn save(folder: &Path, name: &str, text: &str) -> Result<(), String> {
    std::fs::write(folder.join(name), text).map_err(|error| format!("{}: {error}", folder.join(name).display()))
}

/// The values of all seeds of a setting.
pub(super) fn of_setting<'a>(
    runs: &'a [Experiment],
    outcomes: &'a Outcomes,
    setting: &'a Experiment,
) -> impl Iterator<Item = &'a Outcome> {
    let is_same = |it: &&Experiment| Experiment { seed: setting.seed, ..(*it).clone() } == *setting;
    runs.iter().filter(is_same).filter_map(|it| outcomes.get(it))
}

/// The settings of a figure, without their seeds.
pub(super) fn settings(runs: &[Experiment]) -> Vec<Experiment> {
    runs.iter().filter(|it| it.seed == 1).cloned().collect()
}

/// The time that a part of flows does not exceed.
fn part_of(times_us: &[u64], percent: usize) -> Option<f64> {
    let index = (times_us.len() * percent).div_ceil(100).max(1) - 1;
    times_us.get(index).map(|time| *time as f64 / 1e6)
}

fn mean(times_us: &[u64]) -> Option<f64> {
    let count = times_us.len();
    (count > 0).then(|| times_us.iter().sum::<u64>() as f64 / count as f64 / 1e6)
}

fn means(figure: &Figure, runs: &[Experiment], outcomes: &Outcomes, text: &mut String) -> Vec<(String, Chart)> {
    let class_means = [0, 1].map(|class| move |outcome: &Outcome| mean(&outcome.times_us[class]));
    let resent = [0, 1].map(|class| {
        move |outcome: &Outcome| {
            let flows = outcome.times_us[class].len() as u64 + outcome.unfinished[class];
            (flows > 0).then(|| outcome.retransmissions[class] as f64 / flows as f64)
        }
    });
    let tails = [0, 1].map(|class| move |outcome: &Outcome| part_of(&outcome.times_us[class], 99));
    let unfinished = |outcome: &Outcome| Some(outcome.unfinished.iter().sum::<u64>() as f64);
    let given_up = |outcome: &Outcome| Some(outcome.given_up as f64);
    let dropped = |outcome: &Outcome| Some(outcome.dropped as f64);
    let fakes = |outcome: &Outcome| Some((outcome.fakes[0] + outcome.fakes[1]) as f64);
    let values: [Value<'_>; 10] = [
        (format!("{} flows: mean completion time, s", CLASSES[0]), &class_means[0]),
        (format!("{} flows: mean completion time, s", CLASSES[1]), &class_means[1]),
        (format!("{} flows: retransmissions of a flow", CLASSES[0]), &resent[0]),
        (format!("{} flows: retransmissions of a flow", CLASSES[1]), &resent[1]),
        (format!("{} flows: 99th percentile, s", CLASSES[0]), &tails[0]),
        (format!("{} flows: 99th percentile, s", CLASSES[1]), &tails[1]),
        ("flows that are not complete".to_owned(), &unfinished),
        ("flows whose sender gave up".to_owned(), &given_up),
        ("packets dropped".to_owned(), &dropped),
        ("fake acknowledgments".to_owned(), &fakes),
    ];
    text.push_str("workload,load_percent,scheme,value,mean,interval95,seeds\n");
    let mut charts = Vec::new();
    for workload in figure.workloads {
        for (number, (name, value)) in values.iter().enumerate() {
            let mut chart = Chart {
                title: format!("{}, {}", figure.title, workload.name()),
                x: "load, %".to_owned(),
                y: name.clone(),
                ..Chart::default()
            };
            for setting in settings(runs).iter().filter(|it| it.workload == *workload) {
                let samples: Vec<f64> = of_setting(runs, outcomes, setting).filter_map(value).collect();
                let Some(estimate) = Estimate::of(&samples) else { continue };
                let (load, scheme) = (setting.load_percent, figure.line(setting));
                let _ = writeln!(
                    text,
                    "{},{load},{scheme},\"{name}\",{:.6},{:.6},{}",
                    workload.name(),
                    estimate.mean,
                    estimate.half_width,
                    samples.len()
                );
                push(&mut chart, &scheme, f64::from(load), &estimate);
            }
            if number < 6 && figure.loads.len() > 1 {
                charts.push((format!("{}-{}", workload.name(), number + 1), chart));
            }
        }
    }
    charts
}

/// Adds a point to the line of this name.
pub(super) fn push(chart: &mut Chart, name: &str, x: f64, estimate: &Estimate) {
    let position = chart.series.iter().position(|series| series.name == name).unwrap_or_else(|| {
        chart.series.push(Series { name: name.to_owned(), ..Series::default() });
        chart.series.len() - 1
    });
    let series = &mut chart.series[position];
    series.points.push((x, estimate.mean));
    series.half_widths.push(estimate.half_width);
}

fn deviation(values: &[u64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<u64>() as f64 / count;
    (count > 0.0).then(|| (values.iter().map(|it| (*it as f64 - mean).powi(2)).sum::<f64>() / count).sqrt())
}

fn spread(figure: &Figure, runs: &[Experiment], outcomes: &Outcomes, text: &mut String) -> Vec<(String, Chart)> {
    text.push_str("scheme,leaf,deviation_packets,interval95,seeds\n");
    let mut chart = Chart {
        title: figure.title.to_owned(),
        x: "leaf".to_owned(),
        y: "standard deviation, packets".to_owned(),
        ..Chart::default()
    };
    for setting in settings(runs) {
        for leaf in 0..4 {
            let of_leaf = |outcome: &Outcome| outcome.uplink_packets.get(leaf).and_then(|it| deviation(it));
            let samples: Vec<f64> = of_setting(runs, outcomes, &setting).filter_map(of_leaf).collect();
            let Some(estimate) = Estimate::of(&samples) else { continue };
            let (scheme, count) = (setting.scheme.name(), samples.len());
            let _ = writeln!(text, "{scheme},L-{leaf},{:.3},{:.3},{count}", estimate.mean, estimate.half_width);
            push(&mut chart, scheme, leaf as f64, &estimate);
        }
    }
    vec![("uplinks".to_owned(), chart)]
}

/// Parts of flows whose times are in tables of distributions.
const PARTS: [u32; 12] = [5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99];

fn distributions(figure: &Figure, runs: &[Experiment], outcomes: &Outcomes, text: &mut String) -> Vec<(String, Chart)> {
    text.push_str("workload,load_percent,scheme,flowlet_us,flows,part_percent,completion_s\n");
    let mut charts: Vec<(String, Chart)> = Vec::new();
    for setting in settings(runs) {
        for (class, name) in [(Some(0), CLASSES[0]), (Some(1), CLASSES[1]), (None, "all")] {
            let mut times: Vec<u64> = Vec::new();
            for outcome in of_setting(runs, outcomes, &setting) {
                let classes = (0..2).filter(|it| class.is_none_or(|class| class == *it));
                classes.for_each(|it| times.extend(&outcome.times_us[it]));
            }
            times.sort_unstable();
            let at = |part: u32| part_of(&times, part as usize);
            let (workload, load, scheme) = (setting.workload.name(), setting.load_percent, setting.scheme.name());
            for (part, time) in PARTS.iter().filter_map(|part| Some((*part, at(*part)?))) {
                let _ = writeln!(text, "{workload},{load},{scheme},{},{name},{part},{time:.6}", setting.flowlet_us);
            }
            let line = if figure.flowlets_us.len() > 1 {
                format!("{} ms", setting.flowlet_us / 1_000)
            } else {
                scheme.to_owned()
            };
            let points = (1..=100).filter_map(|part| Some((at(part)?, f64::from(part) / 100.0))).collect();
            let series = Series { name: line, points, ..Series::default() };
            let key = format!("{name}-{load}");
            match charts.iter_mut().find(|(known, _)| *known == key) {
                Some((_, chart)) => chart.series.push(series),
                None => charts.push((
                    key,
                    Chart {
                        title: format!("{}, {name} flows at {load} %", figure.title),
                        x: "completion time, s".to_owned(),
                        y: "part of flows".to_owned(),
                        is_logarithmic: true,
                        series: vec![series],
                        ..Chart::default()
                    },
                )),
            }
        }
    }
    charts
}
