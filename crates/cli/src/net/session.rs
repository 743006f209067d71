//! The commands of a network: in hosts and switches, and about the network itself.

mod builtin;
mod speed;

use super::foreground;
use super::running::Running;
use crate::Exit;
use crate::prompt::Words;
use crate::terminal::{self, say};
use net::net_tools;
use net::network::{address_of, find_program};
use net::sandbox::ProcessLocation;
use serde_json::json;
use std::fs::File;
use std::io::{self, IsTerminal as _, Read as _, Seek as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;

/// The most bytes of a command's output that are stored.
const OUTPUT_BYTES_MAX: u64 = 16 << 20;

/// The result of a command.
pub struct CommandResult {
    /// Its status in the shell's form; 0 is success.
    pub status: i32,
    /// Its output, if that was not printed already.
    pub output: String,
    /// Whether the output is an error message rather than a result.
    pub is_complaint: bool,
}

impl CommandResult {
    /// The result of a command, with its status.
    fn found(status: i32, output: impl Into<String>) -> CommandResult {
        CommandResult { status, output: output.into(), is_complaint: false }
    }

    fn success(output: impl Into<String>) -> CommandResult {
        CommandResult::found(0, output)
    }

    fn failure(why: impl Into<String>) -> CommandResult {
        CommandResult { status: 1, output: why.into(), is_complaint: true }
    }
}

/// A session with a network.
pub struct Session {
    running: Arc<Running>,
    json: bool,
    failed: usize,
}

impl Session {
    /// A session that has not begun.
    pub fn new(running: Arc<Running>, json: bool) -> Session {
        Session { running, json, failed: 0 }
    }

    /// Reports to a program that the network is ready.
    pub fn begin(&self) {
        if self.json {
            let topology = &self.running.topology;
            let hosts: Vec<&str> = topology.hosts.iter().map(|host| host.name.as_str()).collect();
            let switches: Vec<&str> = topology.switches.iter().map(|switch| switch.name.as_str()).collect();
            say!("{}", json!({"event": "ready", "hosts": hosts, "switches": switches}));
        }
    }

    /// Reports to a person that the network is ready.
    pub fn welcome(&self) {
        let topology = &self.running.topology;
        let count = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let switches = topology.switches.len();
        eprintln!(
            "{}, {switches} switch{} and {} run. `h1 ping h2` runs a command in a host; `help` shows all commands.",
            count(topology.hosts.len(), "host"),
            if switches == 1 { "" } else { "es" },
            count(topology.links.len(), "link")
        );
    }

    /// The exit status of the session.
    pub fn finish(&self) -> Exit {
        if self.json {
            say!("{}", json!({"event": "end", "failed": self.failed}));
        }
        match self.running.exit() {
            Exit::Success if self.failed > 0 => Exit::BadInput,
            exit => exit,
        }
    }

    /// Completes a line.
    pub fn words(&self) -> Words {
        let topology = &self.running.topology;
        let nodes: Vec<String> = topology.nodes().map(|node| topology.name(node).to_owned()).collect();
        Box::new(move |words| match words {
            [_] => Some(builtin::names().map(str::to_owned).chain(nodes.iter().cloned()).collect()),
            ["help", _] => Some(builtin::names().map(str::to_owned).collect()),
            [.., word] if nodes.iter().any(|node| node.starts_with(word)) => Some(nodes.clone()),
            // The command of a host is for the shell.
            _ => None,
        })
    }

    /// Runs a line. False if it was the last.
    pub fn execute(&mut self, line: &str) -> bool {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return true;
        }
        let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if builtin::is_end(first) {
            return false;
        }
        let outcome = self.outcome(first, rest.trim());
        let outcome = outcome.unwrap_or_else(|error| CommandResult::failure(format!("cannot run `{line}`: {error}")));
        if self.running.is_ending() {
            // A signal has ended the command, too; nothing is reported.
            return false;
        }
        self.failed += usize::from(outcome.status != 0);
        if self.json {
            say!(
                "{}",
                json!({"event": "command", "command": line, "status": outcome.status, "output": outcome.output})
            );
        } else if outcome.is_complaint {
            terminal::error(outcome.output.trim_end());
        } else {
            outcome.output.lines().for_each(|line| say!("{line}"));
            if outcome.status != 0 && !io::stdin().is_terminal() {
                terminal::error(format!("`{line}` failed with status {}", outcome.status));
            }
        }
        // Without its processes a network is useless.
        !self.running.sandbox.has_ended()
    }

    fn outcome(&self, first: &str, rest: &str) -> io::Result<CommandResult> {
        if let Some(outcome) = builtin::run(self, first, rest) {
            return outcome;
        }
        let Some(node) = self.running.topology.find(first) else {
            return Ok(CommandResult::failure(format!(
                "`{first}` is not a command, host or switch; `help` shows all commands"
            )));
        };
        if rest.is_empty() {
            return Ok(CommandResult::failure(format!(
                "a command must follow {first}: write `{first} COMMAND`, as `{first} bash`"
            )));
        }
        let mut command =
            shell(&with_addresses(rest, |name| address_of(&self.running.topology, name).map(|it| it.to_string())));
        command.env("WIRESPEED_NODE", first);
        self.run(Some(&self.running.network.place(node)), command)
    }

    /// Starts a command in a place of the network, or on this machine.
    fn spawn(&self, place: Option<&ProcessLocation>, mut command: Command) -> io::Result<Child> {
        match place {
            Some(place) => self.running.sandbox.spawn(place, command),
            None => command.spawn(),
        }
    }

    /// Runs a command: with the terminal if there is one, and with its output captured for JSON.
    fn run(&self, place: Option<&ProcessLocation>, mut command: Command) -> io::Result<CommandResult> {
        command.process_group(0);
        if self.json {
            return self.run_captured(place, command);
        }
        let has_terminal = foreground::has_terminal();
        // Commands in a script must not read the script.
        command.stdin(if has_terminal { Stdio::inherit() } else { Stdio::null() });
        let mut child = self.spawn(place, command)?;
        let status = match has_terminal {
            true => foreground::wait_with_terminal(&child)?,
            false => foreground::status_number(child.wait()?),
        };
        Ok(CommandResult::found(status, ""))
    }

    /// Runs a command and captures its output.
    fn run_captured(&self, place: Option<&ProcessLocation>, command: Command) -> io::Result<CommandResult> {
        let (status, said) = output(|command| self.spawn(place, command), command)?;
        Ok(CommandResult::found(foreground::status_number(status), said))
    }
}

