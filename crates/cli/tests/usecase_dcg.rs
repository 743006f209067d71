//! The data centre gateway with its controller: a client, and two machines whose servers share an address behind the
//! VXLAN of Linux.

use crate::network::{app, stop};
use crate::usecases::{counted, ctl, expect_in, ping, wait_for};
use std::fmt::Write as _;
use std::thread;
use std::time::{Duration, Instant};
use testkit::netns::{self, Network, Running};

const WIRESPEED: &str = env!("CARGO_BIN_EXE_wirespeed");

/// The hosts: their port, Ethernet address and address.
const HOSTS: [(&str, u16, &str, &str); 3] = [
    ("client", 1, "02:00:00:00:01:02", "192.0.2.2"),
    ("a", 3, "02:00:00:00:03:0b", "10.0.0.11"),
    ("b", 4, "02:00:00:00:04:0c", "10.0.0.12"),
];

/// The addresses of the services.
const SERVICE4: &str = "198.51.100.1";
const SERVICE6: &str = "2001:db8:1::1";

/// A client and two machines with a server each.
struct Centre {
    network: Network,
    folder: tempfile::TempDir,
    /// The address of the services.
    service: &'static str,
}

impl Centre {
    fn new(programs: &[&str]) -> Option<Centre> {
        let mut network = match Network::new(&[&["ping", "python3", "ethtool"], programs].concat()) {
            Ok(network) => network,
            Err(reason) => {
                testkit::skip(reason);
                return None;
            }
        };
        network.add("switch");
        network.run("switch", "ip link set lo up");
        for (host, port, mac, address) in HOSTS {
            network.add(host);
            network.wire([host, "eth0"], ["switch", &format!("g{port}")]);
            network.run("switch", &format!("ip link set g{port} mtu 1550"));
            let mtu = if host == "client" { 1500 } else { 1550 };
            network.run(host, &format!("ip link set eth0 address {mac} mtu {mtu}"));
            network.run(host, &format!("ip address add {address}/24 dev eth0"));
        }
        network.run("client", "ip route add default via 192.0.2.1");
        for (host, last, mac) in [("a", 11, "02:00:00:00:64:0b"), ("b", 12, "02:00:00:00:64:0c")] {
            let tunnel = format!("type vxlan id 100 dstport 4789 local 10.0.0.{last} remote 10.0.0.1");
            if let Err(reason) = network.try_run(host, &format!("ip link add vx address {mac} {tunnel}")) {
                testkit::skip(format!("needs VXLAN in the kernel: {reason}"));
                return None;
            }
            network.set_ipv6(host, "vx", false);
            network.run(host, "ip link set vx up");
            network.run(host, "ethtool -K vx tx off");
            network.run(host, &format!("ip address add 172.16.0.{last}/16 dev vx"));
            network.run(host, "ip address add 198.51.100.1/32 dev vx");
            network.run(host, "ip route add default via 172.16.0.1");
        }
        Some(Centre { network, folder: tempfile::tempdir().unwrap(), service: SERVICE4 })
    }

    /// The same with IPv6 on all sides but the underlay.
    fn of_ipv6(programs: &[&str]) -> Option<Centre> {
        if !netns::has_ipv6() {
            testkit::skip("needs IPv6 in the kernel");
            return None;
        }
        let centre = Centre::new(programs)?;
        let network = &centre.network;
        network.set_ipv6("client", "eth0", true);
        network.run("client", "ip address add 2001:db8:2::2/64 dev eth0 nodad");
        network.run("client", "ip -6 route add default via 2001:db8:2::1");
        for (host, last) in [("a", 11), ("b", 12)] {
            network.set_ipv6(host, "vx", true);
            network.run(host, &format!("ip address add fd00:100::{last}/64 dev vx nodad"));
            network.run(host, &format!("ip address add {SERVICE6}/128 dev vx nodad"));
            network.run(host, "ip -6 route add default via fd00:100::1");
        }
        Some(Centre { service: SERVICE6, ..centre })
    }

