//! The broadband network gateway with its controller: two homes behind tunnels, and a server in the Internet.
//!
//! The homes' own gateways run `cpe.p4` on switches of their own, so the kernel needs no GRE.

use crate::network::{app, stop, wait_for_ping};
use crate::usecases::{counted, ctl, expect_in, ping, wait_for};
use std::fmt::Write as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};
use testkit::netns::{Network, Running};

const WIRESPEED: &str = env!("CARGO_BIN_EXE_wirespeed");

/// A network with everything but the gateway, and the switches in the homes.
struct Access {
    network: Network,
    homes: Vec<Running>,
    folder: tempfile::TempDir,
}

impl Access {
    fn new(programs: &[&str]) -> Option<Access> {
        let mut network = match Network::new(&[&["ping", "python3"], programs].concat()) {
            Ok(network) => network,
            Err(reason) => {
                testkit::skip(reason);
                return None;
            }
        };
        for name in ["h1", "h2", "cpe1", "cpe2", "switch", "server"] {
            network.add(name);
        }
        for number in 1..=2 {
            let (host, home) = (format!("h{number}"), format!("cpe{number}"));
            network.wire([&host, "eth0"], [&home, "eth1"]);
            network.wire([&home, "eth2"], ["switch", &format!("r{number}")]);
            network.run(&host, &format!("ip link set eth0 address 02:00:00:0{number}:00:0a mtu 1472"));
            network.run(&host, "ip address add 192.168.1.10/24 dev eth0");
            network.run(&host, "ip route add default via 192.168.1.1");
        }
        network.wire(["server", "eth0"], ["switch", "r3"]);
        network.run("server", "ip link set eth0 address 02:00:00:00:03:02");
        network.run("server", "ip address add 192.0.2.2/24 dev eth0");
        network.run("server", "ip route add 198.51.100.0/28 dev eth0");
        let home = |number: u32| {
            let (program, entries) = (app("bng/cpe.p4"), app(&format!("bng/cpe{number}.txt")));
            let (program, entries) = (program.display(), entries.display());
            let line = format!("{WIRESPEED} run {program} --entries {entries} --port 1=eth1 --port 2=eth2 --json");
            network.start(&format!("cpe{number}"), &line)
        };
        let homes = (1..=2).map(home).collect();
        network.run("switch", "ip link set lo up");
        Some(Access { network, homes, folder: tempfile::tempdir().unwrap() })
    }

    /// The file of the application, with further lines in its section about translation.
    fn config(&self, nat: &str) -> String {
        let text = std::fs::read_to_string(app("bng/bng.toml")).unwrap();
        let file = self.folder.path().join("bng.toml");
        std::fs::write(&file, text.replace("[nat]", &format!("[nat]\n{nat}"))).unwrap();
        file.display().to_string()
    }

    fn switch(&self) -> Running {
        let program = app("bng/bng.p4");
        let ports = "--port 1=r1 --port 2=r2 --port 3=r3";
        self.network.start("switch", &format!("{WIRESPEED} run {} {ports} --json --p4runtime", program.display()))
    }

    fn controller(&self, nat: &str) -> Running {
        self.network.start("switch", &format!("{WIRESPEED} bng control --config {}", self.config(nat)))
    }

    /// A gateway with its controller, once packets pass.
    fn served(&self, nat: &str) -> [Running; 2] {
        let switch = self.switch();
        let controller = self.controller(nat);
        wait_for_ping(&self.network, "h1", "192.0.2.2");
        wait_for_ping(&self.network, "h2", "192.0.2.2");
        [switch, controller]
    }

    /// The lines of the report about a subscriber, or about a reason.
    fn report(&self, key: &str, number: u64) -> serde_json::Value {
        let said = self.network.run("switch", &format!("{WIRESPEED} bng report --json"));
        let mut lines = said.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        lines.rfind(|line| line[key] == number).unwrap_or_default()
    }

    fn stop(self, [switch, controller]: [Running; 2]) {
        drop(controller);
        stop(switch);
        self.homes.into_iter().for_each(|home| {
            stop(home);
        });
    }
}

/// Answers each datagram with the sender's address as it is seen here.
const MIRROR: &str = "
import socket
listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
listener.bind(('192.0.2.2', 5003))
while True:
    data, sender = listener.recvfrom(64)
    listener.sendto(repr(sender).encode(), sender)
";

/// How a host is seen that sends from port 5353.
const SEEN: &str = "
import socket, time
flow = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
flow.bind(('192.168.1.10', 5353))
flow.settimeout(1)
for _ in range(20):
    try:
        flow.sendto(b'?', ('192.0.2.2', 5003))
        print(flow.recv(64).decode())
        break
    except OSError: time.sleep(0.2)
