//! Commands that use the terminal: editors, shells, and commands that Ctrl-C must end.
//!
//! Each runs in a process group of its own, as in a shell. The group is in the foreground while it runs; when it has
//! ended, this process takes the terminal back and restores its settings.

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal, killpg};
use nix::sys::termios::{SetArg, tcgetattr, tcsetattr};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};

/// Whether standard input is a terminal that this process may hand over.
pub fn has_terminal() -> bool {
    tcgetpgrp(io::stdin()) == Ok(getpgrp())
}

/// The status of a process in the shell's form.
pub fn status_number(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

/// Puts a process group into the foreground, waits for the end of its leader, and takes the terminal back. Returns
/// the status in the shell's form.
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
    // The group may have used the terminal, and been stopped, before it was in the foreground.
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
                eprintln!("\na stopped command cannot be resumed: it is killed; use `&` to leave one running");
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

/// Puts a group into the foreground.
fn hand_over(group: Pid) -> io::Result<()> {
    // A background process is stopped by this call, unless that signal is blocked.
    let mut mask = SigSet::empty();
    mask.add(Signal::SIGTTOU);
    mask.thread_block()?;
    let result = tcsetpgrp(io::stdin(), group);
    mask.thread_unblock()?;
    // A group that has ended already does not need the terminal.
    match result {
        Err(Errno::ESRCH | Errno::EPERM) => Ok(()),
        other => Ok(other?),
    }
}
