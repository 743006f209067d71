//! `wirespeed sim`: a network in modelled time, as a scenario describes it.
//!
//! What enters: a scenario, programs, entries. What leaves: files with what was measured. The simulation itself is the
//! crate `sim`; here its switches get their programs, and the user sees how far it is.
//!
//! * [`cost`]: what packets cost software switches on this machine.
//! * [`capture`]: the packets of links as captures. [`checks`]: properties, and the smallest run that violates one.
//! * [`jobs`]: several runs at the same time.
//! * [`real_time`]: the clock of the machine. [`outside`]: controllers that reach switches over gRPC. [`taps`]:
//!   programs in the places of hosts.
//! * [`steps`]: what programs do with the packets of a flow.
//! * [`sweep`]: many runs with different values and seeds; [`runs`]: their file. [`merge`]: several such files.

mod capture;
mod checks;
mod cost;
mod jobs;
mod memory;
mod merge;
mod outside;
mod real_time;
mod runs;
mod steps;
mod sweep;
mod taps;

use self::capture::Captures;
use self::outside::ServedSwitch;
use self::real_time::Factor;
use self::steps::Steps;
use self::taps::TappedHost;
use crate::Exit;
use crate::args::{BackendKind, SourceArguments, SwitchArguments};
use crate::backend;
use crate::frontend;
use crate::net::named_program;
use crate::server_tls::ServerTlsArguments;
use crate::starting::idle_program;
use crate::terminal::{self, Progress, say};
use crate::trace::values::Described;
use base::OrderedMap;
use clap::{Args, Subcommand};
use scenario::check::Property;
use scenario::check::property::PROPERTIES;
use scenario::controller::{self, ControllerKind, ControllerMaker, ControllerPlan};
use scenario::journeys::Journeys;
use scenario::results::{self, ResultFile};
use scenario::sweep::{Plan, Shard};
use scenario::{Place, Scenario, ScenarioFault, Simulation, SwitchKind, SwitchPlan};
use sim::Time;
use sim::controller::{Controller, SwitchFacts};
use sim::record::Recording;
use sim::switch_node::SwitchNode;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use switch::Switch;
use wirespeed::Program;

/// The longest scenario or topology.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// How often the progress is shown.
const SLICE: Duration = Duration::from_millis(100);

/// Arguments of `wirespeed sim`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, after_help = after_help())]
pub struct SimArguments {
    #[command(subcommand)]
    pub command: Option<SimCommand>,
    /// The scenario
    #[arg(value_name = "SCENARIO.toml", required = true)]
    pub scenario: Option<PathBuf>,
    /// The folder for the results [default: the scenario's name with `-results`, in the current folder]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Replace a value of the scenario, as in `--set links.loss=0.01` or `--set flows.0.rate=2Gbps`; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Replace the seed of the scenario
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Run once with each of the values, in all combinations with those of other keys; may be repeated
    #[arg(long = "sweep", value_name = "KEY=VALUE,VALUE")]
    pub sweep: Vec<String>,
    /// Run with this many seeds, from the scenario's or that of --seed on, as in `20`; or with these, as in `1..20` or
    /// `3,5,8`
    #[arg(long, value_name = "SEEDS")]
    pub seeds: Option<String>,
    /// How many runs of a sweep, or of --check with several seeds, at the same time [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Make only every N-th run of a sweep, beginning with the I-th, as one of N parts on different machines
    #[arg(long, value_name = "I/N", value_parser = Shard::parse)]
    pub shard: Option<Shard>,
    /// Keep all results of each run of a sweep, in `runs` in its folder
    #[arg(long)]
    pub keep: bool,
    /// Threads that run the simulation; the results are the same
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: u16,
    /// How much memory packets in flight may need, in MiB; a run that needs more fails [default: half of what is free,
    /// divided by the runs at the same time]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub packet_memory: Option<u64>,
    /// Write the packets of a link to a capture in the folder of the results: `A-B` for both directions, `A>B` for one,
    /// `all` for all links; may be repeated
    #[arg(long, value_name = "LINK", conflicts_with = "check")]
    pub pcap: Vec<String>,
    /// Check a property while the network runs; may be repeated. If it does not hold, the run is made as small as
    /// possible and repeated with a capture of every link, and the exit status is 1. Otherwise there are no results
    #[arg(long, value_name = "PROPERTY", value_parser = Property::parse)]
    pub check: Vec<Property>,
    /// Write the journey of each packet of this flow, as numbered in flows.csv, to trace.txt in the folder of the
    /// results: what happens at each node, and each step of programs, which the interpreter runs for this
    #[arg(long, value_name = "FLOW", conflicts_with = "check")]
    pub trace: Option<usize>,
    /// Stop at this time, as in `5ms`; what happens before it stays the same
    #[arg(long, value_name = "TIME", value_parser = end_of_run)]
    pub until: Option<Time>,
    /// Let the clock follow that of the machine, FACTOR times as fast: for controllers and programs outside of the
    /// simulation. The results depend on when these act
    #[arg(long, value_name = "FACTOR", value_parser = Factor::parse, conflicts_with = "check")]
    pub realtime: Option<Factor>,
    /// Serve P4Runtime controllers of a switch at this address, until the run ends; may be repeated
    #[arg(long, value_name = "SWITCH=[ADDRESS:]PORT", value_parser = ServedSwitch::parse, requires = "realtime")]
    pub p4runtime: Vec<ServedSwitch>,
    #[command(flatten)]
    pub tls: ServerTlsArguments,
    /// Put programs of this machine in the place of a host: they reach the network through this tap interface, which
    /// is created, and removed with the run, unless it exists; may be repeated. NETNS is the network namespace in
    /// which it is, by its name or its path
    #[arg(long, value_name = "HOST=[NETNS/]INTERFACE", value_parser = TappedHost::parse, requires = "realtime")]
    pub tap: Vec<TappedHost>,
    /// Only read the scenario, its programs and their entries, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub source: SourceArguments,
    /// The C compiler [default: $CC, else cc, clang or gcc]
    #[arg(long, value_name = "COMMAND")]
    pub cc: Option<String>,
}

