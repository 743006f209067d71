//! Network namespaces for tests: hosts and links that exist for one test only.
//!
//! A [`Network`] names its namespaces after the process and a counter, so that tests can run side by side, and
//! removes them when it is dropped, however the test ends. Programs run in them with a time limit. Root, iproute2 and
//! the programs that a test runs are required; a test calls [`Network::new`] and skips itself if one of them is
//! missing.
#![allow(unsafe_code, reason = "setns(2) moves a thread into a namespace")]

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

/// The time limit of a program in a namespace, in seconds.
const PROGRAM_SECONDS_MAX: u32 = 60;

const IPV6_SETTINGS: &str = "/proc/sys/net/ipv6";

static NETWORKS: AtomicU32 = AtomicU32::new(0);

/// A set of namespaces that are removed together.
#[derive(Debug)]
pub struct Network {
    prefix: String,
    namespaces: Vec<String>,
}

impl Network {
    /// Creates an empty network, or returns the reason why it cannot, for [`crate::skip`]. `programs` are those that
    /// the test will run in it.
    pub fn new(programs: &[&str]) -> Result<Network, String> {
        if let Some(missing) = ["ip"].iter().chain(programs).find(|program| !is_installed(program)) {
            return Err(format!("needs the program `{missing}`"));
        }
        let number = NETWORKS.fetch_add(1, Ordering::Relaxed);
        let mut network = Network { prefix: format!("ws{}-{number}", std::process::id()), namespaces: Vec::new() };
        // In a container, root may be allowed to create namespaces but not interfaces, so both are tried.
        let probe = network
            .try_add("probe")
            .and_then(|()| network.try_run("probe", "ip link add probe0 type veth peer name probe1"));
        match probe {
            Ok(_) => Ok(network),
            Err(reason) => Err(format!("needs root (CAP_NET_ADMIN) to make network namespaces: {reason}")),
        }
    }

