//! The processes of the switches: `wirespeed run`, one for each.
//!
//! A switch's process is in the machine's own network, so that controllers can connect to it, and opens its ports in
//! the switch's namespace.

use super::plan::{SwitchPlan, switch_arguments};
use super::running::{Running, SwitchProcess};
use crate::Exit;
use crate::args::{ControllerPort, NetArguments, SwitchArguments, port_ranges_text};
use crate::ready;
use crate::terminal::{self, Progress};
use command_line::logging::LogFormat;
use net::sandbox::ProcessLocation;
use net::topology::NodeId;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use switch::workers::Wanted;

/// How long a switch may take until it forwards packets. Its program was compiled before.
const START_MAX: Duration = Duration::from_secs(120);

/// The interval of checks whether a starting switch has ended.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// The address of switches for controllers: only on this machine.
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Starts all switches and waits until they forward packets.
pub fn start(running: &Arc<Running>, exe: &Path, plans: &[SwitchPlan], arguments: &NetArguments) -> Result<(), Exit> {
    let refused = |doing: String| {
        move |error: io::Error| {
            terminal::error(format!("cannot {doing}: {error}"));
            Exit::System
        }
    };
    let folder = &arguments.log_dir;
    std::fs::create_dir_all(folder).map_err(refused(format!("make the folder {}", folder.display())))?;
    // The sockets for readiness messages are in a folder that is deleted before anything else happens.
    let sockets = tempfile::tempdir().map_err(refused("make a temporary folder".to_owned()))?;
    let mut starting = Vec::new();
    let first_port = first_controller_port(plans.len(), arguments);
    for (index, plan) in plans.iter().enumerate() {
        let switch = &running.topology.switches[index];
        if running.topology.ends_at(NodeId::Switch(index)).is_empty() {
            terminal::warning(format!("switch {} has no link and is not started", switch.name));
            continue;
        }
        let log = folder.join(format!("{}.log", switch.name));
        let output = File::create(&log).map_err(refused(format!("write {}", log.display())))?;
        let errors = output.try_clone().map_err(refused(format!("write {}", log.display())))?;
        let path = sockets.path().join(index.to_string());
        let socket = UnixDatagram::bind(&path).map_err(refused(format!("make the socket {}", path.display())))?;
        let mut command = Command::new(exe);
        let address = first_port.map(|first| SocketAddr::new(LOOPBACK, first + index as u16));
        command.args(command_line(running, index, plan, arguments, address)).env(ready::SOCKET_VARIABLE, &path);
        // A process group of its own: Ctrl-C is for the commands at the prompt.
        command.stdin(Stdio::null()).stdout(output).stderr(errors).process_group(0);
        let child = running.sandbox.spawn(&ProcessLocation::Machine, command);
        let child = child.map_err(refused(format!("start switch {}", switch.name)))?;
        running.switches().push(SwitchProcess {
            name: switch.name.clone(),
            child,
            log,
            controllers: address,
            has_ended: false,
        });
        starting.push(socket);
    }
    wait(running, &starting)?;
    running.watch().map_err(refused("start a thread".to_owned()))
}

/// The controller port of the first of this many switches, if all of these ports are free.
fn first_controller_port(count: usize, arguments: &NetArguments) -> Option<u16> {
    let ControllerPort::First(first) = arguments.p4runtime else { return None };
    let last = usize::from(first) + count.saturating_sub(1);
    let is_free =
        |port: usize| u16::try_from(port).is_ok_and(|port| TcpListener::bind(SocketAddr::new(LOOPBACK, port)).is_ok());
    match (usize::from(first)..=last).find(|port| !is_free(*port)) {
        None => Some(first),
        Some(taken) => {
            terminal::warning(format!(
                "controllers cannot reach the switches: port {taken} is taken; --p4runtime PORT says where the {count} ports start"
            ));
            None
        }
    }
}

/// Waits until each switch has reported that it is ready.
fn wait(running: &Running, sockets: &[UnixDatagram]) -> Result<(), Exit> {
    let _progress = Progress::start("starting the switches");
    let deadline = Instant::now() + START_MAX;
    for (position, socket) in sockets.iter().enumerate() {
        let mut message = [0; 64];
        loop {
            let messages = socket.set_read_timeout(Some(LOOK_INTERVAL)).and_then(|()| socket.recv(&mut message));
            if messages.is_ok_and(|length| message.starts_with(ready::MESSAGE) && length >= ready::MESSAGE.len()) {
                break;
            }
            let mut switches = running.switches();
            let ended = switches.get_mut(position).and_then(SwitchProcess::end_reported_once);
            let late = Instant::now() >= deadline;
            match (ended, switches.get(position)) {
                (None, Some(_)) if !late => {}
                (Some(message), _) => {
                    terminal::error(message);
                    return Err(Exit::System);
                }
                // A signal ends the network, and was reported.
                (None, None) => return Err(Exit::System),
                (None, Some(switch)) => {
                    let name = &switch.name;
                    terminal::error(format!(
                        "switch {name} does not start: it is not ready after {} s",
                        START_MAX.as_secs()
                    ));
                    return Err(Exit::System);
                }
            }
        }
    }
    Ok(())
}