    /// The file of the application, with parts of it replaced.
    fn config(&self, changes: &[[&str; 2]]) -> String {
        let mut text = std::fs::read_to_string(app("dcg/dcg.toml")).unwrap();
        for [from, to] in changes {
            assert!(text.contains(from));
            text = text.replacen(from, to, 1);
        }
        let file = self.folder.path().join("dcg.toml");
        std::fs::write(&file, text).unwrap();
        file.display().to_string()
    }

    fn controller(&self, changes: &[[&str; 2]]) -> Running {
        self.network.start("switch", &format!("{WIRESPEED} dcg --config {}", self.config(changes)))
    }

    fn switch(&self) -> Running {
        let program = app("dcg/dcg.p4");
        let ports = "--port 1=g1 --port 3=g3 --port 4=g4";
        self.network.start("switch", &format!("{WIRESPEED} run {} {ports} --json --p4runtime", program.display()))
    }

    fn served(&self) -> [Running; 2] {
        self.served_with(&[])
    }

    fn served_with(&self, changes: &[[&str; 2]]) -> [Running; 2] {
        let served = [self.switch(), self.controller(changes)];
        crate::network::wait_for_ping(&self.network, "client", self.service);
        served
    }

    /// Starts a server of TCP on a machine, which answers with its name.
    fn serve(&self, host: &str) -> Running {
        self.network.start_python(host, &SERVER.replace("NAME", host).replace("ADDRESS", self.service))
    }

    /// How many of 40 connections each machine has answered, and how many failed.
    fn connect(&self) -> [u32; 3] {
        let said = self.network.python("client", &CLIENT.replace("ADDRESS", self.service));
        let counts: Vec<u32> = said.split_whitespace().map(|word| word.parse().unwrap()).collect();
        counts.try_into().unwrap()
    }

    fn wait(&self, what: impl Fn([u32; 3]) -> bool) {
        let started = Instant::now();
        loop {
            let counts = self.connect();
            if what(counts) {
                return;
            }
            let group = ctl(&self.network, "switch", "show balancing");
            assert!(started.elapsed() < Duration::from_secs(30), "{counts:?}\n{group}");
            thread::sleep(Duration::from_millis(300));
        }
    }
}

/// Answers each connection with the name of the machine, and each line in it, too.
const SERVER: &str = "
import socket, threading
family = socket.AF_INET6 if ':' in 'ADDRESS' else socket.AF_INET
listener = socket.create_server(('ADDRESS', 80), family=family, backlog=256)
def serve(connection):
    with connection:
        connection.sendall(b'NAME')
        while connection.recv(64): connection.sendall(b'NAME')
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
";

/// Opens 40 connections and prints how many each machine has answered, and how many failed.
const CLIENT: &str = "
import collections, socket
answers = collections.Counter()
for number in range(40):
    try:
        with socket.create_connection(('ADDRESS', 80), 0.5) as flow:
            flow.settimeout(1)
            answers[flow.recv(64).decode()] += 1
    except OSError:
        answers['none'] += 1
        if answers['none'] > 3: break
print(answers['a'], answers['b'], answers['none'])
";

fn is_shared([a, b, none]: [u32; 3]) -> bool {
    a >= 6 && b >= 6 && none == 0
}

#[test]
fn servers_share_flows_and_one_that_dies_is_left() {
    if let Some(centre) = Centre::new(&[]) {
        one_that_dies_is_left(&centre);
    }
}

#[test]
fn servers_of_ipv6_share_flows_and_one_that_dies_is_left() {
    if let Some(centre) = Centre::of_ipv6(&[]) {
        one_that_dies_is_left(&centre);
    }
}

