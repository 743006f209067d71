//! `wirespeed sim --check`: properties of a network, over many seeds.
//!
//! What enters: a scenario, properties, seeds. What leaves: that they hold; or the first violation, the smallest run
//! that has it, its results with captures of all links, and the command that repeats it.

use super::capture::{self, Captures};
use super::{Each, Session, jobs, run, run_quietly};
use crate::Exit;
use crate::terminal::{self, Progress, say};
use base::OrderedMap;
use scenario::Simulation;
use scenario::check::shrink::smallest;
use scenario::check::{Checker, Property, Violation};
use scenario::faults::Faulty;
use serde_json::json;
use sim::Time;
use sim::record::Recording;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The most runs that make a failing one smaller.
const RUNS_MAX: u32 = 300;

/// A run: values that are set, and where it ends.
#[derive(Clone, Default)]
struct Case {
    seed: u64,
    /// The random faults and the flows that are left; `None` for all.
    faults: Option<Vec<usize>>,
    flows: Option<Vec<usize>>,
    until: Option<Time>,
}

impl Case {
    fn sets(&self) -> Vec<String> {
        let list = |key: &str, list: &Option<Vec<usize>>| list.as_ref().map(|list| format!("{key}={list:?}"));
        let seed = Some(format!("seed={}", self.seed));
        [seed, list("faults.only", &self.faults), list("only_flows", &self.flows)].into_iter().flatten().collect()
    }
}

/// Checks the properties with each seed, until one does not hold.
pub fn check(session: &Session<'_>) -> Result<Exit, Exit> {
    let arguments = session.arguments;
    let first = session.scenario(&[], None)?.seed;
    let seeds = match &arguments.seeds {
        Some(text) => scenario::sweep::plan::seeds(text, first).map_err(|message| {
            terminal::error(format!("--seeds {text}: {message}"));
            Exit::Usage
        })?,
        None => vec![first],
    };
    let packets = match judge_all(session, &seeds)? {
        Outcome::Holds(packets) => packets,
        Outcome::Fails(case, violation) => return fail(session, case, violation),
    };
    let names: Vec<String> = arguments.check.iter().map(Property::to_string).collect();
    match arguments.json {
        true => say!("{}", json!({"holds": true, "properties": names, "seeds": seeds.len(), "packets": packets})),
        false => {
            let seeds = match &seeds[..] {
                [seed] => format!("seed {seed}"),
                all => format!("{} seeds from {} on", all.len(), all[0]),
            };
            say!("holds with {seeds}, {} packets followed: {}", terminal::grouped(packets), names.join(", "));
        }
    }
    Ok(Exit::Success)
}

/// What became of a run, or of several.
enum Outcome {
    /// The properties hold; the number of packets that were followed.
    Holds(u64),
    /// One of them does not.
    Fails(Case, Violation),
}

impl Outcome {
    fn of(case: &Case, (violation, packets): (Option<Violation>, u64)) -> Outcome {
        violation.map_or(Outcome::Holds(packets), |violation| Outcome::Fails(case.clone(), violation))
    }
}

/// Checks each seed, several at the same time. If some fail, the first of them counts, whichever was found first.
fn judge_all(session: &Session<'_>, seeds: &[u64]) -> Result<Outcome, Exit> {
    let arguments = session.arguments;
    let case = |seed: u64| Case { seed, until: arguments.until, ..Case::default() };
    let first = case(seeds[0]);
    if seeds.len() == 1 {
        return Ok(Outcome::of(&first, judge(session, &arguments.check, &first, run)?));
    }
    // What is wrong with all runs is said once.
    session.build(session.scenario(&first.sets(), first.until)?)?;
    let (first_failure, done) = (AtomicUsize::new(usize::MAX), AtomicUsize::new(0));
    let outcomes = Mutex::new(OrderedMap::new());
    let describe = || format!("{} of {} seeds", done.load(Ordering::Relaxed), seeds.len());
    let progress = Progress::start("checking");
    jobs::work(seeds.len(), jobs::at_once(arguments, seeds.len()), progress, &describe, &|index| {
        let case = case(seeds[index]);
        let is_wanted = || first_failure.load(Ordering::Relaxed) > index;
        let judged = judge(session, &arguments.check, &case, |simulation, each| {
            run_quietly(simulation, &mut |simulation| Ok(each(simulation)? && is_wanted()))
        });
        let outcome = judged.map(|judged| Outcome::of(&case, judged));
        let holds = matches!(outcome, Ok(Outcome::Holds(_)));
        if !holds {
            first_failure.fetch_min(index, Ordering::Relaxed);
        }
        outcomes.lock().unwrap_or_else(PoisonError::into_inner).insert(index, outcome);
        done.fetch_add(1, Ordering::Relaxed);
        Ok(holds)
    })?;
    let mut packets = 0;
    for outcome in outcomes.into_inner().unwrap_or_else(PoisonError::into_inner).into_values() {
        match outcome? {
            Outcome::Holds(followed) => packets += followed,
            fails => return Ok(fails),
        }
    }
    Ok(Outcome::Holds(packets))
}

