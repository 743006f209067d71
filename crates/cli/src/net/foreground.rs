//! Commands that have the terminal: editors, shells, and what Ctrl-C is for.
//!
//! Each is a process group of its own, as a shell makes one. It gets the terminal while it runs, and this process takes
//! the terminal back when it has ended, set as it was before.

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal, killpg};
use nix::sys::termios::{SetArg, tcgetattr, tcsetattr};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};

/// Whether standard input is a terminal that is this process's to give.
pub fn has_terminal() -> bool {
    tcgetpgrp(io::stdin()) == Ok(getpgrp())
}

/// The status of a process as shells tell it.
pub fn status_number(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

/// Gives the terminal to a process that leads a group, waits for its end, and takes the terminal back. Returns the
/// status as shells tell it.
pub fn wait_with_terminal(child: &Child) -> io::Result<i32> {
    let leader = Pid::from_raw(child.id().cast_signed());
    let settings = tcgetattr(io::stdin());
    hand_over(leader)?;
    let status = wait(leader);
    hand_over(getpgrp())?;
    if let Ok(settings) = settings {
        tcsetattr(io::stdin(), SetArg::TCSADRAIN, &settings)?;
    }
    status
}

fn wait(leader: Pid) -> io::Result<i32> {
    // The group may have asked for the terminal, and been stopped, before it had it.
    continue_group(leader)?;
    loop {
        match waitpid(leader, Some(WaitPidFlag::WUNTRACED)) {
            Ok(WaitStatus::Exited(_, code)) => return Ok(code),
            Ok(WaitStatus::Signaled(_, signal, _)) => return Ok(128 + signal as i32),
            Ok(WaitStatus::Stopped(_, Signal::SIGTTIN | Signal::SIGTTOU)) => {
                hand_over(leader)?;
                continue_group(leader)?;
            }
            Ok(WaitStatus::Stopped(..)) => {
                eprintln!(
                    "\na command that is stopped cannot be taken up again: it is ended; use `&` to leave one running"
                );
                ignore_gone(killpg(leader, Signal::SIGKILL))?;
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn continue_group(leader: Pid) -> io::Result<()> {
    ignore_gone(killpg(leader, Signal::SIGCONT))
}

fn ignore_gone(result: nix::Result<()>) -> io::Result<()> {
    match result {
        Err(Errno::ESRCH) => Ok(()),
        other => Ok(other?),
    }
}

/// Gives the terminal to a group.
fn hand_over(group: Pid) -> io::Result<()> {
    // Who does not have the terminal is stopped for giving it away, unless that signal is blocked.
    let mut mask = SigSet::empty();
    mask.add(Signal::SIGTTOU);
    mask.thread_block()?;
    let result = tcsetpgrp(io::stdin(), group);
    mask.thread_unblock()?;
    // A group that has ended already needs no terminal.
    match result {
        Err(Errno::ESRCH | Errno::EPERM) => Ok(()),
        other => Ok(other?),
    }
}
