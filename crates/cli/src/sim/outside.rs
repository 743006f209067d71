//! What is outside of a simulation in real time: controllers that reach its switches over gRPC (`--p4runtime`), and
//! programs in the places of its hosts ([`Taps`]).
//!
//! What enters: the arguments, requests of controllers in threads of their own, frames on taps. What leaves: the
//! requests, carried out while the simulation stands still between two events; packets and digests for controllers;
//! frames for taps.

use super::taps::{self, Taps};
use super::{FILE_BYTES_MAX, IDLE, Session, made};
use crate::Exit;
use crate::args::{SourceArguments, SwitchArguments, controllers_address};
use crate::backend;
use crate::controllers::{SENT_NAME, SentFiles, wrong_program};
use crate::frontend::{self, ProgramFiles};
use crate::terminal;
use control::Api;
use control::api::Fault;
use ir::Program;
use p4runtime::{CompileDeadline, Compiled, Compiler, Feed, Options, Ports, Server, Started};
use scenario::controller::ControllerPlan;
use scenario::results::ResultFile;
use scenario::topology::NodeRef;
use scenario::{Scenario, Simulation, SwitchKind};
use serde_json::Value;
use sim::Time;
use sim::controller::outside::{Outside, Report};
use sim::controller::{Controller, ControllerNode};
use sim::network::NodeId;
use sim::switch_node::SwitchNode;
use std::io::{self, Read as _, Write as _};
use std::net::SocketAddr;
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::Duration;
use switch::{Closed, CommandQueue, CpuPort, Job};

/// Requests that wait for the simulation.
const JOBS_MAX: usize = 256;

/// The time limit for compiling a program from a controller.
const COMPILE_TIME_MAX: Duration = Duration::from_secs(120);

/// A switch that controllers reach, as in `s1=127.0.0.1:50051`.
#[derive(Clone, Debug)]
pub struct ServedSwitch {
    name: String,
    address: SocketAddr,
}

impl ServedSwitch {
    /// Reads the name and the address.
    pub fn parse(text: &str) -> Result<ServedSwitch, String> {
        let (name, address) = text.split_once('=').ok_or("it is SWITCH=[ADDRESS:]PORT, as in s1=50051")?;
        Ok(ServedSwitch { name: name.to_owned(), address: controllers_address(address)? })
    }
}

/// The programs outside that a simulation serves.
pub struct Outsiders {
    /// Ends before the servers do, which may wait for an answer.
    jobs: Receiver<(usize, Job)>,
    /// Readable when there may be requests.
    has_jobs: UnixStream,
    controller: Option<NodeId>,
    switches: Vec<Outsider>,
    taps: Taps,
}

/// A switch with its server.
struct Outsider {
    node: NodeId,
    program: Arc<Program>,
    feed: Feed,
    _server: Server,
}

/// Hands requests of a switch's controllers to the simulation.
struct Queue {
    switch: usize,
    jobs: SyncSender<(usize, Job)>,
    wake_up: Arc<UnixStream>,
}

impl CommandQueue for Queue {
    fn send(&self, job: Job) -> Result<(), Closed> {
        self.jobs.send((self.switch, job)).map_err(|_| Closed)?;
        // If the descriptor is full, the simulation has not read it yet and wakes anyway.
        let _wakes_anyway = (&*self.wake_up).write(&[1]);
        Ok(())
    }
}

/// The switches that are served, and the hosts that are replaced, by their positions.
pub fn places(session: &Session<'_>, scenario: &Scenario) -> Result<(Vec<usize>, Vec<usize>), Exit> {
    let hosts = || taps::positions(&session.arguments.tap, scenario);
    let found = served(session, scenario).and_then(|switches| Ok((switches, hosts()?)));
    found.map_err(|message| {
        terminal::error(message);
        Exit::Usage
    })
}

fn served(session: &Session<'_>, scenario: &Scenario) -> Result<Vec<usize>, String> {
    let mut positions = Vec::new();
    for ServedSwitch { name, .. } in &session.arguments.p4runtime {
        let position = position(scenario, name)?;
        if positions.contains(&position) {
            return Err(format!("--p4runtime: switch {name} is named twice"));
        }
        positions.push(position);
    }
    match scenario.controller {
        Some(_) if !positions.is_empty() => {
            Err("the scenario has a [controller], so --p4runtime has no place: remove one of them".to_owned())
        }
        _ => Ok(positions),
    }
}

