//! `wirespeed run`: forward packets until the ports are exhausted or the user stops it.
//!
//! One switch, one control plane: the state folder, controllers and metrics all use the same [`Api`], before the
//! worker runs, while it does, and after.

use crate::Exit;
use crate::args::{BackendKind, RunArguments};
use crate::backend;
use crate::controllers::{self, Controllers, ServedSwitch};
use crate::links::Links;
use crate::logging;
use crate::ports;
use crate::ready;
use crate::reporter::Reporter;
use crate::starting::{self, Loaded};
use crate::state::{Saver, StateFolder, SwitchCommands};
use crate::terminal;
use crate::trace::log::PacketLog;
use control::Api;
use live::worker::{self, Port, Setup};
use live::{PortSpec, Specialiser, StopFlag, mailbox, specialiser};
use metrics::sources::ShownPort;
use metrics::{Published, Sources};
use p4runtime::Server;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use switch::traffic::PORT_MAX;
use switch::workers::{Wanted, Workers};
use switch::{CommandQueue, Switch};

/// The most queues of a port that are opened for workers that may be added later.
const AUTO_QUEUES_MAX: usize = 16;

/// Runs a program on ports.
pub fn run(arguments: &RunArguments) -> Result<Exit, Exit> {
    logging::start(&arguments.log)?;
    let (arguments, packet_log) = with_packet_log(arguments)?;
    forward(&arguments, packet_log)
}

fn forward(arguments: &RunArguments, packet_log: Option<PacketLog>) -> Result<Exit, Exit> {
    let specs = |number_max| {
        PortSpec::parse_all(&arguments.ports, number_max).map_err(|error| {
            terminal::error(error);
            Exit::Usage
        })
    };
    // Errors that do not depend on the program are shown before the program is compiled.
    specs(u32::MAX)?;
    let rates = ports::rates(&arguments.port_rate)?;
    let state = arguments.state.as_deref().map(StateFolder::open).transpose()?;
    let Loaded { mut switch, name, started, note, origin } =
        starting::load(arguments, state.as_ref(), packet_log.as_ref())?;
    // A switch without a program yet must not rule out ports of later ones.
    let number_max = if name.is_some() { switch.program().architecture.port_max } else { u32::MAX };
    let specs = specs(number_max)?;
    ports::set_rates(&mut switch, &rates)?;
    ports::note_unused_rates(&rates, arguments);
    let (mailbox, inbox) = mailbox().map_err(|error| system_error(format!("cannot make a mailbox: {error}")))?;
    let command_queue = Arc::new(SwitchCommands::new(mailbox));
    let queues = queues(arguments.workers, switch.is_ordered());
    let workers = Arc::new(Workers::new(arguments.workers, processors()));
    let api = control_plane(&switch, &command_queue, &workers, name.as_ref().map(|_| &note));
    command_queue.parked.park(switch);
    let saver = state.map(|state| state.begin(Arc::clone(&api), note, started.as_ref())).transpose()?;
    // Before entering the namespace: clients of P4Runtime and of metrics are where the command was started.
    let subject = ServedSwitch { api: Arc::clone(&api), started, origin, specs: &specs, log: packet_log };
    let controllers = controllers::start(arguments, subject)?;
    let metrics = arguments.metrics.map(listen_for_metrics).transpose()?;
    // From here on this thread sees other interfaces; open sockets stay where they are.
    ports::enter_namespace(arguments)?;
    let mut setup = Setup::of_ports(ports::open(&specs, queues, arguments.pcap.as_deref())?);
    setup.inbox = Some(inbox);
    set_timers(&api, &mut setup, controllers.as_ref(), name.as_ref().map(|_| number_max));
    setup.workers = Some(with_queue_limit(workers, &setup.ports));
    setup.specialiser = specialiser(arguments)?;
    let stop = stop_flag(arguments)?;
    let published = Arc::new(Published::default());
    shown_ports(arguments, &setup.ports).for_each(|port| published.add_port(port));
    let sources = sources(&api, &published, controllers.as_ref().map(|it| it.server.address()));
    let metrics = metrics.map(|bound| serve_metrics(bound, sources)).transpose()?;
    setup.links_changed = watch_links(&command_queue);
    setup.keeps_running = controllers.is_some();
    let links = start_links(&api)?;
    // A controller may have set another program by now.
    let mut switch = admitted(&command_queue, &api)?;
    let mut reporter = Reporter::new(arguments, Arc::clone(switch.program()), published);
    reporter.links = Some(links);
    let server = controllers.map(|Controllers { server, mut feed, cpu_port }| {
        feed.program_changed(switch.program());
        setup.cpu_port = cpu_port;
        reporter.feed = Some(feed);
        server
    });
    greet(arguments, name.as_deref(), &switch, server.as_ref());
    ready::report().map_err(|error| system_error(format!("cannot report that the switch is ready: {error}")))?;
    let started = Instant::now();
    let result = worker::run(&mut switch, setup, &stop, &mut reporter);
    let elapsed = started.elapsed();
    drop(server);
    command_queue.parked.park(switch);
    if let Some(Err(exit)) = saver.map(Saver::finish) {
        reporter.exit = exit;
    }
    drop(metrics);
    let switch = command_queue.parked.take().ok_or(Exit::Internal)?;
    let (ended, ports) = result.map_err(|error| system_error(format!("cannot wait for packets: {error}")))?;
    reporter.finish(&switch, &ports, ended, elapsed);
    Ok(reporter.exit)
}

