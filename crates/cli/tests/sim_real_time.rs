//! `wirespeed sim --realtime`: controllers and programs outside reach a simulation while it runs.

use crate::support;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::{Duration, Instant};
use support::wirespeed;
use tempfile::TempDir;

/// Forwards by a table; what misses goes to the controller, with a digest of its source.
const PROGRAM: &str = r#"
#include <v1model.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
@controller_header("packet_in") header packet_in_t { bit<7> pad; bit<9> port; }
@controller_header("packet_out") header packet_out_t { bit<7> pad; bit<9> port; }
struct headers_t { packet_in_t packet_in; packet_out_t packet_out; ethernet_t ethernet; }
struct meta_t {}
struct learn_t { bit<48> address; bit<9> port; }
parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start { transition select(s.ingress_port) { 510: out_of_controller; default: plain; } }
    state out_of_controller { p.extract(h.packet_out); transition plain; }
    state plain { p.extract(h.ethernet); transition accept; }
}
control V(inout headers_t h, inout meta_t m) { apply {} }
control I(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    action forward(bit<9> port) { s.egress_spec = port; }
    action punt() {
        digest<learn_t>(1, { h.ethernet.src, s.ingress_port });
        s.egress_spec = 510;
        h.packet_in.setValid();
        h.packet_in.port = s.ingress_port;
    }
    table ports { key = { s.ingress_port: exact; } actions = { forward; punt; } default_action = punt(); }
    apply {
        if (h.packet_out.isValid()) {
            s.egress_spec = h.packet_out.port;
            h.packet_out.setInvalid();
        } else {
            ports.apply();
        }
    }
}
control E(inout headers_t h, inout meta_t m, inout standard_metadata_t s) { apply {} }
control D(packet_out p, in headers_t h) { apply { p.emit(h); } }
V1Switch(P(), V(), I(), E(), V(), D()) main;
"#;

const SCENARIO: &str = r#"
duration = "6s"
[topology]
file = "hosts.json"
[hosts]
resolve = false
[switches]
program = "ports.p4"
backend = "interp"
[[flows]]
kind = "udp"
from = "h1"
to = "h2"
rate = "800kbps"
size = 1000
"#;

const HOSTS: &str = r#"{
  "hosts": { "h1": {"ip": "10.0.0.1/24"}, "h2": {"ip": "10.0.0.2/24"}, "h3": {"ip": "10.0.0.3/24"} },
  "switches": { "s1": {} },
  "links": [["h1", "s1-p1"], ["h2", "s1-p2"], ["h3", "s1-p3"]]
}"#;

/// The time limit of one step: the machine may be busy with other tests.
const TIMEOUT: Duration = Duration::from_secs(60);

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("ports.p4"), PROGRAM).unwrap();
    fs::write(folder.path().join("live.toml"), SCENARIO).unwrap();
    fs::write(folder.path().join("hosts.json"), HOSTS).unwrap();
    folder
}

fn sim(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = wirespeed();
    command.arg("sim").args(arguments).current_dir(folder.path());
    command
}

/// A simulation that runs, with what it has not said yet.
struct Running {
    process: Child,
    stderr: BufReader<ChildStderr>,
    address: String,
}