/// The first violation of a run, and how many packets were followed.
fn judge(
    session: &Session<'_>,
    properties: &[Property],
    case: &Case,
    run: impl FnOnce(&mut Simulation, &mut Each<'_>) -> Result<(), Exit>,
) -> Result<(Option<Violation>, u64), Exit> {
    let scenario = session.scenario(&case.sets(), case.until)?;
    let mut simulation = session.build(scenario)?;
    let mut checker = Checker::new(properties, &simulation);
    simulation.network.record(&checker.recording());
    run(&mut simulation, &mut |simulation| {
        checker.take(&simulation.network.take_records());
        Ok(checker.violation().is_none())
    })?;
    checker.finish(&simulation);
    Ok((checker.violation().cloned(), checker.followed()))
}

/// Reports a violation: what is left of the run, and how to repeat it.
fn fail(session: &Session<'_>, case: Case, violation: Violation) -> Result<Exit, Exit> {
    let all = session.scenario(&case.sets(), None)?;
    // The flows and faults that the user has left out stay out.
    let running: Vec<usize> = (0..all.flows.len()).filter(|flow| all.runs(*flow)).collect();
    let (flows, faults) = (running.len(), all.faults.len());
    let (case, violation) = shrink(session, case, violation, running, all.faults.iter().map(|it| it.number).collect())?;
    let simulation = replay(session, &case)?;
    let command = command(session, &case, violation.property);
    let Violation { property, time, what, packet } = &violation;
    if session.arguments.json {
        say!(
            "{}",
            json!({
                "holds": false, "property": property.to_string(), "seed": case.seed, "time_ns": time.ns(), "what": what,
                "packet": packet, "again": command, "results": session.output,
            })
        );
        return Ok(Exit::BadInput);
    }
    let mut text = format!("{property} does not hold with seed {}: at {time} {what}", case.seed);
    packet.iter().for_each(|line| text += &format!("\n  {line}"));
    let left = |count: &Option<Vec<usize>>, all: usize| count.as_ref().map_or(all, Vec::len);
    let _ = write!(text, "\nthe smallest run that was found: {} of {flows} flows", left(&case.flows, flows));
    if faults > 0 {
        let _ = write!(text, ", {} of {faults} random faults", left(&case.faults, faults));
    }
    let _ = write!(text, ", {} of {}", simulation.scenario.duration, all.duration);
    for fault in &simulation.scenario.faults {
        let (kind, name) = fault.what.names(&simulation.scenario.topology);
        let what = match fault.what {
            Faulty::Controller => "the controller pauses".to_owned(),
            _ => format!("{kind} {name} is down"),
        };
        let _ = write!(text, "\n  fault {}: {what} from {} to {}", fault.number, fault.at.start, fault.at.end);
    }
    terminal::error(text);
    say!("results with captures of all links: {}", session.output.display());
    say!("again: {command}");
    Ok(Exit::BadInput)
}

/// Makes a failing run smaller: shorter, with fewer faults and flows, as long as it violates the same property.
fn shrink(
    session: &Session<'_>,
    mut case: Case,
    mut violation: Violation,
    flows: Vec<usize>,
    faults: Vec<usize>,
) -> Result<(Case, Violation), Exit> {
    let progress = Progress::start("making the failing run smaller");
    let property = [violation.property];
    let mut runs = 0;
    let mut error = None;
    let mut fails = |session: &Session<'_>, candidate: &Case, violation: &mut Violation| {
        runs += 1;
        if runs > RUNS_MAX || error.is_some() {
            return false;
        }
        progress.set(format!("making the failing run smaller: run {runs}"));
        match judge(session, &property, candidate, run) {
            Ok((found, _)) => {
                let is_found = found.is_some();
                found.into_iter().for_each(|found| *violation = found);
                is_found
            }
            Err(exit) => {
                error = Some(exit);
                false
            }
        }
    };
    // Shorter first: all others are sooner done then.
    let end = |violation: &Violation| Some(Time::from_ps((violation.time.ps() / 1_000_000 + 1) * 1_000_000));
    let shorten = |session: &Session<'_>, case: &mut Case, violation: &mut Violation, fails: &mut Fails<'_>| {
        let shorter = Case { until: end(violation), ..case.clone() };
        if fails(session, &shorter, violation) {
            *case = shorter;
        }
    };
    let unshortened = case.until;
    shorten(session, &mut case, &mut violation, &mut fails);
    let base = case.clone();
    let all = faults.len();
    let kept = smallest(faults, &mut |part| {
        fails(session, &Case { faults: Some(part.to_vec()), ..base.clone() }, &mut violation)
    });
    case.faults = Some(kept).filter(|kept| kept.len() < all);
    let base = case.clone();
    let all = flows.len();
    let kept = smallest(flows, &mut |part| {
        fails(session, &Case { flows: Some(part.to_vec()), ..base.clone() }, &mut violation)
    });
    // Fewer flows may do it later.
    let base = Case { until: unshortened, ..case.clone() };
    let left = kept.len();
    let kept = smallest(kept, &mut |part| {
        let fewer = Case { flows: Some(part.to_vec()), ..base.clone() };
        (1..left).contains(&part.len()) && fails(session, &fewer, &mut violation)
    });
    if kept.len() < left {
        case.until = unshortened;
    }
    case.flows = Some(kept).filter(|kept| kept.len() < all);
    shorten(session, &mut case, &mut violation, &mut fails);
    match error {
        Some(exit) => Err(exit),
        None => Ok((case, violation)),
    }
}

