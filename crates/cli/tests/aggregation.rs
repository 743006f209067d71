//! Aggregation gateways between hosts: a sender, a gateway, a slow link, a gateway, a server. And real captures through
//! two gateways, from file to file.
#![allow(clippy::print_stdout, reason = "a test that fails shows how far it came")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};
use testkit::netns::{Network, Running};

/// The gateway's settings at the devices, beside its classes.
const NEAR: &str = "\
table_add tunnels over_ipv4 3 => 2 1400 192.0.2.1 192.0.2.2 7 1
table_add route_ipv4 send 10.0.1.0/24 => 2
table_add route_ipv6 send 2001:db8:1::/48 => 2
table_add route_ipv4 send 10.0.0.0/24 => 1
table_add link rewrite 1 => 02:00:00:00:01:01 02:00:00:00:01:02
table_add link rewrite 2 => 02:00:00:00:02:01 02:00:00:00:02:02
";

/// What it aggregates.
const CLASSES: &str = "\
table_add classes_ipv4 aggregate 10.0.1.0&&&0xffffff00 5000->5009 => 3 200 20000 1
table_add classes_ipv6 aggregate 2001:db8:1::&&&ffff:ffff:ffff:: 5000->5009 => 3 200 20000 1
";

const FAR: &str = "\
table_add peers_ipv4 is_peer 192.0.2.1 192.0.2.2 7 => 0
table_add route_ipv4 send 10.0.1.0/24 => 2
table_add route_ipv6 send 2001:db8:1::/48 => 2
table_add route_ipv4 send 10.0.0.0/24 => 1
table_add link rewrite 1 => 02:00:00:00:03:01 02:00:00:00:03:02
table_add link rewrite 2 => 02:00:00:00:04:01 02:00:00:00:04:02
";

/// Bits per second of the link, as an Ethernet wire counts them: about as many as two thirds of the packets take alone,
/// and one and a half times as many as they take together.
const LINK: &str = "tc qdisc add dev w2 root tbf rate 1mbit burst 4000 limit 60000 overhead 24 mpu 84";

/// Sends each line of its input, in hex, as a packet of one of four flows, 2,000 a second; prints the number of
/// packets of each flow and a digest of them.
const SENDER: &str = "
import collections, hashlib, json, random, socket, time
random.seed(1)
sockets = {}
for flow in range(4):
    family = socket.AF_INET if flow % 2 == 0 else socket.AF_INET6
    sockets[flow] = socket.socket(family, socket.SOCK_DGRAM)
    sockets[flow].bind(('', 4000 + flow))