/// The arguments, and the log of packets' journeys: it requires the interpreter and the program as written.
fn with_packet_log(arguments: &RunArguments) -> Result<(RunArguments, Option<PacketLog>), Exit> {
    let mut arguments = arguments.clone();
    let Some(path) = &arguments.log_packets else { return Ok((arguments, None)) };
    if arguments.backend == Some(BackendKind::Native) {
        terminal::error("--log-packets requires the interpreter: remove --backend native");
        return Err(Exit::Usage);
    }
    let log = PacketLog::open(path, arguments.json)?;
    arguments.backend = Some(BackendKind::Interp);
    arguments.switch.source.as_written = true;
    Ok((arguments, Some(log)))
}

/// The control plane of a switch, with the note of its program if there is one.
fn control_plane(
    switch: &Switch,
    command_queue: &Arc<SwitchCommands>,
    workers: &Arc<Workers>,
    note: Option<&Value>,
) -> Arc<Api> {
    let api = Arc::new(Api::new(switch, Arc::clone(command_queue) as Arc<dyn CommandQueue>));
    api.set_workers(Arc::clone(workers));
    note.into_iter().for_each(|note| api.set_program_note(note.clone()));
    api
}

/// The switch, if its program can run on the ports.
fn admitted(command_queue: &SwitchCommands, api: &Api) -> Result<Switch, Exit> {
    let switch = command_queue.parked.take().ok_or(Exit::Internal)?;
    ports::admit(&switch, api)?;
    Ok(switch)
}

fn start_links(api: &Arc<Api>) -> Result<Links, Exit> {
    Links::start(Arc::clone(api)).map_err(|error| system_error(format!("cannot start a thread: {error}")))
}

/// Records which ports have several queues, for the workers.
fn with_queue_limit(workers: Arc<Workers>, ports: &[Port]) -> Arc<Workers> {
    workers.set_divided_ports(ports::divided(ports));
    workers
}

/// Sets the timers of ports in the control plane. Further ones can have any port that the program can name; without a
/// program, any of v1model.
fn set_timers(api: &Api, setup: &mut Setup, controllers: Option<&Controllers>, number_max: Option<u32>) {
    let cpu_port = controllers.map(|controllers| controllers.cpu_port).unwrap_or_default();
    let timers = Arc::new(ports::timers(&mut setup.ports, cpu_port, number_max.unwrap_or(PORT_MAX)));
    let left_out = api.set_timers(Arc::clone(&timers));
    left_out.iter().for_each(|what| terminal::warning(format!("not restored: {what}")));
    setup.timers = Some(timers);
}

/// How many queues a port should have, so that each worker can have its own. Several queues do not preserve the order
/// between flows: if that matters there is one, for the only worker that there is then.
fn queues(workers: Wanted, is_ordered: bool) -> usize {
    match workers {
        Wanted::Fixed(1) => 1,
        _ if is_ordered => {
            terminal::note(
                "one worker has all packets: the program puts packets together or takes them apart, and several would \
                 not keep their order",
            );
            1
        }
        Wanted::Fixed(count) => count,
        Wanted::Auto => processors().min(AUTO_QUEUES_MAX),
    }
}

/// How many workers can run in parallel.
fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Starts link notifications. Without them, the worker polls once a second.
fn watch_links(command_queue: &Arc<SwitchCommands>) -> Option<Arc<AtomicBool>> {
    let command_queue = Arc::clone(command_queue);
    // The empty job wakes a worker that waits for packets. One that has ended needs no notification.
    let wake = move || command_queue.send(Box::new(|_| ())).unwrap_or(());
    let news = live::links::watch(wake);
    news.inspect_err(|error| tracing::warn!("links are only polled once a second: {error}")).ok()
}