fn one_that_dies_is_left(centre: &Centre) {
    let [switch, controller] = centre.served();
    let (a, b) = (centre.serve("a"), centre.serve("b"));
    centre.wait(is_shared);
    // The service ends on a machine that still answers pings.
    drop(b);
    centre.wait(|counts| counts == [40, 0, 0]);
    let b = centre.serve("b");
    centre.wait(is_shared);
    // The machine is lost.
    centre.network.run("a", "ip link set eth0 down");
    centre.wait(|counts| counts == [0, 40, 0]);
    let pinged = format!("-c 2 -i 0.2 -W 5 {}", centre.service);
    expect_in(&ping(&centre.network, "client", &pinged), &["2 received"]);
    centre.network.run("a", "ip link set eth0 up");
    centre.wait(is_shared);
    drop((a, b, controller));
    stop(switch);
}

#[test]
fn the_gateway_answers_and_sends_errors() {
    let Some(centre) = Centre::new(&[]) else { return };
    let [switch, controller] = centre.served();
    let network = &centre.network;
    for (host, address) in [("client", "192.0.2.1"), ("a", "10.0.0.1"), ("b", "172.16.0.1")] {
        expect_in(&ping(network, host, &format!("-c 1 -W 5 {address}")), &["1 received"]);
    }
    expect_in(&ping(network, "client", "-c 1 -W 5 -t 1 198.51.100.1"), &["From 192.0.2.1", "Time to live exceeded"]);
    expect_in(&ping(network, "a", "-c 1 -W 5 -I 198.51.100.1 -t 1 192.0.2.2"), &["From 172.16.0.1"]);
    expect_in(&ping(network, "client", "-c 1 -W 5 -M do -s 1472 198.51.100.1"), &["1 received"]);
    drop(controller);
    stop(switch);
}

#[test]
fn the_gateway_answers_and_sends_errors_of_ipv6() {
    let Some(centre) = Centre::of_ipv6(&[]) else { return };
    // Too long for the outside, and without a route to all of it.
    let changes = [["192.0.2.1/24\"", "192.0.2.1/24\"\nmtu = 1400"], ["\"::/0\"", "\"2001:db8:2::/64\""]];
    let [switch, controller] = centre.served_with(&changes);
    let network = &centre.network;
    for (host, address) in [("client", "2001:db8:2::1"), ("b", "fd00:100::1"), ("client", "192.0.2.1")] {
        expect_in(&ping(network, host, &format!("-c 1 -W 5 {address}")), &["1 received"]);
    }
    let outside = "From 2001:db8:2::1";
    expect_in(&ping(network, "client", &format!("-c 1 -W 5 -t 1 {SERVICE6}")), &[outside, "Hop limit"]);
    let inside = "From fd00:100::1";
    let from_server = |more: &str| ping(network, "a", &format!("-c 1 -W 5 -I {SERVICE6} {more}"));
    expect_in(&from_server("-t 1 2001:db8:2::2"), &[inside, "Hop limit"]);
    expect_in(&from_server("2001:db8:ff::9"), &[inside, "No route"]);
    expect_in(&from_server("-M do -s 1400 2001:db8:2::2"), &[inside, "Packet too big: mtu=1400"]);
    drop(controller);
    stop(switch);
}

/// Holds a connection for some seconds and prints who has answered each second.
const LONG: &str = "
import socket, time
flow = socket.create_connection(('198.51.100.1', 80), 5)
flow.settimeout(3)
seen = flow.recv(64).decode()
for _ in range(30):
    flow.sendall(b'?')
    seen += flow.recv(64).decode()
    time.sleep(0.5)
print(seen)
";

#[test]
fn a_server_that_leaves_keeps_its_flows_and_gets_no_others() {
    let Some(centre) = Centre::new(&[]) else { return };
    let [switch, controller] = centre.served();
    let servers = (centre.serve("a"), centre.serve("b"));
    centre.wait(is_shared);
    // Of some connections, a few are at the server that leaves.
    let long: Vec<Running> = (0..6).map(|_| centre.network.start_python("client", LONG)).collect();
    drop(controller);
    let mac = "mac = \"02:00:00:00:64:0c\"";
    let controller = centre.controller(&[[mac, &format!("{mac}\ndrain = true\n[draining]\ntime = 3")]]);
    wait_for(&centre.network, "switch", "show flows", |said| said.contains("use_server"));
    for flow in long {
        let seen = flow.wait();
        let seen = seen.trim();
        assert!(seen == "a".repeat(31) || seen == "b".repeat(31), "{seen}");
    }
    centre.wait(|counts| counts == [40, 0, 0]);
    drop((servers, controller));
    stop(switch);
}

