//! The processes of a network: they see only each other, and they end together.
//!
//! All of them live in one PID namespace. Its first process, the keeper, only waits for the end of its standard
//! input, whose other end is held by the process that created the network. However that process ends, even by a
//! signal that cannot be caught, the keeper then ends, and the kernel kills every process of a PID namespace whose
//! first process has ended, including background servers and their children. When the last process and the creator's
//! descriptors are gone, the kernel deletes the network namespaces and their interfaces. Nothing has a name in the
//! file system, so nothing is left behind.
//!
//! Namespaces belong to threads. The sandbox has one thread, the launcher, that enters the namespaces in which a
//! process is to start, starts it, and returns to its own namespaces. No other thread is affected.

use live::NetworkNamespace;
use nix::errno::Errno;
use nix::fcntl::{OFlag, openat};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::stat::Mode;
use nix::sys::wait::wait;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The line that the keeper writes when the namespace is set up.
const READY: &str = "ready";

/// How often the keeper polls for adopted child processes to reap while it has none.
const REAP_INTERVAL: Duration = Duration::from_millis(100);

/// Why the sandbox cannot be created, or a process cannot be started in it.
#[derive(Debug)]
pub enum SandboxError {
    /// The caller lacks the privileges.
    NoPermission,
    /// The keeper ended before it was ready.
    NoKeeper {
        /// Its error message.
        said: String,
    },
    /// Another call to the system failed.
    System {
        /// The operation that failed, as in `cannot {doing}`.
        doing: &'static str,
        /// The system's error.
        source: io::Error,
    },
}

impl SandboxError {
    fn system(doing: &'static str) -> impl Fn(io::Error) -> SandboxError {
        move |source| match source.kind() {
            io::ErrorKind::PermissionDenied => SandboxError::NoPermission,
            _ => SandboxError::System { doing, source },
        }
    }
}

impl fmt::Display for SandboxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SandboxError::NoPermission => write!(f, "needs root: hosts and switches live in namespaces of the kernel"),
            SandboxError::NoKeeper { said } => write!(f, "cannot set up the processes of the network: {said}"),
            SandboxError::System { doing, source } => write!(f, "cannot {doing}: {source}"),
        }
    }
}

impl std::error::Error for SandboxError {}

/// Where a process is started.
#[derive(Clone, Debug)]
pub enum ProcessLocation {
    /// In the sandbox's PID namespace, but with the interfaces and files of this machine.
    Machine,
    /// In a node.
    Node(Arc<Node>),
}

/// A host or a switch: the namespaces of its processes.
#[derive(Debug)]
pub struct Node {
    /// Its interfaces.
    pub network: NetworkNamespace,
    /// Its mount namespace: the files of the machine, with `/proc` and `/sys` of its own where the system allows it.
    files: File,
}

type Job = Box<dyn FnOnce(&Launcher) + Send>;

/// A sandbox. It ends, with all of its processes, when it is dropped.
pub struct Sandbox {
    jobs: Sender<Job>,
    keeper: Mutex<Child>,
}

impl Sandbox {
    /// Creates a sandbox. `keeper` is a command that calls [`keep`].
    pub fn start(mut keeper: Command) -> Result<Sandbox, SandboxError> {
        let (jobs, queue) = channel::<Job>();
        let (sender, receiver) = channel();
        let serve = move || match Launcher::start(&mut keeper) {
            Ok((launcher, keeper)) => {
                if sender.send(Ok(keeper)).is_ok() {
                    launcher.serve(&queue);
                }
            }
            Err(error) => drop(sender.send(Err(error))),
        };
        let builder = thread::Builder::new().name("launcher".to_owned());
        builder.spawn(serve).map_err(SandboxError::system("start a thread"))?;
        let keeper =
            receiver.recv().map_err(|_| SandboxError::NoKeeper { said: "the launcher ended".to_owned() })??;
        Ok(Sandbox { jobs, keeper: Mutex::new(keeper) })
    }

    /// Runs a job on the launcher and waits for its result.
    fn run_on_launcher<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Launcher) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let (sender, receiver) = channel();
        let job: Job = Box::new(move |launcher| drop(sender.send(job(launcher))));
        let ended = || io::Error::other("the network has ended");
        self.jobs.send(job).map_err(|_| ended())?;
        receiver.recv().map_err(|_| ended())?
    }

    /// Creates a node whose only interface is its loopback, which is down.
    pub fn node(&self) -> Result<Arc<Node>, SandboxError> {
        let network = NetworkNamespace::create().map_err(SandboxError::system("make a network namespace"))?;
        let node = self.run_on_launcher(move |launcher| launcher.node(network)).map(Arc::new);
        node.map_err(SandboxError::system("make a namespace of mounts"))
    }

    /// Starts a process.
    pub fn spawn(&self, place: &ProcessLocation, mut command: Command) -> io::Result<Child> {
        let place = place.clone();
        // Entering another mount namespace changes the launcher's working folder to the root.
        if command.get_current_dir().is_none() {
            command.current_dir(std::env::current_dir()?);
        }
        self.run_on_launcher(move |launcher| launcher.spawn(&place, &mut command))
    }

    /// Whether the processes of the sandbox have been ended from outside.
    pub fn has_ended(&self) -> bool {
        let mut keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner);
        !matches!(keeper.try_wait(), Ok(None))
    }

    /// Kills all processes and waits until they are gone. Nothing can be started afterwards.
    pub fn end(&self) {
        let mut keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner);
        // The kernel does not release the keeper before all other processes of its namespace are gone. Both calls
        // fail only if the keeper is gone already.
        let _ = keeper.kill();
        let _ = keeper.wait();
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        self.end();
    }
}