    fn try_add(&mut self, name: &str) -> Result<(), String> {
        let namespace = self.full_name(name);
        let output =
            Command::new("ip").args(["netns", "add", &namespace]).output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).trim().to_owned());
        }
        self.namespaces.push(namespace);
        self.try_run(name, "ip link set lo up").map(|_| ())
    }

    /// Adds a namespace whose only interface is loopback.
    ///
    /// # Panics
    /// If the system refuses.
    pub fn add(&mut self, name: &str) {
        if let Err(reason) = self.try_add(name) {
            panic!("namespace {name}: {reason}");
        }
    }

    /// The system's name of the namespace.
    pub fn full_name(&self, name: &str) -> String {
        format!("{}-{name}", self.prefix)
    }

    /// Connects two interfaces in two namespaces by a link and brings both up. IPv6 is off on both, so that the
    /// kernel sends no packets of its own.
    ///
    /// # Panics
    /// If the system refuses.
    pub fn wire(&self, [first_namespace, first]: [&str; 2], [second_namespace, second]: [&str; 2]) {
        let peer = self.full_name(second_namespace);
        self.run(first_namespace, &format!("ip link add {first} type veth peer name {second} netns {peer}"));
        for (namespace, interface) in [(first_namespace, first), (second_namespace, second)] {
            self.set_ipv6(namespace, interface, false);
            self.run(namespace, &format!("ip link set {interface} up"));
        }
    }

    /// Makes the kernel bridge two interfaces of a namespace.
    ///
    /// # Panics
    /// If the system refuses.
    pub fn bridge(&self, namespace: &str, interfaces: [&str; 2]) {
        self.run(namespace, "ip link add bridge0 type bridge");
        for interface in interfaces {
            self.run(namespace, &format!("ip link set {interface} master bridge0"));
        }
        self.set_ipv6(namespace, "bridge0", false);
        self.run(namespace, "ip link set bridge0 up");
    }

    /// Turns IPv6 on or off on an interface, if the system has IPv6.
    ///
    /// # Panics
    /// If the system refuses.
    pub fn set_ipv6(&self, namespace: &str, interface: &str, on: bool) {
        if has_ipv6() {
            let mut shell = self.command(namespace, "sh");
            shell.args(["-c", &format!("echo {} > {IPV6_SETTINGS}/conf/{interface}/disable_ipv6", u8::from(!on))]);
            Running::start(shell).wait();
        }
    }

    /// A program in a namespace, not started yet. It is killed after a minute.
    pub fn command(&self, namespace: &str, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args([
            "netns",
            "exec",
            &self.full_name(namespace),
            "timeout",
            // `timeout` passes signals on once, and not to its whole process group.
            "--foreground",
            &PROGRAM_SECONDS_MAX.to_string(),
            program,
        ]);
        command
    }

    /// Runs a command line, split at spaces, in a namespace. Returns its output, or its error messages.
    pub fn try_run(&self, namespace: &str, line: &str) -> Result<String, String> {
        let mut words = line.split_whitespace();
        let output = self.command(namespace, words.next().unwrap_or("true")).args(words).output();
        read_output(output.map_err(|error| error.to_string())?)
    }

    /// Runs a command line, split at spaces, in a namespace, and returns its output.
    ///
    /// # Panics
    /// If it fails.
    pub fn run(&self, namespace: &str, line: &str) -> String {
        match self.try_run(namespace, line) {
            Ok(output) => output,
            Err(complaint) => panic!("`{line}` in {namespace}: {complaint}"),
        }
    }

    /// Runs a Python program in a namespace and returns its output.
    ///
    /// # Panics
    /// If it fails.
    pub fn python(&self, namespace: &str, program: &str) -> String {
        self.start_python(namespace, program).wait()
    }

    /// Starts a Python program in a namespace.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn start_python(&self, namespace: &str, program: &str) -> Running {
        let mut command = self.command(namespace, "python3");
        command.args(["-c", program]);
        Running::start(command)
    }

    /// Starts a command line, split at spaces, in a namespace.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn start(&self, namespace: &str, line: &str) -> Running {
        let mut words = line.split_whitespace();
        let mut command = self.command(namespace, words.next().unwrap_or("true"));
        command.args(words);
        Running::start(command)
    }

    /// Runs `body` on a thread of its own within a namespace and returns its result.
    ///
    /// # Panics
    /// If the thread cannot enter the namespace, or if `body` panics.
    pub fn inside<T: Send>(&self, namespace: &str, body: impl FnOnce() -> T + Send) -> T {
        let path = format!("/var/run/netns/{}", self.full_name(namespace));
        let run = thread::scope(|scope| {
            scope
                .spawn(|| {
                    enter(&path);
                    body()
                })
                .join()
        });
        run.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Whether the system supports IPv6.
pub fn has_ipv6() -> bool {
    Path::new(IPV6_SETTINGS).exists()
}

/// Whether a program of this name can be run.
pub fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn enter(path: &str) {
    let file = File::open(path).unwrap_or_else(|error| panic!("open {path}: {error}"));
    // SAFETY: the descriptor is open through the call, which changes nothing but this thread's namespace.
    let answer = unsafe { libc::setns(file.as_raw_fd(), libc::CLONE_NEWNET) };
    assert!(answer == 0, "enter {path}: {}", std::io::Error::last_os_error());
}

fn read_output(output: Output) -> Result<String, String> {
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let written = [&output.stderr[..], &output.stdout].map(String::from_utf8_lossy).join("\n");
    Err(format!("{}: {}", output.status, written.trim()))
}

impl Drop for Network {
    fn drop(&mut self) {
        for namespace in &self.namespaces {
            // A namespace that cannot be removed stays; a panic here would hide the test's own.
            let _ = Command::new("ip").args(["netns", "del", namespace]).stderr(Stdio::null()).status();
        }
    }
}

/// A program that runs in a namespace. It is ended when this value is dropped.
#[derive(Debug)]
pub struct Running {
    child: Option<Child>,
}

impl Running {
    /// Starts a program of [`Network::command`] with its arguments.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn start(mut command: Command) -> Running {
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        Running { child: Some(child.unwrap_or_else(|error| panic!("{command:?}: {error}"))) }
    }

    /// Sends a signal to the program; Ctrl-C sends `INT`.
    pub fn signal(&self, name: &str) {
        if let Some(child) = &self.child {
            // `timeout` passes the signal on to the program.
            let pid = child.id().to_string();
            let _ = Command::new("kill").args([&format!("-{name}"), &pid]).stderr(Stdio::null()).status();
        }
    }

    /// Waits until the program ends and returns its output.
    ///
    /// # Panics
    /// If it failed.
    pub fn wait(mut self) -> String {
        let child = self.child.take().unwrap_or_else(|| unreachable!("only `wait` takes the child, once"));
        let output = child.wait_with_output().unwrap_or_else(|error| panic!("wait: {error}"));
        read_output(output).unwrap_or_else(|complaint| panic!("{complaint}"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.signal("TERM");
        if let Some(child) = &mut self.child {
            let _ = child.wait();
        }
    }
}
