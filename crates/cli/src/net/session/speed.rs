//! `iperf`: the TCP throughput from one host to another.

use super::{CommandResult, Session};
use net::network::{address_of, find_program};
use std::io;
use std::net::IpAddr;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The duration of a measurement.
const SECONDS: u32 = 5;

/// How long the server may take until it listens.
const LISTEN_MAX: Duration = Duration::from_secs(5);

/// Measures from the first host to the second.
pub fn iperf(session: &Session, words: &[&str], _: &str) -> io::Result<CommandResult> {
    if find_program("iperf3").is_none() {
        return Ok(CommandResult::failure("the program `iperf3` is not installed: install the package of that name"));
    }
    let topology = &session.running.topology;
    let [from, to] = words else { return Ok(CommandResult::failure("write: iperf HOST HOST")) };
    let (Some(client), Some(server)) = (topology.find(from), topology.find(to)) else {
        return Ok(CommandResult::failure(format!("iperf: `{from}` and `{to}` are not both hosts")));
    };
    let Some(address) = address_of(topology, to) else {
        return Ok(CommandResult::failure(format!("iperf: {to} has no address")));
    };
    let mut listen = Command::new("iperf3");
    listen.args(["-s", "-1"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut listening = session.running.sandbox.spawn(&session.running.network.place(server), listen)?;
    let deadline = Instant::now() + LISTEN_MAX;
    let output = loop {
        thread::sleep(Duration::from_millis(200));
        let output = measure(session, client, address)?;
        if output.status.success() || Instant::now() >= deadline {
            break output;
        }
    };
    // A server that has served a client ends by itself.
    let _ = listening.kill();
    listening.wait()?;
    Ok(report(from, to, &output))
}

fn measure(session: &Session, client: net::topology::NodeId, server: IpAddr) -> io::Result<Output> {
    let mut command = Command::new("iperf3");
    let seconds = SECONDS.to_string();
    command.args(["-c", &server.to_string(), "-t", &seconds, "-J", "--connect-timeout", "2000"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    session.running.sandbox.spawn(&session.running.network.place(client), command)?.wait_with_output()
}

fn report(from: &str, to: &str, output: &Output) -> CommandResult {
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    match json["end"]["sum_received"]["bits_per_second"].as_f64() {
        Some(rate) => CommandResult::success(format!("{from} -> {to}: {:.2} Mbit/s", rate / 1e6)),
        None => {
            let why = json["error"].as_str().unwrap_or("iperf3 reported nothing");
            CommandResult::failure(format!("{from} -> {to}: {why}"))
        }
    }
}
