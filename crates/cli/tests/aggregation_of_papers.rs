//! The programs of `apps/aggregation` as users run them: over captures, with a timer that uses their time stamps, and
//! between hosts.

use live::pcap::{CaptureReader, CaptureWriter};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};
use testkit::netns::{Network, Running};

/// A design with its settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Design {
    /// Eight messages of 16 bytes.
    Fixed,
    /// Messages of any size.
    Variable,
    /// The same, several in a column of the ring buffer.
    Packed,
}

impl Design {
    fn program(self) -> Vec<String> {
        let file = if self == Design::Fixed { "fixed/fixed.p4" } else { "variable/variable.p4" };
        let mut words = vec![app(file).display().to_string()];
        words.extend((self == Design::Packed).then(|| "-DPACKED".to_owned()));
        words
    }

    /// The UDP payload of a message with these bytes.
    fn udp_payload(self, message: &[u8]) -> Vec<u8> {
        if self == Design::Fixed {
            return [&[0xfa, 0, 0, 0, 0, 0], message].concat();
        }
        let padding = [15, 11, 7, 3].get(message.len() / 4 - 1).copied().unwrap_or(0);
        [&[1, padding], &vec![0; padding.into()][..], &[(message.len() / 4) as u8], message].concat()
    }

    /// The entries of the first switch, between ports 1 and 2.
    fn together(self) -> String {
        self.entries("first.txt")
    }

    /// The entries of the second.
    fn apart(self) -> String {
        self.entries("second.txt")
    }

    fn entries(self, name: &str) -> String {
        let folder = if self == Design::Fixed { "fixed" } else { "variable" };
        std::fs::read_to_string(app(folder).join(name)).unwrap()
    }
}

/// Entries with which a switch only forwards.
const ROUTES: &str = "table_add route send 10.0.1.0/24 => 2\ntable_add route send 10.0.0.0/24 => 1\n\
    table_add link rewrite 1 => 02:00:00:00:01:01 02:00:00:00:01:02\n\
    table_add link rewrite 2 => 02:00:00:00:02:01 02:00:00:00:02:02\n";

fn app(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/aggregation").join(file)
}

fn timer_port(period: &str) -> String {
    format!("9=timer:{period},{}", app("variable/timer.pcap").display())
}

// ----------------------------------------------------------------------------------------------------- over captures

/// A UDP packet for the server, without a UDP checksum.
fn udp_frame(payload: &[u8]) -> Vec<u8> {
    let udp_bytes = (8 + payload.len()) as u16;
    let mut ip = [0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 1, 1];
    ip[2..4].copy_from_slice(&(20 + udp_bytes).to_be_bytes());
    let sum: u32 = ip.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    ip[10..12].copy_from_slice(&(!(sum as u16 + (sum >> 16) as u16)).to_be_bytes());
    let udp = [4001, 5000, udp_bytes, 0].map(u16::to_be_bytes).concat();
    [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0][..], &ip, &udp, payload].concat()
}

/// Messages that begin with their numbers.
fn messages(count: u32, bytes: impl Fn(u32) -> usize) -> Vec<Vec<u8>> {
    let message = |number: u32| {
        let mut message: Vec<u8> = (0..bytes(number)).map(|at| (at as u32 * 29 + number * 7) as u8).collect();
        message[..4].copy_from_slice(&number.to_be_bytes());
        message
    };
    (0..count).map(message).collect()
}

/// Writes the packets of messages, a microsecond apart.
fn write(path: &Path, design: Design, messages: &[Vec<u8>]) {
    write_at(path, design, messages, (0..).step_by(1_000));
}

/// Writes the packets of messages, at these nanoseconds.
fn write_at(path: &Path, design: Design, messages: &[Vec<u8>], times_ns: impl Iterator<Item = u64>) {
    let mut writer = CaptureWriter::create(path).unwrap();
    for (message, time_ns) in messages.iter().zip(times_ns) {
        writer.write(&udp_frame(&design.udp_payload(message)), 1_000_000_000 + time_ns).unwrap();
    }
    writer.flush().unwrap();
}

fn read(path: &Path) -> Vec<(Vec<u8>, u64)> {
    let mut reader = CaptureReader::<File>::open(path).unwrap();
    let mut packets = Vec::new();
    while let Some(packet) = reader.next_packet().unwrap() {
        packets.push((packet.data.to_vec(), packet.timestamp_ns));
    }
    packets
}

