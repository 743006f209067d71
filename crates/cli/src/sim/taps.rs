//! `wirespeed sim --tap`: programs of this machine in the places of simulated hosts.
//!
//! What enters: which host is behind which tap interface; frames that the system sends on it. What leaves: frames that
//! come to the host. One thread carries them, between two slices of the run: a frame enters the network at the time
//! that the clock of the simulation shows when it has been read, and leaves it as soon as the slice is over in which it
//! has arrived. What has no room is dropped and counted: by the system before it is read, by the node of the host, or
//! by the interface.
//!
//! * [`set_up`]: gives an interface the addresses of its host.

mod set_up;

use crate::Exit;
use crate::ports::namespace_path;
use crate::terminal;
use live::poll::Poller;
use live::tap::TapDriver;
use live::{Driver, DriverError, NetworkNamespace};
use scenario::results::ResultFile;
use scenario::topology::NodeRef;
use scenario::{Scenario, Simulation};
use sim::Time;
use sim::external::ExternalHost;
use sim::network::NodeId;
use std::fmt::Write as _;
use std::io;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Frames that are read from an interface before others have their turn.
const BURST_FRAMES: usize = 256;

/// How often the system is asked what it has dropped.
const CARE: Duration = Duration::from_secs(1);

/// A host in whose place programs are, as in `h1=tap0` or `h1=left/tap0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TappedHost {
    host: String,
    /// The network namespace with the interface; that of the command if none is named.
    namespace: Option<PathBuf>,
    interface: String,
}

impl TappedHost {
    /// Reads the names.
    pub fn parse(text: &str) -> Result<TappedHost, String> {
        let wrong = "it is HOST=[NETNS/]INTERFACE, as in h1=tap0 or h1=left/tap0";
        let (host, place) = text.split_once('=').ok_or(wrong)?;
        let (namespace, interface) = match place.rsplit_once('/') {
            Some((namespace, interface)) => (Some(PathBuf::from(namespace)), interface),
            None => (None, place),
        };
        if host.is_empty() || interface.is_empty() || namespace.as_ref().is_some_and(|it| it.as_os_str().is_empty()) {
            return Err(wrong.to_owned());
        }
        // As the kernel demands of names.
        if interface.len() > 15 || interface.contains(char::is_whitespace) {
            return Err(format!("`{interface}` is not a name of an interface: it has at most 15 bytes and no spaces"));
        }
        Ok(TappedHost { host: host.to_owned(), namespace, interface: interface.to_owned() })
    }
}

/// The positions of the hosts.
pub fn positions(taps: &[TappedHost], scenario: &Scenario) -> Result<Vec<usize>, String> {
    let mut positions = Vec::new();
    for tap in taps {
        let topology = &scenario.topology;
        let Some(NodeRef::Host(position)) = topology.find(&tap.host) else {
            let names: Vec<&str> = topology.hosts.iter().take(8).map(|host| &*host.name).collect();
            let more = if topology.hosts.len() > names.len() { ", ..." } else { "" };
            return Err(format!("--tap: there is no host `{}`; the hosts are {}{more}", tap.host, names.join(", ")));
        };
        if positions.contains(&position) {
            return Err(format!("--tap: host {} has two taps: a host has one link", tap.host));
        }
        if topology.links_at(NodeRef::Host(position)).next().is_none() {
            return Err(format!("--tap: host {} has no link", tap.host));
        }
        positions.push(position);
    }
    let place = |tap: &TappedHost| (tap.namespace.clone(), tap.interface.clone());
    let is_twice = |index: &usize| taps[..*index].iter().any(|other| place(other) == place(&taps[*index]));
    match (0..taps.len()).find(is_twice) {
        Some(index) => Err(format!("--tap: two hosts have the interface {}", taps[index].interface)),
        None => Ok(positions),
    }
}

/// Leaves out the flows that need these hosts in the simulation.
pub fn leave_out(hosts: &[usize], scenario: &mut Scenario) {
    if hosts.is_empty() {
        return;
    }
    let left_out = scenario.make_external(hosts.iter().copied().collect());
    if left_out > 0 {
        terminal::warning(format!(
            "{left_out} flows from or to hosts with taps do not run: real programs are in the places of these hosts"
        ));
    }
}

/// The taps of a run.
pub struct Taps {
    taps: Vec<Tap>,
    /// By tap.
    drivers: Vec<Box<dyn Driver>>,
    poller: Poller,
    /// When the system is asked next what it has dropped.
    next_care: Instant,
}

struct Tap {
    host: String,
    interface: String,
    node: NodeId,
    /// Whether the interface is not there any more.
    is_gone: bool,
}

impl Taps {
    /// Opens the interfaces, and sets up those that it creates.
    pub fn open(taps: &[TappedHost], hosts: &[usize], simulation: &Simulation) -> Result<Taps, Exit> {
        let mut opened =
            Taps { taps: Vec::new(), drivers: Vec::new(), poller: Poller::new(), next_care: Instant::now() + CARE };
        for (tap, &host) in taps.iter().zip(hosts) {
            let neighbours: Vec<usize> =
                taps.iter().zip(hosts).filter(|(other, _)| other.namespace == tap.namespace).map(|it| *it.1).collect();
            let failed = |message: String| {
                terminal::error(format!("--tap {}={}: {message}", tap.host, tap.interface));
                Exit::System
            };
            let namespace = Namespace::open(tap.namespace.as_deref()).map_err(failed)?;
            let (driver, is_new) = open_interface(&namespace, &tap.interface).map_err(failed)?;
            if is_new {
                let set_up = set_up::set_up(&namespace, &tap.interface, &simulation.scenario, host, &neighbours);
                set_up.map_err(failed)?;
            }
            terminal::note(set_up::describe(tap, &simulation.scenario, host, is_new));
            let (host_name, interface) = (tap.host.clone(), tap.interface.clone());
            opened.taps.push(Tap { host: host_name, interface, node: simulation.hosts[host], is_gone: false });
            opened.drivers.push(Box::new(driver));
        }
        Ok(opened)
    }

