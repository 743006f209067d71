//! `wirespeed run` between real hosts: network namespaces joined by veth pairs, their offloads left on.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};
use testkit::netns::{Network, Running};

/// A namespace `switch` with interfaces `r1` to `r3`, each connected to a host `h1` to `h3`; `None` if the machine
/// lacks what they need.
pub(crate) fn three_hosts(programs: &[&str]) -> Option<Network> {
    let mut network = match Network::new(programs) {
        Ok(network) => network,
        Err(reason) => {
            testkit::skip(reason);
            return None;
        }
    };
    network.add("switch");
    for number in 1..=3 {
        let host = format!("h{number}");
        network.add(&host);
        network.wire([&host, "eth0"], ["switch", &format!("r{number}")]);
        network.run(&host, &format!("ip link set eth0 address 02:00:00:00:0{number}:02"));
    }
    Some(network)
}

pub(crate) fn app(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps").join(file)
}

/// Starts `wirespeed run` on the three interfaces and waits until packets flow.
fn start(network: &Network, program: &str, entries: &str) -> Running {
    let (program, entries) = (app(program), app(entries));
    let line = format!(
        "{} run {} --entries {} --port 1=r1 --port 2=r2 --port 3=r3 --json",
        env!("CARGO_BIN_EXE_wirespeed"),
        program.display(),
        entries.display()
    );
    network.start("switch", &line)
}

/// Three hosts behind the example router.
fn routed(programs: &[&str]) -> Option<(Network, Running)> {
    let network = three_hosts(programs)?;
    for number in 1..=3 {
        let host = format!("h{number}");
        network.run(&host, &format!("ip address add 10.0.{number}.2/24 dev eth0"));
        network.run(&host, &format!("ip route add default via 10.0.{number}.1"));
    }
    let router = start(&network, "l3fwd/l3fwd.p4", "l3fwd/entries.txt");
    wait_for_ping(&network, "h1", "10.0.2.2");
    Some((network, router))
}

/// The compiler may take a while on a loaded machine.
pub(crate) fn wait_for_ping(network: &Network, host: &str, address: &str) {
    let started = Instant::now();
    while let Err(complaint) = network.try_run(host, &format!("ping -c 1 -W 1 {address}")) {
        assert!(started.elapsed() < Duration::from_secs(45), "no answer from {address}: {complaint}");
        thread::sleep(Duration::from_millis(200));
    }
}

/// Stops the switch as Ctrl-C does and returns its summary.
pub(crate) fn stop(switch: Running) -> serde_json::Value {
    switch.signal("INT");
    let output = switch.wait();
    let last = output.lines().last().unwrap_or_else(|| panic!("no summary"));
    serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {last}"))
}

#[test]
fn hosts_ping_each_other_through_the_router() {
    let Some((network, router)) = routed(&["ping"]) else { return };
    for (host, address) in [("h1", "10.0.2.2"), ("h2", "10.0.3.2"), ("h3", "10.0.1.2"), ("h3", "10.0.2.2")] {
        let output = network.run(host, &format!("ping -c 3 -i 0.2 -W 2 {address}"));
        assert!(output.contains("3 received") && output.contains("ttl=63"), "{host} to {address}:\n{output}");
    }
    // A packet whose TTL expires at the router does not reach the other side.
    assert!(network.try_run("h1", "ping -c 1 -W 1 -t 1 10.0.2.2").is_err());
    let summary = stop(router);
    assert_eq!(summary["ended"], "stopped");
    assert_eq!(summary["received"].as_u64(), sum_of(&summary, "rx_packets"));
    assert_eq!(summary["sent"].as_u64(), sum_of(&summary, "tx_packets"));
}

fn sum_of(summary: &serde_json::Value, counter: &str) -> Option<u64> {
    summary["ports"].as_array()?.iter().map(|port| port["counters"][counter].as_u64()).sum()
}

/// Sends 8 MB of random bytes and prints their digest.
const SENDER: &str = "
import hashlib, os, socket
data = os.urandom(8 << 20)
connection = socket.create_connection(('10.0.2.2', 5001), 20)
connection.sendall(data)
connection.shutdown(socket.SHUT_WR)
connection.recv(1)
print(hashlib.sha256(data).hexdigest())
";

/// Prints the digest of the data that it receives.
const RECEIVER: &str = "
import hashlib, socket
listener = socket.create_server(('10.0.2.2', 5001))
connection, _ = listener.accept()
digest = hashlib.sha256()
while chunk := connection.recv(65536):
    digest.update(chunk)
connection.sendall(b'!')
print(digest.hexdigest())
";