const EXAMPLES: &str = "Examples:
  wirespeed sim dumbbell.toml
  wirespeed sim dumbbell.toml --set links.loss=0.01 --seed 7 --output lossy
  wirespeed sim dumbbell.toml --pcap s1-s2 --trace 0 --until 5ms
  wirespeed sim dumbbell.toml --sweep links.loss=0,0.01,0.1 --seeds 20 --output sweep
  wirespeed sim fabric.toml --check no-loop --check converges-within=5ms --seeds 100
  wirespeed sim router.toml --realtime 1.0 --p4runtime s1=127.0.0.1:50051
  sudo wirespeed sim router.toml --realtime 1.0 --tap h1=tap0      and in another shell: ping 10.1.2.2
";

/// What follows the options in the help.
fn after_help() -> String {
    let width = PROPERTIES.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines = PROPERTIES.iter().map(|(name, meaning)| format!("  {name:width$}  {meaning}\n"));
    format!(
        "{EXAMPLES}\nProperties for --check, of all packets of flows between hosts:\n{}\nThe scenario file, random faults \
         and results: docs/guide/sim.md; examples: examples/sim",
        lines.collect::<String>()
    )
}

/// Subcommands of `wirespeed sim`.
#[derive(Subcommand, Debug)]
pub enum SimCommand {
    /// Put the runs of several folders or parts of a sweep into one table
    Merge(merge::MergeArguments),
}

impl SimArguments {
    /// The scenario; without one there is a subcommand.
    fn path(&self) -> &Path {
        self.scenario.as_deref().unwrap_or(Path::new(""))
    }

    /// The values that are set in all runs.
    fn sets(&self) -> Vec<String> {
        self.set.iter().cloned().chain(self.seed.map(|seed| format!("seed={seed}"))).collect()
    }
}

/// Runs a scenario, checks it, or sweeps it.
pub fn sim(arguments: &SimArguments) -> Result<Exit, Exit> {
    if let Some(SimCommand::Merge(merge)) = &arguments.command {
        return merge::merge(merge);
    }
    let session = Session::new(arguments)?;
    let is_check = !arguments.check.is_empty();
    match plan(arguments, &session.text)? {
        _ if is_check && !arguments.dry_run => checks::check(&session),
        Some(plan) if !is_check => sweep::sweep(arguments, &session.text, &plan, &session.output),
        _ => run_once(&session),
    }
}