";

#[test]
fn homes_with_the_same_addresses_share_public_ones() {
    let Some(access) = Access::new(&["tshark"]) else { return };
    let served = access.served("");
    let network = &access.network;
    let capture = network.start(
        "server",
        "tshark -l -i eth0 -a duration:8 -o ip.check_checksum:TRUE \
        -o udp.check_checksum:TRUE -T fields -e ip.src -e ip.checksum.status -e udp.checksum.status udp",
    );
    let mirror = network.start_python("server", MIRROR);
    let started = Instant::now();
    let mut seen = Vec::new();
    while seen.is_empty() || started.elapsed() < Duration::from_secs(5) {
        seen = ["h1", "h2"].map(|host| network.python(host, SEEN)).to_vec();
        assert!(seen.iter().all(|it| it.starts_with("('198.51.100.")), "{seen:?}");
    }
    assert_ne!(seen[0], seen[1]);
    // 1: right.
    let captured = capture.wait();
    assert!(captured.lines().filter(|it| it.starts_with("198.51.100.")).all(|it| it.ends_with("\t1\t1")), "{captured}");
    assert!(captured.contains("198.51.100."), "{captured}");
    for (number, sent) in [(1, 1), (2, 1)] {
        let account = access.report("subscriber", number);
        assert!(account["uploaded"]["packets"].as_u64() >= Some(sent), "{account}");
        assert!(account["downloaded"]["bytes"].as_u64() >= Some(60 * sent), "{account}");
        // Of the ping and of the datagrams.
        assert!(account["bindings"].as_u64() >= Some(2), "{account}");
    }
    // The gateway itself, from both sides; a packet that expires in it.
    expect_in(&ping(network, "server", "-c 1 -W 5 192.0.2.1"), &["1 received"]);
    expect_in(&ping(network, "h1", "-c 1 -W 5 10.0.1.1"), &["1 received"]);
    expect_in(&ping(network, "h1", "-c 1 -W 5 -t 2 192.0.2.2"), &["From 10.0.1.1", "Time to live exceeded"]);
    drop(mirror);
    access.stop(served);
}

/// A web server that also takes files.
const WEB: &str = "
import http.server, os
os.chdir('FOLDER')
class Handler(http.server.SimpleHTTPRequestHandler):
    def do_PUT(self):
        with open(self.path.strip('/'), 'wb') as file:
            file.write(self.rfile.read(int(self.headers['Content-Length'])))
        self.send_response(201)
        self.send_header('Content-Length', '0')
        self.end_headers()
http.server.ThreadingHTTPServer(('192.0.2.2', 80), Handler).serve_forever()
";

#[test]
fn files_pass_in_both_directions() {
    let Some(access) = Access::new(&["curl"]) else { return };
    let served = access.served("");
    let network = &access.network;
    let file = |name: &str| access.folder.path().join(name);
    // More than a megabyte, no two parts of which are the same.
    let content: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
    std::fs::write(file("page"), &content).unwrap();
    let web = network.start_python("server", &WEB.replace("FOLDER", &access.folder.path().display().to_string()));
    let curl = "curl -sS --fail --retry 20 --retry-delay 1 --retry-all-errors --connect-timeout 2";
    for host in ["h1", "h2"] {
        let (fetched, taken) = (format!("fetched-{host}"), format!("taken-{host}"));
        network.run(host, &format!("{curl} -o {} http://192.0.2.2/page", file(&fetched).display()));
        network.run(host, &format!("{curl} -T {} http://192.0.2.2/{taken}", file("page").display()));
        for name in [fetched, taken] {
            assert!(std::fs::read(file(&name)).unwrap() == content, "{name}");
        }
    }
    for number in 1..=2 {
        let account = access.report("subscriber", number);
        for direction in ["uploaded", "downloaded"] {
            assert!(account[direction]["bytes"].as_u64() > Some(content.len() as u64), "{account}");
        }
    }
    drop(web);
    access.stop(served);
}

#[test]
fn downloads_and_uploads_have_rates() {
    let Some(access) = Access::new(&["iperf3"]) else { return };
    let served = access.served("");
    let network = &access.network;
    let server = network.start("server", "iperf3 -s");
    thread::sleep(Duration::from_millis(500));
    for (direction, limit) in [("", 10.0), ("-R", 50.0)] {
        let said = network.run("h1", &format!("iperf3 -J -t 3 -c 192.0.2.2 {direction}"));
        let measured: serde_json::Value = serde_json::from_str(&said).unwrap();
        let rate = measured["end"]["sum_received"]["bits_per_second"].as_f64().unwrap() / 1e6;
        assert!(rate < limit * 1.15 && rate > limit / 4.0, "{rate} Mb/s of {limit}");
    }
    drop(server);
    assert!(counted(network, "switch", "reasons 25") > 0 && counted(network, "switch", "reasons 26") > 0);
    access.stop(served);
}