/// Runs a switch from one capture to another.
fn run(design: Design, entries: &str, from: &Path, to: &Path, further: &[String]) {
    let folder = tempfile::tempdir().unwrap();
    let commands = folder.path().join("entries.txt");
    std::fs::write(&commands, entries).unwrap();
    run_program(&design.program(), &commands, from, to, further);
}

fn run_program(program: &[String], entries: &Path, from: &Path, to: &Path, further: &[String]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
    command.arg("run").args(program).arg("--quiet").arg("--entries").arg(entries);
    command.args(["--port", &format!("1=pcap:{}", from.display()), "--port", &format!("2=pcap:,{}", to.display())]);
    let output = command.args(further).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// How many times each message has come out, by its bytes.
fn arrived(design: Design, path: &Path) -> BTreeMap<Vec<u8>, usize> {
    let mut arrived = BTreeMap::new();
    for (frame, _) in read(path) {
        let inner = &frame[42..];
        let message = match design {
            Design::Fixed => &inner[6..],
            _ => &inner[3 + usize::from(inner[1])..],
        };
        assert_eq!(inner, design.udp_payload(message), "no small packet");
        *arrived.entry(message.to_vec()).or_insert(0) += 1;
    }
    arrived
}

/// How many times each message was sent.
fn as_often(messages: &[Vec<u8>]) -> BTreeMap<Vec<u8>, usize> {
    let mut sent = BTreeMap::new();
    messages.iter().for_each(|message| *sent.entry(message.clone()).or_insert(0) += 1);
    sent
}

/// Sends messages through both switches. Returns the aggregates with their stamps.
fn there_and_back(design: Design, messages: &[Vec<u8>]) -> Vec<(Vec<u8>, u64)> {
    there_and_back_by(design, &design.apart(), messages, &[])
}

/// The same with these entries of the second switch, and further arguments of both.
fn there_and_back_by(design: Design, apart: &str, messages: &[Vec<u8>], further: &[String]) -> Vec<(Vec<u8>, u64)> {
    let folder = tempfile::tempdir().unwrap();
    let [sent, large, came] = ["sent.pcap", "large.pcap", "came.pcap"].map(|name| folder.path().join(name));
    write(&sent, design, messages);
    let timer = ["--port".to_owned(), timer_port("50ms")];
    let with_timer = [further, &timer].concat();
    run(design, &design.together(), &sent, &large, if design == Design::Fixed { further } else { &with_timer });
    run(design, apart, &large, &came, further);
    assert!(arrived(design, &came) == as_often(messages), "{design:?}: not each message as often as it was sent");
    read(&large)
}

/// As the eight replicas of a group, of which an N-packet takes N: the first paper's future work; and by recirculation.
#[test]
fn any_number_of_messages_goes_together_and_comes_apart_both_ways() {
    for number in 1..=8 {
        let further = [format!("-DN={number}"), "--backend".to_owned(), "interp".to_owned()];
        for apart in ["second.txt", "second-recirculation.txt"] {
            let apart = Design::Fixed.entries(apart);
            let large = there_and_back_by(Design::Fixed, &apart, &messages(5 * number, |_| 16), &further);
            let bytes = 48 + 16 * number as usize;
            assert!(large.len() == 5 && large.iter().all(|(frame, _)| frame.len() == bytes), "N = {number}");
        }
    }
}

/// Messages of several flows, the last of them fewer than eight, arrive in order both ways. The counters count
/// messages that arrived, those that left in N-packets and those that were dropped.
#[test]
fn messages_of_a_fixed_size_keep_their_order_and_the_last_leave_too() {
    let all = messages(43, |_| 16);
    for apart in ["second.txt", "second-recirculation.txt"] {
        let folder = tempfile::tempdir().unwrap();
        let [sent, large, came] = ["sent.pcap", "large.pcap", "came.pcap"].map(|name| folder.path().join(name));
        write(&sent, Design::Fixed, &all);
        run(Design::Fixed, &Design::Fixed.together(), &sent, &large, &[]);
        run(Design::Fixed, &Design::Fixed.entries(apart), &large, &came, &[]);
        let bytes: Vec<usize> = read(&large).iter().map(|(frame, _)| frame.len()).collect();
        assert_eq!(bytes, [176; 6]);
        let out: Vec<Vec<u8>> = read(&came).into_iter().map(|(frame, _)| frame[48..].to_vec()).collect();
        assert!(out == all, "{apart}: another order");
    }
    let program = app("fixed/fixed.p4").display().to_string();
    let plan = Command::new(env!("CARGO_BIN_EXE_wirespeed")).args(["compile", "--emit", "plan", &program]).output();
    let plan = String::from_utf8(plan.unwrap().stdout).unwrap();
    assert!(plan.contains("one worker runs the program"), "{plan}");
}

/// Data outside of the project; `None` if it is missing.
fn data(name: &str) -> Option<PathBuf> {
    testkit::corpus::data(name).map_err(testkit::skip).ok()
}

/// What real sensors sent, 23 bytes each, in messages as devices would make them: one of whole words, or two of 16.
#[test]
fn payloads_of_real_sensors_come_as_they_were() {
    let Some(file) = data("payloads/lorawan-ems.csv") else { return };
    let text = std::fs::read_to_string(file).unwrap();
    let byte = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap();
    let payload = |line: &str| line.split(',').nth(3).unwrap().as_bytes().chunks(2).map(byte).collect::<Vec<u8>>();
    // One of them is longer than the second paper's messages may be.
    let payloads: Vec<Vec<u8>> =
        text.lines().skip(1).map(payload).filter(|bytes| bytes.len() <= 44).take(4000).collect();
    let filled = |bytes: &[u8], length: usize| [bytes, &vec![0; length - bytes.len()]].concat();
    let whole: Vec<Vec<u8>> = payloads.iter().map(|bytes| filled(bytes, bytes.len().next_multiple_of(4))).collect();
    assert!(whole.len() == 4000 && whole.iter().all(|message| message.len() == 24));
    for design in [Design::Variable, Design::Packed] {
        // 25 bytes each: 57 reach 1,423 bytes, or 1,413.
        let aggregates = there_and_back(design, &whole);
        assert_eq!(aggregates.len(), 4000_usize.div_ceil(57), "{design:?}");
    }
    let halves: Vec<Vec<u8>> =
        payloads.iter().flat_map(|bytes| bytes.chunks(16)).map(|half| filled(half, 16)).collect();
    assert_eq!(there_and_back(Design::Fixed, &halves).len(), 1000);
}

#[test]
fn every_message_comes_once_and_the_timer_brings_the_last() {
    there_and_back(Design::Fixed, &messages(800, |_| 16));
    for design in [Design::Variable, Design::Packed] {
        let aggregates = there_and_back(design, &messages(1000, |number| 4 + 4 * (number as usize * 7 % 11)));
        let (_, last_ns) = aggregates.last().unwrap();
        // The first tick after the last packet is that at 50 ms.
        assert_eq!(*last_ns, 1_050_000_000, "{design:?}");
    }
}

/// The figures of the papers, of bytes from the Ethernet header on.
#[test]
fn headers_take_what_the_papers_say() {
    let overhead = |design: Design, count: u32, bytes: usize, further: &[String]| {
        let messages = messages(count, |_| bytes);
        let (frame, _) = there_and_back_by(design, &design.apart(), &messages, further).swap_remove(0);
        let carried = match design {
            Design::Fixed => 8,
            _ => u16::from_be_bytes([frame[43], frame[44]]).into(),
        };
        let alone = udp_frame(&design.udp_payload(&messages[0])).len();
        let permille = |payload: usize, bytes: usize| 1000 - (1000 * payload).div_ceil(bytes);
        (carried, frame.len(), permille(bytes * carried, frame.len()), permille(bytes, alone))
    };
    // A worker stops at 1,423 bytes, which 285 messages of 4 bytes reach, and at 1,450 with the paper's 290.
    assert_eq!(overhead(Design::Variable, 300, 4, &[]), (285, 1472, 225, 937));
    assert_eq!(overhead(Design::Variable, 300, 4, &["-DENOUGH_BYTES=1450".to_owned()]), (290, 1497, 225, 937));
    assert_eq!(overhead(Design::Variable, 40, 44, &[]), (32, 1487, 53, 505));
    assert_eq!(overhead(Design::Fixed, 8, 16, &[]), (8, 176, 272, 750));
}

/// Recirculated packets do not wait in rate-limited queues, neither aggregated nor separate.
#[test]
fn a_rate_at_the_port_holds_up_what_leaves_and_nothing_else() {
    for (design, bytes, count) in
        [(Design::Fixed, 16, 400), (Design::Variable, 44, 400), (Design::Variable, 4, 3000), (Design::Packed, 44, 400)]
    {
        let folder = tempfile::tempdir().unwrap();
        let [sent, large, came] = ["sent.pcap", "large.pcap", "came.pcap"].map(|name| folder.path().join(name));
        let messages = messages(count, |_| bytes);
        write(&sent, design, &messages);
        let slow = ["--port-rate", "2=10", "--port", &timer_port("50ms")].map(str::to_owned);
        run(design, &design.together(), &sent, &large, if design == Design::Fixed { &slow[..2] } else { &slow });
        let deep = design.apart() + "set_queue_depth 3000 2\n";
        run(design, &deep, &large, &came, &slow[..2]);
        assert!(arrived(design, &came) == as_often(&messages), "{design:?} of {bytes} bytes: not each message once");
    }
}

/// The pointer problem and its cure (section 5.5 of the second paper). What goes round comes back ten times a second,
/// and eight columns are full. A tick's worker has taken the first, where the ninth message goes. The tenth finds the
/// second used; it is stored there when the worker has taken that.
#[test]
fn a_message_that_finds_its_column_used_is_stored_when_a_worker_has_freed_it() {
    for design in [Design::Variable, Design::Packed] {
        let folder = tempfile::tempdir().unwrap();
        let [sent, large, came] = ["sent.pcap", "large.pcap", "came.pcap"].map(|name| folder.path().join(name));
        let messages = messages(10, |_| 44);
        let times_ms = [0, 0, 0, 0, 0, 0, 0, 0, 15, 16];
        write_at(&sent, design, &messages, times_ms.into_iter().map(|time_ms| time_ms * 1_000_000));
        let entries = design.together() + "set_queue_rate 10 509\n";
        let further = ["-DCOLUMNS=8", "--port", &timer_port("10ms")].map(str::to_owned);
        run(design, &entries, &sent, &large, &further);
        run(design, &design.apart(), &large, &came, &[]);
        assert!(arrived(design, &came) == as_often(&messages), "{design:?}: {} came", arrived(design, &came).len());
        let aggregates = read(&large);
        // A column each time round: the worker came to the tenth message when it had been at all others.
        let (_, left_ns) = aggregates.last().unwrap();
        assert!(aggregates.len() == 1 && *left_ns >= 1_900_000_000, "{design:?}: left at {left_ns} ns");
    }
}

/// Registers of a switch that has ended are lost, even if its state is stored; nothing else is, and nothing is
/// duplicated. Messages that wait in coalescing buffers are sent when it ends.
#[test]
fn a_restart_loses_what_was_held_and_nothing_else() {
    let designs = [Design::Fixed, Design::Variable, Design::Packed];
    for (design, keeps_state) in designs.into_iter().flat_map(|design| [(design, false), (design, true)]) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let all = messages(700, |number| if design == Design::Fixed { 16 } else { 4 + 4 * (number as usize % 11) });
        let (before, after) = all.split_at(333);
        let mut arrived_in_all = BTreeMap::new();
        for (messages, name) in [(before, "before"), (after, "after")] {
            let [sent, large, came] = ["sent", "large", "came"].map(|kind| path(&format!("{name}-{kind}.pcap")));
            write(&sent, design, messages);
            let state = ["--state".to_owned(), path("state").display().to_string()];
            run(design, &design.together(), &sent, &large, if keeps_state { &state } else { &[] });
            run(design, &design.apart(), &large, &came, &[]);
            let wanted = as_often(messages);
            let arrived = arrived(design, &came);
            assert!(arrived.iter().all(|(message, count)| wanted.get(message) == Some(count)), "{design:?}: invented");
            // The first that came in are the first that are forwarded.
            let held = messages.len() - arrived.len();
            let most = if design == Design::Fixed { 0 } else { 1467 / 5 };
            assert!(held <= most && !arrived.is_empty(), "{design:?}: {held} held");
            assert!(messages[..arrived.len()].iter().all(|message| arrived.contains_key(message)), "{design:?}");
            arrived_in_all.extend(arrived);
        }
        let holds = design != Design::Fixed;
        assert_eq!(arrived_in_all.len() < all.len(), holds, "{design:?}");
    }
}