/// First segments of connections that do not exist, each of its own, for some seconds. Their checksums are wrong: the
/// servers need not answer.
const NEW_FLOWS: &str = "
import socket, struct, time
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(('eth0', 0))
def total(data):
    number = sum(struct.unpack('!10H', data))
    while number >> 16: number = (number & 0xffff) + (number >> 16)
    return ~number & 0xffff
number, end = 0, time.time() + 25
while time.time() < end:
    for _ in range(20):
        number += 1
        client = bytes([198, 18 + (number >> 16 & 1), number >> 8 & 255, number & 255])
        head = struct.pack('!BBHHHBBH4s4s', 69, 0, 40, 1, 0, 64, 6, 0, client, bytes([198, 51, 100, 1]))
        head = head[:10] + struct.pack('!H', total(head)) + head[12:]
        segment = struct.pack('!HHIIBBHHH', 1024 + number % 60000, 80, 1, 0, 80, 2, 1024, 0, 0)
        link.send(bytes.fromhex('0200000001010200000001020800') + head + segment)
    time.sleep(0.02)
print(number)
";

#[test]
fn a_flood_of_new_flows_while_a_server_leaves_harms_no_flow_that_it_has() {
    let Some(centre) = Centre::new(&[]) else { return };
    let [switch, controller] = centre.served();
    let servers = (centre.serve("a"), centre.serve("b"));
    centre.wait(is_shared);
    let flood = centre.network.start_python("client", NEW_FLOWS);
    let long: Vec<Running> = (0..8).map(|_| centre.network.start_python("client", LONG)).collect();
    drop(controller);
    let mac = "mac = \"02:00:00:00:64:0c\"";
    let draining = format!("{mac}\ndrain = true\n[draining]\ntime = 3\nflows = 100");
    let controller = centre.controller(&[[mac, &draining]]);
    for flow in long {
        let seen = flow.wait();
        let seen = seen.trim();
        assert!(seen == "a".repeat(31) || seen == "b".repeat(31), "{seen}");
    }
    let flows = ctl(&centre.network, "switch", "show flows");
    let flows = flows.lines().filter(|line| line.contains("use_server")).count();
    assert!((50..=100).contains(&flows), "{flows} flows");
    flood.wait();
    controller.signal("INT");
    let said = controller.wait();
    assert!(said.contains("reports of draining flows are refused"), "{said}");
    drop(servers);
    stop(switch);
}

#[test]
fn controller_and_switch_may_start_again() {
    let Some(centre) = Centre::new(&[]) else { return };
    let [switch, controller] = centre.served();
    let servers = (centre.serve("a"), centre.serve("b"));
    centre.wait(is_shared);
    drop(controller);
    assert!(is_shared(centre.connect()));
    // A group that a controller begins with is not changed before probes were answered.
    let controller = centre.controller(&[]);
    for _ in 0..3 {
        assert!(is_shared(centre.connect()));
    }
    stop(switch);
    let switch = centre.switch();
    centre.wait(is_shared);
    drop((servers, controller));
    stop(switch);
}