#[test]
fn bindings_survive_controller_and_switch_and_end_when_idle() {
    let Some(access) = Access::new(&[]) else { return };
    let [switch, controller] = access.served("udp = 3\necho = 2");
    let network = &access.network;
    let mirror = network.start_python("server", MIRROR);
    let seen = network.python("h2", SEEN);
    assert!(seen.contains("198.51.100."), "{seen}");
    drop(controller);
    // The switch forwards what it knows; a new flow has to wait.
    assert_eq!(network.python("h2", SEEN), seen);
    let controller = access.controller("udp = 3\necho = 2");
    wait_for_ping(network, "h1", "192.0.2.2");
    assert_eq!(network.python("h2", SEEN), seen);
    // The switch loses everything, and gets it back.
    stop(switch);
    let switch = access.switch();
    wait_for_ping(network, "h2", "192.0.2.2");
    assert_eq!(network.python("h2", SEEN), seen);
    wait_for(network, "switch", "show bindings_up", |said| !said.contains("192.168.1.10"));
    wait_for(network, "switch", "show bindings_down", |said| !said.contains("192.168.1.10"));
    drop(mirror);
    access.stop([switch, controller]);
}

/// Answers datagrams with the sender's address as it is seen here: those that request it later, or never.
const SLOW_MIRROR: &str = "
import socket, threading
listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
listener.bind(('192.0.2.2', 5003))
while True:
    data, sender = listener.recvfrom(64)
    answer = lambda sender=sender: listener.sendto(repr(sender).encode(), sender)
    if data == b'later': threading.Timer(1.5, answer).start()
    elif data != b'never': answer()
";

/// A flow whose directions are in use in turn: how it is seen before, in between, and in the end.
const IN_TURN: &str = "
import socket, time
flow = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
flow.bind(('192.168.1.10', 5454))
flow.settimeout(4)
def send(data): flow.sendto(data, ('192.0.2.2', 5003))
send(b'now')
print(flow.recv(64).decode())
send(b'later')
started = time.time()
print(flow.recv(64).decode())
for data, at in [(b'never', 2.7), (b'now', 3.9)]:
    time.sleep(max(0, started + at - time.time()))
    send(data)
print(flow.recv(64).decode())
";

#[test]
fn a_binding_stays_while_its_directions_are_in_use_in_turn() {
    let Some(access) = Access::new(&[]) else { return };
    let served = access.served("udp = 2");
    let network = &access.network;
    let mirror = network.start_python("server", SLOW_MIRROR);
    // Once the mirror is there.
    network.python("h1", SEEN);
    let seen = network.python("h1", IN_TURN);
    let seen: Vec<&str> = seen.lines().collect();
    assert!(seen.len() == 3 && seen.iter().all(|it| *it == seen[0]), "{seen:?}");
    drop(mirror);
    access.stop(served);
}

/// Opens `COUNT` flows.
const FLOOD: &str = "
import socket, time
for port in range(20000, 20000 + COUNT):
    flow = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    flow.bind(('192.168.1.10', port))
    flow.sendto(b'flood', ('192.0.2.2', 9))
    flow.close()
    if port % 20 == 0: time.sleep(0.01)
";

#[test]
fn a_flood_of_flows_is_bounded_and_harms_no_other_subscriber() {
    let Some(access) = Access::new(&[]) else { return };
    let served = access.served("of_subscriber = 50");
    let network = &access.network;
    let flood = network.start_python("h1", &FLOOD.replace("COUNT", "4000"));
    thread::sleep(Duration::from_millis(300));
    expect_in(&ping(network, "h2", "-c 2 -i 0.2 -W 5 192.0.2.2"), &["2 received"]);
    flood.wait();
    assert_eq!(access.report("subscriber", 1)["bindings"], 50);
    let refused = access.report("reason", 2);
    assert!(refused["kept_from_controller"].as_u64() > Some(1000), "{refused}");
    access.stop(served);
}

