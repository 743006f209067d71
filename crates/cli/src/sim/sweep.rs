//! Sweeps: all combinations of some values, each with several seeds, on several cores.
//!
//! What enters: a plan. What leaves: a line in the folder's `runs.jsonl` for each run that is finished, and a table of
//! all of them at the end. Runs that the file has already are not repeated, so an interrupted sweep continues where it
//! was.

use crate::Exit;
use crate::sim::runs::{self, RunsFile};
use crate::sim::{Programs, SimArguments, folder_of, merge, read_input, shown, write};
use crate::sim::{jobs, memory};
use crate::terminal::{self, Progress, say};
use base::{OrderedMap, OrderedSet};
use scenario::sweep::{Plan, Run, RunRecord, digest};
use scenario::{Scenario, Simulation, SwitchKind, metrics, results};
use sim::Time;
use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Steps of a run for the progress.
const STEPS: u64 = 100;

/// Runs a sweep of the scenario with this text.
pub fn sweep(arguments: &SimArguments, text: &str, plan: &Plan, output: &Path) -> Result<Exit, Exit> {
    let mut programs = Programs::new(arguments);
    let inputs = check(arguments, text, plan, &mut programs)?;
    if arguments.dry_run {
        return Ok(Exit::Success);
    }
    let mut file = RunsFile::open(output, arguments.shard)?;
    let known = compare(&file, plan, &inputs)?;
    let all = plan.runs(arguments.shard);
    let missing: Vec<Run> = all.iter().filter(|run| !known.contains(run)).cloned().collect();
    let began = Instant::now();
    let sweep = Sweep {
        arguments,
        text,
        plan,
        inputs: &inputs,
        output,
        runs: &missing,
        programs: Mutex::new(programs),
        file: Mutex::new(&mut file),
        steps: AtomicU64::new(0),
        finished: AtomicUsize::new(0),
        events: AtomicU64::new(0),
    };
    sweep.work()?;
    file.sort()?;
    conclude(arguments, output, (all.len(), missing.len()), began.elapsed())
}

fn conclude(arguments: &SimArguments, output: &Path, (all, new): (usize, usize), took: Duration) -> Result<Exit, Exit> {
    let table = runs::table(runs::read_all(output)?)?;
    if arguments.shard.is_none() {
        merge::write(&table, output)?;
    }
    if arguments.json {
        say!("{}", table.json());
        return Ok(Exit::Success);
    }
    let kept = if new < all { format!(", {} were there already", all - new) } else { String::new() };
    say!("{new} runs in {:.1} s{kept}", took.as_secs_f64());
    match arguments.shard {
        Some(_) => say!("the table of all parts: wirespeed sim merge {}", output.display()),
        None => say!("{}", merge::conclusion(&table, output)),
    }
    Ok(Exit::Success)
}

/// Reads the scenario of each combination, so that mistakes appear before the first run; returns a digest of the files
/// that each reads.
fn check(arguments: &SimArguments, text: &str, plan: &Plan, programs: &mut Programs<'_>) -> Result<Vec<u64>, Exit> {
    let mut inputs = Vec::new();
    let mut warnings = OrderedSet::new();
    for combination in 0..plan.combinations.len() {
        let run = Run { combination, seed: plan.seeds[0] };
        let (scenario, mut files) = read(arguments, text, plan, &run)?;
        for warning in &scenario.topology.warnings {
            if warnings.insert(warning.clone()) {
                terminal::warning(warning);
            }
        }
        for switch in &scenario.switches {
            let SwitchKind::Program { program, entries, .. } = &switch.kind else { continue };
            let read = programs.compile(program).and_then(|_| programs.contents(program, entries));
            files.extend(read.map_err(|message| {
                terminal::error(message);
                Exit::BadInput
            })?);
        }
        let version = env!("CARGO_PKG_VERSION").as_bytes();
        let parts = files.iter().flat_map(|(name, bytes)| [name.as_bytes(), bytes]);
        inputs.push(digest(std::iter::once(version).chain(parts)));
    }
    Ok(inputs)
}

type Files = OrderedMap<String, Vec<u8>>;

/// The scenario of a run, and the files that it names.
fn read(arguments: &SimArguments, text: &str, plan: &Plan, run: &Run) -> Result<(Scenario, Files), Exit> {
    let path = arguments.path();
    let sets: Vec<String> = arguments.set.iter().cloned().chain(plan.sets(run)).collect();
    let (folder, files) = (folder_of(path), RefCell::new(Files::new()));
    let read = |name: &str| {
        let bytes = read_input(&folder, name)?;
        files.borrow_mut().insert(name.to_owned(), bytes.clone());
        Ok(bytes)
    };
    let scenario = Scenario::read(text, &sets, &read).map_err(|faults| {
        faults.iter().for_each(|fault| terminal::error(shown(path, fault)));
        Exit::BadInput
    })?;
    Ok((scenario, files.into_inner()))
}