/// Sends the packets of a capture through ZipLine's encoder and decoder, which know the bases of the packets, and
/// checks that they come out as they were. What is between the two is in `small`.
fn compress(m: u32, from: &Path, small: &Path) {
    compress_chunks(m, [0, 1], from, small);
}

/// The same with `count` chunks of a packet, which begin `offset` bytes behind the Ethernet header.
fn compress_chunks(m: u32, [offset, count]: [u32; 2], from: &Path, small: &Path) {
    let folder = tempfile::tempdir().unwrap();
    let [encoder, decoder, back] = ["encoder.txt", "decoder.txt", "back.pcap"].map(|name| folder.path().join(name));
    let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
    command.args(["zipline", "tables"]).arg(from).args(["--m", &m.to_string()]);
    command.args(["--offset", &offset.to_string(), "--count", &count.to_string(), "--encoder"]).arg(&encoder);
    let output = command.arg("--decoder").arg(&decoder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let options = [format!("-DCODE={m}"), format!("-DOFFSET={offset}"), format!("-DCOUNT={count}")];
    let program = |name: &str| [&[app("../zipline").join(name).display().to_string()], &options[..]].concat();
    // A few packets are worked on before the code for eight long chunks would be made.
    let further = if count > 1 { &["--backend".to_owned(), "interp".to_owned()][..] } else { &[] };
    run_program(&program("encoder.p4"), &encoder, from, small, further);
    run_program(&program("decoder.p4"), &decoder, small, &back, further);
    assert!(read(&back) == read(from), "m = {m}: the decoder sends something else than the encoder got");
}

/// What the packets of a capture take of an Ethernet wire, with check sequence, preamble and gap.
fn wire_bytes(path: &Path) -> usize {
    read(path).iter().map(|(frame, _)| (frame.len() + 24).max(84)).sum()
}

/// Eight sensors send in turn, and one bit of their messages differs each time. Small packets are aggregated, and the
/// aggregate is compressed; and each of the two by itself.
#[test]
fn aggregates_are_compressed_and_all_messages_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let [sent, large, small, came] = ["sent", "large", "small", "came"].map(|name| folder.path().join(name));
    let mut messages: Vec<Vec<u8>> = (0..100).flat_map(|_| messages(8, |_| 16)).collect();
    for (round, sensors) in messages.chunks_mut(8).enumerate() {
        sensors[round % 5][round % 16] ^= 1 << (round % 8);
    }
    write(&sent, Design::Fixed, &messages);
    run(Design::Fixed, &Design::Fixed.together(), &sent, &large, &[]);
    assert_eq!((wire_bytes(&sent), wire_bytes(&large)), (800 * 88, 100 * 200));
    // A code for chunks of 32 bytes, which are headers. Alone, frames become as short as Ethernet lets them be.
    compress(8, &sent, &small);
    assert_eq!(wire_bytes(&small), 800 * 84);
    compress(8, &large, &small);
    assert_eq!(wire_bytes(&small), 100 * (14 + 3 + 130 + 24));
    // And one for chunks of 128 bytes: headers and most messages.
    compress(10, &large, &small);
    assert_eq!(wire_bytes(&small), 100 * 84);
    run(Design::Fixed, &Design::Fixed.apart(), &large, &came, &[]);
    assert!(arrived(Design::Fixed, &came) == as_often(&messages), "not each message as often as it was sent");
}