/// What is swept, if anything is.
fn plan(arguments: &SimArguments, text: &str) -> Result<Option<Plan>, Exit> {
    let plan = Plan::read(text, &arguments.sets(), &arguments.sweep, arguments.seeds.as_deref());
    let plan = plan.map_err(|fault| {
        terminal::error(shown(arguments.path(), &fault));
        Exit::BadInput
    })?;
    let is_check = !arguments.check.is_empty();
    let is_sweep = plan.is_some() && !is_check;
    let of_sweeps = [
        ("--jobs", arguments.jobs.is_some() && !is_check),
        ("--shard", arguments.shard.is_some()),
        ("--keep", arguments.keep),
        ("--sweep", !arguments.sweep.is_empty()),
    ];
    let of_single_runs = [
        ("--pcap", !arguments.pcap.is_empty()),
        ("--trace", arguments.trace.is_some()),
        ("--realtime", arguments.realtime.is_some()),
        ("--until", arguments.until.is_some()),
    ];
    if let (false, Some((name, _))) = (is_sweep, of_sweeps.iter().find(|(_, is_given)| *is_given)) {
        terminal::error(format!(
            "`{name}` is for sweeps: add --seeds, --sweep, or a table [sweep] to the scenario, and no --check"
        ));
        return Err(Exit::Usage);
    }
    if let (true, Some((name, _))) = (is_sweep, of_single_runs.iter().find(|(_, is_given)| *is_given)) {
        let or_check = if *name == "--until" { " or --check" } else { "" };
        terminal::error(format!("`{name}` is for a single run{or_check}, and this is a sweep"));
        return Err(Exit::Usage);
    }
    Ok(plan)
}

fn run_once(session: &Session<'_>) -> Result<Exit, Exit> {
    let arguments = session.arguments;
    let mut scenario = session.scenario(&[], arguments.until)?;
    cost::measure(session, &mut scenario)?;
    let (mut simulation, mut outsiders) = match arguments.realtime {
        Some(factor) if !arguments.dry_run => {
            let (simulation, outsiders) = outside::build(session, scenario)?;
            (simulation, Some((factor, outsiders)))
        }
        _ => {
            outside::places(session, &scenario)?;
            (session.build(scenario)?, None)
        }
    };
    let captured = capture::channels(&simulation.network, &arguments.pcap)?;
    if arguments.dry_run {
        return Ok(Exit::Success);
    }
    session.begin()?;
    let began = Instant::now();
    let mut journeys = session.journeys(&mut simulation)?;
    let traced = journeys.as_ref().map(Journeys::recording).unwrap_or_default();
    simulation.network.record(&Recording { captured: captured.clone(), ..traced });
    let mut captures = Captures::create(&simulation, &captured, &session.output)?;
    let mut each = |simulation: &mut Simulation| {
        let records = simulation.network.take_records();
        journeys.iter_mut().for_each(|journeys| journeys.take(&records));
        captures.write(&records)?;
        Ok(true)
    };
    let lag = match &mut outsiders {
        Some((factor, outsiders)) => Some(real_time::run(&mut simulation, *factor, outsiders, &mut each)?),
        None => run(&mut simulation, &mut each).map(|()| None)?,
    };
    let carried = outsiders.as_ref().and_then(|(_, outsiders)| outsiders.results(&simulation));
    // Controllers see the end before the results are written.
    drop(outsiders);
    captures.finish()?;
    let took = began.elapsed();
    let trace = journeys.map(|journeys| ResultFile { name: "trace.txt".to_owned(), text: journeys.text() });
    session.write(&simulation, &[], trace.into_iter().chain(carried).collect())?;
    match arguments.json {
        true => say!("{}", results::summary(&simulation)),
        false => {
            lag.into_iter().for_each(|lag| say!("at most {:.3} s behind the clock", lag.as_secs_f64()));
            conclude(&simulation, took, &session.output);
        }
    }
    Ok(Exit::Success)
}

/// A scenario file, from which simulations are made.
struct Session<'a> {
    arguments: &'a SimArguments,
    text: String,
    output: PathBuf,
    programs: Mutex<Programs<'a>>,
    /// Whether the warnings about the topology have been shown.
    has_warned: AtomicBool,
}

/// The controller of a scenario.
fn made(
    scenario: &Scenario,
    plan: &ControllerPlan,
    switches: &[SwitchFacts],
) -> Result<Box<dyn Controller>, ScenarioFault> {
    match &plan.kind {
        ControllerKind::P4te(p4te) => p4te::simulated::of_scenario(scenario, plan, p4te, switches),
        _ => controller::built_in(plan, switches),
    }
}

