//! Faults: links that fail, switches that restart and controllers that pause, at given times or at random.
//!
//! What enters: a number of faults and when they happen, a seed. What leaves: the intervals in which channels are down,
//! the restarts of switches and the pauses of the controller. Each fault has random numbers of its own, so one that is
//! left out changes no other.

use crate::resolve::SwitchPlan;
use crate::topology::{Links, NodeRef, Topology};
use scenario_file::sections::{FaultSection, TablesName};
use scenario_file::{ScenarioFault, Sources};
use sim::channel::{ChannelConfig, Interval};
use sim::random::{stream, uniform_time};
use sim::time::Time;
use toml::Spanned;

/// The most random faults.
const FAULTS_MAX: u32 = 10_000;

/// How long a fault lasts on average by default.
const LASTS_DEFAULT: Time = Time::from_ms(1);

/// A random fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its number among those of the scenario.
    pub number: usize,
    /// What fails.
    pub what: Faulty,
    /// When.
    pub at: Interval,
}

/// What fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Faulty {
    /// Both directions of a link, by its position.
    Link(usize),
    /// A switch, which restarts, by its position.
    Switch(usize),
    /// The controller, which does nothing.
    Controller,
}

impl Faulty {
    /// The kind for results, and the name.
    pub fn names(self, topology: &Topology) -> (&'static str, String) {
        match self {
            Faulty::Link(link) => {
                let [a, b] = topology.links[link].ends.map(|(end, _)| topology.name(end));
                ("link", format!("{a}-{b}"))
            }
            Faulty::Switch(switch) => ("switch", topology.switches[switch].name.clone()),
            Faulty::Controller => ("controller", "controller".to_owned()),
        }
    }
}

/// The random faults of a section, in a run of this seed.
pub(super) fn draw(
    sources: &Sources,
    section: Option<&Spanned<FaultSection>>,
    topology: &Topology,
    has_controller: bool,
    (seed, (warmup, duration)): (u64, (Time, Time)),
) -> Result<Vec<Fault>, ScenarioFault> {
    let Some(spanned) = section else { return Ok(Vec::new()) };
    let section = spanned.get_ref();
    let (links, switches) = (section.links.unwrap_or(0), section.switches.unwrap_or(0));
    let controllers = section.controllers.unwrap_or(0);
    let refuse = |message: String| Err(sources.fault(Some(spanned.span()), message));
    if [links, switches, controllers].iter().any(|count| *count > FAULTS_MAX) {
        return refuse(format!("a run has at most {FAULTS_MAX} random faults of each kind"));
    }
    let (from, to) = (section.from.map_or(warmup, |it| it.0), section.to.map_or(duration, |it| it.0));
    let lasts = section.lasts.map_or(LASTS_DEFAULT, |it| it.0);
    if from >= to || lasts == Time::ZERO {
        return refuse(format!("faults begin from {from} on and before {to}, and last longer than 0"));
    }
    // A host behind a link that fails could do nothing about it.
    let between = |link: &usize| topology.links[*link].ends.iter().all(|(end, _)| matches!(end, NodeRef::Switch(_)));
    let choices: Vec<usize> = (0..topology.links.len()).filter(between).collect();
    if (links > 0 && choices.is_empty()) || (switches > 0 && topology.switches.is_empty()) {
        return refuse("there is no link between switches, or no switch, that could fail".to_owned());
    }
    if controllers > 0 && !has_controller {
        return refuse("there is no controller that could pause: add a table [controller]".to_owned());
    }
    let of_kind = |kind: &'static str, count: u32| (0..count).map(move |index| (kind, index));
    let kinds = of_kind("link", links).chain(of_kind("switch", switches)).chain(of_kind("controller", controllers));
    let fault = |(number, (kind, index)): (usize, (&str, u32))| {
        let mut rng = stream(seed, &format!("fault {kind} {index}"));
        let start = from + uniform_time(&mut rng, to.since(from).since(Time::from_ps(1)));
        let half = Time::from_ps(lasts.ps() / 2);
        let end = start + half + uniform_time(&mut rng, lasts).max(Time::from_ps(1));
        let what = match kind {
            "link" => Faulty::Link(choices[rng.below(choices.len() as u64) as usize]),
            "switch" => Faulty::Switch(rng.below(topology.switches.len() as u64) as usize),
            _ => Faulty::Controller,
        };
        Fault { number, what, at: Interval { start, end } }
    };
    let all: Vec<Fault> = kinds.enumerate().map(fault).collect();
    let Some(only) = &section.only else { return Ok(all) };
    if let Some(unknown) = only.get_ref().iter().find(|number| **number >= all.len()) {
        let message = format!("there is no random fault {unknown}: there are {}, numbered from 0", all.len());
        return Err(sources.fault(Some(only.span()), message));
    }
    Ok(all.into_iter().filter(|fault| only.get_ref().contains(&fault.number)).collect())
}

/// Puts faults into channels and switches. A switch that restarts takes its links down.
pub(super) fn apply(
    faults: &[Fault],
    tables: Option<TablesName>,
    topology: &Topology,
    switches: &mut [SwitchPlan],
    channels: &mut [[ChannelConfig; 2]],
) {
    for fault in faults {
        match fault.what {
            Faulty::Link(link) => channels[link].iter_mut().for_each(|channel| channel.down.push(fault.at)),
            Faulty::Switch(switch) => {
                switches[switch].restarts.push(fault.at);
                if let Some(tables) = tables {
                    switches[switch].keeps_tables = tables == TablesName::Kept;
                }
            }
            Faulty::Controller => {}
        }
    }
    let links = Links::new(topology);
    for (index, switch) in switches.iter_mut().enumerate() {
        join(&mut switch.restarts);
        for (link, _) in links.at(NodeRef::Switch(index)) {
            channels[*link].iter_mut().for_each(|channel| channel.down.extend(&switch.restarts));
        }
    }
    channels.iter_mut().flatten().for_each(|channel| join(&mut channel.down));
}

/// Adds the pauses of the controller.
pub(super) fn pause(faults: &[Fault], pauses: &mut Vec<Interval>) {
    let own = faults.iter().filter(|fault| fault.what == Faulty::Controller);
    pauses.extend(own.map(|fault| fault.at));
    join(pauses);
}

/// Joins intervals that overlap or follow each other directly.
fn join(intervals: &mut Vec<Interval>) {
    intervals.sort_unstable();
    let mut joined: Vec<Interval> = Vec::with_capacity(intervals.len());
    for interval in intervals.drain(..) {
        match joined.last_mut().filter(|last| interval.start <= last.end) {
            Some(last) => last.end = last.end.max(interval.end),
            None => joined.push(interval),
        }
    }
    *intervals = joined;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_that_touch_are_joined() {
        let interval = |(start, end)| Interval { start: Time::from_ns(start), end: Time::from_ns(end) };
        let mut intervals: Vec<Interval> = [(5, 7), (1, 3), (2, 4), (4, 5), (9, 10)].map(interval).to_vec();
        join(&mut intervals);
        assert_eq!(intervals, [(1, 7), (9, 10)].map(interval));
    }
}