/// Whether a run violates the property, and how.
type Fails<'a> = dyn FnMut(&Session<'_>, &Case, &mut Violation) -> bool + 'a;

/// Runs it again with captures of all links, and writes the results.
fn replay(session: &Session<'_>, case: &Case) -> Result<Simulation, Exit> {
    let scenario = session.scenario(&case.sets(), case.until)?;
    let mut simulation = session.build(scenario)?;
    let channels = capture::channels(&simulation.network, &["all".to_owned()])?;
    simulation.network.record(&Recording { captured: channels.clone(), ..Recording::default() });
    session.begin()?;
    let mut captures = Captures::create(&simulation, &channels, &session.output)?;
    run(&mut simulation, &mut |simulation| {
        captures.write(&simulation.network.take_records())?;
        Ok(true)
    })?;
    captures.finish()?;
    session.write(&simulation, &case.sets(), Vec::new())?;
    Ok(simulation)
}

/// The key of a value that is set.
fn key(set: &str) -> &str {
    set.split_once('=').map_or(set, |(key, _)| key).trim()
}

/// The command that repeats a run with its captures.
fn command(session: &Session<'_>, case: &Case, property: Property) -> String {
    let arguments = session.arguments;
    let mut words = vec!["wirespeed".to_owned(), "sim".to_owned(), arguments.path().display().to_string()];
    let mut add = |name: &str, value: String| words.extend([name.to_owned(), value]);
    let source = &arguments.source;
    source.include.iter().for_each(|folder| add("-I", folder.display().to_string()));
    source.define.iter().for_each(|name| add("-D", name.clone()));
    source.undefine.iter().for_each(|name| add("-U", name.clone()));
    // What is left of lists of the user's takes their place.
    let replaced: Vec<String> = case.sets().iter().map(|set| key(set).to_owned()).collect();
    let kept = arguments.set.iter().filter(|set| !replaced.iter().any(|it| *it == key(set)));
    kept.for_each(|set| add("--set", set.clone()));
    add("--seed", case.seed.to_string());
    case.sets().into_iter().skip(1).for_each(|set| add("--set", set));
    case.until.iter().for_each(|until| add("--until", until.to_string()));
    add("--check", property.to_string());
    let quoted = |word: String| {
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_./=,:+".contains(it);
        if word.chars().all(is_plain) { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}