impl<'a> Session<'a> {
    fn new(arguments: &'a SimArguments) -> Result<Session<'a>, Exit> {
        let path = arguments.path();
        let text = read_text(path).map_err(|error| {
            terminal::error(format!("the scenario {} cannot be read: {error}", path.display()));
            Exit::BadInput
        })?;
        let output = arguments.output.clone().unwrap_or_else(|| default_output(path));
        let programs = Mutex::new(Programs::new(arguments));
        Ok(Session { arguments, text, output, programs, has_warned: AtomicBool::new(false) })
    }

    fn programs(&self) -> MutexGuard<'_, Programs<'a>> {
        self.programs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The values that are set: those of the user, the seed, and these.
    fn sets(&self, more: &[String]) -> Vec<String> {
        self.arguments.sets().into_iter().chain(more.iter().cloned()).collect()
    }

    /// The scenario, with further values that are set, until a time.
    fn scenario(&self, more: &[String], until: Option<Time>) -> Result<Scenario, Exit> {
        let path = self.arguments.path();
        let folder = folder_of(path);
        let read = Scenario::read(&self.text, &self.sets(more), &|name| read_input(&folder, name));
        let mut scenario = read.map_err(|faults| {
            faults.iter().for_each(|fault| terminal::error(shown(path, fault)));
            Exit::BadInput
        })?;
        if let Some(file) = &scenario.topology.file {
            self.programs().look_in(&folder_of(&folder.join(file)));
        }
        if !self.has_warned.swap(true, Ordering::Relaxed) {
            scenario.topology.warnings.iter().for_each(terminal::warning);
        }
        if let Some(until) = until {
            scenario.end_at(until);
        }
        Ok(scenario)
    }

    fn build(&self, scenario: Scenario) -> Result<Simulation, Exit> {
        let shared = scenario.clone();
        self.build_with(scenario, &mut |plan, switches| made(&shared, plan, switches))
    }

    /// The same with another controller.
    fn build_with(&self, scenario: Scenario, make: ControllerMaker<'_>) -> Result<Simulation, Exit> {
        let threads = usize::from(self.arguments.threads);
        let mut make_switch = |name: &str, plan: &SwitchPlan| self.programs().switch(name, plan);
        let made = Simulation::with_controller(scenario, threads, &mut make_switch, make);
        let mut simulation = made.map_err(|fault| {
            terminal::error(shown(self.arguments.path(), &fault));
            Exit::BadInput
        })?;
        memory::limit(&mut simulation, self.arguments);
        Ok(simulation)
    }

    /// The journeys of the flow that is traced, if one is: its programs report their steps.
    fn journeys(&self, simulation: &mut Simulation) -> Result<Option<Journeys>, Exit> {
        let Some(flow) = self.arguments.trace else { return Ok(None) };
        let Some(journeys) = Journeys::new(simulation, flow) else {
            let flows = simulation.scenario.flows.len();
            terminal::error(format!("there is no flow {flow} to trace: the scenario has {flows}, numbered from 0"));
            return Err(Exit::Usage);
        };
        for (plan, node) in simulation.scenario.switches.iter().zip(&simulation.switches) {
            let described = match &plan.kind {
                SwitchKind::Program { program, .. } => self.programs().described(program),
                SwitchKind::Router => None,
            };
            let node = simulation.network.node_mut::<SwitchNode>(*node);
            if let (Some(described), Some(node)) = (described, node) {
                node.trace(Box::new(Steps::new(described)));
            }
        }
        Ok(Some(journeys))
    }

    /// A run begins: earlier results have no summary any more, whatever becomes of it, and none of the files that this
    /// run may not write.
    fn begin(&self) -> Result<(), Exit> {
        for name in std::iter::once("summary.json").chain(results::OF_SOME_RUNS) {
            let path = self.output.join(name);
            fs::remove_file(&path).or_else(|error| match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(()),
                _ => {
                    terminal::error(format!("cannot remove {} of an earlier run: {error}", path.display()));
                    Err(Exit::System)
                }
            })?;
        }
        Ok(())
    }

    /// Writes the results of a run with these further values.
    fn write(&self, simulation: &Simulation, more: &[String], further: Vec<ResultFile>) -> Result<(), Exit> {
        let mut files = results::files(simulation);
        let name = self.arguments.path().file_stem().unwrap_or_default().to_string_lossy();
        let sets: String = self.sets(more).iter().map(|set| format!("# --set {set}\n")).collect();
        let page = scenario::report::page(simulation, &files, &name, &(sets + &self.text));
        // The summary is the last.
        files.insert(files.len() - 1, ResultFile { name: "report.html".to_owned(), text: page });
        files.splice(0..0, further);
        write(&self.output, &files).map_err(|error| {
            terminal::error(format!("cannot write results to {}: {error}", self.output.display()));
            Exit::System
        })
    }
}

fn end_of_run(text: &str) -> Result<Time, String> {
    Time::parse(text)
        .and_then(|time| if time > Time::ZERO { Ok(time) } else { Err("a run has a duration above 0".to_owned()) })
}

fn default_output(scenario: &Path) -> PathBuf {
    let stem = scenario.file_stem().unwrap_or_default().to_string_lossy();
    PathBuf::from(format!("{stem}-results"))
}

fn conclude(simulation: &Simulation, took: Duration, output: &Path) {
    let scenario = &simulation.scenario;
    let (hosts, switches) = (scenario.topology.hosts.len(), scenario.topology.switches.len());
    let events = simulation.network.events();
    let hops: u64 = (0..simulation.network.channels().len()).map(|it| simulation.network.counters(it).packets).sum();
    let plural = |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    let (hosts, switches) = (plural(hosts, "host", "hosts"), plural(switches, "switch", "switches"));
    say!(
        "{} of {hosts} and {switches}: {} events, {} packet hops in {:.1} s, {} a second",
        scenario.duration,
        terminal::grouped(events),
        terminal::grouped(hops),
        took.as_secs_f64(),
        terminal::grouped((hops as f64 / took.as_secs_f64().max(1e-9)) as u64)
    );
    say!("results: {}, for reading in {}", output.display(), output.join("report.html").display());
}

/// A file that a scenario names.
fn read_input(folder: &Path, name: &str) -> Result<Vec<u8>, String> {
    let file = folder.join(name);
    base::files::read(&file, FILE_BYTES_MAX).map_err(|error| format!("{} cannot be read: {error}", file.display()))
}

fn shown(path: &Path, fault: &ScenarioFault) -> String {
    match fault.place {
        Place::Set(_) | Place::Argument(_) | Place::Elsewhere => fault.to_string(),
        Place::File => format!("{}: {fault}", path.display()),
        _ => format!("{}:{fault}", path.display()),
    }
}

fn read_text(path: &Path) -> io::Result<String> {
    let bytes = base::files::read(path, FILE_BYTES_MAX)?;
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8"))
}

fn folder_of(path: &Path) -> PathBuf {
    path.parent().map(Path::to_owned).unwrap_or_default()
}

/// In place of a program's file: the switch has no program before a controller sets one. No file has this name.
const IDLE: &str = "";

/// The programs of a scenario, each compiled once: its switches share the code.
struct Programs<'a> {
    arguments: &'a SimArguments,
    /// Where files are looked for: the scenario's folder and the one above it, then those of its topology's file.
    folders: Vec<PathBuf>,
    compiled: OrderedMap<PathBuf, Program>,
    /// If a flow is traced: the programs with their texts.
    described: OrderedMap<PathBuf, Arc<Described>>,
}

