//! The plots of a run.
//!
//! What enters: a run with its samples. What leaves: the queues of links, how busy these are, what flows carry over
//! time, and how long flows took. Of many links or flows a plot has those with the greatest values.

use crate::build::Simulation;
use crate::completion::{self, Class};
use crate::report::chart::{Chart, SERIES_MAX, Series, si};
use crate::samples::Carried;
use sim::time::Time;

/// What a series reaches at least, as a part of what any reaches.
const LEAST_PART: f64 = 0.05;

/// A plot with the name of its file.
#[derive(Clone, Debug)]
pub struct Plot {
    /// The name, without `.svg`.
    pub name: &'static str,
    /// What it shows.
    pub chart: Chart,
}

/// All plots of which the run has figures.
pub fn plots(simulation: &Simulation) -> Vec<Plot> {
    let mut plots = Vec::new();
    if !simulation.samples.is_empty() {
        plots.extend(queues(simulation));
        plots.extend(utilisation(simulation));
        plots.extend(goodput(simulation));
    }
    plots.extend(completion_times(simulation));
    plots
}

/// A unit of time in which the run has numbers that are easy to read.
struct Unit {
    name: &'static str,
    ps: f64,
}

impl Unit {
    fn of(duration: Time) -> Unit {
        let units = [("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3)];
        let fitting = units.into_iter().find(|(_, ps)| duration.ps() as f64 >= 2.0 * ps);
        let (name, ps) = fitting.unwrap_or(("ps", 1.0));
        Unit { name, ps }
    }

    fn value(&self, time: Time) -> f64 {
        time.ps() as f64 / self.ps
    }
}

/// A chart over the time of the run, with the intervals in which something is down marked.
fn over_time(simulation: &Simulation, title: &str, y: &str, series: Vec<Series>) -> Chart {
    let unit = Unit::of(simulation.scenario.duration);
    let downs = simulation.scenario.channels.iter().flatten().flat_map(|channel| &channel.down);
    let mut marks: Vec<_> = downs.filter(|down| down.start < simulation.scenario.duration).collect();
    marks.sort_unstable();
    marks.dedup();
    let marks: Vec<(f64, f64)> = marks.into_iter().map(|it| (unit.value(it.start), unit.value(it.end))).collect();
    let note = if marks.is_empty() { "" } else { "; something is down where the ground is red" };
    Chart {
        title: title.to_owned(),
        x: format!("time in {}{note}", unit.name),
        y: y.to_owned(),
        marks,
        series,
        ..Chart::default()
    }
}

/// The series with the greatest sums, in their order, without those that would hardly be seen; how many were left out.
fn greatest(mut all: Vec<Series>) -> (Vec<Series>, usize) {
    let peak = |series: &Series| series.points.iter().map(|(_, y)| *y).fold(0.0, f64::max);
    all.retain(|series| peak(series) > 0.0);
    let count = all.len();
    let least = LEAST_PART * all.iter().map(peak).fold(0.0, f64::max);
    all.retain(|series| peak(series) >= least);
    if all.len() > SERIES_MAX {
        let sum = |series: &Series| series.points.iter().map(|(_, y)| y).sum::<f64>();
        let mut sums: Vec<(usize, f64)> = all.iter().map(sum).enumerate().collect();
        sums.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut chosen: Vec<usize> = sums.into_iter().take(SERIES_MAX).map(|(index, _)| index).collect();
        chosen.sort_unstable();
        all = chosen.into_iter().map(|index| std::mem::take(&mut all[index])).collect();
    }
    let left_out = count - all.len();
    (all, left_out)
}

fn titled(title: &str, left_out: usize) -> String {
    if left_out == 0 { title.to_owned() } else { format!("{title} ({left_out} smaller ones are left out)") }
}

/// For each channel a value for each sample, from the sample before and this one.
fn of_channels(simulation: &Simulation, value: impl Fn(&[(Time, usize); 2], usize) -> f64) -> Vec<Series> {
    let unit = Unit::of(simulation.scenario.duration);
    let channels = simulation.network.channels().iter().enumerate();
    channels
        .map(|(channel, it)| {
            let points = (0..simulation.samples.len()).map(|index| {
                let before = index.checked_sub(1).map_or(Time::ZERO, |it| simulation.samples[it].time);
                let time = simulation.samples[index].time;
                (unit.value(time), value(&[(before, index.wrapping_sub(1)), (time, index)], channel))
            });
            Series { name: it.name.clone(), points: points.collect(), ..Series::default() }
        })
        .collect()
}

fn queues(simulation: &Simulation) -> Option<Plot> {
    let all = of_channels(simulation, |[_, (_, index)], channel| simulation.samples[*index].channels[channel].1 as f64);
    let (series, left_out) = greatest(all);
    (!series.is_empty()).then(|| {
        let title = titled("Packets in the queues of links", left_out);
        Plot { name: "queues", chart: over_time(simulation, &title, "packets", series) }
    })
}

fn utilisation(simulation: &Simulation) -> Option<Plot> {
    let busy = |index: usize, channel: usize| {
        simulation.samples.get(index).map_or(0, |sample| sample.channels[channel].0.busy_ps)
    };
    let all = of_channels(simulation, |[(before, last), (time, index)], channel| {
        let is_limited = simulation.network.transmitter(channel).config().bits_per_s > 0;
        let part = (busy(*index, channel) - busy(*last, channel)) as f64 / time.since(*before).ps().max(1) as f64;
        if is_limited { 100.0 * part } else { 0.0 }
    });
    let (series, left_out) = greatest(all);
    (!series.is_empty()).then(|| {
        let title = titled("How busy the links are", left_out);
        let chart = over_time(simulation, &title, "% of the rate", series);
        Plot { name: "utilisation", chart: Chart { y_max: Some(100.0), ..chart } }
    })
}

fn goodput(simulation: &Simulation) -> Option<Plot> {
    let unit = Unit::of(simulation.scenario.duration);
    let hosts = &simulation.scenario.topology.hosts;
    let flows = simulation.sampled_flows.iter().enumerate();
    let all = flows.map(|(position, &flow)| {
        let plan = &simulation.scenario.flows[flow];
        let mut last = (Time::ZERO, Carried::default());
        let points = simulation.samples.iter().map(|sample| {
            let carried = sample.flows[position];
            let rate = carried.since(last.1).received_bytes as f64 * 8.0 / sample.time.since(last.0).seconds();
            last = (sample.time, carried);
            (unit.value(sample.time), rate)
        });
        let name = format!("{flow} {}: {} to {}", plan.kind.label(), hosts[plan.from].name, hosts[plan.to].name);
        Series { name, points: points.collect(), ..Series::default() }
    });
    let (series, left_out) = greatest(all.collect());
    (!series.is_empty()).then(|| {
        let title = titled("Goodput of flows", left_out);
        Plot { name: "goodput", chart: over_time(simulation, &title, "bits per second", series) }
    })
}

/// The part of the flows that took no longer, by classes of sizes.
fn completion_times(simulation: &Simulation) -> Option<Plot> {
    let classes = completion::classes(simulation);
    let firsts = &simulation.scenario.size_classes;
    let name = |first: u64| match firsts.iter().find(|next| **next > first) {
        Some(next) => format!("{}B to {}B", si(first as f64), si(*next as f64)),
        None => format!("from {}B", si(first as f64)),
    };
    let series = classes.into_iter().filter(|class| !class.times.is_empty()).filter_map(|class| {
        let Class { first, flows, times, .. } = class;
        let name = name(first?);
        let share = |index: usize| 100.0 * (index + 1) as f64 / flows as f64;
        let points = times.iter().enumerate().map(|(index, time)| (time.ps() as f64 / 1e6, share(index)));
        Some(Series { name, points: points.collect(), ..Series::default() })
    });
    let series: Vec<Series> = series.collect();
    (!series.is_empty()).then(|| Plot {
        name: "completion",
        chart: Chart {
            title: "Completion times of flows, by their bytes".to_owned(),
            x: "completion time in us".to_owned(),
            y: "% of the flows complete".to_owned(),
            is_logarithmic: true,
            y_max: Some(100.0),
            series,
            ..Chart::default()
        },
    })
}