/// The runs of the plan that a file has. Runs of other scenarios, or of the same with other files, are refused.
fn compare(file: &RunsFile, plan: &Plan, inputs: &[u64]) -> Result<OrderedSet<Run>, Exit> {
    let numbers: OrderedMap<_, _> = plan.combinations.iter().zip(0..).collect();
    let mut known = OrderedSet::new();
    for record in file.records() {
        let combination = numbers.get(&record.combination).copied();
        if record.scenario != plan.scenario || combination.is_some_and(|number| inputs[number] != record.inputs) {
            terminal::error(format!(
                "{} has runs of a scenario that was different, or of different programs or files: give another folder \
                 with --output, or remove it",
                file.path().display()
            ));
            return Err(Exit::BadInput);
        }
        known.extend(combination.map(|combination| Run { combination, seed: record.seed }));
    }
    Ok(known)
}

/// A sweep that runs.
struct Sweep<'a> {
    arguments: &'a SimArguments,
    text: &'a str,
    plan: &'a Plan,
    inputs: &'a [u64],
    output: &'a Path,
    runs: &'a [Run],
    programs: Mutex<Programs<'a>>,
    file: Mutex<&'a mut RunsFile>,
    /// Steps of runs that are done.
    steps: AtomicU64,
    /// Runs that are in the file.
    finished: AtomicUsize,
    events: AtomicU64,
}

impl Sweep<'_> {
    /// Makes all runs.
    fn work(&self) -> Result<(), Exit> {
        let (count, began) = (self.runs.len(), Instant::now());
        let progress = Progress::start("sweeping");
        let describe = || self.describe(began.elapsed());
        jobs::work(count, jobs::at_once(self.arguments, count), progress, &describe, &|index| {
            let record = self.execute(&self.runs[index])?;
            self.file.lock().unwrap_or_else(PoisonError::into_inner).append(record)?;
            self.finished.fetch_add(1, Ordering::Relaxed);
            Ok(true)
        })
    }

    fn execute(&self, run: &Run) -> Result<RunRecord, Exit> {
        let (scenario, _) = read(self.arguments, self.text, self.plan, run)?;
        let threads = usize::from(self.arguments.threads);
        let made = Simulation::new(scenario, threads, &mut |name, plan| {
            self.programs.lock().unwrap_or_else(PoisonError::into_inner).switch(name, plan)
        });
        let mut simulation = made.map_err(|fault| {
            let fault = shown(self.arguments.path(), &fault);
            terminal::error(format!("{}: {fault}", self.plan.sets(run).join(" ")));
            Exit::BadInput
        })?;
        memory::limit(&mut simulation, self.arguments);
        let step = Time::from_ps(simulation.scenario.duration.ps().div_ceil(STEPS));
        loop {
            let before = simulation.network.events();
            let has_ended =
                simulation.run_until(simulation.network.now() + step).map_err(|fault| memory::report(&fault))?;
            self.events.fetch_add(simulation.network.events() - before, Ordering::Relaxed);
            self.steps.fetch_add(1, Ordering::Relaxed);
            if has_ended {
                break;
            }
        }
        if self.arguments.keep {
            let folder = self.output.join("runs").join(folder_name(&self.plan.sets(run)));
            write(&folder, &results::files(&simulation)).map_err(|error| {
                terminal::error(format!("cannot write results to {}: {error}", folder.display()));
                Exit::System
            })?;
        }
        Ok(RunRecord {
            combination: self.plan.combinations[run.combination].clone(),
            seed: run.seed,
            scenario: self.plan.scenario,
            inputs: self.inputs[run.combination],
            metrics: metrics::metrics(&simulation),
        })
    }

    /// How far it is.
    fn describe(&self, elapsed: Duration) -> String {
        let part = self.steps.load(Ordering::Relaxed) as f64 / (STEPS as f64 * self.runs.len() as f64);
        let elapsed = elapsed.as_secs_f64().max(1e-9);
        let events_per_s = self.events.load(Ordering::Relaxed) as f64 / elapsed;
        let left = Duration::from_secs_f64((elapsed * (1.0 - part).max(0.0) / part.max(1e-9)).min(1e9));
        format!(
            "{} of {} runs written, {} events a second, about {} s left",
            self.finished.load(Ordering::Relaxed),
            self.runs.len(),
            terminal::grouped(events_per_s as u64),
            left.as_secs()
        )
    }
}

/// The folder of a run: what is set in it, as far as names of files may have it.
fn folder_name(sets: &[String]) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "._-=,".contains(character);
    sets.join(",").chars().map(|character| if is_plain(character) { character } else { '_' }).collect()
}