    /// Waits until a frame can be read or a descriptor is readable, at most so long.
    pub fn wait(&mut self, wake_up: RawFd, at_most: Duration) {
        let Taps { taps, drivers, poller, .. } = self;
        // A wait that fails would be a busy one.
        let waited = poller.wait(drivers, &[wake_up], at_most, &mut |index, error| taps[index].lose(&error));
        if waited.is_err() {
            std::thread::sleep(at_most);
        }
    }

    /// Reads frames, which enter the network at the time that the clock shows when they have been read: not before they
    /// were sent, even if this thread has to wait for a processor in between.
    pub fn receive(&mut self, simulation: &mut Simulation, clock: &dyn Fn() -> Time) {
        for (tap, driver) in self.taps.iter_mut().zip(&mut self.drivers).filter(|(tap, _)| !tap.is_gone) {
            let Some(host) = simulation.network.node_mut::<ExternalHost>(tap.node) else { continue };
            let limit = host.free_slots().min(BURST_FRAMES);
            if let Err(error) = driver.receive(limit, &mut |frame, _| host.send(clock(), frame)) {
                tap.lose(&error);
            }
        }
    }

    /// Sends the frames that have come to the hosts.
    pub fn transmit(&mut self, simulation: &mut Simulation) {
        let is_due = !self.taps.is_empty() && Instant::now() >= self.next_care;
        if is_due {
            self.next_care = Instant::now() + CARE;
        }
        for (tap, driver) in self.taps.iter_mut().zip(&mut self.drivers) {
            let Some(host) = simulation.network.node_mut::<ExternalHost>(tap.node) else { continue };
            let mut frames = host.take();
            if tap.is_gone {
                continue;
            }
            let mut sent = frames.iter_mut().try_for_each(|frame| driver.transmit(frame.bytes(), 0));
            if is_due {
                sent = sent.and_then(|()| driver.housekeeping());
            }
            if let Err(error) = sent.and_then(|()| driver.flush()) {
                tap.lose(&error);
            }
        }
    }

    /// What they have carried, if there are any.
    pub fn results(&self, simulation: &Simulation) -> Option<ResultFile> {
        if self.taps.is_empty() {
            return None;
        }
        let mut text = String::from(
            "host,interface,from_interface,to_interface,not_read,dropped_before_link,dropped_behind_link,\
             dropped_by_interface\n",
        );
        for (tap, driver) in self.taps.iter().zip(&self.drivers) {
            let counted = driver.counters().snapshot();
            let host = simulation.network.node::<ExternalHost>(tap.node).map(ExternalHost::counters);
            let host = host.unwrap_or_default();
            let _ = writeln!(
                text,
                "{},{},{},{},{},{},{},{}",
                tap.host,
                tap.interface,
                counted.rx_packets,
                counted.tx_packets,
                counted.rx_dropped(),
                host.sent_dropped,
                host.received_dropped,
                counted.tx_dropped()
            );
        }
        Some(ResultFile { name: "taps.csv".to_owned(), text })
    }
}

impl Tap {
    /// The interface cannot be used any more; the rest of the network continues.
    fn lose(&mut self, error: &DriverError) {
        if !self.is_gone {
            terminal::warning(format!("host {} has lost its tap: {error}", self.host));
        }
        self.is_gone = true;
    }
}

/// Where an interface is: a namespace, or that of the command, which takes no permission to enter.
struct Namespace(Option<NetworkNamespace>);

impl Namespace {
    fn open(name: Option<&Path>) -> Result<Namespace, String> {
        let Some(name) = name else { return Ok(Namespace(None)) };
        let path = namespace_path(name);
        let opened = NetworkNamespace::open(&path).map_err(|error| {
            let cure = format!("make it with `ip netns add {}`", name.display());
            format!("cannot open the network namespace {}: {error}; {cure}", path.display())
        });
        Ok(Namespace(Some(opened?)))
    }

    /// Runs `body` there.
    fn inside<T: Send>(&self, body: impl FnOnce() -> T + Send) -> Result<T, String> {
        let refused = |error: io::Error| {
            let cure = "that takes CAP_SYS_ADMIN: run as root, or start the command in the namespace";
            format!("cannot enter the network namespace: {error}; {cure}")
        };
        match &self.0 {
            Some(namespace) => namespace.inside(body).map_err(refused),
            None => Ok(body()),
        }
    }
}

/// Opens an interface; returns whether it was created.
fn open_interface(namespace: &Namespace, name: &str) -> Result<(TapDriver, bool), String> {
    let open = || {
        let is_new = live::interface::interface_index(name).is_none();
        TapDriver::open(name, 1).map(|driver| (driver, is_new)).map_err(|error| error.to_string())
    };
    namespace.inside(open)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_an_interface_in_a_namespace() {
        let read = |text: &str| TappedHost::parse(text);
        let tap = |namespace: Option<&str>| TappedHost {
            host: "h1".to_owned(),
            namespace: namespace.map(PathBuf::from),
            interface: "tap0".to_owned(),
        };
        assert_eq!(read("h1=tap0"), Ok(tap(None)));
        assert_eq!(read("h1=left/tap0"), Ok(tap(Some("left"))));
        assert_eq!(read("h1=/proc/7/ns/net/tap0"), Ok(tap(Some("/proc/7/ns/net"))));
        for text in ["h1", "=tap0", "h1=", "h1=left/", "h1=/tap0", "h1=sixteen_bytes_xx", "h1=a b"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
