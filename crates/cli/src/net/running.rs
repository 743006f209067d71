//! The running network, and its end.
//!
//! A network ends in order when its commands are done or a signal arrives: switches are stopped, so that packets that
//! they have received are sent and their captures are complete, then all other processes are killed. If this process
//! is killed, the kernel only does the latter (see [`net::sandbox`]).

use crate::Exit;
use crate::prompt;
use crate::terminal;
use net::{Network, Sandbox, Topology};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::Pid;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The polling interval for processes.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// How long switches may take to stop.
const STOP_MAX: Duration = Duration::from_secs(4);

/// Lines of a switch's log that are shown when it has ended unexpectedly.
const LOG_LINES_SHOWN: usize = 8;

/// The process of a switch.
pub struct SwitchProcess {
    /// The switch's name.
    pub name: String,
    /// The process.
    pub child: Child,
    /// Where it writes.
    pub log: PathBuf,
    /// Its address for controllers.
    pub controllers: Option<SocketAddr>,
    /// Whether its end is known.
    pub has_ended: bool,
}

impl SwitchProcess {
    /// How the process ended, reported once.
    pub fn end_reported_once(&mut self) -> Option<String> {
        if self.has_ended {
            return None;
        }
        let status = self.child.try_wait().ok().flatten()?;
        self.has_ended = true;
        let text = std::fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        let last = lines[lines.len().saturating_sub(LOG_LINES_SHOWN)..].join("\n  ");
        Some(format!("switch {} has ended ({status}); the end of {}:\n  {last}", self.name, self.log.display()))
    }
}

/// A network with all its parts.
pub struct Running {
    /// What it was built from.
    pub topology: Topology,
    /// Its processes.
    pub sandbox: Sandbox,
    /// Its interfaces and links.
    pub network: Network,
    switches: Mutex<Vec<SwitchProcess>>,
    is_ending: AtomicBool,
    has_failed: AtomicBool,
    /// A signal ends the process: the thread that caught it determines the exit status.
    has_signal: AtomicBool,
    /// Commands come from a prompt.
    has_prompt: AtomicBool,
    ending: Mutex<()>,
    /// The settings of the terminal at the start, if there is one.
    terminal: Option<nix::libc::termios>,
}

impl Running {
    /// A network in which no switch runs yet.
    pub fn new(topology: Topology, sandbox: Sandbox, network: Network) -> Arc<Running> {
        Arc::new(Running {
            topology,
            sandbox,
            network,
            switches: Mutex::default(),
            is_ending: AtomicBool::new(false),
            has_failed: AtomicBool::new(false),
            has_signal: AtomicBool::new(false),
            has_prompt: AtomicBool::new(false),
            ending: Mutex::default(),
            terminal: tcgetattr(io::stdin()).ok().map(Into::into),
        })
    }

    /// The switches' processes.
    pub fn switches(&self) -> MutexGuard<'_, Vec<SwitchProcess>> {
        self.switches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether something ended unexpectedly.
    pub fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::SeqCst)
    }

    /// Restores the settings of the terminal.
    pub fn restore_terminal(&self) {
        if let Some(settings) = self.terminal {
            // A terminal that is gone needs no settings.
            let _ = tcsetattr(io::stdin(), SetArg::TCSADRAIN, &Termios::from(settings));
        }
    }

    /// From now on, termination signals end the process in order.
    pub fn end_on_signals(self: &Arc<Running>) -> io::Result<()> {
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT])?;
        let running = Arc::clone(self);
        let wait = move || {
            // Ctrl-C at a prompt is for commands, including one just before a command is in the foreground.
            let is_meant = |signal: &i32| *signal != SIGINT || !running.has_prompt.load(Ordering::SeqCst);
            if let Some(signal) = signals.forever().find(is_meant) {
                running.has_signal.store(true, Ordering::SeqCst);
                running.end();
                running.restore_terminal();
                prompt::give_back();
                // As shells report the end by a signal.
                std::process::exit(128 + signal);
            }
        };
        thread::Builder::new().name("signals".to_owned()).spawn(wait).map(|_| ())
    }

    /// From now on commands come from a prompt, until the end.
    pub fn begin_prompt(&self) {
        self.has_prompt.store(true, Ordering::SeqCst);
    }

    /// From now on, switches that end are reported.
    pub fn watch(self: &Arc<Running>) -> io::Result<()> {
        let running = Arc::clone(self);
        let watch = move || {
            while !running.is_ending() {
                running.look();
                thread::sleep(LOOK_INTERVAL);
            }
        };
        thread::Builder::new().name("watch".to_owned()).spawn(watch).map(|_| ())
    }

    fn look(&self) {
        let mut messages: Vec<String> =
            self.switches().iter_mut().filter_map(SwitchProcess::end_reported_once).collect();
        if self.sandbox.has_ended() && !self.has_failed() {
            messages.push("the processes of the network were ended from outside".to_owned());
        }
        // The end of the network ends the switches, too.
        if !messages.is_empty() && !self.is_ending() {
            self.has_failed.store(true, Ordering::SeqCst);
            messages.iter().for_each(terminal::error);
        }
    }

    /// Ends everything; returns when it has ended, whichever thread has begun this.
    pub fn end(&self) {
        self.is_ending.store(true, Ordering::SeqCst);
        let _one_at_a_time = self.ending.lock().unwrap_or_else(PoisonError::into_inner);
        let deadline = Instant::now() + STOP_MAX;
        let mut switches = self.switches();
        for switch in switches.iter_mut() {
            // A process that has not been waited for keeps its number.
            if matches!(switch.child.try_wait(), Ok(None)) {
                let _ = kill(Pid::from_raw(switch.child.id().cast_signed()), Signal::SIGTERM);
            }
        }
        while Instant::now() < deadline && switches.iter_mut().any(|it| matches!(it.child.try_wait(), Ok(None))) {
            thread::sleep(Duration::from_millis(5));
        }
        self.sandbox.end();
        switches.drain(..).for_each(|mut switch| drop(switch.child.wait()));
    }

    /// Whether everything is being ended.
    pub fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::SeqCst)
    }

    /// The same for the thread that determines the exit status, unless a signal does.
    pub fn end_for_good(&self) {
        self.end();
        while self.has_signal.load(Ordering::SeqCst) {
            thread::sleep(LOOK_INTERVAL);
        }
    }

    /// The exit status, apart from that of its commands.
    pub fn exit(&self) -> Exit {
        if self.has_failed() { Exit::System } else { Exit::Success }
    }
}
