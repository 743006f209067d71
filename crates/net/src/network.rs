//! The nodes of a network, their interfaces, and the links between them.
//!
//! A link without delay and bandwidth limit is one pair of virtual interfaces, one interface at each end. A link with
//! either is two such pairs, whose other interfaces are in a separate namespace, where a thread forwards the frames
//! from one to the other ([`live::wire`]).

use crate::sandbox::{Node, ProcessLocation, Sandbox, SandboxError};
use crate::topology::{End, Link, Mac, NodeId, Topology};
use base::OrderedMap;
use live::af_packet::{AfPacketDriver, AfPacketOptions, is_running};
use live::{Driver, DriverError, NetworkNamespace, StopFlag, wire};
use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long interfaces may take until they are operational.
const RUNNING_MAX: Duration = Duration::from_secs(5);

/// The polling interval for the state of interfaces.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// The mode bits of which an executable file has at least one.
const ANY_MAY_EXECUTE: u32 = 0o111;

/// Why a network cannot be built.
#[derive(Debug)]
pub enum NetworkError {
    /// The sandbox, or a node in it, cannot be created.
    Sandbox(SandboxError),
    /// A program is not installed.
    NoProgram {
        /// The program.
        program: &'static str,
        /// The package that has it.
        package: &'static str,
    },
    /// `ip` reported an error.
    Ip {
        /// The node that it ran for.
        node: String,
        /// Its error message.
        said: String,
    },
    /// A thread that forwards a link's frames cannot open its interfaces.
    Wire {
        /// The ends of the link.
        ends: [String; 2],
        /// The reason.
        source: DriverError,
    },
    /// Another call to the system failed.
    System(io::Error),
}

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NetworkError::Sandbox(error) => error.fmt(f),
            NetworkError::NoProgram { program, package } => {
                write!(f, "the program `{program}` is not installed: install the package {package}")
            }
            NetworkError::Ip { node, said } => write!(f, "cannot set up the interfaces of {node}: {said}"),
            NetworkError::Wire { ends: [first, second], source } => {
                write!(f, "cannot lay the wire from {first} to {second}: {source}")
            }
            NetworkError::System(error) => write!(f, "cannot build the network: {error}"),
        }
    }
}

impl std::error::Error for NetworkError {}

/// A network that was built.
pub struct Network {
    nodes: OrderedMap<NodeId, Arc<Node>>,
    stop: StopFlag,
    wires: Vec<JoinHandle<()>>,
}

impl Network {
    /// Builds the network that the topology describes. The hosts have their addresses; their commands have not run
    /// yet.
    pub fn build(topology: &Topology, sandbox: &Sandbox) -> Result<Network, NetworkError> {
        ip()?;
        let mut nodes = OrderedMap::new();
        for id in topology.nodes() {
            let node = sandbox.node().map_err(NetworkError::Sandbox)?;
            prepare(topology, id, &node.network)?;
            nodes.insert(id, node);
        }
        let mut network = Network { nodes, stop: StopFlag::new(), wires: Vec::new() };
        network.connect(topology)?;
        for id in topology.nodes() {
            let script = addresses(topology, id);
            run_ip(&network.nodes[&id].network, topology.name(id), &script)?;
            network.turn_offloads_off(topology, id)?;
        }
        let ends = topology.links.iter().flat_map(|link| &link.ends);
        network.wait_until_running(&ends.collect::<Vec<_>>())?;
        Ok(network)
    }

    /// The place in which the processes of a node are started.
    pub fn place(&self, node: NodeId) -> ProcessLocation {
        ProcessLocation::Node(Arc::clone(&self.nodes[&node]))
    }

    /// A path to a node's network namespace, for other processes.
    pub fn namespace_path(&self, node: NodeId) -> PathBuf {
        self.nodes[&node].network.path()
    }

