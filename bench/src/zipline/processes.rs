//! Switches as separate processes, between virtual interfaces.
//!
//! What enters: command lines, within a network namespace. What leaves: running processes, and two pairs of
//! interfaces: from `send0` to the switch's `in0`, and from its `out0` to `sink0`.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The result of a step within the namespace.
pub type Outcome<T> = Result<T, String>;

/// A process that is killed when dropped.
pub struct Killed(pub Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}

/// Starts the `wirespeed` beside this executable, in a folder. Words with spaces are in quotes.
pub fn start(folder: &Path, line: &str) -> Outcome<Killed> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(own.with_file_name("wirespeed"));
    for (position, part) in line.split('"').enumerate() {
        match position % 2 {
            0 => command.args(part.split_whitespace()),
            _ => command.arg(part),
        };
    }
    command.current_dir(folder).stdin(Stdio::null());
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map(Killed)
        .map_err(|error| format!("wirespeed, beside this command: {error}"))
}

/// Whether the switch has a processor of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placement {
    /// It shares the processor of the calling thread.
    Shared,
    /// It has a processor of its own.
    Apart,
}

impl Placement {
    /// The number of processors that both use.
    pub fn processors(self) -> usize {
        match self {
            Placement::Shared => 1,
            Placement::Apart => 2,
        }
    }

    /// The placements that are possible on this machine.
    pub fn all() -> Outcome<Vec<Placement>> {
        let here = processors()?.len();
        Ok([Placement::Shared, Placement::Apart].into_iter().filter(|it| it.processors() <= here).collect())
    }
}

/// Places the calling thread and a process that was just started. Only threads that the process starts afterwards
/// inherit its placement.
pub fn place(process: &Killed, placement: Placement) -> Outcome<()> {
    let processors = processors()?;
    let (Some(&first), Some(&last)) = (processors.first(), processors.last()) else { return Ok(()) };
    let pin = |process: Pid, processor: usize| {
        let mut only = CpuSet::new();
        only.set(processor)?;
        sched_setaffinity(process, &only)
    };
    let own = if placement == Placement::Shared { last } else { first };
    let number = i32::try_from(process.0.id()).map_err(|error| error.to_string())?;
    pin(Pid::from_raw(number), last).and_then(|()| pin(Pid::from_raw(0), own)).map_err(|error| error.to_string())
}

/// The processors that the calling thread may use.
fn processors() -> Outcome<Vec<usize>> {
    let allowed = sched_getaffinity(Pid::from_raw(0)).map_err(|error| error.to_string())?;
    Ok((0..CpuSet::count()).filter(|&number| allowed.is_set(number) == Ok(true)).collect())
}

/// Runs `ip`.
pub fn ip(arguments: &str) -> Outcome<()> {
    let status = Command::new("ip").args(arguments.split(' ')).status();
    match status.map_err(|error| format!("`ip` of iproute2: {error}"))? {
        status if status.success() => Ok(()),
        _ => Err(format!("ip {arguments} has failed")),
    }
}

/// Creates both pairs, for frames of up to 9,000 bytes.
pub fn make_pairs() -> Outcome<()> {
    for [first, second] in [["send0", "in0"], ["out0", "sink0"]] {
        ip(&format!("link add {first} mtu 9000 type veth peer name {second} mtu 9000"))?;
        ip(&format!("link set {first} up"))?;
        ip(&format!("link set {second} up"))?;
    }
    Ok(())
}