/// The arguments of a switch's process.
fn command_line(
    running: &Running,
    index: usize,
    plan: &SwitchPlan,
    arguments: &NetArguments,
    controllers: Option<SocketAddr>,
) -> Vec<OsString> {
    let mut line: Vec<OsString> = vec!["run".into()];
    line.extend(plan.program.iter().map(Into::into));
    line.push("--quiet".into());
    line.extend(arguments.no_specialise.then(|| "--no-specialise".into()));
    if let Some(address) = controllers {
        line.extend(["--p4runtime".into(), address.to_string().into()]);
        // As in the tutorials, the first switch is device 0.
        line.extend(["--device-id".into(), index.to_string().into()]);
        if let Some(port) = running.topology.switches[index].cpu_port {
            line.extend(["--cpu-port".into(), port.to_string().into()]);
        }
    }
    let format = arguments.log.log_format.unwrap_or(LogFormat::Text);
    line.extend(["--log-format".into(), format.name().into()]);
    if let Some(level) = &arguments.log.log_level {
        line.extend(["--log-level".into(), level.into()]);
    }
    // The log is where the switch's standard output goes.
    line.extend(arguments.log_packets.then(|| ["--log-packets".into(), "-".into()]).into_iter().flatten());
    let switch = switch_arguments(&running.topology.switches[index], plan, arguments);
    line.extend(switch_options(&switch));
    for (end, wire) in running.topology.ends_at(NodeId::Switch(index)) {
        line.extend(["--port".into(), format!("{}={}", end.port, end.interface).into()]);
        if let Some(bits_per_s) = wire.bits_per_s {
            // The bandwidth of a topology applies to frames only, as at the hosts' ends of links.
            line.extend(["--port-rate".into(), format!("{}={}/0", end.port, bits_per_s as f64 / 1e6).into()]);
        }
    }
    if let Some(port) = arguments.metrics.and_then(|first| first.checked_add(u16::try_from(index).ok()?)) {
        line.extend(["--metrics".into(), port.to_string().into()]);
    }
    if let Some(folder) = &arguments.state {
        line.extend(["--state".into(), folder.join(&running.topology.switches[index].name).into()]);
    }
    line.extend(["--netns".into(), running.network.namespace_path(NodeId::Switch(index)).into()]);
    if let Some(folder) = &arguments.pcap {
        line.extend(["--pcap".into(), folder.into()]);
    }
    let workers = match arguments.workers {
        Wanted::Fixed(count) => count.to_string(),
        Wanted::Auto => "auto".to_owned(),
    };
    line.extend(["--workers".into(), workers.into()]);
    if let Some(backend) = arguments.backend {
        line.extend(["--backend".into(), backend.name().into()]);
    }
    line
}

/// The options for running a program, as written.
fn switch_options(switch: &SwitchArguments) -> Vec<OsString> {
    let SwitchArguments { source, entries, plug_ins, cc, seed, priority_queues, starts_anew: _ } = switch;
    let mut line: Vec<OsString> = Vec::new();
    let mut option = |name: &str, value: OsString| line.extend([format!("--{name}").into(), value]);
    source.include.iter().for_each(|folder| option("include", folder.into()));
    source.define.iter().for_each(|text| option("define", text.into()));
    source.undefine.iter().for_each(|text| option("undefine", text.into()));
    if let Some(standard) = source.std {
        let name = match standard {
            p4_14::Standard::P4_14 => "p4-14",
            p4_14::Standard::P4_16 => "p4-16",
        };
        option("std", name.into());
    }
    option("drop-port", source.drop_port.to_string().into());
    if !source.host_ports.is_empty() {
        option("host-ports", port_ranges_text(&source.host_ports).into());
    }
    entries.iter().for_each(|file| option("entries", file.into()));
    plug_ins.iter().for_each(|file| option("extern", file.into()));
    if let Some(cc) = cc {
        option("cc", cc.into());
    }
    option("seed", seed.to_string().into());
    option("priority-queues", priority_queues.to_string().into());
    line
}