#[test]
fn tcp_arrives_uncorrupted_with_right_checksums() {
    let Some((network, router)) = routed(&["ping", "python3", "tshark"]) else { return };
    let line = "tshark -q -i eth0 -c 400 -a duration:20 -w - tcp";
    let mut capture = network.command("h2", "sh");
    let file = tempfile::NamedTempFile::new().unwrap();
    capture.args(["-c", &format!("{line} > {}", file.path().display())]);
    let mut capturing = capture.stderr(std::process::Stdio::null()).spawn().unwrap();
    thread::sleep(Duration::from_secs(1));
    let receiver = network.start_python("h2", RECEIVER);
    thread::sleep(Duration::from_millis(500));
    let sent = network.python("h1", SENDER);
    assert_eq!(sent, receiver.wait());
    capturing.wait().unwrap();
    let fields = "-T fields -e ip.ttl -e ip.checksum.status -e tcp.checksum.status";
    let checks = "-o ip.check_checksum:TRUE -o tcp.check_checksum:TRUE";
    let filter = "ip.src==10.0.1.2";
    let shown = network.run("h2", &format!("tshark -r {} {checks} -Y {filter} {fields}", file.path().display()));
    assert!(shown.lines().count() > 50, "{shown}");
    // TTL one lower, both checksums good (1).
    let wrong: Vec<&str> = shown.lines().filter(|line| *line != "63\t1\t1").collect();
    assert!(wrong.is_empty(), "{} wrong of {}: {:?}", wrong.len(), shown.lines().count(), wrong.first());
    stop(router);
}

#[test]
fn iperf3_runs_over_tcp_and_floods_over_udp() {
    let Some((network, router)) = routed(&["ping", "iperf3"]) else { return };
    for (client, options) in [("h1", "-t 2 -J"), ("h1", "-u -b 200M -l 1400 -t 2 -J")] {
        let server = network.start("h3", "iperf3 -s -1");
        thread::sleep(Duration::from_millis(500));
        let output = network.run(client, &format!("iperf3 -c 10.0.3.2 {options}"));
        let report: serde_json::Value = serde_json::from_str(&output).unwrap();
        let bits = report["end"]["sum_received"]["bits_per_second"].as_f64();
        let bits = bits.or_else(|| report["end"]["sum"]["bits_per_second"].as_f64()).unwrap_or(0.0);
        assert!(bits > 1e6, "{options}: {output}");
        server.wait();
    }
    let summary = stop(router);
    assert_eq!(summary["drops"].get("no_buffer"), None);
}

#[test]
fn the_ethernet_switch_floods_and_forwards() {
    let Some(network) = three_hosts(&["ping"]) else { return };
    for number in 1..=3 {
        network.run(&format!("h{number}"), &format!("ip address add 10.0.0.{number}/24 dev eth0"));
    }
    let switch = start(&network, "l2fwd/l2fwd.p4", "l2fwd/entries.txt");
    wait_for_ping(&network, "h1", "10.0.0.2");
    for (host, address) in [("h1", "10.0.0.3"), ("h2", "10.0.0.1"), ("h3", "10.0.0.2")] {
        let output = network.run(host, &format!("ping -c 2 -i 0.2 -W 2 {address}"));
        assert!(output.contains("2 received"), "{host} to {address}:\n{output}");
    }
    stop(switch);
}

/// Sends 300 datagrams of each of eight flows, paced, and prints when it begins.
const FLOWS_SENDER: &str = "
import socket, time
flows = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(8)]
for number in range(300):
    for flow in flows:
        flow.sendto(number.to_bytes(4, 'big'), ('10.0.2.2', 5002))
    time.sleep(0.02)
";

/// Prints how many datagrams of how many flows arrived, and in how many flows they were reordered.
const FLOWS_RECEIVER: &str = "
import socket
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(('10.0.2.2', 5002))
receiver.settimeout(30)
seen = {}
for _ in range(8 * 300):
    data, sender = receiver.recvfrom(64)
    seen.setdefault(sender[1], []).append(int.from_bytes(data, 'big'))
wrong = sum(numbers != list(range(300)) for numbers in seen.values())
print(sum(map(len, seen.values())), len(seen), wrong)
";

#[test]
fn nothing_is_lost_while_workers_come_and_go() {
    let Some(network) = three_hosts(&["ping", "python3"]) else { return };
    network.run("switch", "ip link set lo up");
    for number in 1..=3 {
        let host = format!("h{number}");
        network.run(&host, &format!("ip address add 10.0.{number}.2/24 dev eth0"));
        network.run(&host, &format!("ip route add default via 10.0.{number}.1"));
    }
    let ports = "--port 1=r1 --port 2=xdp:r2 --port 3=r3 --workers 3 --p4runtime 127.0.0.1:9559 --json";
    let (program, entries) = (app("l3fwd/l3fwd.p4"), app("l3fwd/entries.txt"));
    let wirespeed = env!("CARGO_BIN_EXE_wirespeed");
    let line = format!("{wirespeed} run {} --entries {} {ports}", program.display(), entries.display());
    let router = network.start("switch", &line);
    wait_for_ping(&network, "h1", "10.0.2.2");
    let receiver = network.start_python("h2", FLOWS_RECEIVER);
    thread::sleep(Duration::from_millis(500));
    let sender = network.start_python("h1", FLOWS_SENDER);
    for wanted in ["1", "2", "4", "1", "auto", "3", "2", "auto", "4", "1"] {
        thread::sleep(Duration::from_millis(300));
        let output =
            network.run("switch", &format!("{wirespeed} ctl --address 127.0.0.1:9559 --json workers {wanted}"));
        let output: serde_json::Value = serde_json::from_str(&output).unwrap();
        assert_eq!(output["auto"], wanted == "auto", "{output}");
        assert!(wanted == "auto" || output["workers"].as_u64() == wanted.parse().ok(), "{output}");
    }
    sender.wait();
    assert_eq!(receiver.wait().trim(), "2400 8 0");
    stop(router);
}
