//! `wirespeed sim --tap`: programs of the system in the places of simulated hosts.
//!
//! The tests need root, and make network namespaces of their own.

use crate::support;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use support::{ROUTER, wirespeed};
use tempfile::TempDir;
use testkit::netns::{Network, Running};

/// Three hosts at a router that runs a program; the third one is simulated in all tests.
const TOPOLOGY: &str = r#"{
  "hosts": {
    "h1": {"ip": "10.0.1.1/24", "mac": "08:00:00:00:01:11",
           "commands": ["route add default gw 10.0.1.10", "arp -i eth0 -s 10.0.1.10 08:00:00:00:01:00"]},
    "h2": {"ip": "10.0.2.2/24", "mac": "08:00:00:00:02:22",
           "commands": ["route add default gw 10.0.2.20", "arp -i eth0 -s 10.0.2.20 08:00:00:00:02:00"]},
    "h3": {"ip": "10.0.3.3/24", "mac": "08:00:00:00:03:33",
           "commands": ["route add default gw 10.0.3.30", "arp -i eth0 -s 10.0.3.30 08:00:00:00:03:00"]}
  },
  "switches": { "s1": {} },
  "links": [["h1", "s1-p1"], ["h2", "s1-p2"], ["h3", "s1-p3"]]
}"#;

const ENTRIES: &str = "table_add ipv4_lpm forward 10.0.1.1/32 => 08:00:00:00:01:11 1
table_add ipv4_lpm forward 10.0.2.2/32 => 08:00:00:00:02:22 2
table_add ipv4_lpm forward 10.0.3.3/32 => 08:00:00:00:03:33 3
";

/// A path through the router takes 10 ms. The run ends on request.
const SCENARIO: &str = r#"
duration = "55s"
[topology]
file = "hosts.json"
[links]
delay = "5ms"
[switches]
program = "router.p4"
entries = "entries.txt"
backend = "interp"
[[flows]]
kind = "ping"
from = "h3"
to = "h1"
interval = "20ms"
[[flows]]
kind = "udp"
from = "h1"
to = "h3"
rate = "1Mbps"
"#;

/// The time limit of one step: the machine may be busy with other tests.
const TIMEOUT: Duration = Duration::from_secs(40);

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let files = [("hosts.json", TOPOLOGY), ("live.toml", SCENARIO), ("router.p4", ROUTER), ("entries.txt", ENTRIES)];
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// A namespace for the command, and one for another host.
fn network(programs: &[&str]) -> Option<Network> {
    match Network::new(programs) {
        Ok(mut network) => {
            ["here", "there"].iter().for_each(|name| network.add(name));
            Some(network)
        }
        Err(reason) => {
            testkit::skip(reason);
            None
        }
    }
}

/// The simulation with h1 in the namespace of the command and h2 in the other one, and with more options.
fn start(network: &Network, folder: &Path, more: &str) -> Running {
    let line = format!(
        "{} sim {folder}/live.toml --output {folder}/results --realtime 1.0 --tap h1=tap1 --tap h2={}/tap2 {more}",
        env!("CARGO_BIN_EXE_wirespeed"),
        network.full_name("there"),
        folder = folder.display()
    );
    network.start("here", &line)
}