impl Running {
    fn start(folder: &TempDir, arguments: &[&str]) -> Running {
        let mut command = sim(folder, arguments);
        let mut process = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(process.stderr.take().unwrap());
        let mut line = String::new();
        let address = loop {
            line.clear();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "the simulation has not started");
            if let Some((_, rest)) = line.split_once("switch s1: P4Runtime at ") {
                break rest.trim().trim_end_matches(", device 0").to_owned();
            }
        };
        Running { process, stderr, address }
    }

    fn ctl(&self, arguments: &[&str]) -> Output {
        let mut command = wirespeed();
        command.args(["ctl", "--address", &self.address, "--device-id", "0"]).args(arguments);
        command.stdin(Stdio::null()).output().unwrap()
    }

    /// Ends it, as Ctrl-C does.
    fn interrupt(&self) {
        let process = self.process.id().to_string();
        assert!(Command::new("kill").args(["-INT", &process]).status().unwrap().success());
    }

    /// What it prints until it ends.
    fn finish(mut self) -> (String, String) {
        let (mut said, mut noted) = (String::new(), String::new());
        self.process.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        self.stderr.read_to_string(&mut noted).unwrap();
        assert!(self.process.wait().unwrap().success(), "{said}{noted}");
        (said, noted)
    }
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_controller_writes_entries_and_gets_packets_and_digests() {
    let folder = folder();
    let running =
        Running::start(&folder, &["live.toml", "--realtime", "1.0", "--p4runtime", "s1=127.0.0.1:0", "-o", "results"]);
    let began = Instant::now();
    // All packets go to the controller until it adds entries.
    let mut watch = wirespeed();
    watch.args(["ctl", "--address", &running.address, "--device-id", "0", "--json", "watch"]);
    let mut watch = watch.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut events = BufReader::new(watch.stdout.take().unwrap());
    let (mut packet, mut digest, mut line) = (String::new(), String::new(), String::new());
    while (packet.is_empty() || digest.is_empty()) && began.elapsed() < TIMEOUT {
        line.clear();
        assert!(events.read_line(&mut line).unwrap() > 0, "no more events: {packet} {digest}");
        match line.contains("digest") {
            true => digest = line.clone(),
            false => packet = line.clone(),
        }
    }
    assert!(packet.contains("packet"), "{packet}");
    watch.kill().unwrap();
    watch.wait().unwrap();
    text(&running.ctl(&["add", "ports", "1", "do", "forward", "2"]));
    let shown = text(&running.ctl(&["show", "ports"]));
    assert!(shown.contains("forward port=2"), "{shown}");
    let address = running.address.clone();
    let (said, _) = running.finish();
    assert!(said.contains("behind the clock"), "{said}");
    // The port is closed with the run.
    assert!(std::net::TcpStream::connect(address).is_err());
    let flows = fs::read_to_string(folder.path().join("results/flows.csv")).unwrap();
    let mut lines = flows.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let values = lines.next().unwrap();
    let value = |name: &str| -> u64 { values[header.iter().position(|it| *it == name).unwrap()].parse().unwrap() };
    // 100 packets a second: some before the entry, which the controller got, and some after it. A fast machine
    // writes the entry within 20 ms.
    assert!((598..=600).contains(&value("sent")), "{flows}");
    assert!((1..value("sent")).contains(&value("received")), "{flows}");
    let counted = fs::read_to_string(folder.path().join("results/controllers.csv")).unwrap();
    let packets_in: u64 = counted.lines().nth(1).unwrap().split(',').nth(1).unwrap().parse().unwrap();
    assert!(packets_in + value("received") >= 597, "{counted}{flows}");
}

#[test]
fn a_controller_sets_the_program_of_a_switch_that_has_none() {
    let folder = folder();
    let scenario = fs::read_to_string(folder.path().join("live.toml")).unwrap();
    let scenario = scenario.replace("program = \"ports.p4\"\nbackend = \"interp\"\n", "").replace("[switches]\n", "");
    fs::write(folder.path().join("bare.toml"), scenario).unwrap();
    let running =
        Running::start(&folder, &["bare.toml", "--realtime", "1.0", "--p4runtime", "s1=127.0.0.1:0", "-o", "results"]);
    let early = running.ctl(&["show", "ports"]);
    assert!(!early.status.success(), "{}", String::from_utf8_lossy(&early.stdout));
    let program = folder.path().join("ports.p4");
    text(&running.ctl(&["load", program.to_str().unwrap()]));
    text(&running.ctl(&["add", "ports", "1", "do", "forward", "2"]));
    let (_, noted) = running.finish();
    assert!(noted.contains("switch s1 has no program: it drops packets until a controller sets one"), "{noted}");
    let flows = fs::read_to_string(folder.path().join("results/flows.csv")).unwrap();
    let mut lines = flows.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let column = lines.next().unwrap().iter().position(|it| *it == "received").unwrap();
    let received: u64 = lines.next().unwrap()[column].parse().unwrap();
    assert!((1..600).contains(&received), "{flows}");
}

