//! The ports of a run: opened in their namespace, recorded, and rate-limited.

use crate::Exit;
use crate::args::RunArguments;
use crate::terminal;
use base::OrderedMap;
use control::Api;
use live::port_spec::{self, PortKind};
use live::worker::Port;
use live::{Driver, DriverError, NetworkNamespace, PortSpec};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use switch::timers::Timers;
use switch::traffic::ETHERNET_OVERHEAD_BYTES;
use switch::{CpuPort, Switch};

/// Where `ip netns` keeps the namespaces that have names.
const NAMED_NAMESPACES: &str = "/run/netns";

/// The most overhead bytes per packet.
const OVERHEAD_BYTES_MAX: u32 = 1000;

/// The rate limit of a port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rate {
    port: u32,
    bits_per_s: u64,
    /// The overhead of each packet.
    overhead_bytes: u32,
}

/// The exit status after a port failed: a damaged capture is a wrong input.
pub fn exit_of(error: &DriverError) -> Exit {
    match error {
        DriverError::Capture(_) => Exit::BadInput,
        _ => Exit::System,
    }
}

/// What each port is connected to, from the arguments `PORT=NAME`, which need not be in the order of their numbers.
pub fn names(arguments: &RunArguments) -> OrderedMap<u32, &str> {
    let named = arguments.ports.iter().filter_map(|text| text.split_once('='));
    named.filter_map(|(number, name)| Some((number.parse().ok()?, name))).collect()
}

/// Reads the arguments `PORT=MBIT` and `PORT=MBIT/BYTES`.
pub fn rates(arguments: &[String]) -> Result<Vec<Rate>, Exit> {
    let rate = |argument: &String| {
        rate(argument).ok_or_else(|| {
            terminal::error(format!(
                "port rate `{argument}`: write PORT=MBIT, as in `1=0.5` for half a megabit a second, or PORT=MBIT/BYTES \
                 with the bytes that the wire carries beside each packet (those of Ethernet are {ETHERNET_OVERHEAD_BYTES})"
            ));
            Exit::Usage
        })
    };
    arguments.iter().map(rate).collect()
}

fn rate(argument: &str) -> Option<Rate> {
    let (port, rate) = argument.split_once('=')?;
    let (megabits, overhead_bytes) = match rate.split_once('/') {
        Some((megabits, bytes)) => (megabits, bytes.parse().ok().filter(|&bytes| bytes <= OVERHEAD_BYTES_MAX)?),
        None => (rate, ETHERNET_OVERHEAD_BYTES),
    };
    let bits_per_s = megabits.parse::<f64>().ok()? * 1e6;
    // Below one bit a second nothing would ever leave; 0 means no limit.
    let is_rate = (1.0..1e15).contains(&bits_per_s);
    is_rate.then_some(Rate { port: port.parse().ok()?, bits_per_s: bits_per_s.round() as u64, overhead_bytes })
}

/// Sets rate limits of ports.
pub fn set_rates(switch: &mut Switch, rates: &[Rate]) -> Result<(), Exit> {
    for &Rate { port, bits_per_s, overhead_bytes } in rates {
        if switch.set_port_rate(port, bits_per_s, overhead_bytes).is_err() {
            terminal::error(format!("port rate: there is no port {port}"));
            return Err(Exit::Usage);
        }
    }
    Ok(())
}

/// Tells of rates of ports that nothing is behind: perhaps another number was meant.
pub fn note_unused_rates(rates: &[Rate], arguments: &RunArguments) {
    let ports = names(arguments);
    let is_unused = |rate: &&Rate| !ports.contains_key(&rate.port) && Some(rate.port) != arguments.p4runtime.cpu_port;
    for Rate { port, .. } in rates.iter().filter(is_unused) {
        terminal::note(format!("--port-rate {port}=...: there is no --port {port}=..., so the rate limits nothing"));
    }
}