/// The thread that starts processes.
struct Launcher {
    machine_network: NetworkNamespace,
    machine_files: File,
    /// The folder with the namespaces of this thread. It is opened only once, because the thread does not exist in
    /// the `/proc` of nodes.
    own: File,
    /// The keeper's mount namespace, of which nodes get copies.
    keeper_files: File,
}

impl Launcher {
    /// Moves the future children of the calling thread to a new PID namespace and starts the keeper there.
    fn start(keeper: &mut Command) -> Result<(Launcher, Child), SandboxError> {
        let set_up = SandboxError::system("set up the namespaces of the network");
        let own = File::open("/proc/thread-self/ns").map_err(&set_up)?;
        let machine_network = NetworkNamespace::open(Path::new("/proc/thread-self/ns/net")).map_err(&set_up)?;
        let machine_files = open_in(&own, "mnt").map_err(&set_up)?;
        unshare(CloneFlags::CLONE_FS | CloneFlags::CLONE_NEWPID).map_err(io::Error::from).map_err(&set_up)?;
        keeper.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = keeper.spawn().map_err(&set_up)?;
        let mut said = String::new();
        if let Some(stdout) = &mut child.stdout {
            BufReader::new(stdout).read_line(&mut said).map_err(&set_up)?;
        }
        if said.trim() != READY {
            if let Some(stderr) = &mut child.stderr {
                stderr.read_to_string(&mut said).map_err(&set_up)?;
            }
            return Err(SandboxError::NoKeeper { said: said.trim().to_owned() });
        }
        let keeper_files = File::open(format!("/proc/{}/ns/mnt", child.id())).map_err(&set_up)?;
        Ok((Launcher { machine_network, machine_files, own, keeper_files }, child))
    }

    fn serve(&self, queue: &Receiver<Job>) {
        while let Ok(job) = queue.recv() {
            job(self);
        }
    }

    fn node(&self, network: NetworkNamespace) -> io::Result<Node> {
        let files = self.inside(&network, &self.keeper_files, || {
            unshare(CloneFlags::CLONE_NEWNS)?;
            // Where the system refuses this, as in some containers, the node sees the machine's `/sys`.
            let _ = mount(Some("sysfs"), "/sys", Some("sysfs"), MsFlags::empty(), None::<&str>);
            open_in(&self.own, "mnt")
        })?;
        Ok(Node { network, files })
    }

    fn spawn(&self, place: &ProcessLocation, command: &mut Command) -> io::Result<Child> {
        match place {
            ProcessLocation::Machine => command.spawn(),
            ProcessLocation::Node(node) => self.inside(&node.network, &node.files, || command.spawn()),
        }
    }

    /// Runs `act` in other namespaces and returns to the launcher's own.
    fn inside<T>(
        &self,
        network: &NetworkNamespace,
        files: &File,
        act: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        let result = network.enter().and_then(|()| enter_files(files)).and_then(|()| act());
        // A launcher that cannot return must not start anything more, so its thread's current request fails.
        self.machine_network.enter()?;
        enter_files(&self.machine_files)?;
        result
    }
}

fn enter_files(files: &File) -> io::Result<()> {
    Ok(setns(files, CloneFlags::CLONE_NEWNS)?)
}

/// Opens a file in a folder that is open.
fn open_in(folder: &File, name: &str) -> io::Result<File> {
    Ok(File::from(openat(folder, name, OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty())?))
}

/// The body of the keeper process. It must run on the first thread of the process.
pub fn keep() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNS)?;
    // From here on, mounts are visible only in the sandbox.
    mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_PRIVATE, None::<&str>)?;
    // `ps` and `pkill` must find only the processes of the network. Where the system refuses the mount, as in some
    // containers, they find all processes of the machine.
    let _ = mount(Some("proc"), "/proc", Some("proc"), MsFlags::empty(), None::<&str>);
    thread::Builder::new().name("reaper".to_owned()).spawn(reap)?;
    let mut stdout = io::stdout();
    writeln!(stdout, "{READY}")?;
    stdout.flush()?;
    io::copy(&mut io::stdin().lock(), &mut io::sink()).map(|_| ())
}

/// Reaps processes whose parents have ended.
fn reap() {
    loop {
        if wait() == Err(Errno::ECHILD) {
            thread::sleep(REAP_INTERVAL);
        }
    }
}
