//! The applications with their controllers, between real hosts.

use crate::network::{app, stop, three_hosts, wait_for_ping};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};
use testkit::netns::{Network, Running};

/// Starts a program of an application on the three interfaces, with its controller within.
pub(crate) fn start(network: &Network, switch: &str, program: &str, controller: &str) -> Running {
    network.run(switch, "ip link set lo up");
    let program = app(program);
    let mut command = network.command(switch, env!("CARGO_BIN_EXE_wirespeed"));
    command.arg("run").arg(program).args(["--port", "1=r1", "--port", "2=r2", "--port", "3=r3", "--json"]);
    command.args(["--p4runtime", "--with", controller]);
    Running::start(command)
}

/// The output of `wirespeed ctl` for the switch.
pub(crate) fn ctl(network: &Network, switch: &str, command: &str) -> String {
    network.run(switch, &format!("{} ctl {command}", env!("CARGO_BIN_EXE_wirespeed")))
}

/// Waits until the output of `ctl` contains a text.
pub(crate) fn wait_for(network: &Network, switch: &str, command: &str, what: impl Fn(&str) -> bool) -> String {
    let started = Instant::now();
    loop {
        let said = ctl(network, switch, command);
        if what(&said) {
            return said;
        }
        assert!(started.elapsed() < Duration::from_secs(45), "{command}: {said}");
        thread::sleep(Duration::from_millis(100));
    }
}

/// The output of `ping`, whether there was an answer or not.
pub(crate) fn ping(network: &Network, host: &str, arguments: &str) -> String {
    let mut command = network.command(host, "ping");
    let output = command.args(arguments.split_whitespace()).stderr(Stdio::null()).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn expect_in(said: &str, wanted: &[&str]) {
    for wanted in wanted {
        assert!(said.contains(wanted), "no `{wanted}`:\n{said}");
    }
}

/// The packets in a cell of a counter.
pub(crate) fn counted(network: &Network, switch: &str, cell: &str) -> u64 {
    let said = ctl(network, switch, &format!("--json counters {cell}"));
    let cell: serde_json::Value = serde_json::from_str(&said).unwrap();
    cell["value"]["packets"].as_u64().unwrap_or_else(|| panic!("{said}"))
}

#[test]
fn the_ethernet_switch_learns_follows_and_forgets() {
    let Some(network) = three_hosts(&["ping"]) else { return };
    for number in 1..=3 {
        network.run(&format!("h{number}"), &format!("ip address add 10.0.0.{number}/24 dev eth0"));
    }
    let switch = start(&network, "switch", "l2fwd/l2fwd.p4", "l2fwd --switch here --ports 1,2,3 --age 2 --verbose");
    wait_for_ping(&network, "h1", "10.0.0.2");
    let known = |port: u16, mac: &'static str| {
        move |said: &str| said.lines().any(|line| line.starts_with(mac) && line.contains(&format!("port={port}")))
    };
    wait_for(&network, "switch", "show destination", known(1, "02:00:00:00:01:02"));
    wait_for(&network, "switch", "show destination", known(2, "02:00:00:00:02:02"));
    // The address of h1 moves to port 3.
    network.run("h1", "ip link set eth0 down");
    network.run("h3", "ip link set eth0 address 02:00:00:00:01:02");
    wait_for_ping(&network, "h3", "10.0.0.2");
    wait_for(&network, "switch", "show destination", known(3, "02:00:00:00:01:02"));
    // Hosts only answer, so no host is known some time later.
    for host in ["h2", "h3"] {
        network.run(host, "ip link set eth0 down");
    }
    wait_for(&network, "switch", "show destination", |said| !said.contains("02:00:00"));
    wait_for(&network, "switch", "show source_known", |said| !said.contains("02:00:00"));
    stop(switch);
}

/// Two switches joined at their port 3: behind each a host at port 1 and one at port 2.
fn two_switches() -> Option<Network> {
    let mut network = match Network::new(&["ping"]) {
        Ok(network) => network,
        Err(reason) => {
            testkit::skip(reason);
            return None;
        }
    };
    for (switch, hosts) in [("s1", ["h1", "h2"]), ("s2", ["h3", "h4"])] {
        network.add(switch);
        for (index, host) in hosts.into_iter().enumerate() {
            network.add(host);
            network.wire([host, "eth0"], [switch, &format!("r{}", index + 1)]);
        }
    }
    network.wire(["s1", "r3"], ["s2", "r3"]);
    Some(network)
}

#[test]
fn vlans_are_networks_of_their_own() {
    let Some(network) = two_switches() else { return };
    for (host, address) in [("h1", "10.0.0.1"), ("h2", "10.0.0.2"), ("h3", "10.0.0.3"), ("h4", "10.0.0.4")] {
        network.run(host, &format!("ip address add {address}/24 dev eth0"));
    }
    // h1 and h3 are in VLAN 10, h2 and h4 in VLAN 20; between the switches frames have tags.
    let controller = "l2fwd --switch here --vlan 10=1,3t --vlan 20=2,3t";
    let switches = ["s1", "s2"].map(|name| start(&network, name, "l2fwd/l2fwd.p4", controller));
    wait_for_ping(&network, "h1", "10.0.0.3");
    wait_for_ping(&network, "h4", "10.0.0.2");
    for (host, other) in [("h1", "10.0.0.2"), ("h1", "10.0.0.4"), ("h3", "10.0.0.2"), ("h3", "10.0.0.4")] {
        assert!(network.try_run(host, &format!("ping -c 1 -W 1 {other}")).is_err(), "{host} reaches {other}");
    }
    wait_for(&network, "s1", "show destination", |said| {
        let of_vlan = |vlan: &str| said.lines().filter(|line| line.split_whitespace().nth(1) == Some(vlan)).count();
        of_vlan("10") == 2 && of_vlan("20") == 2
    });
    for switch in switches {
        stop(switch);
    }
}