/// Moves the thread to the namespace that the arguments name, if any.
pub fn enter_namespace(arguments: &RunArguments) -> Result<(), Exit> {
    let Some(name) = &arguments.netns else { return Ok(()) };
    let path = namespace_path(name);
    let entered = NetworkNamespace::open(&path).and_then(|namespace| namespace.enter());
    entered.map_err(|error| refused(format!("cannot enter the network namespace {}: {error}", path.display())))
}

/// The file of a network namespace that is given by its name or its path.
pub fn namespace_path(name: &Path) -> PathBuf {
    if name.components().count() == 1 { PathBuf::from(NAMED_NAMESPACES).join(name) } else { name.to_owned() }
}

/// Opens the ports, with this many queues if they can have several; with a folder, interfaces are recorded in
/// captures in it, which one worker writes.
pub fn open(specs: &[PortSpec], queues: usize, captures: Option<&Path>) -> Result<Vec<Port>, Exit> {
    let queues = if captures.is_some() { 1 } else { queues };
    if let Some(folder) = captures {
        std::fs::create_dir_all(folder)
            .map_err(|error| refused(format!("cannot make the folder {}: {error}", folder.display())))?;
    }
    // Ports that receive nothing and timers use the stamps of captures, or the clock if there is none.
    let has_captures = specs.iter().any(|spec| matches!(spec.kind, PortKind::Capture { .. }));
    let mut ports = Vec::new();
    for spec in specs {
        let failed = |error| refused(format!("port {}: {error}", spec.number));
        let mut driver: Box<dyn Driver> = port_spec::open(spec, queues).map_err(failed)?;
        let interface = spec.kind.interface();
        if let (Some(folder), Some(name)) = (captures, interface) {
            driver = Box::new(live::RecordedDriver::create(driver, folder, name).map_err(failed)?);
        }
        driver.remarks().iter().for_each(|remark| terminal::note(format!("port {}: {remark}", spec.number)));
        let is_capture = has_captures && interface.is_none();
        ports.push(Port { number: spec.number, driver, is_capture });
    }
    Ok(ports)
}

/// The ports that receive in several queues.
pub fn divided(ports: &[Port]) -> Vec<u32> {
    ports.iter().filter(|port| port.driver.counters().queues() > 1).map(|port| port.number).collect()
}

/// Whether the program can run on the ports.
pub fn admit(switch: &Switch, api: &Api) -> Result<(), Exit> {
    api.admit(switch).map_err(refused)
}

/// The timers of ports, and the ports that can have further ones: those without a driver, up to a number.
pub fn timers(ports: &mut [Port], cpu_port: CpuPort, number_max: u32) -> Timers {
    let timer = |port: &mut Port| {
        let timer = port.driver.as_timer().map(|timer| Arc::clone(timer.timer()));
        (port.number, timer)
    };
    Timers::new(ports.iter_mut().map(timer).chain(cpu_port.all().map(|port| (port, None))), number_max)
}

fn refused(message: impl fmt::Display) -> Exit {
    terminal::error(message);
    Exit::System
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_megabits_a_second() {
        let of = |port, bits_per_s, overhead_bytes| Some(Rate { port, bits_per_s, overhead_bytes });
        assert_eq!(rate("3=0.5"), of(3, 500_000, 24));
        assert_eq!(rate("0=1000"), of(0, 1_000_000_000, 24));
        assert_eq!((rate("0=1000/0"), rate("0=1000/38")), (of(0, 1_000_000_000, 0), of(0, 1_000_000_000, 38)));
        assert_eq!((rate("0=1000/"), rate("0=1000/-1"), rate("0=1000/1001")), (None, None, None));
        for wrong in ["3", "=1", "3=", "3=0", "3=-1", "3=nan", "3=inf", "3=1Mbit", "x=1", "-1=1", "3=1e-9"] {
            assert_eq!(rate(wrong), None, "{wrong}");
        }
    }
}