impl Programs<'_> {
    fn new(arguments: &SimArguments) -> Programs<'_> {
        let own = folder_of(arguments.path());
        let mut programs =
            Programs { arguments, folders: Vec::new(), compiled: OrderedMap::new(), described: OrderedMap::new() };
        programs.look_in(&own);
        programs
    }

    fn look_in(&mut self, folder: &Path) {
        for folder in [folder.to_owned(), folder.join("..")] {
            if !self.folders.contains(&folder) {
                self.folders.push(folder);
            }
        }
    }

    fn described(&self, program: &str) -> Option<Arc<Described>> {
        self.described.get(&self.program(program).ok()?).cloned()
    }

    /// The core of a switch with its entries.
    fn switch(&mut self, _name: &str, plan: &SwitchPlan) -> Result<Switch, String> {
        let SwitchKind::Program { program, entries, is_interpreted } = &plan.kind else {
            return Err("a router has no program".to_owned());
        };
        let program = self.compile(program)?;
        let is_traced = self.arguments.trace.is_some();
        let kind = (*is_interpreted || is_traced).then_some(BackendKind::Interp);
        let (backend, note) = backend::choose_quietly(&program, kind, self.arguments.cc.as_deref())?;
        note.iter().for_each(terminal::warning);
        let entries = entries.iter().map(|file| self.file(file)).collect::<Result<_, _>>()?;
        let options = SwitchArguments {
            cc: self.arguments.cc.clone(),
            priority_queues: plan.device.priorities,
            ..SwitchArguments::plain(self.arguments.source.clone(), entries)
        };
        backend::set_up(&program, backend, &options).map_err(|failure| failure.messages.join("\n"))
    }

    fn compile(&mut self, name: &str) -> Result<Program, String> {
        if name == IDLE {
            return idle_program();
        }
        let path = self.program(name)?;
        if let Some(program) = self.compiled.get(&path) {
            return Ok(program.clone());
        }
        // A trace has the program as it was written: passes would hide steps.
        let is_traced = self.arguments.trace.is_some();
        let compiled = frontend::load(&path, &self.arguments.source, !is_traced)
            .map_err(|_| format!("the program {} has errors", path.display()))?;
        if is_traced {
            self.described.insert(path.clone(), Arc::new(Described::new(&compiled)));
        }
        self.compiled.insert(path, compiled.program.clone());
        Ok(compiled.program)
    }

    /// The contents of a program's source and its entries, by their names.
    fn contents(&self, program: &str, entries: &[String]) -> Result<Vec<(String, Vec<u8>)>, String> {
        let mut files = vec![(program.to_owned(), self.program(program)?)];
        for name in entries {
            files.push((name.clone(), self.file(name)?));
        }
        let read = |(name, path): (String, PathBuf)| {
            let bytes = base::files::read(&path, FILE_BYTES_MAX);
            Ok((name, bytes.map_err(|error| format!("{} cannot be read: {error}", path.display()))?))
        };
        files.into_iter().map(read).collect()
    }

    /// The source of a program, which a topology may name by the output of the reference compiler.
    fn program(&self, name: &str) -> Result<PathBuf, String> {
        self.file(name).or_else(|error| {
            let named = self.folders.iter().find_map(|folder| named_program(folder, name));
            named.ok_or(error)
        })
    }

    fn file(&self, name: &str) -> Result<PathBuf, String> {
        let candidates = self.folders.iter().map(|folder| folder.join(name));
        candidates.clone().find(|path| path.is_file()).ok_or_else(|| {
            let places: Vec<String> = candidates.map(|path| path.display().to_string()).collect();
            format!("there is no file `{name}`; looked for {}", places.join(", "))
        })
    }
}

