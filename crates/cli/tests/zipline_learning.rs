//! ZipLine's controller between running switches: its messages about those that it cannot control, and TCP and UDP
//! between hosts over a link that loses, duplicates and reorders frames, while bases come and go, there are too few
//! identifiers, and the controller and the decoder are killed; also with the controller in one of the switches.
#![allow(clippy::print_stdout, reason = "a test that fails shows how far it came")]

use crate::support;

use base::Bits;
use serde_json::Value as Json;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use testkit::netns::{Network, Running};
use zipline::entries::{Class, Header};
use zipline::transform::Layout;
use zipline::{Classes, Code, Transform};

/// A controller that runs until it is dropped, and its lines.
struct Learner {
    process: Child,
    lines: BufReader<ChildStdout>,
}

impl Learner {
    fn start(encoder: &str, decoder: &str, further: &str) -> Learner {
        let line = format!("zipline learn --json --encoder {encoder} --decoder {decoder} {further}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
        command.args(line.split_whitespace()).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap());
        Learner { process, lines }
    }

    /// The next line of this event.
    fn next(&mut self, event: &str) -> Json {
        loop {
            let mut line = String::new();
            assert!(self.lines.read_line(&mut line).unwrap() > 0, "the controller has ended");
            let line: Json = serde_json::from_str(&line).unwrap();
            if line["event"] == event {
                return line;
            }
        }
    }

    /// The counts when the first identifiers are reused, or after 30 seconds. Earlier lines are read first.
    fn recycling(&mut self) -> Json {
        let mut counts = self.next("counts");
        while counts["recycled"].as_u64() < Some(2) && counts["seconds"].as_f64() < Some(30.0) {
            counts = self.next("counts");
        }
        counts
    }