/// Runs a command, and returns its status and its output. Background processes that it leaves are not waited for,
/// even if they have its output open: a pipe would end with its last writer, a file need not.
pub fn output(
    spawn: impl FnOnce(Command) -> io::Result<Child>,
    mut command: Command,
) -> io::Result<(ExitStatus, String)> {
    let mut file: File = tempfile::tempfile()?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file.try_clone()?);
    let status = spawn(command)?.wait()?;
    file.rewind()?;
    let mut said = Vec::new();
    file.take(OUTPUT_BYTES_MAX).read_to_end(&mut said)?;
    Ok((status, String::from_utf8_lossy(&said).into_owned()))
}

/// A shell that runs a line. If `route` or `arp` are not installed, `ip` replaces them.
pub fn shell(line: &str) -> Command {
    let first = line.split_whitespace().find(|word| *word != "sudo").unwrap_or_default();
    let is_missing = net_tools::REPLACED.contains(&first) && find_program(first).is_none();
    let replaced = is_missing.then(|| net_tools::with_ip(line)).flatten();
    let shell = if find_program("bash").is_some() { "bash" } else { "sh" };
    let mut command = Command::new(shell);
    command.args(["-c", replaced.as_deref().unwrap_or(line)]);
    // The programs for root are needed whoever the caller is.
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{path}:/usr/sbin:/sbin"));
    command
}

/// A line in which each word that is the name of a host is replaced by its address. Characters that end a command in
/// the shell end a word.
fn with_addresses(line: &str, address: impl Fn(&str) -> Option<String>) -> String {
    let ends = |it: char| it.is_whitespace() || ";&|()".contains(it);
    let mut result = String::new();
    for piece in line.split_inclusive(ends) {
        let word = piece.trim_end_matches(ends);
        result += &address(word).unwrap_or_else(|| word.to_owned());
        result += &piece[word.len()..];
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_hosts_become_addresses() {
        let address = |name: &str| (name == "h2").then(|| "10.0.2.2".to_owned());
        for (line, expected) in [
            ("ping -c 1 h2", "ping -c 1 10.0.2.2"),
            ("h2", "10.0.2.2"),
            ("echo  h2\th22 xh2 'h2' # h2", "echo  10.0.2.2\th22 xh2 'h2' # 10.0.2.2"),
            (
                "ping -c 1 h2;ping h2&& (ping h2) |cat h2.log >h2",
                "ping -c 1 10.0.2.2;ping 10.0.2.2&& (ping 10.0.2.2) |cat h2.log >h2",
            ),
            ("", ""),
        ] {
            assert_eq!(with_addresses(line, address), expected);
        }
    }
}