/// Looks at a simulation after each slice of its run, and returns whether to continue.
type Each<'a> = dyn FnMut(&mut Simulation) -> Result<bool, Exit> + 'a;

/// Runs the simulation and shows how far it is.
fn run(simulation: &mut Simulation, each: &mut Each<'_>) -> Result<(), Exit> {
    let (progress, began) = (Progress::start("simulating"), Instant::now());
    run_quietly(simulation, &mut |simulation| {
        let keeps_running = each(simulation)?;
        progress.set(describe(simulation, began.elapsed()));
        Ok(keeps_running)
    })
}

/// Runs the simulation slice by slice: how long a slice is changes nothing but how often `each` is called.
fn run_quietly(simulation: &mut Simulation, each: &mut Each<'_>) -> Result<(), Exit> {
    let duration = simulation.scenario.duration;
    let mut slice = Time::from_ps((duration.ps() / 1_000).max(1));
    loop {
        let before = Instant::now();
        let has_ended =
            simulation.run_until(simulation.network.now() + slice).map_err(|fault| memory::report(&fault))?;
        if !each(simulation)? || has_ended {
            return Ok(());
        }
        let took = before.elapsed();
        slice = match (took < SLICE / 2, took > SLICE * 2) {
            (true, _) => slice.times(2),
            (_, true) => Time::from_ps((slice.ps() / 2).max(1)),
            _ => slice,
        };
    }
}

/// How far it is.
fn describe(simulation: &Simulation, elapsed: Duration) -> String {
    let (now, duration) = (simulation.network.now(), simulation.scenario.duration);
    let part = now.ps() as f64 / duration.ps() as f64;
    let events_per_s = simulation.network.events() as f64 / elapsed.as_secs_f64().max(1e-9);
    let left = Duration::from_secs_f64((elapsed.as_secs_f64() * (1.0 - part) / part.max(1e-9)).min(1e9));
    format!(
        "{:.3} of {:.3} ms simulated, {} events a second, about {} s left",
        now.seconds() * 1e3,
        duration.seconds() * 1e3,
        terminal::grouped(events_per_s as u64),
        left.as_secs()
    )
}

/// Writes all files, each under another name until it is complete.
fn write(folder: &Path, files: &[ResultFile]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for ResultFile { name, text } in files {
        let scratch = folder.join(format!(".{name}.part"));
        let mut file = File::create(&scratch)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&scratch, folder.join(name))?;
    }
    Ok(())
}