    /// Kills it.
    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Learner {
    fn drop(&mut self) {
        let _ended = self.process.kill();
        let _waited = self.process.wait();
    }
}

#[test]
fn who_cannot_be_led_is_named_with_the_reason() {
    let router = support::Switch::start();
    let no_controller = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let mut learner = Learner::start(&router.address, &no_controller, "");
    let start = learner.next("start");
    assert_eq!(
        (&start["encoders"][0], &start["decoders"][0]),
        (&router.address.clone().into(), &no_controller.clone().into())
    );
    let mut reasons = [learner.next("away"), learner.next("away")].map(|line| {
        let text = |name: &str| {
            line[name].as_str().unwrap().replace(&router.address, "ROUTER").replace(&no_controller, "NOBODY")
        };
        format!("{}: {}", text("switch"), text("why"))
    });
    reasons.sort();
    expect_test::expect![[r#"
        the decoder at NOBODY: the switch at NOBODY cannot be reached: Connection refused (os error 111)
          help: wirespeed run PROGRAM.p4 --port ... --p4runtime starts one; --address names another
        the encoder at ROUTER: it does not run the encoder of apps/zipline: there is no table bases
          help: the program has the tables MyIngress.acl, MyIngress.ipv4_lpm"#]]
    .assert_eq(&reasons.join("\n"));
}

/// An encoder or a decoder with options and entries of its own.
fn switch_with(name: &str, options: &str, entries: &str) -> support::Switch {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("entries.txt");
    std::fs::write(&file, entries).unwrap();
    let mut options: Vec<&str> = options.split_whitespace().collect();
    options.extend(["--entries", file.to_str().unwrap()]);
    support::Switch::start_program(&app(&format!("{name}.p4")), &options)
}

/// Why a controller does not control this encoder and this decoder together.
fn difference(encoder: &support::Switch, decoder: &support::Switch) -> String {
    let mut learner = Learner::start(&encoder.address, &decoder.address, "--every 2");
    let mut joined = 0;
    loop {
        let mut line = String::new();
        learner.lines.read_line(&mut line).unwrap();
        let line: Json = serde_json::from_str(&line).unwrap();
        let text = |name: &str| line[name].as_str().unwrap_or("nothing").replace(&decoder.address, "DECODER");
        joined += u32::from(line["event"] == "joined");
        if joined == 2 || line["event"] == "away" || line["event"] == "taken" {
            return format!("{}: {}\n", text("event"), text("why"));
        }
    }
}

/// All have bases of 24 or of 26 bits and the same number of identifiers; restored packets would be wrong.
#[test]
fn an_encoder_and_a_decoder_that_do_not_fit_are_not_led() {
    const MASKED: &str = "-DCODE=0 -DCHUNK=4 -DASIDE=8 -DID_BITS=4";
    let entries = |lines: &[&str]| lines.join("\n");
    let encoder = switch_with("encoder", MASKED, "table_add classes encode 1 0x0800 => 0 0xff000000");
    let mut output = String::new();
    for class in ["0 => 0x0800 0x00ff0000", "0 => 0x86dd 0xff000000", "1 => 0x86dd 0x00ff0000"] {
        let decoder = switch_with("decoder", MASKED, &format!("table_add classes restore {class}"));
        output += &difference(&encoder, &decoder);
    }
    for options in ["-DCODE=0 -DCHUNK=5 -DASIDE=16", "-DCODE=0 -DCHUNK=4 -DASIDE=8 -DOFFSET=28 -DCOUNT=2"] {
        let decoder = switch_with("decoder", &format!("{options} -DID_BITS=4"), "");
        output += &difference(&encoder, &decoder);
    }
    let code = "-DCODE=5 -DID_BITS=4";
    let encoder =
        switch_with("encoder", code, &entries(&["table_add masks flip 1 => 0", "table_add masks flip 2 => 1"]));
    let decoder =
        switch_with("decoder", code, &entries(&["table_add masks flip 1 => 0", "table_add masks flip 2 => 2"]));
    output += &difference(&encoder, &decoder);
    let decoder = switch_with("decoder", &format!("{code} -DPOLYNOMIAL=0x9"), "");
    output += &difference(&encoder, &decoder);
    // Differences in the transform of a class.
    let mixed = format!("{code} -DCLASSES=2 -DCODE_1=3 -DCHUNK_1=1");
    let encoder = switch_with("encoder", &mixed, "table_add masks_1 flip 3 => 3\n");
    for (options, further) in [
        (mixed.clone(), "table_add masks_1 flip 3 => 4\n"),
        (format!("{mixed} -DPOLYNOMIAL_1=0x5"), ""),
        (format!("{code} -DCLASSES=2"), ""),
        (format!("{code} -DCLASSES=2 -DCODE_1=0 -DASIDE_1=8"), ""),
    ] {
        let decoder = switch_with("decoder", &options, further);
        output += &difference(&encoder, &decoder);
    }
    expect_test::expect![[r#"
        away: in its table `classes` the class 0 has the mask 0xff000000, but 0xff0000 in that of the decoder at DECODER: give both the entries of one transform
        away: in its table `classes` the class 0 has the EtherType 0x0800, but 0x86dd in that of the decoder at DECODER: give both the entries of one transform
        joined: nothing
        away: its program has -D ASIDE=8 -D CHUNK=4, but that of the decoder at DECODER has -D ASIDE=16 -D CHUNK=5: compile both with the same
        away: its program has -D COUNT=1 -D OFFSET=0, but that of the decoder at DECODER has -D COUNT=2 -D OFFSET=28: compile both with the same
        away: its table `masks` has flip(2) for the syndrome 0x02, which contradicts its program's code (-D CODE=5 -D ERRORS=1 -D POLYNOMIAL=0x5): give it the entries that `wirespeed zipline tables` writes for it
        away: its program has -D POLYNOMIAL=0x5, but that of the decoder at DECODER has -D POLYNOMIAL=0x9: compile both with the same
        away: its table `masks_1` has flip(4) for the syndrome 0x03, which contradicts its program's code (-D CODE_1=3 -D ERRORS_1=1 -D POLYNOMIAL_1=0x3): give it the entries that `wirespeed zipline tables` writes for it
        away: its program has -D POLYNOMIAL_1=0x3, but that of the decoder at DECODER has -D POLYNOMIAL_1=0x5: compile both with the same
        away: its program has -D CODE_1=3, but that of the decoder at DECODER has -D CODE_1=(nothing): compile both with the same
        away: its program has -D ASIDE_1=1 -D CHUNK_1=1 -D CODE_1=3 -D POLYNOMIAL_1=0x3, but that of the decoder at DECODER has -D ASIDE_1=8 -D CHUNK_1=4 -D CODE_1=0 -D POLYNOMIAL_1=0x0: compile both with the same
    "#]].assert_eq(&output);
}

/// An identifier of a file means what the first file says: an encoder with another meaning loses it.
#[test]
fn files_that_contradict_each_other_are_named() {
    let code = "-DCODE=5 -DID_BITS=4";
    let decoder = switch_with("decoder", code, "table_add bases expand 3 => 0x12\n");
    let encoder = switch_with("encoder", code, "table_add bases compress 0x13 => 3\n");
    let mut output = difference(&encoder, &decoder);
    let mixed = format!("{code} -DCLASSES=2 -DCODE_1=3 -DCHUNK_1=1");
    let decoder = switch_with("decoder", &mixed, "table_add bases_1 expand 3 => 0x2\n");
    let encoder = switch_with("encoder", &mixed, "table_add bases_1 compress 0x3 => 3\n");
    output += &difference(&encoder, &decoder);
    expect_test::expect![[r#"
        taken: its entries say that the identifier 3 means 0x13, but those of another switch say 0x12: give all switches the entries of the same files
        taken: its entries say that the identifier 3 of class 1 means 0x03, but those of another switch say 0x02: give all switches the entries of the same files
    "#]].assert_eq(&output);
}

/// A file of the certificates for 127.0.0.1: `server` and `client` are signed by `ca`.
fn certificate(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../p4runtime/tests/tls");
    folder.join(name).canonicalize().unwrap().display().to_string()
}

/// An encoder or a decoder that requires TLS, and a certificate of its controller.
fn switch_with_certificate(name: &str) -> support::Switch {
    let [own, key, ca] = ["server.pem", "server.key", "ca.pem"].map(certificate);
    switch_with(
        name,
        &format!("-DCODE=5 -DID_BITS=4 --p4runtime-cert {own} --p4runtime-key {key} --p4runtime-ca {ca}"),
        "",
    )
}

/// The options of the client's certificate.
fn shown_certificate() -> String {
    let [ca, own, key] = ["ca.pem", "client.pem", "client.key"].map(certificate);
    format!("--ca {ca} --cert {own} --key {key}")
}

#[test]
fn switches_that_want_certificates_are_led() {
    let [encoder, decoder] = ["encoder", "decoder"].map(switch_with_certificate);
    let lead = |options: &str| Learner::start(&encoder.address, &decoder.address, options);
    let mut learner = lead(&shown_certificate());
    let both = [learner.next("joined"), learner.next("joined")].map(|line| line["switch"].clone());
    let names = [format!("the decoder at {}", decoder.address), format!("the encoder at {}", encoder.address)];
    assert_eq!(both, names.map(Json::from));
    learner.kill();
    let why = |options: &str| {
        let line = lead(options).next("away");
        line["why"].as_str().unwrap().split(&[':', ';'][..]).nth(3).unwrap().trim().to_owned() + "\n"
    };
    let output = [why(""), why(&format!("--ca {}", certificate("ca.pem")))];
    expect_test::expect![[r#"
        it may require TLS (--ca)
        it may require a certificate (--cert, --key)
    "#]]
    .assert_eq(&output.concat());
}

/// The first message of a controlling switch about the other one.
fn message_of_leader(name: &str, other: &str, options: &str) -> String {
    let [encoder, decoder] = if name == "encoder" { ["here", other] } else { [other, "here"] };
    let line = "-DCODE=5 -DID_BITS=4 --backend interp --p4runtime 127.0.0.1:0";
    let mut command = support::wirespeed();
    command.arg("run").arg(app(&format!("{name}.p4"))).args(line.split_whitespace());
    command.arg("--with").arg(format!("zipline learn --encoder {encoder} --decoder {decoder} {options}"));
    let mut leader = Killed(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(leader.0.stderr.take().unwrap()).lines().map(Result::unwrap);
    let line = lines.find(|line| line.contains(other)).unwrap();
    line.split(';').next().unwrap().replace(other, "OTHER") + "\n"
}

#[test]
fn a_switch_leads_one_that_wants_a_certificate() {
    let mut output = String::new();
    for (leader, led) in [("encoder", "decoder"), ("decoder", "encoder")] {
        let led = switch_with_certificate(led);
        output += &message_of_leader(leader, &led.address, &shown_certificate());
        output += &message_of_leader(leader, &led.address, "");
    }
    expect_test::expect![[r#"
        note: the decoder at OTHER has joined, with 0 bases
        warning: the decoder at OTHER is disconnected: the switch at OTHER cannot be reached: it closes the connection: it may require TLS (--ca)
        note: the encoder at OTHER has joined, with 0 bases
        warning: the encoder at OTHER is disconnected: the switch at OTHER cannot be reached: it closes the connection: it may require TLS (--ca)
    "#]].assert_eq(&output);
}

/// The compile options of the programs, and payloads with more bases than the 16 identifiers.
#[derive(Clone, Copy)]
struct Kind {
    defines: &'static str,
    identifiers: u64,
    datagram: &'static str,
}

/// Chunks of four bytes: version, traffic class and length of IPv4. Lengths that differ by more than a bit have
/// different bases.
const CODE: Kind = Kind {
    defines: "-DCODE=5 -DID_BITS=4",
    identifiers: 16,
    datagram: "
def datagram(number):
    rng = random.Random(number)
    phase = number // 1000
    length = 4 + 200 * (phase % 6) + 8 * rng.randrange(24)
    return number.to_bytes(4, 'big') + rng.randbytes(length)
",
};
const TABLES: &str = "zipline tables --m 5 --id-bits 4 --both-ways --encoder encoder.txt --decoder decoder.txt";

/// Chunks of sixteen bytes in datagrams to a port: up to three of one to four. The first four bytes of each always
/// change.
const MASK: Kind = Kind {
    defines: "-DCODE=0 -DCHUNK=16 -DASIDE=32 -DOFFSET=28 -DCOUNT=3 -DID_BITS=4",
    identifiers: 16,
    datagram: "
def datagram(number):
    rng = random.Random(number)
    basis = lambda: bytes([24 * (number // 1000) + rng.randrange(24)]) * 12
    further = [rng.randbytes(4) + basis() for _ in range(rng.randrange(4))]
    return number.to_bytes(4, 'big') + basis() + b''.join(further) + rng.randbytes(rng.randrange(8))
",
};

/// Datagrams with an even number have a chunk of sixteen bytes, of which the first four always change; the others
/// have one of eight bytes, for a code. Each has identifiers of its own, which are too few.
const MIXED: Kind = Kind {
    defines: "-DCODE=0 -DCHUNK=16 -DASIDE=32 -DOFFSET=32 -DID_BITS=4 -DETHERTYPE=0xA000 -DCLASSES=2 -DCODE_1=6 \
              -DCHUNK_1=8",
    identifiers: 32,
    datagram: "
def datagram(number):
    rng = random.Random(number)
    which = 24 * (number // 1000) + rng.randrange(24)
    chunk = random.Random(which).randbytes(8) if number % 2 else rng.randbytes(4) + bytes([which]) * 12
    return number.to_bytes(4, 'big') + chunk + rng.randbytes(rng.randrange(8))
",
};

/// Frames on the link from the encoder to the decoder and back: some are lost, some duplicated, all are delayed and
/// reordered, but by no more than half a second. Prints the number of frames of each EtherType.
const LINK: &str = "
import collections, heapq, itertools, json, random, select, signal, socket, sys, time
random.seed(1)
ends = [socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) for _ in range(2)]
for end, name in zip(ends, ['l1', 'l2']):
    end.bind((name, 0))
counts, late, number = collections.Counter(), [], itertools.count()
def end_it(*_):
    print(json.dumps(counts))
    sys.exit(0)
signal.signal(signal.SIGINT, end_it)
while True:
    now = time.monotonic()
    while late and late[0][0] <= now:
        due, _, end, frame = heapq.heappop(late)
        if now - due < 0.5:
            end.send(frame)
    timeout_s = max(0, late[0][0] - now) if late else 1
    for end in select.select(ends, [], [], timeout_s)[0]:
        frame, source = end.recvfrom(4096)
        if source[2] == socket.PACKET_OUTGOING:
            continue
        counts[frame[12:14].hex()] += 1
        for _ in range(random.choices([0, 1, 2], [1, 98, 1])[0]):
            due = time.monotonic() + random.choice([0.001, 0.002, 0.003, 0.006])
            heapq.heappush(late, (due, next(number), ends[1 - ends.index(end)], frame))
";

/// The contents of datagrams and of the stream follow from their numbers and its length.
const CONTENT: &str = "
import json, random, select, socket, time
PHASES, SECONDS = 6, 2.0
stream = random.Random(7).randbytes(400_000)
";

const CLIENT: &str = "
tcp = socket.create_connection(('10.0.0.2', 5001))
tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
rng, begin, sent, at = random.Random(3), time.monotonic(), 0, 0
while (now := time.monotonic() - begin) < PHASES * SECONDS:
    phase = int(now / SECONDS)
    udp.sendto(datagram(1000 * phase + sent % 1000), ('10.0.0.2', 5000))
    sent += 1
    if at < len(stream):
        tcp.sendall(stream[at:(at := at + rng.randrange(1, 1400))])
    time.sleep(0.004)
tcp.sendall(stream[at:])
tcp.shutdown(socket.SHUT_WR)
tcp.recv(1)
print(json.dumps(sent))
";

const SERVER: &str = "
listener = socket.create_server(('', 5001))
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
udp.bind(('', 5000))
tcp, _ = listener.accept()
right, wrong, came, is_open = 0, 0, b'', True
while ready := select.select([udp] + [tcp] * is_open, [], [], 3)[0]:
    if udp in ready:
        payload = udp.recv(65536)
        is_right = payload == datagram(int.from_bytes(payload[:4], 'big'))
        right, wrong = right + is_right, wrong + (not is_right)
    if tcp in ready:
        part = tcp.recv(65536)
        came, is_open = came + part, part != b''
        if not is_open:
            tcp.close()
lines = open('/proc/net/snmp').read().split('\\n')
names, values = ' '.join(lines[0::2]).split(), ' '.join(lines[1::2]).split()
faults = {name: int(value) for name, value in zip(names, values)
          if name in ('InHdrErrors', 'InCsumErrors', 'InErrs', 'InErrors', 'InUnknownProtos') and value != '0'}
print(json.dumps({'right': right, 'wrong': wrong, 'stream': came == stream, 'faults': faults}))
";

/// Hosts a and b with the switches between them in one namespace, and the link of the switches in another; `None` if
/// the machine lacks what they need.
fn network() -> Option<Network> {
    let mut network = match Network::new(&["ping", "python3"]) {
        Ok(network) => network,
        Err(reason) => {
            testkit::skip(reason);
            return None;
        }
    };
    for name in ["a", "switches", "link", "b"] {
        network.add(name);
    }
    network.wire(["a", "eth0"], ["switches", "e1"]);
    network.wire(["switches", "e2"], ["link", "l1"]);
    network.wire(["link", "l2"], ["switches", "d1"]);
    network.wire(["switches", "d2"], ["b", "eth0"]);
    for (host, number) in [("a", 1), ("b", 2)] {
        network.run(host, &format!("ip address add 10.0.0.{number}/24 dev eth0"));
    }
    Some(network)
}

fn app(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/zipline").join(name)
}

/// A process in the namespace of the switches that is killed when dropped.
struct Killed(Child);

impl Killed {
    fn start(network: &Network, folder: &Path, line: &str) -> Killed {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
        command.current_dir(folder).args(words(line)).stdin(Stdio::null()).stdout(Stdio::null());
        Killed(network.inside("switches", move || command.spawn().unwrap()))
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _waited = self.0.wait();
    }
}

const ENCODER: &str = "127.0.0.1:9559";
const DECODER: &str = "127.0.0.1:9560";

/// Starts encoder or decoder between two interfaces. Packets in the other direction are unchanged.
fn switch(network: &Network, folder: &Path, kind: Kind, name: &str, further: &str) -> Killed {
    let defines = kind.defines;
    let (port, address) = if name == "encoder" { ("e", ENCODER) } else { ("d", DECODER) };
    let program = app(&format!("{name}.p4")).display().to_string();
    let ports = format!("--port 1={port}1 --port 2={port}2 --p4runtime {address}");
    Killed::start(network, folder, &format!("run {program} {defines} --quiet --entries {name}.txt {ports} {further}"))
}

/// The controller's options for a link with a delay of at most half a second.
const CAREFULLY: &str = "--quarantine 1.5 --idle 0.3";

/// The words of a line. Those with spaces are in quotes.
fn words(line: &str) -> Vec<&str> {
    let parts = line.split('"').enumerate();
    parts.flat_map(|(i, part)| if i % 2 == 1 { vec![part] } else { part.split_whitespace().collect() }).collect()
}

/// The option by which a switch runs the controller.
fn within(encoder: &str, decoder: &str) -> String {
    format!("--with \"zipline learn --encoder {encoder} --decoder {decoder} {CAREFULLY}\"")
}

fn learner(network: &Network) -> Learner {
    let options = "--quarantine 1.5 --idle 0.3 --every 0.2";
    network.inside("switches", || Learner::start(ENCODER, DECODER, options))
}

/// The compiler may take a while on a loaded machine.
fn wait_for_ping(network: &Network) {
    let started = Instant::now();
    while let Err(complaint) = network.try_run("a", "ping -c 1 -W 1 10.0.0.2") {
        assert!(started.elapsed() < Duration::from_secs(50), "the switches do not start: {complaint}");
        thread::sleep(Duration::from_millis(200));
    }
}

/// Writes the initial entries of a code for learning.
fn write_code(folder: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
    assert!(command.current_dir(folder).args(TABLES.split_whitespace()).status().unwrap().success());
}

/// Those of masks.
fn write_masks(folder: &Path) {
    let ports = "table_add ports send 1 => 2\ntable_add ports send 2 => 1\n";
    let mask = format!("0xffffffff{}", "00".repeat(12));
    let mut header = [[0u8; 2]; 28];
    for (place, value) in [(0, 0x45), (9, 17), (22, 0x13), (23, 0x88)] {
        header[place] = [value, 0xff];
    }
    let digits = |part: usize| header.iter().map(|byte| format!("{:02x}", byte[part])).collect::<String>();
    let key = format!("0x{}&&&0x{}", digits(0), digits(1));
    let encoder = format!("{ports}table_add classes encode 1 0x0800 {key} => 0 {mask} 3 1\n");
    std::fs::write(folder.join("encoder.txt"), encoder).unwrap();
    let decoder = format!("{ports}table_add classes restore 0 => 0x0800 {mask}\n");
    std::fs::write(folder.join("decoder.txt"), decoder).unwrap();
}

/// Those of a mask and a code.
fn write_mixed(folder: &Path) {
    let ports = "table_add ports send 1 => 2\ntable_add ports send 2 => 1\n";
    let mut mask = Bits::zero(128);
    (96..128).for_each(|place| mask.set_bit(place, true));
    let layout = Layout { offset: 32, count: 1 };
    let transforms = [Transform::masked(mask, None), Transform::of_code(Code::new(6).unwrap())];
    let classes = Classes::new(transforms.map(|it| it.with_layout(layout)).to_vec()).unwrap();
    let (mut encoder, mut decoder) = (ports.to_owned() + &classes.masks(), ports.to_owned() + &classes.masks());
    for number in 0..2 {
        let mut header = Header::transport(17, 5000, 32);
        header.bytes.push((31, number as u8, 1));
        let class = Class { number, ethertype: 0x0800, port: 1, header };
        encoder += &classes.encode(&class);
        decoder += &classes.restore(&class);
    }
    std::fs::write(folder.join("encoder.txt"), encoder).unwrap();
    std::fs::write(folder.join("decoder.txt"), decoder).unwrap();
}

/// Half of the identifiers belong to bases of the first datagrams.
fn write_bases(folder: &Path) {
    for (name, action) in [("encoder.txt", "compress"), ("decoder.txt", "expand")] {
        let mut text = std::fs::read_to_string(folder.join(name)).unwrap();
        for identifier in 0..8 {
            let basis = format!("0x{}", format!("{identifier:02x}").repeat(12));
            let (key, argument) = match action {
                "compress" => (basis, identifier.to_string()),
                _ => (identifier.to_string(), basis),
            };
            text += &format!("table_add bases {action} {key} => {argument}\n");
        }
        std::fs::write(folder.join(name), text).unwrap();
    }
}

fn ended(running: Running) -> Json {
    serde_json::from_str(&running.wait()).unwrap()
}

#[test]
fn no_byte_is_wrong_while_bases_churn_and_controller_and_decoder_are_killed() {
    let Some(network) = network() else { return };
    let folder = tempfile::tempdir().unwrap();
    write_code(folder.path());
    let frames = churn(&network, folder.path(), CODE);
    assert!(frames["88b6"].as_u64() > Some(50) && frames["88b5"].as_u64() > Some(0), "{frames}");
}

#[test]
fn no_byte_is_wrong_with_masks_and_several_chunks() {
    let Some(network) = network() else { return };
    let folder = tempfile::tempdir().unwrap();
    write_masks(folder.path());
    let frames = churn(&network, folder.path(), MASK);
    assert!(frames["88b6"].as_u64() > Some(50) && frames["88b5"].is_null(), "{frames}");
}

#[test]
fn no_byte_is_wrong_with_classes_that_have_their_own_transforms() {
    let Some(network) = network() else { return };
    let folder = tempfile::tempdir().unwrap();
    write_mixed(folder.path());
    let frames = churn(&network, folder.path(), MIXED);
    for (compressed, processed) in [("a001", "a000"), ("a003", "a002")] {
        let counts = [compressed, processed].map(|ethertype| frames[ethertype].as_u64());
        assert!(counts[0] > Some(50) && counts[1] > Some(0), "{frames}");
    }
}

/// Switches that are restarted while there is no controller have the entries of their files, and nothing else.
#[test]
fn no_byte_is_wrong_when_switches_with_bases_of_files_start_again() {
    let Some(network) = network() else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_masks(folder);
    write_bases(folder);
    let content = format!("{CONTENT}{}", MASK.datagram);
    let mut switches = ["decoder", "encoder"].map(|name| switch(&network, folder, MASK, name, ""));
    let link = network.start_python("link", LINK);
    wait_for_ping(&network);
    let mut first = learner(&network);
    assert_eq!(first.next("counts")["identifiers"], 16);
    let server = network.start_python("b", &format!("{content}{SERVER}"));
    thread::sleep(Duration::from_millis(700));
    let client = network.start_python("a", &format!("{content}{CLIENT}"));
    let counts = first.recycling();
    first.kill();
    for (name, place) in ["decoder", "encoder"].into_iter().zip(0..) {
        switches[place].kill();
        switches[place] = switch(&network, folder, MASK, name, "");
        thread::sleep(Duration::from_secs(2));
    }
    let mut second = learner(&network);
    assert_eq!([second.next("joined"), second.next("joined")].map(|it| it["bases"].as_u64()), [Some(8); 2]);
    let sent = ended(client);
    let arrived = ended(server);
    let later = second.next("counts");
    drop((switches, second));
    link.signal("INT");
    println!("{sent} datagrams sent; {arrived}; {counts}, then {later}; frames {}", ended(link));
    assert_eq!((&arrived["wrong"], &arrived["stream"]), (&0.into(), &true.into()), "{arrived}");
    assert_eq!(arrived["faults"], serde_json::json!({}), "no header was wrong");
    assert_eq!((&counts["fixed"], &later["fixed"]), (&8.into(), &8.into()), "{counts}, {later}");
    assert!(counts["recycled"].as_u64() > Some(1), "{counts}");
    assert!(arrived["right"].as_u64() > Some(sent.as_u64().unwrap() / 4), "{arrived} of {sent}");
}

#[test]
fn no_byte_is_wrong_while_the_encoders_switch_leads() {
    lead("encoder");
}

#[test]
fn no_byte_is_wrong_while_the_decoders_switch_leads_and_is_killed() {
    lead("decoder");
}

/// The same with the controller in one of the switches, while the decoder's is killed.
fn lead(leader: &str) {
    let Some(network) = network() else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_code(folder);
    let content = format!("{CONTENT}{}", CODE.datagram);
    let options = |name: &str| match leader == name {
        false => String::new(),
        true if name == "encoder" => within("here", DECODER),
        true => within(ENCODER, "here"),
    };
    let start = |name: &str| switch(&network, folder, CODE, name, &options(name));
    let _encoder = start("encoder");
    let mut decoder = start("decoder");
    let link = network.start_python("link", LINK);
    wait_for_ping(&network);
    let server = network.start_python("b", &format!("{content}{SERVER}"));
    thread::sleep(Duration::from_millis(700));
    let client = network.start_python("a", &format!("{content}{CLIENT}"));
    thread::sleep(Duration::from_secs(5));
    decoder.kill();
    decoder = start("decoder");
    let (sent, arrived) = (ended(client), ended(server));
    drop(decoder);
    link.signal("INT");
    let frames = ended(link);
    println!("{sent} datagrams sent; {arrived}; frames {frames}");
    assert_eq!((&arrived["wrong"], &arrived["stream"]), (&0.into(), &true.into()), "{arrived}");
    assert_eq!(arrived["faults"], serde_json::json!({}), "no header was wrong");
    assert!(arrived["right"].as_u64() > Some(sent.as_u64().unwrap() / 2), "{arrived} of {sent}");
    assert!(frames["88b6"].as_u64() > Some(50) && frames["88b5"].as_u64() > Some(0), "{frames}");
}

#[test]
fn no_byte_is_wrong_between_gateways_that_two_controllers_lead() {
    exchange(&["", ""]);
}

#[test]
fn no_byte_is_wrong_between_gateways_of_which_one_leads_both_ways() {
    exchange(&[&[within("here", DECODER), within(DECODER, "here")].join(" "), ""]);
}

#[test]
fn no_byte_is_wrong_between_gateways_that_lead_one_way_each() {
    let leads = [DECODER, ENCODER].map(|other| within("here", other));
    exchange(&leads.each_ref().map(String::as_str));
}

/// Datagrams and streams go both ways between gateways that these controllers control, or each other's controllers if
/// there are none, and the second one is killed.
fn exchange(leads: &[&str; 2]) {
    let Some(network) = network() else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut tables = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
    let words = "zipline tables --m 5 --id-bits 4 --gateway gateway.txt";
    assert!(tables.current_dir(folder).args(words.split_whitespace()).status().unwrap().success());
    let start = |place: usize| {
        let (program, defines, further) = (app("gateway.p4").display().to_string(), CODE.defines, leads[place]);
        let (ports, address) = [("1=e1 --port 2=e2", ENCODER), ("1=d2 --port 2=d1", DECODER)][place];
        let options = format!("--quiet --entries gateway.txt --port {ports} --p4runtime {address} {further}");
        Killed::start(&network, folder, &format!("run {program} {defines} {options}"))
    };
    let _first = start(0);
    let mut second = start(1);
    let link = network.start_python("link", LINK);
    wait_for_ping(&network);
    let ways = if leads.concat().is_empty() { vec![(ENCODER, DECODER), (DECODER, ENCODER)] } else { Vec::new() };
    let learner = |(encoder, decoder)| {
        let options = "--quarantine 1.5 --idle 0.3 --every 0.2";
        network.inside("switches", || Learner::start(encoder, decoder, options))
    };
    let mut learners: Vec<Learner> = ways.into_iter().map(learner).collect();
    let content = format!("{CONTENT}{}", CODE.datagram);
    let servers = ["b", "a"].map(|host| network.start_python(host, &format!("{content}{SERVER}")));
    thread::sleep(Duration::from_millis(700));
    let clients = [("a", "10.0.0.2"), ("b", "10.0.0.1")]
        .map(|(host, other)| network.start_python(host, &format!("{content}{}", CLIENT.replace("10.0.0.2", other))));
    thread::sleep(Duration::from_secs(5));
    let learned: Vec<Json> = learners.iter_mut().map(|it| it.next("counts")["identifiers"].clone()).collect();
    assert!(learned.iter().all(|identifiers| *identifiers == 16), "{learned:?}");
    second.kill();
    second = start(1);
    let sent = clients.map(ended);
    let arrived = servers.map(ended);
    drop((second, learners));
    link.signal("INT");
    let frames = ended(link);
    println!("{sent:?} datagrams sent; {arrived:?}; frames {frames}");
    for (sent, arrived) in sent.iter().zip(&arrived) {
        assert_eq!((&arrived["wrong"], &arrived["stream"]), (&0.into(), &true.into()), "{arrived}");
        assert_eq!(arrived["faults"], serde_json::json!({}), "no header was wrong");
        assert!(arrived["right"].as_u64() > Some(sent.as_u64().unwrap() / 2), "{arrived} of {sent}");
    }
    assert!(frames["88b6"].as_u64() > Some(400) && frames["88b5"].as_u64() > Some(0), "{frames}");
}

#[test]
fn a_controller_within_a_switch_reports_what_it_lacks() {
    let output = |options: &[&str]| {
        let mut command = support::wirespeed();
        let output = command.arg("run").arg(app("encoder.p4")).args(options).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        format!("{}: {}\n", output.status.code().unwrap_or(-1), text.lines().next().unwrap_or_default())
    };
    let small = ["-DCODE=3", "-DID_BITS=4", "--duration=1"];
    let within = |command| [&small[..], &["--p4runtime", "0", "--with", command]].concat();
    let lines = [
        output(&within("zipline tables --m 3 --encoder e.txt --decoder d.txt")),
        output(&within("zipline learn --encoder here")),
        output(&within("zipline learn --encoder 'here")),
        output(&within("ctl status")),
        output(&[&small[..], &["--with", "zipline learn --encoder here --decoder 10.0.0.1:9559"]].concat()),
    ];
    let mut alone = support::wirespeed();
    let alone = alone.args("zipline learn --encoder here --decoder 10.0.0.1:9559".split(' ')).output().unwrap();
    let lines = lines.concat() + &String::from_utf8(alone.stderr).unwrap();
    expect_test::expect![[r#"
        2: error: only `zipline learn` is a controller, which runs within a switch
        2: error: invalid value 'zipline learn --encoder here' for '--with <COMMAND>': the following required arguments were not provided:
        2: error: invalid value 'zipline learn --encoder 'here' for '--with <COMMAND>': there is no second ' behind here
        2: error: invalid value 'ctl status' for '--with <COMMAND>': unrecognized subcommand 'ctl'
        2: error: the following required arguments were not provided:
        error: `here` is the switch within which a controller runs: start it with `wirespeed run --with`
    "#]]
    .assert_eq(&lines);
}

/// Sends and receives while bases come and go, and both ends of the connection to the controller are killed. Returns
/// the frames of each EtherType that were on the link.
fn churn(network: &Network, folder: &Path, kind: Kind) -> Json {
    let content = format!("{CONTENT}{}", kind.datagram);
    let _encoder = switch(network, folder, kind, "encoder", "");
    let mut decoder = switch(network, folder, kind, "decoder", "");
    let link = network.start_python("link", LINK);
    wait_for_ping(network);
    let mut first = learner(network);
    assert_eq!(first.next("counts")["identifiers"], kind.identifiers);
    let server = network.start_python("b", &format!("{content}{SERVER}"));
    thread::sleep(Duration::from_millis(700));
    let client = network.start_python("a", &format!("{content}{CLIENT}"));
    thread::sleep(Duration::from_secs(4));
    first.kill();
    thread::sleep(Duration::from_secs(1));
    let mut second = learner(network);
    let joined = [second.next("joined"), second.next("joined")];
    assert!(joined.iter().all(|it| it["bases"].as_u64() > Some(0)), "both still have bases: {joined:?}");
    thread::sleep(Duration::from_secs(2));
    decoder.kill();
    decoder = switch(network, folder, kind, "decoder", "");
    let rejoined = second.next("joined");
    assert_eq!(rejoined["bases"], 0, "a decoder that starts is empty: {rejoined}");
    let sent = ended(client);
    let arrived = ended(server);
    let counts = second.recycling();
    drop((decoder, second));
    link.signal("INT");
    let frames = ended(link);
    println!("{sent} datagrams sent; {arrived}; {counts}; frames {frames}");
    assert_eq!((&arrived["wrong"], &arrived["stream"]), (&0.into(), &true.into()), "{arrived}");
    assert_eq!(arrived["faults"], serde_json::json!({}), "no header was wrong");
    assert!(arrived["right"].as_u64() > Some(sent.as_u64().unwrap() / 2), "{arrived} of {sent}");
    if let Some(transforms) = counts["transforms"].as_array() {
        let learned: Vec<Option<u64>> = transforms.iter().map(|it| it["learned"].as_u64()).collect();
        assert!(learned.len() == 2 && learned.iter().all(|learned| *learned > Some(8)), "{counts}");
    }
    assert!(counts["recycled"].as_u64() > Some(1) && counts["without_identifier"].as_u64() > Some(0), "{counts}");
    frames
}