#[test]
fn controllers_can_be_asked_for_certificates() {
    let folder = folder();
    let file = |name: &str| format!("{}/../p4runtime/tests/tls/{name}", env!("CARGO_MANIFEST_DIR"));
    let [ca, own, key, server, server_key] =
        ["ca.pem", "client.pem", "client.key", "server.pem", "server.key"].map(file);
    let served = ["live.toml", "--realtime", "1.0", "--p4runtime", "s1=127.0.0.1:0", "-o", "results"];
    let wanted = ["--p4runtime-cert", &server, "--p4runtime-key", &server_key, "--p4runtime-ca", &ca];
    let running = Running::start(&folder, &[&served[..], &wanted].concat());
    let shown = ["--ca", &ca, "--cert", &own, "--key", &key];
    text(&running.ctl(&[&shown[..], &["add", "ports", "1", "do", "forward", "2"]].concat()));
    for options in [&[][..], &shown[..2]] {
        let refused = running.ctl(&[options, &["show", "ports"]].concat());
        assert!(!refused.status.success(), "{options:?}");
    }
    running.interrupt();
    let (said, noted) = running.finish();
    assert!(noted.contains("ended after") && !said.starts_with("6s"), "{said}{noted}");
}

#[test]
fn the_clock_is_as_fast_as_asked() {
    let folder = folder();
    let took = |factor: &str| {
        let began = Instant::now();
        let arguments = ["live.toml", "--realtime", factor, "--set", "duration=400ms", "-o", "results"];
        let output = sim(&folder, &arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        began.elapsed()
    };
    // Not faster than the clock; a busy machine may be slower.
    assert!(took("0.5") >= Duration::from_millis(800) && took("1.0") >= Duration::from_millis(400));
}

#[test]
fn what_cannot_be_served_is_refused() {
    let folder = folder();
    let refused = |arguments: &[&str]| {
        let output = sim(&folder, &[&["live.toml"], arguments].concat()).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned() + "\n"
    };
    let at = |switch: &'static str| ["--realtime", "1", "--p4runtime", switch];
    let said = [
        refused(&at("s9=0")),
        refused(&[&at("s9=0")[..], &["--dry-run"]].concat()),
        refused(&["--realtime", "1", "--tap", "h9=tap0", "--dry-run"]),
        refused(&[&at("s1=0")[..], &["--p4runtime", "s1=1"]].concat()),
        refused(&[&at("s1=0")[..], &["--set", "switches.restarts=[[\"1s\", \"2s\"]]"]].concat()),
        refused(&["--realtime", "0"]),
        refused(&at("s1")),
        refused(&["--realtime", "1", "--seeds", "3"]),
        refused(&["--until", "1s", "--seeds", "3"]),
        refused(&["--realtime", "1", "--check", "no-loop"]),
        refused(&[&at("s1=0")[..], &["--p4runtime-cert", "live.toml", "--p4runtime-key", "live.toml"]].concat()),
        refused(&["--p4runtime-cert", "live.toml", "--p4runtime-key", "live.toml"]),
    ];
    expect_test::expect![[r#"
        error: --p4runtime: there is no switch `s9`; the switches are s1
        error: --p4runtime: there is no switch `s9`; the switches are s1
        error: --tap: there is no host `h9`; the hosts are h1, h2, h3
        error: --p4runtime: switch s1 is named twice
        error: --p4runtime: switch s1 restarts, which its controllers would not notice
        error: invalid value '0' for '--realtime <FACTOR>': it is a number above 0, such as 1.0, or 0.1 for ten times slower
        error: invalid value 's1' for '--p4runtime <SWITCH=[ADDRESS:]PORT>': it is SWITCH=[ADDRESS:]PORT, as in s1=50051
        error: `--realtime` is for a single run, and this is a sweep
        error: `--until` is for a single run or --check, and this is a sweep
        error: the argument '--realtime <FACTOR>' cannot be used with '--check <PROPERTY>'
        error: live.toml has no certificate in PEM: it has no line `-----BEGIN ...CERTIFICATE-----`
        error: the following required arguments were not provided:
    "#]].assert_eq(&said.concat());
}