/// Sends frames as the home's gateway, or as a stranger outside: `SEND` has a line for each kind.
const HOSTILE: &str = "
import socket, struct
def total(data):
    data += b'\\0' * (len(data) % 2)
    number = sum(struct.unpack('!%dH' % (len(data) // 2), data))
    while number >> 16: number = (number & 0xffff) + (number >> 16)
    return ~number & 0xffff
def ip(source, destination, protocol, payload, ttl=64, fragment=0, wrong=0, words=5):
    head = struct.pack('!BBHHHBBH4s4s', 64 + words, 0, 20 + len(payload), 1, fragment, ttl, protocol, 0,
                       socket.inet_aton(source), socket.inet_aton(destination))
    return head[:10] + struct.pack('!H', total(head) ^ wrong) + head[12:] + payload
def udp(source, destination): return struct.pack('!HHHH', source, destination, 12, 0) + b'evil'
def gre(content, options=0): return struct.pack('!HH', options, 0x800) + content
def tunnel(inner, source='10.0.1.2', destination='10.0.1.1', options=0, **more):
    return ip(source, destination, 47, gre(inner, options), **more)
def inner(**more): return ip('192.168.1.10', '192.0.2.2', 17, udp(5353, 9), **more)
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(('INTERFACE', 0))
def send(packet):
    for _ in range(20):
        link.send(bytes.fromhex('MACS') + b'\\x08\\0' + packet)
";

/// Sends what a line of Python makes, and returns how much more a counter of reasons has then.
fn counted_of(access: &Access, from: &str, line: &str, reason: u32) -> u64 {
    let (interface, macs) = match from {
        "server" => ("eth0", "020000000301020000000302"),
        _ => ("eth2", "020000000101020000000102"),
    };
    let mut program = HOSTILE.replace("INTERFACE", interface).replace("MACS", macs);
    writeln!(program, "send({line})").unwrap();
    let cell = format!("reasons {reason}");
    let before = counted(&access.network, "switch", &cell);
    access.network.python(from, &program);
    let started = Instant::now();
    loop {
        let more = counted(&access.network, "switch", &cell) - before;
        if more >= 20 || started.elapsed() > Duration::from_secs(5) {
            return more;
        }
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn hostile_packets_are_counted_by_reason() {
    let Some(access) = Access::new(&[]) else { return };
    let served = access.served("of_subscriber = 50");
    let public = "'198.51.100.1'";
    let cases = [
        ("cpe1", "tunnel(inner(ttl=0))", 1),
        ("cpe1", "tunnel(inner(ttl=1))", 1),
        ("cpe1", "tunnel(inner())[:40]", 8),
        ("cpe1", "tunnel(inner(words=6))", 9),
        ("cpe1", "tunnel(inner(wrong=1))", 10),
        ("cpe1", "tunnel(inner(), wrong=1)", 10),
        ("cpe1", "tunnel(ip('127.0.0.1', '192.0.2.2', 17, udp(1, 2)))", 12),
        ("cpe1", "tunnel(inner(fragment=0x2000))", 13),
        ("cpe1", "tunnel(inner(fragment=100))", 13),
        ("cpe1", "tunnel(inner(), fragment=0x2000)", 13),
        ("cpe1", "tunnel(inner(), options=0x8000)", 17),
        ("cpe1", "inner()", 18),
        ("cpe1", "tunnel(tunnel(inner()))", 19),
        ("cpe1", "tunnel(ip('192.168.1.10', '192.0.2.2', 4, inner()))", 19),
        ("cpe1", "tunnel(inner(), source='10.0.1.99')", 20),
        ("cpe1", "tunnel(ip('192.168.7.1', '192.0.2.2', 17, udp(1, 2)))", 21),
        ("cpe1", "tunnel(ip('192.168.1.10', '192.0.2.2', 132, udp(1, 2)))", 22),
        ("server", "tunnel(inner(), source='192.0.2.2', destination='192.0.2.1')", 19),
        ("server", &format!("ip('192.0.2.2', {public}, 17, udp(1, 2))"), 23),
        ("server", "ip('192.0.2.2', '203.0.113.1', 17, udp(1, 2))", 24),
    ];
    let bindings = ctl(&access.network, "switch", "show bindings_up");
    for (from, line, reason) in cases {
        assert_eq!(counted_of(&access, from, line, reason), 20, "{line}: reason {reason}");
    }
    assert_eq!(ctl(&access.network, "switch", "show bindings_up").lines().count(), bindings.lines().count());
    expect_in(&ping(&access.network, "h2", "-c 2 -i 0.2 -W 5 192.0.2.2"), &["2 received"]);
    access.stop(served);
}

#[test]
fn the_file_of_a_gateway_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bng.toml");
    let text = std::fs::read_to_string(app("bng/bng.toml")).unwrap();
    std::fs::write(&file, text.replace("via = \"192.0.2.2\"", "via = \"203.0.113.2\"")).unwrap();
    let said = run_control(&file);
    assert!(said.contains("the route to 0.0.0.0/0: no interface has the network of 203.0.113.2"), "{said}");
}

fn run_control(file: &Path) -> String {
    let mut command = std::process::Command::new(WIRESPEED);
    let output = command.args(["bng", "control", "--config"]).arg(file).output().unwrap();
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}
