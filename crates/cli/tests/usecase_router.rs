//! The router with its controller, between real hosts that know no static neighbours.

use crate::network::{app, stop, three_hosts, wait_for_ping};
use crate::usecases::{counted, expect_in, ping, start, wait_for};
use std::thread;
use std::time::{Duration, Instant};
use testkit::netns::{self, Network, Running};

/// Where the file of the router is.
fn config() -> String {
    app("l3fwd/router.toml").canonicalize().unwrap().display().to_string()
}

/// Three hosts, with addresses of both versions and the router as their default.
fn hosts(programs: &[&str]) -> Option<Network> {
    let network = three_hosts(programs)?;
    for number in 1..=3 {
        let host = format!("h{number}");
        network.run(&host, &format!("ip address add 10.0.{number}.2/24 dev eth0"));
        network.run(&host, &format!("ip route add default via 10.0.{number}.1"));
        if netns::has_ipv6() {
            network.set_ipv6(&host, "eth0", true);
            network.run(&host, &format!("ip address add 2001:db8:{number}::2/64 dev eth0 nodad"));
            network.run(&host, &format!("ip -6 route add default via 2001:db8:{number}::1 dev eth0"));
        }
    }
    Some(network)
}

fn routed(programs: &[&str]) -> Option<(Network, Running)> {
    let network = hosts(programs)?;
    let controller = format!("l3fwd --switch here --config {} --verbose", config());
    let switch = start(&network, "switch", "l3fwd/router.p4", &controller);
    wait_for_ping(&network, "h1", "10.0.2.2");
    Some((network, switch))
}

#[test]
fn hosts_of_both_versions_reach_each_other_and_the_router() {
    let Some((network, switch)) = routed(&["ping"]) else { return };
    for (host, address) in [("h1", "10.0.2.2"), ("h2", "10.0.3.2"), ("h3", "10.0.1.2"), ("h1", "10.0.3.2")] {
        expect_in(&ping(&network, host, &format!("-c 3 -i 0.2 -W 5 {address}")), &["3 received", "ttl=63"]);
    }
    for address in ["10.0.1.1", "10.0.3.1"] {
        expect_in(&ping(&network, "h1", &format!("-c 2 -i 0.2 -W 5 {address}")), &["2 received", "ttl=64"]);
    }
    if netns::has_ipv6() {
        for (host, address) in [("h1", "2001:db8:2::2"), ("h2", "2001:db8:3::2"), ("h3", "2001:db8:1::2")] {
            expect_in(&ping(&network, host, &format!("-c 3 -i 0.2 -W 5 {address}")), &["3 received", "ttl=63"]);
        }
        for address in ["2001:db8:1::1", "2001:db8:3::1", "fe80::ff:fe00:101%eth0"] {
            expect_in(&ping(&network, "h1", &format!("-c 2 -i 0.2 -W 5 {address}")), &["2 received", "ttl=64"]);
        }
    }
    stop(switch);
}

#[test]
fn senders_get_errors() {
    let Some((network, switch)) = routed(&["ping"]) else { return };
    let from = "From 10.0.1.1";
    expect_in(&ping(&network, "h1", "-c 1 -W 5 -t 1 10.0.2.2"), &[from, "Time to live exceeded"]);
    expect_in(&ping(&network, "h1", "-c 1 -W 5 203.0.113.9"), &[from, "Destination Net Unreachable"]);
    expect_in(&ping(&network, "h1", "-c 1 -W 5 10.0.2.77"), &[from, "Destination Host Unreachable"]);
    if netns::has_ipv6() {
        let from = "From 2001:db8:1::1";
        expect_in(&ping(&network, "h1", "-c 1 -W 5 -t 1 2001:db8:2::2"), &[from, "Time exceeded: Hop limit"]);
        expect_in(&ping(&network, "h1", "-c 1 -W 5 2001:db8:ff::9"), &[from, "No route"]);
        expect_in(&ping(&network, "h1", "-c 1 -W 5 2001:db8:2::77"), &[from, "Address unreachable"]);
    }
    // 1: expired, 2: without a route.
    for reason in [1, 2] {
        assert!(counted(&network, "switch", &format!("reasons {reason}")) >= 1, "reason {reason}");
    }
    stop(switch);
}

/// Answers each datagram with the name of the host.
const ANSWER: &str = "
import socket
listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
listener.bind(('172.16.0.1', 5003))
while True:
    data, sender = listener.recvfrom(64)
    listener.sendto(b'NAME', sender)
";

/// Sends a datagram by each of 48 flows and prints how many each host has answered.
const FLOWS: &str = "
import collections, socket
answers = collections.Counter()
for number in range(48):
    flow = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    flow.settimeout(1)
    flow.connect(('172.16.0.1', 5003))
    try:
        flow.send(b'?')
        answers[flow.recv(64).decode()] += 1
    except OSError:
        answers['none'] += 1
        if answers['none'] > 3: break