/// Builds a simulation whose switches are served, and whose hosts are replaced, as the arguments request.
pub fn build(session: &Session<'_>, mut scenario: Scenario) -> Result<(Simulation, Outsiders), Exit> {
    let (positions, hosts) = places(session, &scenario)?;
    taps::leave_out(&hosts, &mut scenario);
    let mut started = Vec::new();
    for &position in &positions {
        let kind = &mut scenario.switches[position].kind;
        let SwitchKind::Program { program, .. } = kind else {
            *kind = SwitchKind::Program { program: IDLE.to_owned(), entries: Vec::new(), is_interpreted: true };
            started.push(None);
            continue;
        };
        started.push(Some(session.programs().started(program).map_err(|message| {
            terminal::error(message);
            Exit::BadInput
        })?));
    }
    if !positions.is_empty() {
        scenario.controller = Some(ControllerPlan::outside(positions.clone()));
    }
    let shared = scenario.clone();
    let simulation = session.build_with(scenario, &mut |plan, switches| match positions.is_empty() {
        true => made(&shared, plan, switches),
        false => Ok(Box::new(Outside::default()) as Box<dyn Controller>),
    })?;
    // Interfaces first: a controller must not reach a run that cannot begin.
    let taps = Taps::open(&session.arguments.tap, &hosts, &simulation)?;
    let outsiders = Outsiders::start(session, &simulation, &positions, started, taps)?;
    Ok((simulation, outsiders))
}

/// The switch of this name, if it can be served.
fn position(scenario: &Scenario, name: &str) -> Result<usize, String> {
    let topology = &scenario.topology;
    let Some(NodeRef::Switch(position)) = topology.find(name) else {
        let names: Vec<&str> = topology.switches.iter().take(8).map(|switch| &*switch.name).collect();
        return Err(format!("--p4runtime: there is no switch `{name}`; the switches are {}", names.join(", ")));
    };
    let plan = &scenario.switches[position];
    if !plan.restarts.is_empty() {
        return Err(format!("--p4runtime: switch {name} restarts, which its controllers would not notice"));
    }
    Ok(position)
}

impl Outsiders {
    /// Starts the servers of these switches.
    fn start(
        session: &Session<'_>,
        simulation: &Simulation,
        positions: &[usize],
        started: Vec<Option<Started>>,
        taps: Taps,
    ) -> Result<Outsiders, Exit> {
        let (sender, jobs) = mpsc::sync_channel(JOBS_MAX);
        let (wake_up, has_jobs) = wake_up().map_err(|error| {
            terminal::error(format!("cannot wait for controllers: {error}"));
            Exit::System
        })?;
        let wake_up = Arc::new(wake_up);
        let controller = simulation.controller.filter(|_| !positions.is_empty());
        let mut switches = Vec::new();
        for (switch, (&position, started)) in positions.iter().zip(started).enumerate() {
            let node = simulation.switches[position];
            let Some(core) = simulation.network.node::<SwitchNode>(node).map(SwitchNode::core) else { continue };
            let queue = Queue { switch, jobs: sender.clone(), wake_up: Arc::clone(&wake_up) };
            let api = Arc::new(Api::new(core, Arc::new(queue)));
            let compiler = Arc::new(SentCompiler::of(session, simulation, position));
            let (options, has_none) = (options(session, simulation, position, switch)?, started.is_none());
            let (server, feed) =
                Server::start(api, compiler, started, options).map_err(|error| session.arguments.tls.refuse(&error))?;
            let name = &simulation.scenario.topology.switches[position].name;
            terminal::note(format!("switch {name}: P4Runtime at {}, device {position}", server.address()));
            if has_none {
                terminal::note(format!("switch {name} has no program: it drops packets until a controller sets one"));
            }
            switches.push(Outsider { node, program: Arc::clone(core.program()), feed, _server: server });
        }
        Ok(Outsiders { jobs, has_jobs, controller, switches, taps })
    }

    /// Waits for requests and frames of taps, at most so long.
    pub fn wait(&mut self, at_most: Duration) {
        self.taps.wait(self.has_jobs.as_raw_fd(), at_most);
        while (&self.has_jobs).read(&mut [0; 64]).is_ok_and(|count| count > 0) {}
    }

    /// Takes frames of taps, which are sent at the time of the simulation that the clock shows.
    pub fn receive(&mut self, simulation: &mut Simulation, clock: &dyn Fn() -> Time) {
        self.taps.receive(simulation, clock);
    }

    /// What taps have carried, if there are any.
    pub fn results(&self, simulation: &Simulation) -> Option<ResultFile> {
        self.taps.results(simulation)
    }