/// Pings until there is an answer; returns what the last `ping` has printed.
fn ping(network: &Network, namespace: &str, to: &str) -> String {
    let began = Instant::now();
    loop {
        match network.try_run(namespace, &format!("ping -c 3 -i 0.05 -W 2 {to}")) {
            Ok(said) => return said,
            Err(error) => assert!(began.elapsed() < TIMEOUT, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The shortest time in `rtt min/avg/max/mdev = 20.1/20.2/...`.
fn shortest_ms(said: &str) -> f64 {
    let times = said.lines().find_map(|line| line.strip_prefix("rtt ")?.split_once("= ")).unwrap().1;
    times.split('/').next().unwrap().parse().unwrap()
}

fn table(folder: &Path, name: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(folder.join("results").join(name)).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn programs_reach_each_other_and_simulated_hosts_through_a_simulated_program() {
    let Some(network) = network(&["ping", "timeout"]) else { return };
    let folder = folder();
    let running = start(&network, folder.path(), "");
    // To a simulated host, to another tap, and back: 20 ms on the links, whatever the machine adds.
    for (namespace, to) in [("here", "10.0.3.3"), ("here", "10.0.2.2"), ("there", "10.0.1.1")] {
        let shortest = shortest_ms(&ping(&network, namespace, to));
        assert!((20.0..2_000.0).contains(&shortest), "{to}: {shortest} ms");
    }
    running.signal("INT");
    let said = running.wait();
    // The results are those of the time until the signal.
    assert!(said.contains("results: ") && !said.starts_with("55s"), "{said}");
    let taps = table(folder.path(), "taps.csv");
    assert_eq!((&*taps[1][0], &*taps[1][1], &*taps[2][0], &*taps[2][1]), ("h1", "tap1", "h2", "tap2"));
    let count = |line: usize, column: usize| taps[line][column].parse::<u64>().unwrap();
    assert!(count(1, 2) >= 9 && count(1, 3) >= 9 && count(2, 2) >= 6 && count(2, 3) >= 6, "{taps:?}");
    assert!((4..8).all(|column| count(1, column) + count(2, column) == 0), "{taps:?}");
    // The real host answers a simulated one; what the simulated h1 would have sent is left out.
    let flows = table(folder.path(), "flows.csv");
    let column = |name: &str| flows[0].iter().position(|it| it == name).unwrap();
    let [received, shortest]: [f64; 2] =
        ["received", "delay_median_ns"].map(|name| flows[1][column(name)].parse().unwrap());
    assert!(received > 3.0 && shortest >= 20e6, "{flows:?}");
    assert_eq!(flows.len(), 2, "{flows:?}");
    // The interfaces end with the run.
    assert!(network.try_run("here", "ip link show tap1").is_err());
    assert!(network.try_run("there", "ip link show tap2").is_err());
}

#[test]
fn a_controller_joins_programs_through_a_simulated_switch() {
    let Some(network) = network(&["ping", "timeout"]) else { return };
    let folder = folder();
    fs::write(folder.path().join("entries.txt"), "").unwrap();
    let running = start(&network, folder.path(), "--p4runtime s1=127.0.0.1:9559");
    let ctl = |command: &str| {
        let line = format!("{} ctl --address 127.0.0.1:9559 --device-id 0 {command}", env!("CARGO_BIN_EXE_wirespeed"));
        network.try_run("here", &line)
    };
    let began = Instant::now();
    while let Err(error) = ctl("add ipv4_lpm 10.0.1.1/32 do forward 08:00:00:00:01:11 1") {
        assert!(began.elapsed() < TIMEOUT, "{error}");
        std::thread::sleep(Duration::from_millis(100));
    }
    // There is a way to h1, but none back.
    assert!(network.try_run("there", "ping -c 2 -i 0.2 -W 1 10.0.1.1").is_err());
    ctl("add ipv4_lpm 10.0.2.2/32 do forward 08:00:00:00:02:22 2").unwrap();
    ping(&network, "there", "10.0.1.1");
    let counted = ctl("--json counters rx").unwrap();
    assert!(counted.contains("packets"), "{counted}");
    running.signal("INT");
    running.wait();
}

#[test]
fn what_cannot_be_a_tap_is_refused() {
    let Some(mut network) = network(&["timeout", "setpriv"]) else { return };
    network.add("down");
    let folder = folder();
    let refused = |before: &[&str], taps: &[&str]| {
        let mut command = match before {
            [] => network.command("here", env!("CARGO_BIN_EXE_wirespeed")),
            [program, more @ ..] => {
                let mut command = network.command("here", program);
                command.args(more).arg(env!("CARGO_BIN_EXE_wirespeed"));
                command
            }
        };
        command.args(["sim", "live.toml", "--realtime", "1"]).current_dir(folder.path());
        for tap in taps {
            command.args(["--tap", tap]);
        }
        let output = command.output().unwrap();
        assert!(!output.status.success());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        said.lines().find(|line| line.starts_with("error")).unwrap_or_default().to_owned() + "\n"
    };
    network.run("here", "ip link add name dummy type veth peer name peer");
    network.run("here", "ip link set dev dummy up");
    network.run("here", "ip link set dev peer up");
    network.run("here", "ip route add 10.0.2.0/24 dev dummy");
    let shown = [
        refused(&[], &["h9=tap0"]),
        refused(&[], &["s1=tap0"]),
        refused(&[], &["h1=tap0", "h1=tap1"]),
        refused(&[], &["h1=tap0", "h2=tap0"]),
        refused(&[], &["h1=dummy"]),
        refused(&[], &["h1=no-such-place/tap0"]),
        refused(&[], &["h1=tap0"]),
        refused(&["setpriv", "--reuid=65534", "--clear-groups", "--inh-caps=-all"], &["h1=tap0"]),
    ];
    expect_test::expect![[r#"
        error: --tap: there is no host `h9`; the hosts are h1, h2, h3
        error: --tap: there is no host `s1`; the hosts are h1, h2, h3
        error: --tap: host h1 has two taps: a host has one link
        error: --tap: two hosts have the interface tap0
        error: --tap h1=dummy: interface `dummy`: it exists and is not a tap interface; choose another name; a switch receives what comes in on it through the port `dummy`
        error: --tap h1=tap0: cannot open the network namespace /run/netns/no-such-place: No such file or directory (os error 2); make it with `ip netns add no-such-place`
        error: --tap h1=tap0: cannot set up the interfaces of tap0: `ip route add 10.0.2.0/24 via 10.0.1.10 dev tap0`: RTNETLINK answers: File exists; Command failed -:7; the system has that already: give the tap a network namespace of its own, as in HOST=NETNS/tap0
        error: --tap h1=tap0: no permission to open interface `tap0`: that takes CAP_NET_ADMIN and CAP_NET_RAW; run as root, or give the command what it takes with `setcap cap_net_admin,cap_net_raw+ep`
    "#]].assert_eq(&shown.concat());
}

#[test]
fn a_tap_needs_real_time() {
    let folder = folder();
    let output =
        wirespeed().args(["sim", "live.toml", "--tap", "h1=tap0"]).current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("--realtime <FACTOR>"), "{said}");
}