/// The sources of metrics.
fn sources(api: &Arc<Api>, published: &Arc<Published>, controllers: Option<SocketAddr>) -> Sources {
    let (api, named) = (Arc::clone(api), Arc::clone(api));
    let program = Box::new(move || p4runtime::program_name(&named.program_note()).to_owned());
    let published = Arc::clone(published);
    Sources { api, published, version: env!("CARGO_PKG_VERSION"), program, controllers }
}

/// Starts the specialiser for the contents of tables, if requested.
fn specialiser(arguments: &RunArguments) -> Result<Option<Specialiser>, Exit> {
    if arguments.no_specialise || arguments.backend == Some(BackendKind::Interp) {
        return Ok(None);
    }
    let cc = arguments.switch.cc.clone();
    let compile = Box::new(move |specialised| backend::special_code(specialised, cc.as_deref()));
    let started = Specialiser::start(specialiser::SETTLED, compile);
    started.map(Some).map_err(|error| system_error(format!("cannot start a thread: {error}")))
}

/// The flag that ends the run: on a signal, or after the given time.
fn stop_flag(arguments: &RunArguments) -> Result<StopFlag, Exit> {
    let stop = StopFlag::on_signals().map_err(|error| system_error(format!("cannot catch signals: {error}")))?;
    if let Some(duration) = arguments.duration {
        let watched = stop.stop_after(duration);
        watched.map_err(|error| system_error(format!("cannot limit the duration: {error}")))?;
    }
    Ok(stop)
}

/// Reports that the switch forwards now.
fn greet(arguments: &RunArguments, program: Option<&Path>, switch: &Switch, server: Option<&Server>) {
    match arguments.log.log_format {
        Some(_) => tell_start(arguments, program, switch, server),
        None if !arguments.quiet && !arguments.json => eprintln!("{}", greeting(arguments, program, server)),
        None => tell_port(arguments, server),
    }
}

/// Logs the program, the ports and the addresses.
fn tell_start(arguments: &RunArguments, program: Option<&Path>, switch: &Switch, server: Option<&Server>) {
    let version = env!("CARGO_PKG_VERSION");
    let (tables, architecture) = (switch.program().tables.len(), switch.program().architecture.name);
    match program {
        Some(file) => tracing::info!(tables, architecture, "the program is {}", file.display()),
        None => tracing::info!("there is no program yet: a controller must set one"),
    }
    for (port, name) in ports::names(arguments) {
        tracing::info!(port, "the port is {name}");
    }
    if let Some(server) = server {
        let device = arguments.p4runtime.device_id;
        tracing::info!(device, "controllers reach the switch at {}", server.address());
    }
    if let Some(folder) = &arguments.state {
        tracing::info!("the state is stored in {}", folder.display());
    }
    let workers = match arguments.workers {
        Wanted::Fixed(count) => count.to_string(),
        Wanted::Auto => "auto".to_owned(),
    };
    tracing::info!(version, workers, "the switch runs: {}", greeting(arguments, program, server));
}

/// A port number that the system chose is printed even with --quiet.
fn tell_port(arguments: &RunArguments, server: Option<&Server>) {
    let asked = arguments.p4runtime.p4runtime.flatten();
    if let (Some(server), Some(0)) = (server, asked.map(|address| address.port())) {
        terminal::note(format!("P4Runtime at {}", server.address()));
    }
}

fn greeting(arguments: &RunArguments, program: Option<&Path>, server: Option<&Server>) -> String {
    let program = program.map_or("no program yet".to_owned(), |file| file.display().to_string());
    let ports = if arguments.ports.is_empty() { String::new() } else { format!(" on {}", arguments.ports.join(", ")) };
    let server = server.map_or(String::new(), |server| format!("; P4Runtime at {}", server.address()));
    format!("{program}{ports}{server}")
}

/// The ports as their arguments name them.
fn shown_ports(arguments: &RunArguments, ports: &[Port]) -> impl Iterator<Item = ShownPort> {
    let names = ports::names(arguments);
    ports.iter().map(move |port| ShownPort {
        number: port.number,
        name: names.get(&port.number).copied().unwrap_or_default().to_owned(),
        counters: Arc::clone(port.driver.counters()),
    })
}

fn listen_for_metrics(address: SocketAddr) -> Result<metrics::Bound, Exit> {
    let bound = metrics::Bound::at(address);
    bound.map_err(|error| system_error(format!("cannot listen at {address} for --metrics: {error}")))
}

fn serve_metrics(bound: metrics::Bound, sources: Sources) -> Result<metrics::Server, Exit> {
    let server = bound.serve(sources).map_err(|error| system_error(format!("cannot serve metrics: {error}")))?;
    terminal::note(format!("metrics at http://{}/metrics", server.address()));
    Ok(server)
}

fn system_error(error: impl std::fmt::Display) -> Exit {
    terminal::error(error);
    Exit::System
}