print(answers['h2'], answers['h3'], answers['none'])
";

/// Waits until the flows are answered as expected: by h2, by h3, by no host.
fn wait_for_flows(network: &Network, what: impl Fn([u32; 3]) -> bool) {
    let started = Instant::now();
    loop {
        let said = network.python("h1", FLOWS);
        let counts: Vec<u32> = said.split_whitespace().map(|word| word.parse().unwrap()).collect();
        if what(counts.try_into().unwrap()) {
            return;
        }
        assert!(started.elapsed() < Duration::from_secs(30), "{said}");
        thread::sleep(Duration::from_millis(300));
    }
}

#[test]
fn gateways_share_flows_and_one_that_dies_is_left() {
    let Some((network, switch)) = routed(&["ping", "python3"]) else { return };
    let mut servers = Vec::new();
    for host in ["h2", "h3"] {
        network.run(host, "ip address add 172.16.0.1/32 dev lo");
        servers.push(network.start_python(host, &ANSWER.replace("NAME", host)));
    }
    let is_shared = |[h2, h3, none]: [u32; 3]| h2 >= 8 && h3 >= 8 && none == 0;
    wait_for_flows(&network, is_shared);
    network.run("h3", "ip link set eth0 down");
    wait_for_flows(&network, |counts| counts == [48, 0, 0]);
    network.run("h3", "ip link set eth0 up");
    network.run("h3", "ip route replace default via 10.0.3.1");
    wait_for_flows(&network, is_shared);
    stop(switch);
}

/// Sends datagrams to nowhere for two seconds.
const FLOOD: &str = "
import socket, time
flood = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
end = time.monotonic() + 2
while time.monotonic() < end:
    for _ in range(50):
        try: flood.sendto(b'flood', ('203.0.113.9', 9))
        except OSError: pass
    time.sleep(0.005)
";

#[test]
fn a_flood_does_not_keep_the_controller_from_others() {
    let Some((network, switch)) = routed(&["ping", "python3"]) else { return };
    let flood = network.start_python("h1", FLOOD);
    thread::sleep(Duration::from_millis(500));
    // A neighbour that is not known yet, and the router itself.
    expect_in(&ping(&network, "h2", "-c 1 -W 5 10.0.3.2"), &["1 received"]);
    expect_in(&ping(&network, "h2", "-c 1 -W 5 10.0.2.1"), &["1 received"]);
    flood.wait();
    assert!(counted(&network, "switch", "kept 2") > 100);
    stop(switch);
}

#[test]
fn a_controller_that_is_started_again_goes_on() {
    let Some(network) = hosts(&["ping"]) else { return };
    network.run("switch", "ip link set lo up");
    let mut command = network.command("switch", env!("CARGO_BIN_EXE_wirespeed"));
    command
        .arg("run")
        .arg(app("l3fwd/router.p4"))
        .args(["--port", "1=r1", "--port", "2=r2", "--port", "3=r3", "--json"]);
    let switch = {
        command.arg("--p4runtime");
        Running::start(command)
    };
    let line = format!("{} l3fwd --config {}", env!("CARGO_BIN_EXE_wirespeed"), config());
    let controller = network.start("switch", &line);
    wait_for_ping(&network, "h1", "10.0.2.2");
    drop(controller);
    // The switch continues with what it knows.
    expect_in(&ping(&network, "h1", "-c 2 -i 0.2 -W 5 10.0.2.2"), &["2 received"]);
    assert!(network.try_run("h1", "ping -c 1 -W 1 10.0.1.1").is_err());
    let controller = network.start("switch", &line);
    wait_for_ping(&network, "h1", "10.0.1.1");
    expect_in(&ping(&network, "h1", "-c 2 -i 0.2 -W 5 10.0.2.2"), &["2 received"]);
    wait_for_ping(&network, "h3", "10.0.1.2");
    wait_for(&network, "switch", "show neighbours4", |said| said.contains("10.0.3.2"));
    drop(controller);
    stop(switch);
}

#[test]
fn a_neighbour_without_traffic_is_forgotten() {
    let Some(network) = hosts(&["ping"]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("router.toml");
    let text = std::fs::read_to_string(config()).unwrap();
    std::fs::write(&file, format!("{text}\n[neighbours]\nage = 2\n")).unwrap();
    let controller = format!("l3fwd --switch here --config {}", file.display());
    let switch = start(&network, "switch", "l3fwd/router.p4", &controller);
    wait_for_ping(&network, "h1", "10.0.2.2");
    let is_known = |said: &str| said.contains("10.0.1.2 ");
    wait_for(&network, "switch", "show neighbours4", is_known);
    network.run("h1", "ip link set eth0 down");
    // Gateways stay as long as they answer.
    wait_for(&network, "switch", "show neighbours4", |said| !is_known(said) && said.contains("10.0.2.2 "));
    stop(switch);
}