    /// Sends what has come for taps, carries out all requests, and passes on the events of switches for their
    /// controllers.
    pub fn serve(&mut self, simulation: &mut Simulation) {
        self.taps.transmit(simulation);
        let now = simulation.network.now();
        for (switch, job) in self.jobs.try_iter().take(JOBS_MAX) {
            let outsider = &mut self.switches[switch];
            let Some(node) = simulation.network.node_mut::<SwitchNode>(outsider.node) else { continue };
            node.core_mut().advance(now.ns());
            job(node.core_mut());
            node.wake(now);
            let program = node.core().program();
            if !Arc::ptr_eq(program, &outsider.program) {
                outsider.program = Arc::clone(program);
                outsider.feed.program_changed(program);
            }
        }
        let node = self.controller.and_then(|id| simulation.network.node_mut::<ControllerNode>(id));
        let events = node.and_then(|node| node.controller_mut::<Outside>()).map(Outside::take).unwrap_or_default();
        for (switch, event) in events {
            let feed = &mut self.switches[switch].feed;
            match event {
                Report::Packet(frame) => feed.packet_in(&frame),
                Report::Digest(digest, values) => feed.digest(digest, values),
            }
        }
    }
}

/// A descriptor to write to, and the one that is readable then.
fn wake_up() -> io::Result<(UnixStream, UnixStream)> {
    let (wake_up, readable) = UnixStream::pair()?;
    wake_up.set_nonblocking(true)?;
    readable.set_nonblocking(true)?;
    Ok((wake_up, readable))
}

fn options(session: &Session<'_>, simulation: &Simulation, position: usize, switch: usize) -> Result<Options, Exit> {
    let topology = &simulation.scenario.topology;
    let links = topology.links_at(NodeRef::Switch(position));
    let port = |(link, end): (usize, usize)| {
        let number = topology.links[link].ends[end].1;
        (number, format!("{}-p{number}", topology.switches[position].name))
    };
    let ports: Vec<(u32, String)> = links.map(port).collect();
    let cpu_port = CpuPort::usual(|number| ports.iter().any(|(port, _)| *port == number));
    let address = session.arguments.p4runtime[switch].address;
    Ok(Options {
        address,
        further: None,
        // As of `wirespeed net`.
        device_id: position as u64,
        ports: Ports::new(ports, cpu_port),
        tls: session.arguments.tls.settings(address)?,
        compile_time_max: COMPILE_TIME_MAX,
    })
}

/// Compiles the programs that controllers send.
struct SentCompiler {
    source: SourceArguments,
    cc: Option<String>,
    priorities: u8,
    /// The program of the scenario.
    file: String,
    text: Option<std::path::PathBuf>,
}

impl SentCompiler {
    fn of(session: &Session<'_>, simulation: &Simulation, position: usize) -> SentCompiler {
        let plan = &simulation.scenario.switches[position];
        let file = match &plan.kind {
            SwitchKind::Program { program, .. } => program.clone(),
            SwitchKind::Router => IDLE.to_owned(),
        };
        SentCompiler {
            source: session.arguments.source.clone(),
            cc: session.arguments.cc.clone(),
            priorities: plan.device.priorities,
            text: session.programs().program(&file).ok(),
            file,
        }
    }

    fn build(&self, shown: frontend::Shown) -> Result<Compiled, Fault> {
        let program = shown.compiled.program;
        let (backend, note) = backend::choose_quietly(&program, None, self.cc.as_deref()).map_err(Fault::invalid)?;
        note.iter().for_each(terminal::warning);
        let options = SwitchArguments {
            cc: self.cc.clone(),
            priority_queues: self.priorities,
            ..SwitchArguments::plain(self.source.clone(), Vec::new())
        };
        let switch = backend::set_up(&program, backend, &options)
            .map_err(|failure| Fault::invalid(failure.messages.join("\n")))?;
        Ok(Compiled { switch, info: shown.info, note: Value::Null })
    }
}

impl Compiler for SentCompiler {
    fn compile(&self, text: &str, _deadline: &CompileDeadline) -> Result<Compiled, Fault> {
        let files = SentFiles { text, include: &self.source.include };
        let shown = frontend::show_program(Path::new(SENT_NAME), &self.source, &files);
        self.build(shown.map_err(|diagnostics| Fault::invalid(wrong_program(&diagnostics)))?)
    }

    fn compile_started(&self) -> Option<Result<Compiled, Fault>> {
        let shown = frontend::show_program(self.text.as_deref()?, &self.source, &ProgramFiles);
        let wrong = |diagnostics: String| Fault::invalid(format!("{} now has errors:\n{diagnostics}", self.file));
        Some(shown.map_err(wrong).and_then(|shown| self.build(shown)))
    }
}

impl super::Programs<'_> {
    /// A program for controllers, compiled together with its P4Info.
    fn started(&mut self, name: &str) -> Result<Started, String> {
        let path = self.program(name)?;
        let shown = frontend::show_program(&path, &self.arguments.source, &ProgramFiles)?;
        let text = base::files::read(&path, FILE_BYTES_MAX)
            .map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
        self.compiled.entry(path).or_insert(shown.compiled.program);
        Ok(Started::of_text(shown.info, text))
    }
}
