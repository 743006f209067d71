//! `wirespeed net`: topologies built, commands run in them, and nothing left afterwards. Needs root.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use testkit::netns::Network;

/// The time limit of a network, in seconds: the machine may be busy with other tests.
const NETWORK_SECONDS_MAX: u32 = 240;

/// The folder of an exercise.
struct Exercise(TempDir);

impl Exercise {
    /// An exercise with a program of the course; `None` if the machine lacks what networks need.
    fn new(program: &str, needed: &[&str]) -> Option<Exercise> {
        if let Err(reason) = Network::new(needed) {
            testkit::skip(reason);
            return None;
        }
        let exercise = Exercise(TempDir::new().unwrap());
        let course = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/course");
        std::fs::copy(course.join(program), exercise.path(program)).unwrap();
        Some(exercise)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The command in the folder, under a time limit.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("timeout");
        command.args(["-k", "10", &NETWORK_SECONDS_MAX.to_string(), env!("CARGO_BIN_EXE_wirespeed"), "net"]);
        // Networks of tests that run at the same time would use the same ports.
        command.args(["--p4runtime", "off"]);
        command.args(arguments).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        Ended::of(self.command(arguments).output().unwrap())
    }

    /// Runs with commands on standard input.
    fn run_script(&self, arguments: &[&str], script: &str) -> Ended {
        let mut command = self.command(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        Ended::of(child.wait_with_output().unwrap())
    }
}

/// The output and the exit status of a command.
#[derive(Debug)]
struct Ended {
    status: Option<i32>,
    out: String,
    err: String,
}

impl Ended {
    fn of(output: Output) -> Ended {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ended { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    #[track_caller]
    fn expect(self, status: i32) -> Ended {
        assert_eq!(self.status, Some(status), "{}\n{}", self.out, self.err);
        self
    }

    #[track_caller]
    fn says(self, part: &str) -> Ended {
        assert!(self.out.contains(part) || self.err.contains(part), "no `{part}` in\n{}\n{}", self.out, self.err);
        self
    }
}

/// Three switches in a triangle, each with a host that leaves a process running, in the folder's `triangle`; `wires`
/// are the properties of the three links between the switches, as `, "5ms"`.
fn triangle(exercise: &Exercise, wires: [&str; 3]) {
    let mut topology = "{ \"hosts\": {\n".to_owned();
    for n in 1..=3 {
        let comma = if n < 3 { "," } else { "" };
        writeln!(
            topology,
            "\"h{n}\": {{\"ip\": \"10.0.{n}.{n}/24\", \"mac\": \"08:00:00:00:0{n}:{n}{n}\",
             \"commands\": [\"sleep 3600 &\", \"route add default gw 10.0.{n}.{n}0 dev eth0\",
                            \"arp -i eth0 -s 10.0.{n}.{n}0 08:00:00:00:0{n}:00\"]}}{comma}"
        )
        .unwrap();
    }
    topology += "}, \"switches\": {";
    for n in 1..=3 {
        let comma = if n < 3 { "," } else { "" };
        write!(topology, "\"s{n}\": {{\"runtime_json\": \"triangle/s{n}-runtime.json\"}}{comma}").unwrap();
        exercise.write(&format!("triangle/s{n}-runtime.json"), &runtime(n));
    }
    let [first, second, third] = wires;
    write!(
        topology,
        "}}, \"links\": [[\"h1\", \"s1-p1\"], [\"h2\", \"s2-p1\"], [\"h3\", \"s3-p1\"],
         [\"s1-p2\", \"s2-p2\"{first}], [\"s1-p3\", \"s3-p2\"{second}], [\"s2-p3\", \"s3-p3\"{third}]] }}"
    )
    .unwrap();
    exercise.write("triangle/topology.json", &topology);
}

/// The routes of a switch of the triangle: port 1 to its own host, ports 2 and 3 to the others in their order.
fn runtime(switch: u32) -> String {
    let others: Vec<u32> = (1..=3).filter(|n| *n != switch).collect();
    let entry = |n: u32, port: u32| {
        format!(
            "{{\"table\": \"MyIngress.ipv4_lpm\", \"match\": {{\"hdr.ipv4.dstAddr\": [\"10.0.{n}.{n}\", 32]}},
             \"action_name\": \"MyIngress.ipv4_forward\",
             \"action_params\": {{\"dstAddr\": \"08:00:00:00:0{n}:{n}{n}\", \"port\": {port}}}}}"
        )
    };
    format!(
        "{{\"target\": \"bmv2\", \"p4info\": \"build/basic.p4.p4info.txtpb\", \"bmv2_json\": \"build/basic.json\",
         \"table_entries\": [{}, {}, {}]}}",
        entry(switch, 1),
        entry(others[0], 2),
        entry(others[1], 3)
    )
}

/// Answers may take long on a busy machine.
const PING_ALL: &str = "pingall 30";

const TRIANGLE: &str = "triangle/topology.json";

#[test]
fn hosts_reach_each_other_across_a_triangle() {
    let Some(exercise) = Exercise::new("basic.p4", &["ping"]) else { return };
    triangle(&exercise, [""; 3]);
    let ended = exercise
        .run(&[
            TRIANGLE,
            "-c",
            PING_ALL,
            "-c",
            "h1 ping -c 2 -i 0.2 h3",
            "-c",
            "nodes",
            "-c",
            "links",
            "--pcap",
            "pcaps",
        ])
        .expect(0)
        .says("h1 -> h2 h3\nh2 -> h1 h3\nh3 -> h1 h2\n0% lost (6 of 6 received)")
        // Two switches are on the path.
        .says("ttl=62")
        .says("h1 h2 h3 s1 s2 s3\n")
        .says("h1-eth0 -- s1-eth1\n");
    assert_eq!(ended.err, "");
    // A switch that stops in order prints its summary, and its captures are complete.
    let log = exercise.read("logs/s1.log");
    for part in ["rx packets", "the program is ", "the switch has stopped: on request"] {
        assert!(log.contains(part), "{part}: {log}");
    }
    for name in ["s1-eth1_in", "s1-eth1_out", "s3-eth2_in"] {
        let bytes = std::fs::read(exercise.path(&format!("pcaps/{name}.pcap"))).unwrap();
        assert!(bytes.len() > 24 + 2 * 100, "{name}: {} bytes", bytes.len());
    }
}

#[test]
fn failed_commands_have_a_status() {
    let Some(exercise) = Exercise::new("basic.p4", &["ping"]) else { return };
    triangle(&exercise, [""; 3]);
    // Frames sent just when the link comes up may be lost.
    let script = "\n# a comment\nh1 sh -c 'exit 7'\nh9 ls\nh1\nlink h1 h2 down\nlink h1 s1 down\nlinks\n\
                  link h1 s1 up\nlink s1 s2 down\nlinks\n\
                  h1 ping -c 1 -W 1 h2\nlink s1 s2 up\nh1 sh -c 'for i in 1 2 3 4 5 6 7 8 9; do ping -c 1 -W 3 10.0.2.2 && break; done'\n\
                  pingall 61\nsh echo here\nhelp link\nxterm h1\nexit\nh1 echo never\n";
    let ended = exercise
        .run_script(&[TRIANGLE], script)
        .expect(1)
        .says("`h9` is not a command, host or switch")
        .says("a command must follow h1")
        .says("there is no link between h1 and h2")
        .says("h1-eth0 -- s1-eth1  down\n")
        .says("s1-eth2 -- s2-eth2  down\ns1-eth3 -- s3-eth2\n")
        .says("pingall: write how many seconds it waits for answers, from 1 to 60")
        .says("100% packet loss")
        .says(" 0% packet loss")
        .says("here\n")
        .says("link NODE NODE up|down")
        .says("h1 bash");
    assert!(!ended.out.contains("never"), "{}", ended.out);
}

#[test]
fn programs_read_lines_of_json() {
    let Some(exercise) = Exercise::new("basic.p4", &["ping"]) else { return };
    triangle(&exercise, [""; 3]);
    let commands =
        ["h2 ip -brief address show eth0", "h1 cat /sys/class/net/eth0/address", "h1 false", "s2 ls /sys/class/net"];
    let mut arguments = vec![TRIANGLE, "--json"];
    commands.iter().for_each(|command| arguments.extend(["--command", command]));
    let ended = exercise.run(&arguments).expect(1);
    let lines: Vec<serde_json::Value> = ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["event"], "ready");
    assert_eq!(lines[0]["hosts"][2], "h3");
    assert_eq!(lines[1]["command"], commands[0]);
    assert!(lines[1]["output"].as_str().unwrap().contains("10.0.2.2/24"), "{}", lines[1]);
    assert_eq!(lines[2]["output"], "08:00:00:00:01:11\n");
    assert_eq!((&lines[3]["status"], &lines[3]["output"]), (&1.into(), &"".into()));
    assert_eq!(lines[4]["output"], "lo\ns2-eth1\ns2-eth2\ns2-eth3\n");
    assert_eq!((&lines[5]["event"], &lines[5]["failed"]), (&"end".into(), &1.into()));
}

#[test]
fn a_person_at_a_terminal_stops_commands_and_goes_into_hosts() {
    let Some(exercise) = Exercise::new("basic.p4", &["ping", "python3", "bash"]) else { return };
    triangle(&exercise, [""; 3]);
    let mut command = Command::new("timeout");
    command.args(["-k", "10", &NETWORK_SECONDS_MAX.to_string(), "python3", "-c", PERSON]);
    command
        .args([env!("CARGO_BIN_EXE_wirespeed"), "net", "--p4runtime", "off", TRIANGLE])
        .current_dir(exercise.0.path());
    Ended::of(command.stdin(Stdio::null()).output().unwrap()).expect(0).says("ended with 0");
}

/// Types the second text of each pair once the first has appeared; at the end prints the status.
const PERSON: &str = r"
import os, pty, select, sys, time

process, terminal = pty.fork()
if process == 0:
    os.environ['TERM'] = 'xterm'
    os.execv(sys.argv[1], sys.argv[1:])
seen = b''
for text, typed in [
    (b'wirespeed> ', b'h1 ping h2\n'),
    (b'icmp_seq=2', b'\x03'),
    (b'packets transmitted', b''),
    (b'wirespeed> ', b'h1 bash --norc --noprofile\n'),
    (b'# ', b'echo in-$WIRESPEED_NODE; sleep 100\n'),
    (b'in-h1', b'\x03'),
    (b'# ', b'exit\n'),
    (b'wirespeed> ', b'h1 echo in-$WIRESPEED_NODE; sleep 100\n'),
    (b'in-h1', b'\x1a'),
    (b'cannot be resumed', b''),
    (b'wirespeed> ', b'ping\t\n'),
    (b'0% lost', b''),
    (b'wirespeed> ', b'\x04'),
]:
    deadline = time.time() + 60
    while text not in seen:
        if time.time() > deadline:
            sys.exit(f'no {text} in {seen}')
        if select.select([terminal], [], [], 1)[0]:
            seen += os.read(terminal, 4096)
    seen = seen.split(text, 1)[1]
    # What a shell does between two commands takes a moment, in which Ctrl-C means nothing to it.
    time.sleep(1)
    os.write(terminal, typed)
try:
    while os.read(terminal, 4096):
        pass
except OSError:
    pass
print('ended with', os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
";

/// A switch with four hosts that do not need a router.
fn star(exercise: &Exercise) {
    let host = |n: u32| format!("\"h{n}\": {{\"ip\": \"10.0.0.{n}/24\", \"mac\": \"08:00:00:00:0{n}:{n}{n}\"}}");
    let link = |n: u32| format!("[\"s1-p{n}\", \"h{n}\"]");
    let each = |of: &dyn Fn(u32) -> String| (1..=4).map(of).collect::<Vec<_>>().join(",");
    let text = format!(
        "{{\"hosts\": {{{}}}, \"switches\": {{\"s1\": {{\"cli_input\": \"commands.txt\"}}}}, \"links\": [{}]}}",
        each(&host),
        each(&link)
    );
    exercise.write("topology.json", &text);
    let replicas = "mc_mgrp_create 1\nmc_node_create 0 1 2 3 4\nmc_node_associate 1 0\n";
    let known = "table_add MyIngress.mac_lookup MyIngress.mac_forward 08:00:00:00:01:11 => 1\n";
    exercise.write("commands.txt", &format!("{known}{replicas}"));
}

#[test]
fn a_star_floods_what_it_does_not_know() {
    let Some(exercise) = Exercise::new("multicast.p4", &["ping"]) else { return };
    star(&exercise);
    exercise.run(&["topology.json", "-c", PING_ALL, "--backend", "interp"]).expect(0).says("(12 of 12 received)");
}

#[test]
fn the_logs_have_every_packet_if_that_is_wanted() {
    let Some(exercise) = Exercise::new("basic.p4", &["ping"]) else { return };
    triangle(&exercise, [""; 3]);
    exercise.run(&[TRIANGLE, "-c", "h1 ping -c 1 h2", "--log-packets"]).expect(0);
    let log = exercise.read("logs/s1.log");
    for part in
        ["packet 1 at ", "    state start ", "    table MyIngress.ipv4_lpm hdr.ipv4.dstAddr=10.0.2.2 ", "hit entry "]
    {
        assert!(log.contains(part), "{part}: {log}");
    }
    // The output about the switch is beside it.
    assert!(log.contains("the switch runs: "), "{log}");
}

#[test]
fn switches_may_have_several_workers() {
    let Some(exercise) = Exercise::new("basic.p4", &["ping"]) else { return };
    triangle(&exercise, [""; 3]);
    exercise.run(&[TRIANGLE, "-c", PING_ALL, "--workers", "2"]).expect(0).says("0% lost (6 of 6 received)");
    assert!(exercise.run(&[TRIANGLE, "--workers", "few"]).expect(2).err.contains("from 1 to 64, or auto"));
}

#[test]
fn an_old_topology_needs_no_addresses() {
    let Some(exercise) = Exercise::new("basic.p4", &["ping"]) else { return };
    exercise.write(
        "topology.json",
        "{\"hosts\": [\"h1\", \"h2\"], \"switches\": [{\"name\": \"s1\", \"cli_input\": \"s1.txt\"},
         {\"name\": \"s2\", \"cli_input\": \"s2.txt\"}], \"links\": [[\"s1\", \"s2\"], [\"h1\", \"s1\"], [\"h2\", \"s2\"]]}",
    );
    // Hosts are at port 1, the other switch at port 2; the addresses are those of the numbers in the names.
    for (own, other) in [(1, 2), (2, 1)] {
        let entry = |n: u32, port: u32| {
            format!("table_add ipv4_lpm ipv4_forward 10.0.{n}.{n}/32 => 00:00:00:00:0{n}:0{n} {port}\n")
        };
        exercise.write(&format!("s{own}.txt"), &(entry(own, 1) + &entry(other, 2)));
    }
    exercise.run(&["topology.json", "-c", PING_ALL, "-c", "dump"]).expect(0).says("10.0.2.2/24 00:00:00:00:02:02");
}

/// The shortest round trip that `ping` reports, in milliseconds.
fn round_trip_ms(output: &str) -> f64 {
    let summary = output.lines().find(|line| line.contains("min/avg/max")).unwrap_or_else(|| panic!("{output}"));
    summary.split(['=', '/']).find_map(|part| part.trim().parse().ok()).unwrap_or_else(|| panic!("{summary}"))
}

#[test]
fn links_take_their_time() {
    let Some(exercise) = Exercise::new("basic.p4", &["ping"]) else { return };
    triangle(&exercise, [", \"40ms\"", ", 0, 0.2", ""]);
    let ping = |host: &str| format!("h1 ping -c 3 -i 0.5 -s 958 {host}");
    let (far, slow) = (ping("h2"), ping("h3"));
    let ended =
        exercise.run(&[TRIANGLE, "--json", "-c", "links", "-c", &far, "-c", &slow, "-c", "h2 ping -c 3 h3"]).expect(0);
    let lines: Vec<serde_json::Value> = ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let output = |index: usize| lines[index]["output"].as_str().unwrap();
    assert!(output(1).contains("s1-eth2 -- s2-eth2  (40 ms)\ns1-eth3 -- s3-eth2  (0.2 Mbit/s)\n"), "{}", output(1));
    // Twice the latency; twice a thousand bytes at 25 bytes per millisecond; no queueing delay.
    for (index, least_ms) in [(2, 80.0), (3, 80.0), (4, 0.0)] {
        let round_trip_ms = round_trip_ms(output(index));
        assert!((least_ms..least_ms + 60.0).contains(&round_trip_ms), "{round_trip_ms} ms: {}", output(index));
    }
}

#[test]
fn the_queue_of_a_slow_port_is_seen_by_the_program() {
    let Some(exercise) = Exercise::new("ecn.p4", &["ping", "python3"]) else { return };
    // Two hosts behind a switch, the second on a link that takes 10 ms for a kilobyte.
    let host = |n: u32| {
        format!(
            "\"h{n}\": {{\"ip\": \"10.0.0.{n}/24\", \"mac\": \"08:00:00:00:0{n}:{n}{n}\",
        \"commands\": [\"arp -i eth0 -s 10.0.0.{} 08:00:00:00:01:00\"]}}",
            3 - n
        )
    };
    exercise.write(
        "topology.json",
        &format!(
            "{{\"hosts\": {{{}, {}}}, \"switches\": {{\"s1\": {{\"cli_input\": \"s1.txt\"}}}},
             \"links\": [[\"h1\", \"s1-p1\"], [\"h2\", \"s1-p2\", 0, 0.8]]}}",
            host(1),
            host(2)
        ),
    );
    exercise.write("s1.txt", "table_add ipv4_lpm ipv4_forward 10.0.0.2/32 => 08:00:00:00:02:22 2\n");
    exercise.write("send.py", SEND_MARKED);
    exercise.write("receive.py", RECEIVE_MARKED);
    let script = "h2 python3 receive.py > marks.txt &\nh1 sleep 1\nh1 python3 send.py h2\nh1 sleep 3\n";
    exercise.run_script(&["topology.json"], script).expect(0);
    let marks = exercise.read("marks.txt");
    // The first packets find the queue empty; later ones are marked with congestion.
    assert!(marks.starts_with('2') && marks.contains('3'), "{marks}");
}

/// Sends datagrams of a kilobyte, capable of explicit congestion notification, as fast as they go.
const SEND_MARKED: &str = "
import socket, sys
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 2)
for _ in range(60):
    sender.sendto(bytes(958), (sys.argv[1], 4321))
";

/// Prints how each datagram is marked.
const RECEIVE_MARKED: &str = "
import socket
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
receiver.bind(('', 4321))
while True:
    _, ancillary, _, _ = receiver.recvmsg(2000, 100)
    print(ancillary[0][2][0] & 3, end='', flush=True)
";

/// A network that waits for commands, with a background process with a unique command line.
struct Waiting {
    child: Child,
    marker: String,
}

impl Waiting {
    fn start(exercise: &Exercise) -> Waiting {
        let marker = format!("{}.{}", 90_000 + std::process::id(), exercise.0.path().as_os_str().len());
        let command = format!("h1 sleep {marker} &");
        let mut arguments = vec![TRIANGLE, "-c", &command];
        let waiting = format!("h2 sleep 1{marker}");
        arguments.extend(["-c", &waiting]);
        // Not under `timeout`, which would be the process that is killed.
        let mut network = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
        network.args(["net", "--p4runtime", "off"]).args(arguments).current_dir(exercise.0.path()).stdin(Stdio::null());
        let child = network.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Waiting { child, marker }
    }

    /// The processes whose command lines have the marker.
    fn marked(&self) -> Vec<PathBuf> {
        let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let is_marked = |path: &PathBuf| {
            let line = std::fs::read(path.join("cmdline")).unwrap_or_default();
            let own = path.file_name().is_some_and(|name| *name == *self.child.id().to_string());
            !own && String::from_utf8_lossy(&line).contains(&self.marker)
        };
        processes.filter(is_marked).collect()
    }

    /// The network namespaces of the nodes in which marked processes run.
    fn namespaces(&self) -> BTreeSet<PathBuf> {
        self.marked().iter().filter_map(|process| std::fs::read_link(process.join("ns/net")).ok()).collect()
    }

    /// Waits until both processes run.
    fn wait(&mut self) {
        let start = Instant::now();
        while self.namespaces().len() < 2 {
            assert!(self.child.try_wait().unwrap().is_none(), "the network has ended");
            assert!(start.elapsed() < Duration::from_secs(200), "the processes never start");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Ends the network by a signal; at the end nothing of it must be left.
    fn end_by(mut self, signal: &str) -> Option<i32> {
        let interfaces = || std::fs::read_to_string("/proc/net/dev").unwrap().lines().count();
        let before = self.namespaces();
        let count = interfaces();
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        let status = self.child.wait().unwrap();
        let start = Instant::now();
        while !self.marked().is_empty() || in_use(&before) {
            assert!(start.elapsed() < Duration::from_secs(20), "{signal}: left: {:?}", self.marked());
            thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(interfaces(), count);
        status.code()
    }
}

/// Whether any process is in one of these namespaces.
fn in_use(namespaces: &BTreeSet<PathBuf>) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| std::fs::read_link(entry.path().join("ns/net")).ok())
        .any(|it| namespaces.contains(&it))
}

#[test]
fn nothing_is_left_however_it_ends() {
    let Some(exercise) = Exercise::new("basic.p4", &["sleep"]) else { return };
    triangle(&exercise, ["", ", \"1ms\"", ""]);
    for (signal, status) in [("-TERM", Some(143)), ("-INT", Some(130)), ("-KILL", None)] {
        let mut waiting = Waiting::start(&exercise);
        waiting.wait();
        assert_eq!(waiting.end_by(signal), status, "{signal}");
    }
}

#[test]
fn a_switch_that_ends_is_reported() {
    let Some(exercise) = Exercise::new("basic.p4", &["sleep"]) else { return };
    triangle(&exercise, [""; 3]);
    let mut command = exercise.command(&[TRIANGLE, "--json"]);
    let mut network = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = network.stdin.take().unwrap();
    stdin.write_all(b"dump\n").unwrap();
    let mut lines = BufReader::new(network.stdout.as_mut().unwrap()).lines();
    let dump = lines.nth(1).unwrap().unwrap();
    let process = dump.split_once("s2: switch, process ").and_then(|(_, rest)| rest.split_once(',')).unwrap().0;
    assert!(Command::new("kill").args(["-9", process]).status().unwrap().success());
    stdin.write_all(b"sh sleep 1\ndump\n").unwrap();
    drop(stdin);
    assert!(lines.nth(1).unwrap().unwrap().contains("s2: switch, ended, log logs/s2.log"));
    Ended::of(network.wait_with_output().unwrap()).expect(3).says("switch s2 has ended (signal: 9 (SIGKILL))");
}

#[test]
fn hosts_see_their_own_processes_only() {
    let Some(exercise) = Exercise::new("basic.p4", &["sleep", "ps"]) else { return };
    triangle(&exercise, [""; 3]);
    let ended = exercise.run(&[TRIANGLE, "-c", "h1 sleep 77 &", "-c", "h1 ps -e -o args"]).expect(0).says("sleep 77");
    assert!(!ended.out.contains("cargo") && !ended.out.contains("timeout"), "{}", ended.out);
}

/// The location of a program for root on this machine.
fn net_tool(name: &str) -> Option<PathBuf> {
    ["/usr/sbin", "/sbin", "/usr/bin"].iter().map(|folder| Path::new(folder).join(name)).find(|path| path.is_file())
}

#[test]
fn route_and_arp_need_not_be_installed() {
    let Some(exercise) = Exercise::new("basic.p4", &["ping"]) else { return };
    triangle(&exercise, [""; 3]);
    let commands = ["h1 ip route show default", "h1 ip neighbour show 10.0.1.10", "h1 route -n"];
    let mut command = exercise.command(&[TRIANGLE, "-c", commands[0], "-c", commands[1], "-c", commands[2]]);
    // A file system without the two, if the machine has them.
    let hidden = ["route", "arp"].iter().filter_map(|name| net_tool(name));
    let hide: String = hidden.map(|path| format!("mount --bind empty {} && ", path.display())).collect();
    exercise.write("empty", "");
    let line = format!("{hide}exec \"$0\" \"$@\"");
    let mut hidden = Command::new("unshare");
    hidden.args(["-m", "sh", "-c", &line]).arg(command.get_program()).args(command.get_args());
    command = hidden;
    let ended = Ended::of(command.current_dir(exercise.0.path()).stdin(Stdio::null()).output().unwrap());
    ended.expect(0).says("default via 10.0.1.10 dev eth0").says("lladdr 08:00:00:00:01:00 PERMANENT");
}

#[test]
fn errors_are_reported_before_anything_is_built() {
    let exercise = Exercise(TempDir::new().unwrap());
    exercise.write(
        "t.json",
        "{\"hosts\": {\"h1\": {\"ip\": \"x\"}},\n\"switches\": {\"s1\": {}},\n\"links\": [[\"h1\", \"s2\"]]}",
    );
    exercise
        .run(&["t.json"])
        .expect(1)
        .says("t.json:1: \"ip\" is \"x\"")
        .says("t.json:3: there is no host or switch `s2`");
    exercise.run(&["absent.json"]).expect(1).says("the topology absent.json cannot be read");
    exercise.write("t.json", "{\"hosts\": {},\n\"switches\": {\"s1\": {\"runtime_json\": \"r.json\"}}, \"links\": []}");
    exercise.run(&["t.json"]).expect(1).says("t.json:2: s1: there is no file `r.json`; looked for r.json");
    exercise.write("r.json", "{\"target\": \"bmv2\", \"bmv2_json\": \"build/a.json\", \"table_entries\": [7]}");
    exercise.run(&["t.json"]).expect(1).says("s1: the program of build/a.json is not there, and there is no .p4 file");
    exercise.write("b.p4", "#include <core.p4>\n");
    exercise.write("c.p4", "");
    exercise.run(&["t.json"]).expect(1).says("there are several: b.p4, c.p4; say which it is with --program");
    exercise.run(&["t.json", "--program", "s9=b.p4"]).expect(2).says("there is no switch `s9`");
    exercise.run(&["t.json", "--program", "d.p4"]).expect(2).says("there is no d.p4");
    exercise.run(&["t.json", "--program", "b.p4"]).expect(1).says("E0803");
    let course = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/course/basic.p4");
    let program = course.display().to_string();
    exercise
        .run(&["t.json", "--backend", "interp", "--program", &program])
        .expect(1)
        .says("r.json:1: table_entries[0]: ");
    let far = "{\"hosts\": {\"h1\": {}},\n\"switches\": {\"s1\": {}},\n\"links\": [[\"h1\", \"s1-p600\"]]}";
    exercise.write("t.json", far);
    exercise
        .run(&["t.json", "--backend", "interp", "--program", &program])
        .expect(1)
        .says("t.json:2: s1: its program cannot send to port 600: the greatest is 511");
}

#[test]
fn controllers_reach_each_switch_at_a_port_of_its_own() {
    let Some(exercise) = Exercise::new("basic.p4", &["sleep"]) else { return };
    // Neither entries nor a program: a controller sets both.
    exercise.write(
        "topology.json",
        "{\"hosts\": {\"h1\": {}}, \"switches\": {\"s1\": {}, \"s2\": {\"cpu_port\": \"255\"}},
        \"links\": [[\"h1\", \"s1-p1\"], [\"s1-p2\", \"s2-p1\"]]}",
    );
    std::fs::rename(exercise.path("basic.p4"), exercise.path("basic.txt")).unwrap();
    let first = free_ports(4);
    let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
    command.args(["net", "topology.json", "--json", "--p4runtime", &first.to_string()]).current_dir(exercise.0.path());
    command.args(["--metrics", &(first + 2).to_string(), "--state", "kept"]);
    let mut network = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(network.stdout.take().unwrap()).lines();
    assert!(lines.next().is_some_and(|line| line.unwrap().contains("ready")));
    // Two for controllers, two for metrics.
    for port in first..first + 4 {
        std::net::TcpStream::connect(("127.0.0.1", port)).unwrap_or_else(|error| panic!("{port}: {error}"));
    }
    let mut stdin = network.stdin.take().unwrap();
    stdin.write_all(b"dump\n").unwrap();
    let dump = lines.next().unwrap().unwrap();
    assert!(dump.contains(&format!("P4Runtime at 127.0.0.1:{}, device 1", first + 1)), "{dump}");
    drop(stdin);
    Ended::of(network.wait_with_output().unwrap()).expect(0);
    assert!(["kept/s1", "kept/s2"].iter().all(|folder| exercise.path(folder).is_dir()));
    // A port in use is reported, and the network runs without.
    let _taken = std::net::TcpListener::bind(("127.0.0.1", first)).unwrap();
    std::fs::rename(exercise.path("basic.txt"), exercise.path("basic.p4")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
    command.args(["net", "topology.json", "-c", "nodes", "--p4runtime", &first.to_string()]);
    let ended = Ended::of(command.current_dir(exercise.0.path()).stdin(Stdio::null()).output().unwrap());
    ended.expect(0).says(&format!("port {first} is taken"));
}

/// The first of this many consecutive unused ports.
fn free_ports(count: u16) -> u16 {
    let is_free = |port: u16| std::net::TcpListener::bind(("127.0.0.1", port)).is_ok();
    let start = 20_000 + (std::process::id() % 20_000) as u16;
    let mut firsts = (start..).step_by(usize::from(count));
    firsts.find(|&first| (first..first + count).all(is_free)).unwrap()
}

#[test]
fn without_root_there_is_an_error() {
    use std::os::unix::process::CommandExt as _;
    let exercise = Exercise(TempDir::new().unwrap());
    exercise.write("t.json", "{\"hosts\": {\"h1\": {}}, \"switches\": {}, \"links\": []}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
    command.args(["net"]).arg(exercise.path("t.json")).args(["-c", "nodes"]).stdin(Stdio::null());
    // Root changes to `nobody`; any other user stays.
    if std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0) {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(exercise.0.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        command.uid(65_534).gid(65_534).current_dir("/");
    }
    match command.output() {
        Ok(output) => drop(Ended::of(output).expect(3).says("needs root").says("run `sudo wirespeed net")),
        // If root's folders are closed to others, `nobody` cannot run the command at all.
        Err(error) => testkit::skip(format!("needs a command that every user can run: {error}")),
    }
}