/// Sends frames as a machine, or as a stranger outside.
const HOSTILE: &str = "
import socket, struct
def total(data):
    number = sum(struct.unpack('!%dH' % (len(data) // 2), data))
    while number >> 16: number = (number & 0xffff) + (number >> 16)
    return ~number & 0xffff
def ip(source, destination, protocol, payload, ttl=64, fragment=0, wrong=0):
    head = struct.pack('!BBHHHBBH4s4s', 69, 0, 20 + len(payload), 1, fragment, ttl, protocol, 0,
                       socket.inet_aton(source), socket.inet_aton(destination))
    return head[:10] + struct.pack('!H', total(head) ^ wrong) + head[12:] + payload
def udp(source, destination, content=b'evil'):
    return struct.pack('!HHHH', source, destination, 8 + len(content), 0) + content
def ethernet(packet, macs='02000000640102000000640b'): return bytes.fromhex(macs) + b'\\x08\\0' + packet
def vxlan(frame, vni=100, flags=8, **more):
    more = {'source': '10.0.0.11', 'destination': '10.0.0.1'} | more
    head = struct.pack('!BxxxI', flags, vni << 8)
    return ip(more.pop('source'), more.pop('destination'), 17, udp(50000, 4789, head + frame), **more)
def server(**more): return ip('198.51.100.1', '192.0.2.2', 17, udp(80, 9), **more)
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(('eth0', 0))
def send(packet):
    for _ in range(20):
        link.send(ethernet(packet, 'MACS'))
";

/// Sends what a line of Python makes, and returns how much more a counter of reasons has then.
fn counted_of(centre: &Centre, from: &str, line: &str, reason: u32) -> u64 {
    let macs = if from == "client" { "020000000101020000000102" } else { "02000000030102000000030b" };
    let mut program = HOSTILE.replace("MACS", macs);
    writeln!(program, "send({line})").unwrap();
    let cell = format!("reasons {reason}");
    let before = counted(&centre.network, "switch", &cell);
    centre.network.python(from, &program);
    let started = Instant::now();
    loop {
        let more = counted(&centre.network, "switch", &cell) - before;
        if more >= 20 || started.elapsed() > Duration::from_secs(5) {
            return more;
        }
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn hostile_packets_are_counted_by_reason() {
    let Some(centre) = Centre::new(&[]) else { return };
    let [switch, controller] = centre.served();
    let to_service = |more: &str| format!("ip('192.0.2.2', '198.51.100.1', 6, bytes([4,0,0,80]) + bytes(16){more})");
    let cases = [
        ("client", to_service(", ttl=0"), 1),
        ("client", to_service(", ttl=1"), 1),
        ("client", to_service(", wrong=1"), 10),
        ("client", to_service(", fragment=0x2000"), 15),
        ("client", to_service(", fragment=40"), 15),
        ("client", "ip('127.0.0.1', '198.51.100.1', 17, udp(1, 2))".to_owned(), 12),
        ("client", "ip('192.0.2.2', '198.51.100.1', 6, bytes([4,0,0,81]) + bytes(16))".to_owned(), 19),
        ("client", "vxlan(ethernet(server()))".to_owned(), 21),
        ("client", "ip('192.0.2.2', '198.51.100.1', 4, server())".to_owned(), 26),
        ("a", "vxlan(ethernet(server()), flags=0)".to_owned(), 22),
        ("a", "vxlan(ethernet(server()), source='10.0.0.99')".to_owned(), 23),
        ("a", "vxlan(ethernet(server()), vni=200)".to_owned(), 24),
        ("a", "vxlan(ethernet(ip('203.0.113.1', '192.0.2.2', 17, udp(80, 9))))".to_owned(), 25),
        ("a", "vxlan(ethernet(vxlan(ethernet(server()))))".to_owned(), 26),
        ("a", "vxlan(ethernet(server(wrong=1)))".to_owned(), 10),
        ("a", "vxlan(ethernet(server()), wrong=1)".to_owned(), 10),
        ("a", "vxlan(ethernet(server()), fragment=0x2000)".to_owned(), 15),
        ("a", "vxlan(ethernet(server(ttl=1)))".to_owned(), 1),
    ];
    for (from, line, reason) in cases {
        let more = counted_of(&centre, from, &line, reason);
        assert!((20..25).contains(&more), "{line}: {more} with reason {reason}");
    }
    expect_in(&ping(&centre.network, "client", "-c 2 -i 0.2 -W 5 198.51.100.1"), &["2 received"]);
    drop(controller);
    stop(switch);
}