payloads = PAYLOADS
digests = collections.defaultdict(hashlib.sha256)
counts = collections.Counter()
begin = time.monotonic()
for number, payload in enumerate(payloads):
    flow = number % 4
    sockets[flow].sendto(payload, ('10.0.1.1' if flow % 2 == 0 else '2001:db8:1::1', 5000 + flow // 2))
    digests[flow].update(len(payload).to_bytes(2, 'big') + payload)
    counts[flow] += 1
    ahead = number / 2000 - (time.monotonic() - begin)
    if ahead > 0.001:
        time.sleep(ahead)
print(json.dumps({flow: [counts[flow], digests[flow].hexdigest()] for flow in range(4)}))
";

/// Prints the same for the received packets, when nothing has arrived for a while.
const SERVER: &str = "
import collections, hashlib, json, select, socket
sockets = []
for family in (socket.AF_INET, socket.AF_INET6):
    for port in (5000, 5001):
        it = socket.socket(family, socket.SOCK_DGRAM)
        it.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        if family == socket.AF_INET6:
            it.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        it.bind(('', port))
        sockets.append(it)
digests = collections.defaultdict(hashlib.sha256)
counts = collections.Counter()
timeout_s = 15
while ready := select.select(sockets, [], [], timeout_s)[0]:
    timeout_s = 3
    for it in ready:
        payload, source = it.recvfrom(4096)
        flow = source[1] - 4000
        digests[flow].update(len(payload).to_bytes(2, 'big') + payload)
        counts[flow] += 1
print(json.dumps({flow: [counts[flow], digests[flow].hexdigest()] for flow in range(4)}))
";

/// The hosts and the gateways' locations between them; `None` if the machine lacks what they need.
fn network() -> Option<Network> {
    let mut network = match Network::new(&["ping", "python3", "tc"]) {
        Ok(network) => network,
        Err(reason) => {
            testkit::skip(reason);
            return None;
        }
    };
    if !testkit::netns::has_ipv6() {
        testkit::skip("needs IPv6");
        return None;
    }
    for name in ["sender", "near", "link", "far", "server"] {
        network.add(name);
    }
    network.wire(["sender", "eth0"], ["near", "n1"]);
    network.wire(["near", "n2"], ["link", "w1"]);
    network.wire(["link", "w2"], ["far", "f1"]);
    network.wire(["far", "f2"], ["server", "eth0"]);
    network.bridge("link", ["w1", "w2"]);
    if let Err(reason) = network.try_run("link", LINK) {
        testkit::skip(format!("needs the kernel's token bucket filter: {reason}"));
        return None;
    }
    for (host, number, own, other) in [("sender", 1, "", "1"), ("server", 4, "1", "")] {
        network.run(host, &format!("ip link set eth0 address 02:00:00:00:0{number}:02"));
        network.set_ipv6(host, "eth0", true);
        let (own_number, other_number) = (own.parse().unwrap_or(0), other.parse().unwrap_or(0));
        network.run(host, &format!("ip address add 10.0.{own_number}.1/24 dev eth0"));
        network.run(host, &format!("ip neigh add 10.0.{own_number}.254 lladdr 02:00:00:00:0{number}:01 dev eth0"));
        network.run(host, &format!("ip route add 10.0.{other_number}.0/24 via 10.0.{own_number}.254"));
        network.run(host, &format!("ip address add 2001:db8:{own_number}::1/48 dev eth0 nodad"));
        let gateway = format!("2001:db8:{own_number}::fe");
        network.run(host, &format!("ip neigh add {gateway} lladdr 02:00:00:00:0{number}:01 dev eth0"));
        network.run(host, &format!("ip route add 2001:db8:{other_number}::/48 via {gateway}"));
    }
    Some(network)
}

fn program() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/aggregation/gateway/gateway.p4")
}

/// Writes entries to a file that lives as long as the result.
fn entries(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::with_suffix(".txt").unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

/// Starts a gateway.
fn gateway(network: &Network, name: &str, entries: &tempfile::NamedTempFile, ports: &str, workers: &str) -> Running {
    let line = format!(
        "{} run {} --entries {} {ports} --workers {workers} --json",
        env!("CARGO_BIN_EXE_wirespeed"),
        program().display(),
        entries.path().display()
    );
    network.start(name, &line)
}

/// The compiler may take a while on a loaded machine.
fn wait_for_ping(network: &Network) {
    let started = Instant::now();
    while let Err(complaint) = network.try_run("sender", "ping -c 1 -W 1 10.0.1.1") {
        assert!(started.elapsed() < Duration::from_secs(50), "the gateways do not start: {complaint}");
        thread::sleep(Duration::from_millis(200));
    }
}

/// Sends payloads, which Python computes, from the sender to the server, and returns the output of both: for each
/// flow, the number of payloads and their digest.
fn exchange(network: &Network, classes: &str, workers: &str, payloads: &str) -> (serde_json::Value, serde_json::Value) {
    let (near, far) = (entries(&format!("{NEAR}{classes}")), entries(FAR));
    let near = gateway(network, "near", &near, "--port 1=n1 --port 2=n2", workers);
    let far = gateway(network, "far", &far, "--port 1=f1 --port 2=f2", workers);
    wait_for_ping(network);
    let server = network.start_python("server", SERVER);
    thread::sleep(Duration::from_secs(1));
    let sent = network.python("sender", &SENDER.replace("PAYLOADS", payloads));
    let received = server.wait();
    for gateway in [near, far] {
        gateway.signal("INT");
        gateway.wait();
    }
    (serde_json::from_str(&sent).unwrap(), serde_json::from_str(&received).unwrap())
}

fn packets(said: &serde_json::Value) -> u64 {
    said.as_object().unwrap().values().map(|flow| flow[0].as_u64().unwrap()).sum()
}

/// Payloads of 4 to 44 bytes.
const MIXED: &str = "[random.randbytes(random.randint(4, 44)) for _ in range(8000)]";

#[test]
fn a_link_that_is_too_slow_for_packets_alone_carries_aggregates() {
    let Some(network) = network() else { return };
    let (sent, received) = exchange(&network, "", "1", MIXED);
    assert!(packets(&received) < packets(&sent), "plain forwarding lost nothing: {received} of {sent}");
    for workers in ["1", "2"] {
        let (sent, received) = exchange(&network, CLASSES, workers, MIXED);
        assert_eq!(sent, received, "with {workers} workers: all of them, unchanged, each flow in order");
    }
}

/// Payloads of which every twentieth bypasses the aggregates that the payloads before and after it are in.
const SOME_LARGE: &str = "[random.randbytes(random.randint(4, 44) if random.random() > 0.05 else \
                          random.randint(201, 1200)) for _ in range(8000)]";

#[test]
fn large_and_small_packets_keep_their_order_whatever_workers_are_wanted() {
    let Some(network) = network() else { return };
    network.run("link", "tc qdisc del dev w2 root");
    for workers in ["2", "auto"] {
        let (sent, received) = exchange(&network, CLASSES, workers, SOME_LARGE);
        assert_eq!(sent, received, "with {workers} workers: all of them, unchanged, each flow in order");
    }
}

/// Sends a request to a switch until it answers.
fn ctl_once_there(network: &Network, line: &str) -> String {
    let started = Instant::now();
    loop {
        match network.try_run("near", &format!("{} ctl {line}", env!("CARGO_BIN_EXE_wirespeed"))) {
            Ok(output) => return output,
            Err(complaint) => assert!(started.elapsed() < Duration::from_secs(50), "it does not start: {complaint}"),
        }
        thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn a_gateway_reports_that_it_has_one_worker() {
    let Some(network) = network() else { return };
    let near = entries(NEAR);
    let ports = "--port 1=n1 --port 2=n2 --p4runtime 127.0.0.1:9559";
    let gateway = gateway(&network, "near", &near, ports, "2");
    let ctl = |line: &str| network.try_run("near", &format!("{} ctl {line}", env!("CARGO_BIN_EXE_wirespeed")));
    let output = ctl_once_there(&network, "workers");
    assert!(output.starts_with("1 of at most 64\nnot in parallel: the program joins or splits packets"), "{output}");
    let refused = ctl("workers 2").unwrap_err();
    assert!(refused.contains("there is 1 worker, not 2: the program joins or splits packets"), "{refused}");
    assert!(ctl("workers auto").unwrap().starts_with("1 of at most 64\n"));
    gateway.signal("INT");
    gateway.wait();
}

/// Ports that were opened for two workers cannot preserve the order of packets any more.
#[test]
fn a_gateway_is_refused_where_ports_have_several_queues() {
    let Some(network) = network() else { return };
    for workers in ["2", "1"] {
        let wirespeed = env!("CARGO_BIN_EXE_wirespeed");
        let line =
            format!("{wirespeed} run --port 1=n1 --port 2=n2 --workers {workers} --p4runtime 127.0.0.1:9559 --json");
        let switch = network.start("near", &line);
        ctl_once_there(&network, "workers");
        let loaded = network.try_run("near", &format!("{wirespeed} ctl load {}", program().display()));
        match loaded {
            Ok(_) => assert_eq!(workers, "1"),
            Err(refused) => {
                assert!(refused.contains("order would be lost: ports 1 and 2 have several queues each"), "{refused}");
                assert_eq!(workers, "2", "{refused}");
            }
        }
        switch.signal("INT");
        switch.wait();
    }
}

/// Data outside of the project; `None` if it is missing.
fn data(name: &str) -> Option<PathBuf> {
    testkit::corpus::data(name).map_err(testkit::skip).ok()
}

#[test]
fn payloads_of_real_sensors_arrive() {
    let Some(file) = data("payloads/lorawan-ems.csv") else { return };
    let Some(network) = network() else { return };
    let lines = format!("open({:?}).read().split()[1:8001]", file.display().to_string());
    let payloads = format!("[bytes.fromhex(line.split(',')[3]) for line in {lines}]");
    let (sent, received) = exchange(&network, CLASSES, "1", &payloads);
    assert_eq!(sent, received);
}

/// The Ethernet frames of a capture.
fn frames(path: &Path) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(path).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    assert!([0xa1b2_c3d4, 0xa1b2_3c4d].contains(&word(0)), "{}: a capture of this byte order", path.display());
    let mut at = 24;
    std::iter::from_fn(|| {
        let length = (at < bytes.len()).then(|| word(at + 8) as usize)?;
        at += 16 + length;
        Some(bytes[at - length..at].to_vec())
    })
    .collect()
}

/// The IP packet in a frame; of other frames, what follows the addresses.
fn packet_in(frame: &[u8]) -> &[u8] {
    let word = |at: usize| usize::from(u16::from_be_bytes([frame[at], frame[at + 1]]));
    match word(12) {
        0x0800 => &frame[14..14 + word(16)],
        0x86dd => &frame[14..54 + word(18)],
        _ => &frame[12..],
    }
}

/// Packets by flow: addresses, protocol and ports.
fn flows(frames: &[Vec<u8>]) -> BTreeMap<Vec<u8>, Vec<&[u8]>> {
    let mut flows = BTreeMap::<_, Vec<_>>::new();
    for packet in frames.iter().map(|frame| packet_in(frame)) {
        let flow = match packet[0] >> 4 {
            4 => [&packet[9..10], &packet[12..24]].concat(),
            6 => [&packet[6..7], &packet[8..44]].concat(),
            _ => packet[..2].to_vec(),
        };
        flows.entry(flow).or_default().push(packet);
    }
    flows
}

/// Runs the gateway from a capture on port 1 to one on port 2, and returns its counters.
fn from_file_to_file(from: &Path, to: &Path, text: &str) -> serde_json::Value {
    run_over_files(from, to, text, &[])
}

fn run_over_files(from: &Path, to: &Path, text: &str, further: &[&str]) -> serde_json::Value {
    let file = entries(text);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_wirespeed"));
    command.arg("run").arg(program()).arg("--entries").arg(file.path()).arg("--json");
    command.arg("--port").arg(format!("1=pcap:{}", from.display()));
    command.arg("--port").arg(format!("2=pcap:,{}", to.display())).args(further);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

#[test]
fn captures_come_out_as_they_went_in() {
    let near = "\
table_set_default hops take 0
table_add classes_ipv4 aggregate 0&&&0 0->65535 => 3 600 20000 1
table_add classes_ipv6 aggregate 0&&&0 0->65535 => 3 600 20000 1
table_add tunnels over_ipv4 3 => 2 1400 192.0.2.1 192.0.2.2 7 0
table_add route_ipv4 send 0.0.0.0/0 => 2
table_add route_ipv6 send ::/0 => 2
table_add others send 1 => 2
";
    let far = "\
table_set_default hops take 0
table_add peers_ipv4 is_peer 192.0.2.1 192.0.2.2 7 => 0
table_add route_ipv4 send 0.0.0.0/0 => 2
table_add route_ipv6 send ::/0 => 2
table_add others send 1 => 2
";
    let folder = tempfile::tempdir().unwrap();
    let (between, after) = (folder.path().join("between.pcap"), folder.path().join("after.pcap"));
    for name in ["zeek_dns-edns-ecs", "zeek_modbusSmall", "zeek_snmpwalk-short", "tcpdump_vxlan"] {
        let Some(before) = data(&format!("captures/{name}.pcap")) else { return };
        from_file_to_file(&before, &between, near);
        from_file_to_file(&between, &after, far);
        let (before, between, after) = (frames(&before), frames(&between), frames(&after));
        assert_eq!(flows(&before), flows(&after), "{name}");
        println!("{name}: {} packets, {} between the gateways", before.len(), between.len());
        assert!(between.len() <= before.len(), "{name}");
    }
}

/// A UDP packet of a device for a server, with a number.
fn numbered(number: u32) -> Vec<u8> {
    let mut ip = [0x45, 0, 0, 36, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 1, 1];
    ip[4..6].copy_from_slice(&(number as u16).to_be_bytes());
    let sum: u32 = ip.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    ip[10..12].copy_from_slice(&(!(sum as u16 + (sum >> 16) as u16)).to_be_bytes());
    let udp = [4001, 5000, 16, 0].map(u16::to_be_bytes).concat();
    let (ethernet, payload) = ([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0], u64::from(number).to_be_bytes());
    [&ethernet[..], &ip, &udp, &payload].concat()
}

/// Copies a folder of files.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

/// Both gateways store their state and are restarted several times; at the end the first one finds a state older than
/// what it has sent, as after a kill or a loss of power. No payload is duplicated, taken for late, or invented.
#[test]
fn a_gateway_with_an_old_state_is_not_taken_for_late() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let hosts = "table_set_default hops take 0\ntable_add route_ipv4 send 10.0.0.0/16 => 2\n";
    let near = format!(
        "{hosts}table_add classes_ipv4 aggregate 10.0.1.0&&&0xffffff00 5000->5009 => 3 200 20000 1\n\
         table_add tunnels over_ipv4 3 => 2 400 192.0.2.1 192.0.2.2 7 0\n"
    );
    let far = format!("{hosts}table_add peers_ipv4 is_peer 192.0.2.1 192.0.2.2 7 => 0\n");
    let run = |from: &str, to: &str, text: &str, state: &str| {
        run_over_files(&path(from), &path(to), text, &["--state", path(state).to_str().unwrap()]);
        frames(&path(to))
    };
    let mut came = Vec::new();
    for part in 0..4 {
        let mut writer = live::pcap::CaptureWriter::create(&path("sent")).unwrap();
        for number in 100 * part..100 * part + 100 {
            writer.write(&numbered(number), 1_000_000_000 + 1_000 * u64::from(number)).unwrap();
        }
        writer.flush().unwrap();
        drop(writer);
        // Its state after the first part is its state before the last.
        if part == 3 {
            std::fs::remove_dir_all(path("near")).unwrap();
            copy(&path("near-then"), &path("near"));
        }
        let between = run("sent", &format!("between-{part}"), &near, "near");
        assert!(between.len() < 20, "{} aggregates", between.len());
        came.extend(run(&format!("between-{part}"), "came", &far, "far"));
        if part == 0 {
            copy(&path("near"), &path("near-then"));
        }
        // The aggregates of this part and of the one before are sent once more.
        for late in part.saturating_sub(1)..=part {
            let again = run(&format!("between-{late}"), "again", &far, "far");
            assert!(again.is_empty(), "part {late} has come twice, in part {part}");
        }
    }
    let packets = |frames: &[Vec<u8>]| frames.iter().map(|frame| packet_in(frame).to_vec()).collect::<Vec<_>>();
    let sent: Vec<Vec<u8>> = (0..400).map(numbered).collect();
    assert!(packets(&came) == packets(&sent), "{} packets have come", came.len());
}
