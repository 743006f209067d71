//! The programs in `apps/` with their entries: both forms of entries have the same meaning, and packets take the
//! expected path.

use control::api::Entity;
use control::api::entity::Multicast;
use control::command::{Change, NodeChange};
use control::{Command, parse_entries};
use expect_test::{Expect, expect};
use ir::Program;
use std::path::Path;
use std::sync::Arc;
use switch::{Backend, Config, Output, Switch};
use syntax::{DiskFiles, Options, SourceMap};

/// The file of an app.
fn file(app: &str, name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps").join(app).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The app's program, as lowered.
fn program(app: &str) -> Arc<Program> {
    let (name, text) = (format!("{app}.p4"), file(app, &format!("{app}.p4")));
    let mut sources = SourceMap::new();
    let (tree, mut diagnostics) = syntax::parse_text(&mut sources, &name, &text, &Options::new(&DiskFiles));
    let typed = sema::check(&tree, &mut diagnostics);
    let program = lower::lower(&typed, &mut diagnostics);
    assert!(diagnostics.is_empty(), "{}", syntax::render_all(&sources, &diagnostics, false));
    Arc::new(program.expect("a program without diagnostics is lowered"))
}

fn commands(app: &str, entries: &str, program: &Program) -> Vec<Command> {
    let commands = parse_entries(entries, &file(app, entries), program);
    let commands = commands.unwrap_or_else(|errors| panic!("{}", errors[0]));
    commands.into_iter().map(|(command, _)| command).collect()
}

/// The switch of an app with its entries, on the reference interpreter.
fn switch_of(app: &str) -> Switch {
    let program = program(app);
    let commands = parse_entries("entries.txt", &file(app, "entries.txt"), &program).expect("the entries are right");
    let mut switch = Switch::new(program, Backend::Interpreter, Config::default()).expect("the app has sound tables");
    control::apply_all(&mut switch, &commands).unwrap_or_else(|errors| panic!("{}", errors[0]));
    switch
}

/// The packets that left the switch.
#[derive(Default)]
struct Sent(Vec<(u32, Vec<u8>)>);

impl Output for Sent {
    fn transmit(&mut self, port: u32, frame: &[u8], _time_ns: u64) {
        self.0.push((port, frame.to_vec()));
    }
}

/// Sends a frame into port 1 of the app and shows the output.
fn check(app: &str, frame: &[u8], expected: Expect) {
    let mut switch = switch_of(app);
    let mut sent = Sent::default();
    switch.receive(0, 1, frame);
    switch.run(0, &mut sent);
    sent.0.sort();
    let lines: Vec<String> = sent.0.iter().map(|(port, frame)| format!("{port}: {}", shown(frame))).collect();
    expected.assert_eq(&lines.join("\n"));
}

/// A frame in hexadecimal, blanks between headers.
fn shown(frame: &[u8]) -> String {
    let hex: String = frame.iter().map(|byte| format!("{byte:02x}")).collect();
    let cuts: &[usize] = if frame.get(12..14) == Some(&[8, 0]) { &[12, 24, 28, 68] } else { &[12, 24, 28] };
    let mut text = String::new();
    for (index, c) in hex.chars().enumerate() {
        if cuts.contains(&index) {
            text.push(' ');
        }
        text.push(c);
    }
    text
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
}

/// The Internet checksum of RFC 1071.
fn checksum(header: &[u8]) -> u16 {
    let sum: u32 = header.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    !((sum & 0xffff) + (sum >> 16)) as u16
}

/// An Ethernet frame to the router with an IPv4 packet from 10.0.1.2, whose checksum is right, and four bytes of
/// payload.
fn ipv4(ttl: u8, destination: [u8; 4], options: &str) -> Vec<u8> {
    let options = bytes(options);
    let words = 5 + options.len() as u8 / 4;
    let mut header = vec![0x40 | words, 0, 0, words * 4 + 4, 0, 1, 0x40, 0, ttl, 17, 0, 0, 10, 0, 1, 2];
    header.extend(destination);
    header.extend(options);
    let sum = checksum(&header);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    let mut frame = bytes("020000000101 020000000102 0800");
    frame.extend(header);
    frame.extend(bytes("cafe0001"));
    frame
}

#[test]
fn both_forms_of_entries_say_the_same() {
    let router = program("l3fwd");
    assert_eq!(commands("l3fwd", "entries.txt", &router), commands("l3fwd", "runtime.json", &router));

    let switch = program("l2fwd");
    let (text, json) = (commands("l2fwd", "entries.txt", &switch), commands("l2fwd", "runtime.json", &switch));
    assert_eq!(text[..3], json[..3]);
    // The forms have different terms for a group of ports.
    let node = switch::Node { rid: 0, ports: vec![1, 2, 3] };
    let replicas = node.replicas().map(Into::into).collect();
    assert_eq!(text[4], Command::change(Change::Node(NodeChange::Create(node))));
    let group = Multicast { group: 1, replicas, metadata: Vec::new() };
    assert_eq!(json[3], Command::change(Change::Put(Entity::Multicast(group))));
}

#[test]
fn refused_entries_are_named_and_the_others_take_effect() {
    let text = "\
table_add local_address arp_reply 10.0.9.1 => 02:00:00:00:09:01
table_add local_address arp_reply 10.0.9.1 => 02:00:00:00:09:02
table_add local_address arp_reply 10.0.9.2 => 02:00:00:00:09:01
table_add local_address arp_reply 10.0.9.2 => 02:00:00:00:09:02
table_delete local_address 77
table_add local_address arp_reply 10.0.9.3 => 02:00:00:00:09:01
";
    let mut switch = switch_of("l3fwd");
    let commands = parse_entries("more.txt", text, switch.program()).unwrap();
    let errors = control::apply_all(&mut switch, &commands).unwrap_err();
    let places: Vec<String> = errors.iter().map(|error| error.origin.to_string()).collect();
    assert_eq!(places, ["more.txt:2", "more.txt:4", "more.txt:5"]);
    let tables = switch.tables();
    let position = tables.tables().iter().position(|table| table.spec().name.ends_with("local_address"));
    // Three of the app's own, three of these.
    assert_eq!(tables.tables()[position.unwrap()].len(), 6);
}

#[test]
fn the_router_changes_addresses_ttl_and_checksum() {
    let frame = ipv4(64, [10, 0, 2, 2], "");
    check(
        "l3fwd",
        &frame,
        expect!["2: 020000000202 020000000201 0800 45000018000140003f1124d10a0001020a000202 cafe0001"],
    );
    let mut after = bytes("45000018000140003f110000 0a000102 0a000202");
    let sum = checksum(&after);
    after[10..12].copy_from_slice(&sum.to_be_bytes());
    assert_eq!(after[10..12], [0x24, 0xd1], "the checksum shown above is the right one");
}

#[test]
fn the_router_takes_the_longest_prefix_and_drops_what_has_no_route() {
    check(
        "l3fwd",
        &ipv4(64, [192, 168, 7, 1], ""),
        expect!["3: 020000000302 020000000301 0800 45000018000140003f1169290a000102c0a80701 cafe0001"],
    );
    check("l3fwd", &ipv4(64, [10, 0, 9, 9], ""), expect![""]);
}

#[test]
fn the_router_carries_header_options_along() {
    check(
        "l3fwd",
        &ipv4(64, [10, 0, 3, 2], "94040000"),
        expect!["3: 020000000302 020000000301 0800 4600001c000140003f118ec80a0001020a000302 94040000cafe0001"],
    );
}

#[test]
fn the_router_drops_packets_at_the_end_of_their_life() {
    check("l3fwd", &ipv4(1, [10, 0, 2, 2], ""), expect![""]);
    check("l3fwd", &ipv4(0, [10, 0, 2, 2], ""), expect![""]);
    check(
        "l3fwd",
        &ipv4(2, [10, 0, 2, 2], ""),
        expect!["2: 020000000202 020000000201 0800 4500001800014000011162d10a0001020a000202 cafe0001"],
    );
}

#[test]
fn the_router_drops_broken_headers() {
    let good = ipv4(64, [10, 0, 2, 2], "");
    let mut wrong_checksum = good.clone();
    wrong_checksum[24] ^= 1;
    check("l3fwd", &wrong_checksum, expect![""]);
    // Version 6, and a header of four words, with right checksums.
    for first in [0x65, 0x44] {
        let mut frame = good.clone();
        frame[14] = first;
        frame[24..26].fill(0);
        let sum = checksum(&frame[14..14 + 4 * usize::from(first & 15)]);
        frame[24..26].copy_from_slice(&sum.to_be_bytes());
        check("l3fwd", &frame, expect![""]);
    }
    for length in 0..34 {
        check("l3fwd", &good[..length], expect![""]);
    }
}

#[test]
fn the_router_does_not_route_broadcasts() {
    let mut frame = ipv4(64, [10, 0, 2, 2], "");
    frame[..6].fill(0xff);
    check("l3fwd", &frame, expect![""]);
}

#[test]
fn the_router_answers_arp_for_its_own_addresses() {
    let request = |target: &str| {
        bytes(&format!(
            "ffffffffffff 020000000102 0806 0001 0800 06 04 0001 020000000102 0a000102 000000000000 {target}"
        ))
    };
    check(
        "l3fwd",
        &request("0a000101"),
        expect!["1: 020000000102 020000000101 0806 00010800060400020200000001010a0001010200000001020a000102"],
    );
    check("l3fwd", &request("0a000109"), expect![""]);
    let mut reply = request("0a000101");
    reply[21] = 2;
    check("l3fwd", &reply, expect![""]);
}

#[test]
fn the_switch_sends_to_the_port_of_the_destination() {
    check(
        "l2fwd",
        &bytes("020000000002 020000000001 88b5 01020304"),
        expect!["2: 020000000002 020000000001 88b5 01020304"],
    );
}

#[test]
fn the_switch_floods_what_it_does_not_know_but_not_back() {
    check(
        "l2fwd",
        &bytes("ffffffffffff 020000000001 0806 01"),
        expect![[r#"
        2: ffffffffffff 020000000001 0806 01
        3: ffffffffffff 020000000001 0806 01"#]],
    );
    check(
        "l2fwd",
        &bytes("020000000009 020000000001 88b5 01"),
        expect![[r#"
        2: 020000000009 020000000001 88b5 01
        3: 020000000009 020000000001 88b5 01"#]],
    );
}

#[test]
fn the_switch_sends_nothing_back_and_keeps_link_frames_to_the_link() {
    check("l2fwd", &bytes("020000000001 020000000009 88b5 01"), expect![""]);
    check("l2fwd", &bytes("0180c2000000 020000000001 0027 424203"), expect![""]);
    check("l2fwd", &bytes("020000000002 0200"), expect![""]);
}
