//! `wirespeed net`: hosts and switches on this machine, as a topology file of the P4 tutorials describes them.
//!
//! What enters: a topology, programs, entries; then commands, at a prompt or from elsewhere. What leaves: what those
//! commands print. In between each switch is a process `wirespeed run`.
//!
//! * [`plan`]: what each switch runs, all of it checked before anything is built.
//! * [`switches`]: the processes of the switches.
//! * [`running`]: everything that runs, and its end.
//! * [`session`]: the commands.
//! * [`foreground`]: commands that have the terminal.

mod foreground;
mod plan;
mod running;
mod session;
mod switches;

pub use plan::named_program;

use crate::Exit;
use crate::args::{BackendKind, NetArguments};
use crate::logging;
use crate::prompt::Prompt;
use crate::terminal::{self, Progress};
use net::located::Fault;
use net::{Network, Sandbox, Topology};
use running::Running;
use session::Session;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// The name of the hidden command whose process holds a network together.
pub const KEEPER_COMMAND: &str = "net-keeper";

/// Builds the network and runs commands.
pub fn net(arguments: &NetArguments) -> Result<Exit, Exit> {
    logging::start(&arguments.log)?;
    let mut arguments = arguments.clone();
    if arguments.log_packets {
        // The interpreter logs the packets, so no native code is needed.
        arguments.backend.get_or_insert(BackendKind::Interp);
    }
    let arguments = &arguments;
    let topology = read(&arguments.topology)?;
    let plans = plan::plans(&topology, arguments)?;
    let running = start(topology, plans, arguments)?;
    let result = converse(&running, arguments);
    running.end_for_good();
    result
}

/// The keeper of a network; see [`net::sandbox`].
pub fn keep() -> Result<Exit, Exit> {
    net::sandbox::keep().map(|()| Exit::Success).map_err(system_error)
}

/// The longest topology file.
const TOPOLOGY_BYTES_MAX: u64 = 64 << 20;

fn read(path: &Path) -> Result<Topology, Exit> {
    let shown = |fault: &Fault| format!("{}:{}: {}", path.display(), fault.line, fault.message);
    let read = base::files::read(path, TOPOLOGY_BYTES_MAX)
        .and_then(|bytes| String::from_utf8(bytes).map_err(std::io::Error::other));
    let text = read.map_err(|error| {
        terminal::error(format!("the topology {} cannot be read: {error}", path.display()));
        Exit::BadInput
    })?;
    let topology = Topology::parse(&text).map_err(|faults| {
        faults.iter().for_each(|fault| terminal::error(shown(fault)));
        Exit::BadInput
    })?;
    topology.warnings.iter().for_each(|warning| terminal::warning(shown(warning)));
    Ok(topology)
}

/// Builds the network, starts the switches and runs the hosts' own commands.
fn start(topology: Topology, plans: Vec<plan::SwitchPlan>, arguments: &NetArguments) -> Result<Arc<Running>, Exit> {
    let exe = std::env::current_exe().map_err(|error| system_error(format!("cannot find this program: {error}")))?;
    let progress = Progress::start("building the network");
    let mut keeper = Command::new(&exe);
    keeper.arg(KEEPER_COMMAND);
    let sandbox = Sandbox::start(keeper).map_err(|error| {
        let cure =
            "; run `sudo wirespeed net ...`, or `unshare -Urnm wirespeed net ...` where users may make namespaces";
        let is_denied = matches!(error, net::sandbox::SandboxError::NoPermission);
        system_error(format!("{error}{}", if is_denied { cure } else { "" }))
    })?;
    let network = Network::build(&topology, &sandbox).map_err(system_error)?;
    drop(progress);
    let running = Running::new(topology, sandbox, network);
    running.end_on_signals().map_err(|error| system_error(format!("cannot catch signals: {error}")))?;
    let started = switches::start(&running, &exe, &plans, arguments);
    if let Err(exit) = started {
        running.end_for_good();
        return Err(exit);
    }
    run_host_commands(&running);
    Ok(running)
}

/// The commands of hosts in the topology. A failure is only reported: some topologies have commands that always fail,
/// such as adding a route that exists.
fn run_host_commands(running: &Running) {
    for (index, host) in running.topology.hosts.iter().enumerate() {
        for line in &host.commands {
            let _progress = Progress::start(format!("{} runs `{line}`", host.name));
            let place = running.network.place(net::topology::NodeId::Host(index));
            let said = match session::output(|command| running.sandbox.spawn(&place, command), session::shell(line)) {
                Ok((status, _)) if status.success() => continue,
                Ok((_, said)) => said,
                Err(error) => error.to_string(),
            };
            terminal::warning(format!("{}: `{line}` failed: {}", host.name, said.trim()));
        }
    }
}

fn converse(running: &Arc<Running>, arguments: &NetArguments) -> Result<Exit, Exit> {
    let mut session = Session::new(Arc::clone(running), arguments.json);
    if !arguments.commands.is_empty() {
        session.begin();
        for line in &arguments.commands {
            if !session.execute(line) {
                break;
            }
        }
        return Ok(session.finish());
    }
    let words = session.words();
    let unreadable = |error| system_error(format!("cannot read commands: {error}"));
    let mut prompt = Prompt::new("wirespeed> ", words).map_err(unreadable)?;
    if prompt.is_terminal() {
        running.begin_prompt();
        session.welcome();
    }
    session.begin();
    while let Some(line) = prompt.next_line().map_err(unreadable)? {
        if !session.execute(&line) {
            break;
        }
    }
    // At a terminal the user has seen which commands failed.
    let exit = session.finish();
    Ok(if prompt.is_terminal() && exit == Exit::BadInput { Exit::Success } else { exit })
}

fn system_error(error: impl std::fmt::Display) -> Exit {
    terminal::error(error);
    Exit::System
}