/// The same with the designs that put as many into one packet as there is room for: messages of 16 bytes of eight
/// sensors. Large packets have several chunks then, behind what is another in each of a gateway's.
#[test]
fn full_packets_are_compressed_chunk_by_chunk() {
    let folder = tempfile::tempdir().unwrap();
    let [sent, large, small, came] = ["sent", "large", "small", "came"].map(|name| folder.path().join(name));
    let mut messages: Vec<Vec<u8>> = (0..240).flat_map(|_| messages(8, |_| 16)).collect();
    for (round, sensors) in messages.chunks_mut(8).enumerate() {
        sensors[round % 5][round % 16] ^= 1 << (round % 8);
    }
    let per_message = |path: &Path| wire_bytes(path) as f64 / messages.len() as f64;
    let mut text = String::new();
    let mut add_line = |name: &str, alone: f64, large: f64, both: f64| {
        text.push_str(&format!("{name}: {alone:.1} alone, {large:.1} in aggregates, {both:.1} compressed as well\n"));
    };
    for design in [Design::Variable, Design::Packed] {
        write(&sent, design, &messages);
        run(design, &design.together(), &sent, &large, &["--port".to_owned(), timer_port("50ms")]);
        compress_chunks(10, [0, 8], &large, &small);
        add_line(&format!("{design:?}"), per_message(&sent), per_message(&large), per_message(&small));
        run(design, &design.apart(), &large, &came, &[]);
        assert!(arrived(design, &came) == as_often(&messages), "{design:?}: not each message as often as it was sent");
    }
    // A gateway's small packets are any; it gives them back in order.
    let program = [app("gateway/gateway.p4").display().to_string()];
    let [near, far] = [("near.txt", NEAR), ("far.txt", FAR)].map(|(name, entries)| {
        let path = folder.path().join(name);
        std::fs::write(&path, entries).unwrap();
        path
    });
    let mut writer = CaptureWriter::create(&sent).unwrap();
    let frames: Vec<Vec<u8>> = messages.iter().map(|message| udp_frame(message)).collect();
    for (frame, number) in frames.iter().zip(0..) {
        writer.write(frame, 1_000_000_000 + 1_000 * number).unwrap();
    }
    writer.flush().unwrap();
    run_program(&program, &near, &sent, &large, &[]);
    compress_chunks(10, [44, 8], &large, &small);
    add_line("gateway", per_message(&sent), per_message(&large), per_message(&small));
    run_program(&program, &far, &large, &came, &[]);
    let came: Vec<Vec<u8>> = read(&came).into_iter().map(|(frame, _)| frame[14..].to_vec()).collect();
    assert!(came.iter().eq(frames.iter().map(|frame| &frame[14..])), "not each packet, unchanged and in order");
    expect_test::expect![[r#"
        Variable: 88.0 alone, 17.9 in aggregates, 6.0 compressed as well
        Packed: 88.0 alone, 17.9 in aggregates, 6.0 compressed as well
        gateway: 84.0 alone, 38.0 in aggregates, 13.3 compressed as well
    "#]]
    .assert_eq(&text);
}

/// The entries of two gateways that forward unchanged.
const NEAR: &str = "table_set_default hops take 0\ntable_add route_ipv4 send 10.0.1.0/24 => 2\n\
    table_add classes_ipv4 aggregate 10.0.1.0&&&0xffffff00 5000->5009 => 3 200 20000 1\n\
    table_add tunnels over_ipv4 3 => 2 1500 192.0.2.1 192.0.2.2 7 0\n";
const FAR: &str = "table_set_default hops take 0\ntable_add route_ipv4 send 10.0.1.0/24 => 2\n\
    table_add peers_ipv4 is_peer 192.0.2.1 192.0.2.2 7 => 0\n";

// ----------------------------------------------------------------------------------------------------- between hosts

/// Messages of a sender, and how they are made in Python.
const MESSAGES: u32 = 3_000;

const PAYLOADS: &str = "
import hashlib, socket, struct, sys, time
def payload(number, fixed):
    if fixed:
        return b'\\xfa' + bytes(5) + struct.pack('!IIII', number, number * 7, number * 11, number * 13)
    words = 1 + number * 7 % 11
    padding = {1: 15, 2: 11, 3: 7, 4: 3}.get(words, 0)
    message = (struct.pack('!I', number) * words)
    return bytes([1, padding]) + bytes(padding) + bytes([words]) + message
";

/// Sends all messages at once, with pauses in which the rings of a busy machine are drained.
const SENDER: &str = "
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(FIRST, FIRST + COUNT):
    sock.sendto(payload(number, FIXED), ('10.0.1.1', 5000))
    if number % 100 == 99:
        time.sleep(0.01)
";

/// Receives until nothing has arrived for a while, and prints the number of messages, of different ones, and of those
/// that were never sent.
const SERVER: &str = "
wanted = {payload(number, FIXED) for number in range(COUNT)}
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
sock.bind(('10.0.1.1', 5000))
sock.settimeout(40)
got = []
try:
    while len(got) < COUNT:
        got.append(sock.recv(2048))
        sock.settimeout(4)
    # What comes twice comes now.
    sock.settimeout(1)
    got.append(sock.recv(2048))
except socket.timeout:
    pass
print(len(got), len(set(got)), len(set(got) - wanted))
";

fn python(design: Design, program: &str, first: u32, count: u32) -> String {
    let fixed = if design == Design::Fixed { "True" } else { "False" };
    let program = program.replace("FIXED", fixed).replace("FIRST", &first.to_string());
    [PAYLOADS, &program.replace("COUNT", &count.to_string())].concat()
}

/// Two hosts that send, two switches with a link between them, a server.
fn network() -> Option<Network> {
    let mut network = match Network::new(&["ping", "python3", "tc"]) {
        Ok(network) => network,
        Err(reason) => {
            testkit::skip(reason);
            return None;
        }
    };
    for name in ["h1", "h2", "first", "link", "second", "server"] {
        network.add(name);
    }
    network.wire(["h1", "eth0"], ["first", "in"]);
    network.wire(["h2", "eth0"], ["first", "in2"]);
    network.wire(["first", "out"], ["link", "w1"]);
    network.wire(["link", "w2"], ["second", "in"]);
    network.wire(["second", "out"], ["server", "eth0"]);
    network.bridge("link", ["w1", "w2"]);
    network.run("server", "ip link set eth0 address 02:00:00:00:04:02");
    network.run("h1", "ip link set eth0 address 02:00:00:00:01:02");
    for (host, address) in [("h1", "10.0.0.1"), ("h2", "10.0.0.2"), ("server", "10.0.1.1")] {
        network.run(host, &format!("ip address add {address}/16 dev eth0"));
    }
    for host in ["h1", "h2"] {
        network.run(host, "ip neighbour add 10.0.1.1 lladdr 02:00:00:00:01:01 dev eth0");
    }
    network.run("server", "ip neighbour add 10.0.0.1 lladdr 02:00:00:00:04:01 dev eth0");
    Some(network)
}

fn start(network: &Network, namespace: &str, design: Design, entries: &Path, further: &str) -> Running {
    let program = design.program().join(" ");
    let command = env!("CARGO_BIN_EXE_wirespeed");
    let second_host = if namespace == "first" { "--port 3=in2" } else { "" };
    let ports = format!("--port 1=in --port 2=out {second_host} {further}");
    network.start(namespace, &format!("{command} run {program} --entries {} {ports} --json", entries.display()))
}

/// The compiler may take a while on a loaded machine.
fn wait_for_ping(network: &Network) {
    let started = Instant::now();
    while let Err(complaint) = network.try_run("h1", "ping -c 1 -W 1 10.0.1.1") {
        assert!(started.elapsed() < Duration::from_secs(45), "no answer: {complaint}");
        thread::sleep(Duration::from_millis(200));
    }
}

/// Starts the server, and then both senders at once; `meanwhile` may observe the run.
fn send_all(network: &Network, design: Design, meanwhile: impl FnOnce()) -> Running {
    let server = network.start_python("server", &python(design, SERVER, 0, MESSAGES));
    thread::sleep(Duration::from_millis(700));
    let half = MESSAGES / 2;
    let senders =
        [("h1", 0), ("h2", half)].map(|(host, first)| network.start_python(host, &python(design, SENDER, first, half)));
    meanwhile();
    senders.into_iter().for_each(|sender| drop(sender.wait()));
    server
}

/// The number of messages at the server, of different ones, and of those that were never sent.
fn counts(server: Running) -> [u32; 3] {
    let numbers: Vec<u32> = server.wait().split_whitespace().map(|number| number.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

/// A link of 0.25 megabits a second, as an Ethernet wire counts them. Its queue holds all messages together, and fewer
/// than half of them alone.
const LINK: &str = "tc qdisc add dev w2 root tbf rate 250kbit burst 4000 limit 120000 overhead 24 mpu 84";

/// Sends all messages over a slow link; returns the number of received messages, of different ones, and of those that
/// were never sent.
fn over_a_slow_link(design: Design, aggregates: bool) -> Option<[u32; 3]> {
    let network = network()?;
    if let Err(reason) = network.try_run("link", LINK) {
        testkit::skip(format!("needs the kernel's token bucket filter: {reason}"));
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["first.txt", "second.txt"].map(|name| folder.path().join(name));
    std::fs::write(&first, if aggregates { design.together() } else { ROUTES.to_owned() }).unwrap();
    std::fs::write(&second, design.apart()).unwrap();
    let timer = if design == Design::Fixed { String::new() } else { format!("--port {}", timer_port("50ms")) };
    let switches = [start(&network, "first", design, &first, &timer), start(&network, "second", design, &second, "")];
    wait_for_ping(&network);
    let server = send_all(&network, design, || {});
    let counts = counts(server);
    drop(switches);
    Some(counts)
}

/// Each message takes 64 bytes and more of the link when it goes alone, and a third of that with others.
fn check_slow_link(design: Design) {
    let Some(together) = over_a_slow_link(design, true) else { return };
    assert_eq!(together, [MESSAGES, MESSAGES, 0], "{design:?}");
    let alone = over_a_slow_link(design, false).unwrap();
    assert!(alone[0] < MESSAGES && alone[0] > 0 && alone[2] == 0, "{design:?}: {alone:?} came alone");
}

#[test]
fn messages_of_one_size_cross_a_link_that_is_too_slow_for_them_alone() {
    check_slow_link(Design::Fixed);
}

#[test]
fn messages_of_all_sizes_cross_a_link_that_is_too_slow_for_them_alone() {
    check_slow_link(Design::Variable);
}

/// The value of a cell of a register or counter of the first switch.
fn ask(network: &Network, line: &str) -> serde_json::Value {
    let command = env!("CARGO_BIN_EXE_wirespeed");
    let text = network.run("first", &format!("{command} ctl --json {line}"));
    serde_json::from_str(text.trim()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn counted(network: &Network, counter: &str) -> u64 {
    ask(network, &format!("counters {counter}"))["value"]["packets"].as_u64().unwrap()
}

fn workers(network: &Network) -> u32 {
    ask(network, "registers worker_counter 0")["value"].as_str().unwrap().parse().unwrap()
}

/// Sends all messages to a switch where so few packets a second go round that messages wait, and many packets need
/// to become workers. Returns the most workers that were seen at once.
fn most_workers(limit: u32, rounds_per_second: u32) -> Option<u32> {
    let network = network()?;
    network.run("first", "ip link set lo up");
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["first.txt", "second.txt"].map(|name| folder.path().join(name));
    let slow = format!(
        "table_set_default limits limit {limit}\nset_queue_rate {rounds_per_second} 509\nset_queue_depth {MESSAGES} 509\n"
    );
    std::fs::write(&first, Design::Variable.together() + &slow).unwrap();
    std::fs::write(&second, Design::Variable.apart()).unwrap();
    let further = format!("--p4runtime 127.0.0.1:9559 --port {}", timer_port("50ms"));
    let switches = [
        start(&network, "first", Design::Variable, &first, &further),
        start(&network, "second", Design::Variable, &second, ""),
    ];
    wait_for_ping(&network);
    let mut most = 0;
    let server = send_all(&network, Design::Variable, || {
        let started = Instant::now();
        while counted(&network, "taken 0") < u64::from(MESSAGES) {
            most = most.max(workers(&network));
            assert!(started.elapsed() < Duration::from_secs(60), "not all messages are taken: {most} workers");
        }
    });
    assert_eq!(counts(server), [MESSAGES, MESSAGES, 0], "limit {limit}");
    assert_eq!(workers(&network), 0, "limit {limit}: all workers have left");
    assert_eq!(counted(&network, "stored 0"), u64::from(MESSAGES), "limit {limit}");
    assert_eq!(counted(&network, "dropped 4"), 0, "limit {limit}: the ring buffer was full");
    drop(switches);
    Some(most)
}

#[test]
fn no_more_workers_than_the_limit_take_messages() {
    let Some(most) = most_workers(1000, 2000) else { return };
    assert!(most > 3, "{most} workers at once: too few to need a limit");
    assert_eq!(most_workers(3, 500), Some(3));
}