    /// Brings a link up or down at its switches' ends. A host's end stays up, because a host whose interface goes
    /// down loses its routes.
    pub fn set_link(&self, topology: &Topology, link: &Link, is_up: bool) -> Result<(), NetworkError> {
        let is_switch = |end: &&End| matches!(end.node, NodeId::Switch(_));
        let has_switch = link.ends.iter().any(|end| is_switch(&end));
        for end in link.ends.iter().filter(|end| !has_switch || is_switch(end)) {
            let state = if is_up { "up" } else { "down" };
            let script = format!("link set dev {end} {state}\n");
            run_ip(&self.nodes[&end.node].network, topology.name(end.node), &script)?;
        }
        if is_up { self.wait_until_running(&link.ends.each_ref()) } else { Ok(()) }
    }

    /// Whether a link carries packets. It does not after either of its ends was brought down. Both are examined, since
    /// the kernel reports it at the other end up to a second later.
    pub fn is_up(&self, link: &Link) -> io::Result<bool> {
        for end in &link.ends {
            if !self.nodes[&end.node].network.inside(|| is_running(&end.interface))?? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits until interfaces that were brought up are operational; frames sent earlier would be lost. An interface
    /// that does not become operational in time is left as it is.
    fn wait_until_running(&self, ends: &[&End]) -> Result<(), NetworkError> {
        let deadline = Instant::now() + RUNNING_MAX;
        let mut of_node: OrderedMap<NodeId, Vec<&str>> = OrderedMap::new();
        ends.iter().for_each(|end| of_node.entry(end.node).or_default().push(&end.interface));
        for (node, names) in of_node {
            let wait = || {
                while !names.iter().all(|name| is_running(name).unwrap_or(true)) && Instant::now() < deadline {
                    thread::sleep(LOOK_INTERVAL);
                }
            };
            self.nodes[&node].network.inside(wait).map_err(NetworkError::System)?;
        }
        Ok(())
    }

    /// Creates all links, node by node.
    fn connect(&mut self, topology: &Topology) -> Result<(), NetworkError> {
        let middle = NetworkNamespace::create().map_err(NetworkError::System)?;
        let mut scripts: OrderedMap<NodeId, String> = OrderedMap::new();
        let mut middle_script = String::new();
        let pair = |script: &mut String, [from, to]: [&str; 2], namespace: &Path| {
            let _ = writeln!(script, "link add name {from} type veth peer name {to} netns {}", namespace.display());
        };
        for (index, Link { ends: [first, second], wire, .. }) in topology.links.iter().enumerate() {
            let script = scripts.entry(first.node).or_default();
            if wire.is_immediate() {
                let there = self.nodes[&second.node].network.path();
                pair(script, [&first.interface, &second.interface], &there);
                continue;
            }
            let here = middle_interfaces(index);
            pair(script, [&first.interface, &here[0]], &middle.path());
            pair(scripts.entry(second.node).or_default(), [&second.interface, &here[1]], &middle.path());
            here.iter().for_each(|name| middle_script += &format!("link set dev {name} up\n"));
        }
        for (node, script) in &scripts {
            run_ip(&self.nodes[node].network, topology.name(*node), script)?;
        }
        turn_ipv6_off(&middle).map_err(NetworkError::System)?;
        run_ip(&middle, "the wires", &middle_script)?;
        self.start_wires(topology, &Arc::new(middle))
    }

    /// Starts a thread for each link with a delay or a bandwidth limit.
    fn start_wires(&mut self, topology: &Topology, middle: &Arc<NetworkNamespace>) -> Result<(), NetworkError> {
        for (index, link) in topology.links.iter().enumerate().filter(|(_, link)| !link.wire.is_immediate()) {
            let (sender, receiver) = channel();
            let (middle, stop, wire) = (Arc::clone(middle), self.stop.clone(), link.wire);
            let carry = move || {
                if let Some(ends) = open_wire(&middle, index, &sender) {
                    // A link stops carrying frames when one of its interfaces is gone; the rest of the network
                    // continues.
                    let _ = wire::carry(ends, wire, &stop);
                }
            };
            let thread = thread::Builder::new().name(format!("wire {index}")).spawn(carry);
            self.wires.push(thread.map_err(NetworkError::System)?);
            let ends = link.ends.each_ref().map(|end| format!("{}'s {end}", topology.name(end.node)));
            let opened = receiver
                .recv()
                .unwrap_or_else(|_| Err(DriverError::system("start a wire", io::Error::other("it ended"))));
            opened.map_err(|source| NetworkError::Wire { ends, source })?;
        }
        Ok(())
    }

    /// Turns off checksum and segmentation offloads of a host, so that captures on its interfaces show the frames as
    /// sent. A switch receives complete frames in any case, so an offload that cannot be turned off does no harm.
    fn turn_offloads_off(&self, topology: &Topology, node: NodeId) -> Result<(), NetworkError> {
        let Some(ethtool) = find_program("ethtool") else { return Ok(()) };
        for (end, _) in topology.ends_at(node) {
            let mut command = Command::new(&ethtool);
            command.args(["-K", &end.interface, "rx", "off", "tx", "off", "sg", "off"]);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            let status = self.nodes[&node].network.inside(|| command.status());
            status.and_then(|status| status).map_err(NetworkError::System)?;
        }
        Ok(())
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.stop.stop();
        for wire in self.wires.drain(..) {
            // A thread that panicked has already printed a message.
            let _ = wire.join();
        }
    }
}

/// A link's two interfaces in the namespace where its thread forwards frames.
fn middle_interfaces(index: usize) -> [String; 2] {
    [format!("w{index}a"), format!("w{index}b")]
}

/// Opens the two interfaces of a link, on the thread that will use them, and reports the result.
fn open_wire(
    middle: &NetworkNamespace,
    index: usize,
    sender: &Sender<Result<(), DriverError>>,
) -> Option<[Box<dyn Driver>; 2]> {
    let open = || {
        middle.enter().map_err(|error| DriverError::system("enter the namespace of wires", error))?;
        // The rings only hold a short burst: frames that are delayed wait in the link's own queue.
        let options = AfPacketOptions { rx_ring_bytes: 2 << 20, tx_ring_bytes: 1 << 20, ..AfPacketOptions::default() };
        let [first, second] = middle_interfaces(index);
        let first: Box<dyn Driver> = Box::new(AfPacketDriver::open(&first, &options)?);
        let second: Box<dyn Driver> = Box::new(AfPacketDriver::open(&second, &options)?);
        Ok([first, second])
    };
    let (outcome, ends) = match open() {
        Ok(ends) => (Ok(()), Some(ends)),
        Err(error) => (Err(error), None),
    };
    sender.send(outcome).is_ok().then_some(ends).flatten()
}

/// The settings that must be made before a node has interfaces.
fn prepare(topology: &Topology, id: NodeId, network: &NetworkNamespace) -> Result<(), NetworkError> {
    let speaks_ipv6 = match id {
        NodeId::Host(index) => topology.hosts[index].address.is_some_and(|address| address.ip.is_ipv6()),
        NodeId::Switch(_) => false,
    };
    if speaks_ipv6 { Ok(()) } else { turn_ipv6_off(network).map_err(NetworkError::System) }
}

/// Turns IPv6 off, if the system has it, so that the kernel sends no packets of its own.
fn turn_ipv6_off(network: &NetworkNamespace) -> io::Result<()> {
    network.inside(|| {
        for scope in ["all", "default"] {
            let path = PathBuf::from(format!("/proc/sys/net/ipv6/conf/{scope}/disable_ipv6"));
            if path.exists() {
                std::fs::write(path, "1")?;
            }
        }
        Ok(())
    })?
}

/// The commands for `ip` in a node after its links are created.
fn addresses(topology: &Topology, id: NodeId) -> String {
    let mut script = "link set dev lo up\n".to_owned();
    for (end, _) in topology.ends_at(id) {
        let name = &end.interface;
        if let NodeId::Switch(index) = id {
            script += &format!("link set dev {name} address {}\n", Mac::of_port(index, end.port));
        }
        script += &format!("link set dev {name} up\n");
    }
    let NodeId::Host(index) = id else { return script };
    let host = &topology.hosts[index];
    let Some((end, _)) = topology.ends_at(id).into_iter().next() else { return script };
    let name = &end.interface;
    if let Some(mac) = host.mac {
        script += &format!("link set dev {name} address {mac}\n");
    }
    if let Some(address) = host.address {
        // Without `nodad`, an IPv6 address cannot be used before duplicate address detection has finished.
        let at_once = if address.ip.is_ipv6() { " nodad" } else { "" };
        script += &format!("address add {address} dev {name}{at_once}\n");
    }
    if let (Some(gateway), Some(port)) = (host.gateway, opposite_port(topology, id)) {
        script += &format!("neighbour replace {} lladdr {port} dev {name} nud permanent\n", gateway.ip);
        script += &format!("route add default via {} dev {name}\n", gateway.ip);
    }
    script
}

/// The Ethernet address of the switch's port at the other end of a host's first link.
fn opposite_port(topology: &Topology, host: NodeId) -> Option<Mac> {
    topology.links.iter().find_map(|link| match &link.ends {
        [end, port] | [port, end] if end.node == host => match port.node {
            NodeId::Switch(index) => Some(Mac::of_port(index, port.port)),
            NodeId::Host(_) => None,
        },
        _ => None,
    })
}

/// Runs the lines of a script with `ip` in a namespace.
fn run_ip(network: &NetworkNamespace, node: &str, script: &str) -> Result<(), NetworkError> {
    run_ip_in(Some(network), node, script)
}

/// Runs the lines of a script with `ip` in a namespace, or in that of the calling thread. `node` is whose interfaces it
/// sets up, for messages.
pub fn run_ip_in(network: Option<&NetworkNamespace>, node: &str, script: &str) -> Result<(), NetworkError> {
    if script.is_empty() {
        return Ok(());
    }
    let ip = ip()?;
    let run = || -> io::Result<std::process::Output> {
        let mut command = Command::new(&ip);
        command.args(["-batch", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // If `ip` ends early, it has printed the reason.
            let _ = stdin.write_all(script.as_bytes());
        }
        child.wait_with_output()
    };
    let output = match network {
        Some(network) => network.inside(run).and_then(|output| output),
        None => run(),
    };
    let output = output.map_err(NetworkError::System)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
    Err(NetworkError::Ip { node: node.to_owned(), said: with_script_lines(&said, script) })
}

fn ip() -> Result<PathBuf, NetworkError> {
    find_program("ip").ok_or(NetworkError::NoProgram { program: "ip", package: "iproute2" })
}

/// The messages of `ip`, with each line number of the script replaced by that line.
fn with_script_lines(said: &str, script: &str) -> String {
    let number = said.rsplit_once("Command failed -:").and_then(|(_, number)| number.trim().parse::<usize>().ok());
    match number.and_then(|number| script.lines().nth(number.saturating_sub(1))) {
        Some(line) => format!("`ip {line}`: {said}"),
        None => said.to_owned(),
    }
}

/// The path of a program. Also searches the folders of root's programs, which may not be in the search path.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    let is_program = |file: &PathBuf| {
        std::fs::metadata(file).is_ok_and(|it| it.is_file() && it.permissions().mode() & ANY_MAY_EXECUTE != 0)
    };
    folders.map(|folder| folder.join(name)).find(is_program)
}

/// The address under which other hosts know a host.
pub fn address_of(topology: &Topology, name: &str) -> Option<IpAddr> {
    match topology.find(name)? {
        NodeId::Host(index) => topology.hosts[index].address.map(|address| address.ip),
        NodeId::Switch(_) => None,
    }
}
