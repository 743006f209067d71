//! Network namespaces for tests: hosts and wires that exist for one test only.
//!
//! A [`Network`] names its namespaces after the process and a counter, so that tests run side by side, and removes them
//! when dropped, whatever became of the test. Programs run in them under a time limit. It needs root, iproute2 and what
//! the test runs; a test asks [`Network::new`] and skips itself where one of them is missing.
#![allow(unsafe_code, reason = "setns(2) moves a thread into a namespace")]

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

/// How long a program in a namespace may run, in seconds, before it is ended.
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
    /// An empty network, or the reason why there can be none, for [`crate::skip`]. `programs` are what the test runs in
    /// it.
    pub fn new(programs: &[&str]) -> Result<Network, String> {
        if let Some(missing) = ["ip"].iter().chain(programs).find(|program| !is_installed(program)) {
            return Err(format!("needs the program `{missing}`"));
        }
        let number = NETWORKS.fetch_add(1, Ordering::Relaxed);
        let mut network = Network { prefix: format!("ws{}-{number}", std::process::id()), namespaces: Vec::new() };
        // Containers may let root make namespaces but no interfaces: both are tried.
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

    /// Adds a namespace with nothing in it but a loopback interface.
    ///
    /// # Panics
    /// If the system refuses.
    pub fn add(&mut self, name: &str) {
        if let Err(reason) = self.try_add(name) {
            panic!("namespace {name}: {reason}");
        }
    }

    /// The namespace's name as the system knows it.
    pub fn full_name(&self, name: &str) -> String {
        format!("{}-{name}", self.prefix)
    }

    /// Joins two interfaces of two namespaces by a wire and brings both up. IPv6 is off on both, so that no packet
    /// moves unless a test sends it.
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

    /// Has the kernel forward between two interfaces of a namespace, as a switch without addresses.
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

    /// Turns IPv6 on or off on an interface, on systems that have it.
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

    /// A program in a namespace, not started yet. It is ended after a minute.
    pub fn command(&self, namespace: &str, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args([
            "netns",
            "exec",
            &self.full_name(namespace),
            "timeout",
            // It passes signals on once, and not to its whole group besides.
            "--foreground",
            &PROGRAM_SECONDS_MAX.to_string(),
            program,
        ]);
        command
    }

    /// Runs a command line, split at blanks, in a namespace, and returns what it wrote, or what it complained of.
    pub fn try_run(&self, namespace: &str, line: &str) -> Result<String, String> {
        let mut words = line.split_whitespace();
        let output = self.command(namespace, words.next().unwrap_or("true")).args(words).output();
        read_output(output.map_err(|error| error.to_string())?)
    }

    /// Runs a command line, split at blanks, in a namespace, and returns what it wrote.
    ///
    /// # Panics
    /// If it fails.
    pub fn run(&self, namespace: &str, line: &str) -> String {
        match self.try_run(namespace, line) {
            Ok(output) => output,
            Err(complaint) => panic!("`{line}` in {namespace}: {complaint}"),
        }
    }

    /// Runs a Python program in a namespace and returns what it wrote.
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

    /// Starts a command line, split at blanks, in a namespace.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn start(&self, namespace: &str, line: &str) -> Running {
        let mut words = line.split_whitespace();
        let mut command = self.command(namespace, words.next().unwrap_or("true"));
        command.args(words);
        Running::start(command)
    }

    /// Runs `body` on a thread of its own within a namespace and returns what it returns.
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

/// True if the system knows IPv6.
pub fn has_ipv6() -> bool {
    Path::new(IPV6_SETTINGS).exists()
}

/// True if a program of this name can be run.
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
            // Nothing can be done where removal fails, and a panic here would hide the test's own.
            let _ = Command::new("ip").args(["netns", "del", namespace]).stderr(Stdio::null()).status();
        }
    }
}

/// A program that runs in a namespace; ended when dropped.
#[derive(Debug)]
pub struct Running {
    child: Option<Child>,
}

impl Running {
    fn start(mut command: Command) -> Running {
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        Running { child: Some(child.unwrap_or_else(|error| panic!("{command:?}: {error}"))) }
    }

    /// Sends a signal to the program, as Ctrl-C does with `INT`.
    pub fn signal(&self, name: &str) {
        if let Some(child) = &self.child {
            // `timeout` passes it on to the program.
            let pid = child.id().to_string();
            let _ = Command::new("kill").args([&format!("-{name}"), &pid]).stderr(Stdio::null()).status();
        }
    }

    /// Waits for the program's end and returns what it wrote.
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
