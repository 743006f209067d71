//! Whole bursts in every execution mode: the output must not depend on how packets were batched, nor on the backend.
//! In each of these cases it once did.

use base::limits::{BURST_PACKETS_MAX, CALL_FRAMES_MAX, HEADROOM_BYTES};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use switch::{DropReason, Frame, Output, Switch};
use testkit::corpus::Way;
use testkit::pipeline::{program_of_text, switch_for};

/// The times of reception and of processing of all frames.
const RECEIVED_NS: u64 = 3_000_000;
const RUN_NS: u64 = 5_000_000;

/// Frames by port, in order; failed assertions, in order; and other packets that were dropped, by reason.
#[derive(Default, PartialEq, Eq, Debug)]
struct Ports(BTreeMap<u32, Vec<Vec<u8>>>, Vec<String>, BTreeMap<&'static str, u64>);

impl Output for Ports {
    fn transmit(&mut self, port: u32, frame: &[u8], _time_ns: u64) {
        self.0.entry(port).or_default().push(frame.to_vec());
    }

    fn assertion_failed(&mut self, text: &str) {
        self.1.push(text.to_owned());
    }
}

impl Ports {
    fn count_drops(&mut self, switch: &Switch) {
        let drops = DropReason::ALL.into_iter().map(|reason| (reason.name(), switch.stats().drops(reason)));
        self.2 = drops.filter(|(_, count)| *count > 0).collect();
    }
}

/// A program with one header, whose parser, ingress and egress contain the given code: `parser` comes before the
/// extraction, `more` after it.
fn program(parser_locals: &str, more: &str, ingress: &str, egress: &str) -> String {
    format!(
        "#include <core.p4>
#include <v1model.p4>
header small_t {{ bit<8> to; bit<8> note; }}
header large_t {{ bit<800> filler; }}
struct headers {{ large_t large; small_t small; }}
struct meta_t {{ }}
parser P(packet_in packet, out headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{
    {parser_locals}
    state start {{ packet.extract(hdr.small); {more} transition accept; }}
}}
control V(inout headers hdr, inout meta_t meta) {{ apply {{ }} }}
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{
    apply {{ sm.egress_spec = (bit<9>)hdr.small.to; {ingress} }}
}}
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{
    register<bit<8>>(1) seen;
    apply {{ {egress} }}
}}
control C(inout headers hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out packet, in headers hdr) {{ apply {{ packet.emit(hdr.large); packet.emit(hdr.small); }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"
    )
}

/// Sends all frames as one burst in every execution mode, and returns the output.
fn check(source: &str, entries: &str, frames: &[Vec<u8>]) -> Ports {
    let program = program_of_text("burst.p4", source).unwrap_or_else(|errors| panic!("{errors}"));
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native");
    let switch = |way: Way| -> Switch {
        let program = Arc::new(way.program(&program).unwrap());
        let mut switch = switch_for(&program, &way.engine(&cache)).unwrap();
        let commands = control::parse_entries("entries", entries, &program).unwrap();
        control::apply_all(&mut switch, &commands).unwrap();
        switch
    };
    let results = Way::ALL.map(|way| {
        let (mut switch, mut sent) = (switch(way), Ports::default());
        for frame in frames {
            switch.receive(RECEIVED_NS, 1, frame);
        }
        switch.run(RUN_NS, &mut sent);
        sent.count_drops(&switch);
        sent
    });
    for (way, result) in Way::ALL.iter().zip(&results) {
        assert!(*result == results[0], "{} differs", way.describe());
        // With headroom in which headers can be added, and without.
        for room in [HEADROOM_BYTES, 0] {
            let (mut switch, mut sent) = (switch(*way), Ports::default());
            let mut memory: Vec<Vec<u8>> = frames.iter().map(|frame| [&vec![0; room], &frame[..]].concat()).collect();
            let lent = memory.iter_mut().map(|memory| Frame::behind_headroom(memory, room, 1, RECEIVED_NS));
            switch.forward(RUN_NS, &mut lent.collect::<Vec<_>>(), &mut sent);
            sent.count_drops(&switch);
            assert!(sent == results[0], "{} differs with lent frames and {room} bytes before them", way.describe());
        }
    }
    let [first, ..] = results;
    first
}

/// The second byte of each frame on a port, in which the programs write a note.
fn notes(sent: &Ports, port: u32) -> Vec<u8> {
    sent.0.get(&port).into_iter().flatten().map(|frame| frame[1]).collect()
}

const COUNT_IN_EGRESS: &str = "bit<8> count; seen.read(count, 0); count = count + 1; seen.write(0, count); \
                               hdr.small.note = count;";

#[test]
fn egress_meets_packets_in_the_order_of_their_arrival_over_all_ports() {
    let frames: Vec<Vec<u8>> = [2, 3, 2, 3, 2, 3].map(|port| vec![port, 0, 9, 9]).to_vec();
    let sent = check(&program("", "", "", COUNT_IN_EGRESS), "", &frames);
    assert_eq!((notes(&sent, 2), notes(&sent, 3)), (vec![1, 3, 5], vec![2, 4, 6]));
}

#[test]
fn priorities_do_not_reorder_queues_without_a_rate() {
    let ingress = "sm.priority = (bit<3>)hdr.small.note;";
    let frames: Vec<Vec<u8>> = [0, 0, 0].map(|priority| vec![2, priority]).to_vec();
    let sent = check(&program("", "", ingress, COUNT_IN_EGRESS), "", &frames);
    assert_eq!(notes(&sent, 2), [1, 2, 3]);
}

#[test]
fn a_parser_that_counts_sees_clones_where_they_are_made() {
    let locals = "register<bit<8>>(1) parsed;";
    let more =
        "bit<8> count; parsed.read(count, 0); count = count + 1; parsed.write(0, count); hdr.small.note = count;";
    let source = program(locals, more, "clone(CloneType.I2E, 5);", "");
    let sent = check(&source, "mirroring_add 5 7\n", &vec![vec![2, 0]; 3]);
    assert_eq!((notes(&sent, 2), notes(&sent, 7)), (vec![1, 3, 5], vec![2, 4, 6]));
}

#[test]
fn the_depth_of_a_queue_does_not_depend_on_the_burst() {
    let egress = "hdr.small.note = (bit<8>)sm.enq_qdepth;";
    assert_eq!(notes(&check(&program("", "", "", egress), "", &vec![vec![2, 9]; 20]), 2), [0; 20]);
}

#[test]
fn queue_metadata_is_that_of_empty_queues() {
    let egress = "hdr.small.note = (bit<8>)(sm.enq_qdepth + sm.deq_qdepth) + (bit<8>)sm.deq_timedelta
        + (bit<8>)((sm.egress_global_timestamp - sm.ingress_global_timestamp) / 1000)
        + (bit<8>)(sm.enq_timestamp / 100);";
    let frames: Vec<Vec<u8>> = (0..70).map(|number| vec![2, number, 7]).collect();
    assert_eq!(notes(&check(&program("", "", "", egress), "", &frames), 2), [52; 70]);
    // The value that the program writes must not be the one that the queue writes.
    let ingress = "sm.enq_qdepth = 3; sm.deq_timedelta = 4;";
    let egress = "hdr.small.note = (bit<8>)(sm.enq_qdepth + sm.deq_qdepth) + (bit<8>)sm.deq_timedelta;
        sm.deq_qdepth = 9; hdr.small.note = hdr.small.note + (bit<8>)sm.deq_qdepth;";
    assert_eq!(notes(&check(&program("", "", ingress, egress), "", &vec![vec![2, 7]; 3]), 2), [9; 3]);
    let ingress = "sm.egress_global_timestamp = 77; hdr.small.note = (bit<8>)sm.egress_global_timestamp;";
    let egress = "hdr.small.note = hdr.small.note + (bit<8>)(sm.egress_global_timestamp / 1000);";
    assert_eq!(notes(&check(&program("", "", ingress, egress), "", &vec![vec![2, 7]; 3]), 2), [82; 3]);
}

#[test]
fn only_the_replicas_of_a_packet_see_each_other_in_a_queue() {
    let ingress = "if (hdr.small.note == 1) { sm.mcast_grp = 1; }";
    let egress = "if (sm.instance_type != 2) { clone(CloneType.E2E, 5); }
        hdr.small.note = (bit<8>)sm.enq_qdepth * 16 + (bit<8>)sm.deq_qdepth;";
    let entries = "mc_mgrp_create 1\nmc_node_create 0 2\nmc_node_associate 1 0\nmc_node_create 1 2\n\
        mc_node_associate 1 1\nmirroring_add 5 2\n";
    for egress in [egress, &egress[egress.find("hdr").unwrap()..]] {
        let mut frames = vec![vec![2, 0]; 9];
        frames[4] = vec![2, 1];
        let sent = check(&program("", "", ingress, egress), entries, &frames);
        assert!(notes(&sent, 2).iter().any(|&note| note >= 16), "{:?}", notes(&sent, 2));
        assert_eq!(notes(&sent, 2)[..4], [0; 4]);
    }
}

#[test]
fn replicas_go_one_by_one_through_blocks_that_share_a_register() {
    let source = program("", "", "sm.mcast_grp = 1;", COUNT_IN_EGRESS);
    let source = source.replace("control E(", "register<bit<8>>(1) seen;\ncontrol E(").replacen(
        "    register<bit<8>>(1) seen;\n",
        "",
        1,
    );
    let source = source.replace(
        "control C(inout headers hdr, inout meta_t meta) { apply { } }",
        "control C(inout headers hdr, inout meta_t meta) {
            apply { bit<8> last; seen.read(last, 0); hdr.small.note = last; }
        }",
    );
    let entries = "mc_mgrp_create 1\nmc_node_create 0 4 5 6\nmc_node_associate 1 0\n";
    let sent = check(&source, entries, &vec![vec![2, 0]; 3]);
    assert_eq!([4, 5, 6].map(|port| notes(&sent, port)), [[1, 4, 7], [2, 5, 8], [3, 6, 9]]);
}

#[test]
fn replicas_enter_egress_in_order_and_their_requests_follow() {
    let entries = "mc_mgrp_create 1\nmc_node_create 0 4 5 6\nmc_node_associate 1 0\nmirroring_add 5 7\n";
    let again = "if (sm.instance_type == 5 && sm.egress_port == 4) { ASK }";
    let ingress = "if (sm.instance_type == 0) { sm.mcast_grp = 1; } else { sm.egress_spec = 7; }";
    let asks = [
        "recirculate_preserving_field_list(0);",
        "clone(CloneType.E2E, 5);",
        "clone(CloneType.E2E, 5); if (hdr.small.note == 1) { recirculate_preserving_field_list(0); }",
    ];
    for ask in asks {
        let egress = format!("{COUNT_IN_EGRESS} {}", again.replace("ASK", ask));
        let sent = check(&program("", "", ingress, &egress), entries, &vec![vec![2, 0]; 3]);
        assert_eq!(notes(&sent, 5)[0], 2, "{ask}");
        assert_eq!(notes(&sent, 6)[0], 3, "{ask}");
        assert_eq!(notes(&sent, 7)[0], 4, "{ask}");
    }
}

#[test]
fn packets_are_cut_where_they_are_longer() {
    let ingress = "if (hdr.small.note == 1) { hdr.large.setValid(); }
        if (hdr.small.note == 2) { hdr.small.setInvalid(); }
        if (hdr.small.note != 3) { truncate(4); }";
    let egress = "if (hdr.small.isValid() && hdr.small.note == 4) { truncate(1); truncate(200); }";
    let frames: Vec<Vec<u8>> = (0..5)
        .flat_map(|note| [2usize, 3, 4, 5, 60].map(|length| [vec![2, note], vec![7; length - 2]].concat()))
        .collect();
    for ingress in [ingress, "truncate(4);"] {
        let sent = check(&program("", "", ingress, egress), "", &frames);
        let lengths: Vec<usize> = sent.0[&2].iter().map(Vec::len).collect();
        let expected = match ingress {
            "truncate(4);" => [[2, 3, 4, 4, 4].repeat(4), vec![1; 5]].concat(),
            _ => [vec![2, 3, 4, 4, 4, 4, 4, 4, 4, 4, 0, 1, 2, 3, 4, 2, 3, 4, 5, 60], vec![1; 5]].concat(),
        };
        assert_eq!(lengths, expected);
    }
    // The packet makes another request as well.
    let ingress = "truncate(3); if (hdr.small.note == 1) { clone(CloneType.I2E, 5); }";
    let frames: Vec<Vec<u8>> = (0..6).map(|number| vec![2, number % 2, 5, 6, number]).collect();
    let sent = check(&program("", "", ingress, ""), "mirroring_add 5 7\n", &frames);
    assert!(sent.0[&2].iter().all(|frame| frame.len() == 3) && sent.0[&7].iter().all(|frame| frame.len() == 5));
}

#[test]
fn replicas_are_not_truncated() {
    let source = program("", "", "truncate(1); sm.mcast_grp = 1;", "");
    let entries = "mc_mgrp_create 1\nmc_node_create 0 4 5 6\nmc_node_associate 1 0\n";
    let sent = check(&source, entries, &[vec![2, 1, 8, 8]]);
    for port in [4, 5, 6] {
        assert_eq!(sent.0[&port], [[2, 1, 8, 8]], "port {port}");
    }
}

#[test]
fn clones_are_truncated_by_their_session() {
    let egress = "if (sm.instance_type == 0) clone(CloneType.E2E, 6); if (sm.instance_type == 2) truncate(4);";
    let source = program("", "", "truncate(5); clone(CloneType.I2E, 5);", egress);
    let session = |session: u32, port: u32, length: u32| {
        format!(
            r#"{{"clone_session_id": {session}, "packet_length_bytes": {length}, "replicas": [{{"egress_port": {port}, "instance": 0}}]}}"#
        )
    };
    let sent = |from_ingress, from_egress| {
        let sessions = [session(5, 7, from_ingress), session(6, 8, from_egress)].join(", ");
        let entries = format!(r#"{{"target": "bmv2", "clone_session_entries": [{sessions}]}}"#);
        let sent = check(&source, &entries, &[vec![2, 1, 8, 8, 8, 8]]);
        [2, 7, 8].map(|port: u32| sent.0[&port][0].len())
    };
    assert_eq!(sent(0, 0), [5, 6, 4], "a clone inherits no truncation");
    assert_eq!(sent(3, 2), [5, 3, 2]);
    assert_eq!(sent(100, 5), [5, 6, 4], "the smallest length counts");
}

/// A session truncates its clones, whether or not the program truncates anything.
#[test]
fn clones_are_truncated_by_their_session_alone() {
    let session = r#"{"clone_session_id": 5, "packet_length_bytes": 3, "replicas": [
        {"egress_port": 7, "instance": 0}, {"egress_port": 8, "instance": 1}]}"#;
    let entries = format!(r#"{{"target": "bmv2", "clone_session_entries": [{session}]}}"#);
    for (ingress, egress) in
        [("clone(CloneType.I2E, 5);", ""), ("", "if (sm.instance_type == 0) clone(CloneType.E2E, 5);")]
    {
        let sent = check(&program("", "", ingress, egress), &entries, &[vec![2, 1, 8, 8, 8, 8]]);
        assert_eq!([2, 7, 8].map(|port: u32| sent.0[&port][0].len()), [6, 3, 3]);
    }
}

#[test]
fn packets_grow_by_a_header_whatever_their_length() {
    let source = program("", "", "hdr.large.setValid();", "");
    let frames: Vec<Vec<u8>> = [2, 64, 1964, 2044, 2048, 2049, 8000].map(|length| vec![2; length]).to_vec();
    let sent = check(&source, "", &frames);
    let lengths: Vec<usize> = sent.0[&2].iter().map(Vec::len).collect();
    assert_eq!(lengths, [102, 164, 2064, 2144, 2148, 2149, 8100]);
}

#[test]
fn headers_may_leave_and_come_back_and_be_beside_a_packet_that_is_cloned() {
    let ingress = "if (hdr.small.note == 1) { hdr.small.setInvalid(); hdr.small.setValid(); hdr.small.to = 9; }
        if (hdr.small.note == 2) { hdr.small.setInvalid(); }
        if (hdr.small.isValid() && hdr.small.note == 3) { hdr.large.setValid(); hdr.large.setInvalid(); }
        if (hdr.small.isValid() && hdr.small.note == 4) { hdr.large.setValid(); hdr.large.filler = 7; }";
    let egress = "if (hdr.large.isValid() && sm.instance_type == 0) { clone(CloneType.E2E, 5); }";
    let frames: Vec<Vec<u8>> = (0..5).map(|note| vec![2, note, 5, 6]).collect();
    let sent = check(&program("", "", ingress, egress), "mirroring_add 5 7\n", &frames);
    let grown = [&[0; 99][..], &[7, 2, 4, 5, 6]].concat();
    let expected = [vec![2, 0, 5, 6], vec![9, 0, 5, 6], vec![5, 6], vec![2, 3, 5, 6], grown.clone()];
    assert_eq!((&sent.0[&2][..], &sent.0[&7][..]), (&expected[..], &[grown][..]));
}

/// A program whose parser extracts up to five headers, of which the first is not emitted and the last two are not
/// changed, so that they stay where they are.
fn layers(ingress: &str) -> String {
    format!(
        "#include <core.p4>
#include <v1model.p4>
header layer_t {{ bit<8> next; bit<8> changes; }}
header new_t {{ bit<24> bits; }}
struct headers {{ new_t new; layer_t command; layer_t outer; layer_t inner; layer_t last; layer_t end; }}
struct meta_t {{ }}
parser P(packet_in packet, out headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{
    state start {{ transition select(packet.lookahead<bit<8>>()) {{ 0: command; 4: inner; 5: last; default: outer; }} }}
    state command {{ packet.extract(hdr.command); transition outer; }}
    state outer {{
        packet.extract(hdr.outer);
        transition select(hdr.outer.next) {{ 1: inner; 2: last; default: accept; }}
    }}
    state inner {{
        packet.extract(hdr.inner);
        transition select(hdr.inner.next) {{ 4: last; default: accept; }}
    }}
    state last {{
        packet.extract(hdr.last);
        transition select(hdr.last.next) {{ 5: end; default: accept; }}
    }}
    state end {{ packet.extract(hdr.end); transition accept; }}
}}
control V(inout headers hdr, inout meta_t meta) {{ apply {{ }} }}
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{
    action to(bit<9> port) {{ sm.egress_spec = port; }}
    table ports {{
        key = {{ hdr.last.next: exact; hdr.outer.changes: exact; sm.ingress_port: ternary; }}
        actions = {{ to; }}
        default_action = to(2);
    }}
    apply {{
        bit<8> changes = hdr.outer.isValid() ? hdr.outer.changes : hdr.last.changes;
        ports.apply();
        {ingress}
    }}
}}
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{ apply {{ }} }}
control C(inout headers hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out packet, in headers hdr) {{
    apply {{
        packet.emit(hdr.new); packet.emit(hdr.outer); packet.emit(hdr.inner); packet.emit(hdr.last); packet.emit(hdr.end);
    }}
}}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"
    )
}

#[test]
fn the_last_headers_stay_whatever_comes_and_goes_before_them() {
    // What a packet is, and bits for what becomes of it.
    let starts: [&[u8]; 7] = [&[0, 0, 1], &[1], &[2], &[3], &[4, 0, 4], &[5], &[0, 0, 2]];
    let mut frames = Vec::new();
    for (start, changes) in starts.iter().flat_map(|start| (0..32).map(move |changes| (start, changes))) {
        let mut frame = start.to_vec();
        frame.extend([changes, 4, changes, 5, changes, 6, 7, 8, 9]);
        frame.truncate([20, 5, 3, 1][usize::from(changes % 8).min(3)].max(frame.len() / 2));
        frames.push(frame);
    }
    for ingress in [
        "",
        "hdr.outer.setInvalid();",
        "hdr.command.setInvalid(); hdr.new.setValid(); hdr.new.bits = 24w0x414243;",
        "if (hdr.inner.isValid()) { hdr.outer.setInvalid(); } else { hdr.new.setValid(); hdr.new.bits = 0; }",
        "if (changes[0:0] == 1) { hdr.command.setInvalid(); }
         if (changes[1:1] == 1) { hdr.outer.setInvalid(); }
         if (changes[2:2] == 1) { hdr.inner.setInvalid(); }
         if (changes[3:3] == 1) { hdr.new.setValid(); hdr.new.bits = (bit<24>)changes; }
         if (changes[4:4] == 1) { hdr.last.changes = hdr.last.changes + 1; hdr.inner.setValid(); hdr.inner.next = 9; }",
    ] {
        let sent = check(&layers(ingress), "", &frames);
        assert!(sent.0[&2].len() > 200, "nearly all are sent");
    }
}

#[test]
fn a_clone_from_egress_knows_its_length() {
    let egress = "hdr.small.note = (bit<8>)sm.packet_length; if (sm.instance_type == 0) clone(CloneType.E2E, 5);";
    let source = program("", "", "hdr.large.setValid();", egress);
    let sent = check(&source, "mirroring_add 5 7\n", &[vec![2, 0]]);
    // The large header comes before the small one.
    assert_eq!((sent.0[&2][0][101], sent.0[&7][0][101]), (102, 102));
}

#[test]
fn no_block_sees_a_packet_after_its_assertion_failed() {
    let locals = "";
    let source = program(locals, "assert(hdr.small.note != 9);", "clone(CloneType.I2E, 5);", COUNT_IN_EGRESS);
    let sent = check(&source, "mirroring_add 5 7\n", &[vec![2, 0], vec![2, 9], vec![2, 0]]);
    assert_eq!((sent.0[&2].len(), sent.0[&7].len()), (2, 2));
}

#[test]
fn a_packet_ends_where_an_assertion_fails_and_its_neighbours_do_not() {
    let asserts = |number: u8| format!("assert(hdr.small.note != {number});");
    let source = program("", &asserts(1), &asserts(2), &format!("{} {COUNT_IN_EGRESS}", asserts(3)));
    let source = source.replace(
        "control C(inout headers hdr, inout meta_t meta) { apply { } }",
        "control C(inout headers hdr, inout meta_t meta) { apply { assume(hdr.small.note != 5); } }",
    );
    let frames: Vec<Vec<u8>> = (0..80).map(|number| vec![2, number % 4, number]).collect();
    let sent = check(&source, "", &frames);
    assert_eq!((sent.2["assertion_failed"], sent.1.len(), notes(&sent, 2).len()), (61, 61, 19));
    assert_eq!(sent.1[..3], [1, 2, 3].map(|number| format!("assert(hdr.small.note != {number})")));
}

#[test]
fn requests_are_void_when_an_assertion_fails() {
    let egress = "if (hdr.small.note == 1) { clone(CloneType.E2E, 6); } assert(hdr.small.to != 3);";
    let source =
        program("", "", "if (hdr.small.note == 2) { clone(CloneType.I2E, 5); } assert(hdr.small.to != 4);", egress);
    let source = source.replace(
        "control C(inout headers hdr, inout meta_t meta) { apply { } }",
        "control C(inout headers hdr, inout meta_t meta) { apply { assert(hdr.small.to != 5); } }",
    );
    let frames: Vec<Vec<u8>> = (0..30).map(|number| vec![2 + number % 4, number % 3, number]).collect();
    let sent = check(&source, "mirroring_add 5 7\nmirroring_add 6 8\n", &frames);
    assert!(sent.2["assertion_failed"] > 0 && !sent.0.contains_key(&4) && !sent.0.contains_key(&5));
}

#[test]
fn meters_see_packets_in_the_order_of_their_arrival() {
    let ingress = "flows.execute_meter((bit<32>)hdr.small.to, colour); hdr.small.note = colour; entries.apply();";
    let source = program("", "", ingress, "").replace(
        "control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {",
        "control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
            bit<8> colour = 9;
            meter(4, MeterType.bytes) flows;
            direct_meter<bit<8>>(MeterType.packets) all;
            action mark() { all.read(colour); hdr.small.note = hdr.small.note * 4 + colour; }
            table entries { key = { hdr.small.to: exact; } actions = { mark; } meters = all; default_action = mark; }",
    );
    let frames: Vec<Vec<u8>> = (0..12).map(|number| [vec![2 + number % 2], vec![0; 3]].concat()).collect();
    let rates = "meter_set_rates flows 2 0.000001:8 0.000001:16\nmeter_set_rates flows 3 0.000001:4 0.000001:4\n\
        table_add entries mark 2 =>\nmeter_array_set_rates all 0.000001:5 0.000001:5\n";
    let sent = check(&source, rates, &frames);
    assert_eq!((notes(&sent, 2), notes(&sent, 3)), (vec![0, 0, 4, 4, 8, 10], vec![0, 8, 8, 8, 8, 8]));
}

#[test]
fn headers_of_variable_length_may_be_missing_empty_or_there() {
    let source = "#include <core.p4>
#include <v1model.p4>
header fixed_t { bit<8> to; bit<8> bytes; bit<16> checksum; }
header options_t { varbit<64> options; }
header last_t { bit<8> note; bit<24> word; }
struct headers { fixed_t fixed; options_t options; last_t last; }
struct meta_t { }
parser P(packet_in packet, out headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.fixed);
        transition select(hdr.fixed.bytes) { 255: accept; 254: last; default: options; }
    }
    state options { packet.extract(hdr.options, (bit<32>)hdr.fixed.bytes << 3); transition last; }
    state last { packet.extract(hdr.last); transition accept; }
}
control V(inout headers hdr, inout meta_t meta) {
    apply {
        verify_checksum(hdr.options.isValid(), { hdr.fixed.to, hdr.fixed.bytes, hdr.options.options },
            hdr.fixed.checksum, HashAlgorithm.csum16);
    }
}
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    table t { key = { hdr.last.note: exact; } actions = { NoAction; } }
    apply {
        sm.egress_spec = (bit<9>)hdr.fixed.to;
        if (hdr.options.isValid()) { hdr.last.word = hdr.last.word + 1; t.apply(); }
        if (sm.checksum_error == 1) { hdr.last.note = hdr.last.note + 1; }
        if (hdr.last.note == 9) { clone(CloneType.I2E, 5); }
    }
}
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {
    apply { if (hdr.last.note == 8 && sm.instance_type == 0) { clone(CloneType.E2E, 5); } }
}
control C(inout headers hdr, inout meta_t meta) {
    apply {
        update_checksum(hdr.options.isValid(), { hdr.fixed.to, hdr.fixed.bytes, hdr.options.options },
            hdr.fixed.checksum, HashAlgorithm.csum16);
    }
}
control D(packet_out packet, in headers hdr) {
    apply { packet.emit(hdr.fixed); packet.emit(hdr.options); packet.emit(hdr.last); }
}
V1Switch(P(), V(), I(), E(), C(), D()) main;
";
    let frame = |number: u8| {
        let bytes = [255, 254, 0, 1, 2, 3, 7, 8, 9, 12][usize::from(number) % 10];
        [vec![2, bytes, 0, 0], vec![6 + number % 3; usize::from(number)]].concat()
    };
    let frames: Vec<Vec<u8>> = (0..40).map(frame).collect();
    let sent = check(source, "mirroring_add 5 7\n", &frames);
    assert!(sent.0[&2].len() == 40 && sent.0[&7].len() > 5);
    // The same with a program that only sends: no packet is punted.
    let plain = source.replace("if (hdr.last.note == 9) { clone(CloneType.I2E, 5); }", "");
    let plain = plain.replace("if (hdr.last.note == 8 && sm.instance_type == 0) { clone(CloneType.E2E, 5); }", "");
    assert_eq!(check(&plain, "", &frames).0[&2].len(), 40);
}

#[test]
fn payloads_are_summed_where_they_lie() {
    let ingress =
        "if (hdr.small.note == 1) { hdr.large.setValid(); } if (hdr.small.note == 2) { hdr.small.setInvalid(); }
        if (hdr.small.note == 3) { truncate(3); }";
    let source = program("", "", "INGRESS", "").replace(
        "control C(inout headers hdr, inout meta_t meta) { apply { } }",
        "control C(inout headers hdr, inout meta_t meta) {
            bit<16> sum;
            apply { update_checksum_with_payload(true, { hdr.small.to }, sum, HashAlgorithm.csum16);
                hdr.small.note = sum[7:0] ^ sum[15:8]; }
        }",
    );
    let frames: Vec<Vec<u8>> = (0..70).map(|number| [vec![2, number % 5], (0..number).collect()].concat()).collect();
    for ingress in [ingress, ""] {
        let sent = check(&source.replace("INGRESS", ingress), "", &frames);
        assert_eq!(sent.0[&2].len(), 70);
    }
}

#[test]
fn a_packet_that_multiplies_does_not_starve_its_neighbours() {
    // The first packet clones itself in egress until its budget of copies or passes ends; the others leave unchanged.
    let egress = "if (hdr.small.note == 1) { clone(CloneType.E2E, 5); }";
    let mut frames = vec![vec![2, 0]; 10];
    frames[0] = vec![2, 1];
    let source = program("", "", "", egress);
    let entries = "mc_mgrp_create 1\nmc_node_create 0 2 3 4\nmc_node_associate 1 0\nmirroring_add_mc 5 1\n";
    let sent = check(&source, entries, &frames);
    assert_eq!(notes(&sent, 2).iter().filter(|&&note| note == 0).count(), 9);
}

#[test]
fn packets_that_multiply_together_become_as_many_as_alone() {
    // Each becomes copies until its budget ends: together more than there are buffers for.
    let egress = "hdr.small.note = hdr.small.note + 1; recirculate_preserving_field_list(1);";
    let source = program("", "", "sm.mcast_grp = 1;", egress);
    let entries = "mc_mgrp_create 1\nmc_node_create 0 2 3 4\nmc_node_associate 1 0\n";
    let program = program_of_text("burst.p4", &source).unwrap_or_else(|errors| panic!("{errors}"));
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native");
    for way in Way::ALL.into_iter().filter(|way| way.is_native) {
        let outcome = |frames_at_once: usize| {
            let program = Arc::new(way.program(&program).unwrap());
            let mut switch = switch_for(&program, &way.engine(&cache)).unwrap();
            control::apply_all(&mut switch, &control::parse_entries("entries", entries, &program).unwrap()).unwrap();
            let mut sent = Ports::default();
            for _ in 0..BURST_PACKETS_MAX / frames_at_once {
                (0..frames_at_once).for_each(|_| _ = switch.receive(RECEIVED_NS, 1, &[2, 0]));
                switch.run(RUN_NS, &mut sent);
            }
            sent.count_drops(&switch);
            sent
        };
        let alone = outcome(1);
        assert!(alone == outcome(BURST_PACKETS_MAX), "{} differs", way.describe());
        assert_eq!(alone.2.get(DropReason::NoBuffer.name()), None);
    }
}

#[test]
fn metadata_of_lists_and_no_others_go_round() {
    // A table divides ingress, so that what goes round also goes from one batch stage to another.
    let metadata = "struct meta_t { @field_list(1, 2) bit<8> count; @field_list(1) bit<80> wide; bit<8> lost; }";
    let table = "apply { lookup.apply(); sm.egress_spec";
    let ingress = "meta.count = meta.count + 1; meta.wide = meta.wide + 3; meta.lost = meta.lost + 1;
                   hdr.small.note = hdr.small.note ^ (meta.count + meta.lost + (bit<8>)(meta.wide << 4));
                   if (meta.count == 2 && hdr.small.note[0:0] == 1) { resubmit_preserving_field_list(1); }";
    let egress = "if (sm.instance_type == 2) { hdr.small.note = meta.count; }
                  else if (hdr.small.isValid() && meta.count < 5) {
                      if (meta.count == 3) { clone_preserving_field_list(CloneType.E2E, 5, 2); }
                      if (hdr.small.note[1:1] == 1) { recirculate_preserving_field_list(1); }
                      else { recirculate_preserving_field_list(2); } }";
    let source = program("", "", ingress, egress).replace("struct meta_t { }", metadata).replace(
        "    apply { sm.egress_spec",
        &format!(
            "    table lookup {{ key = {{ hdr.small.note: exact; }} actions = {{ NoAction; }} size = 1000; }} {table}"
        ),
    );
    let sent = check(&source, "mirroring_add 5 7\n", &mixed_frames());
    assert_eq!(sent.0[&2].len() + sent.0[&3].len(), mixed_frames().iter().filter(|frame| frame.len() > 1).count());
    assert!(!sent.0[&7].is_empty());
}

#[test]
fn more_frames_than_generated_code_takes_at_once_leave_in_order() {
    // Every fifth packet is dropped, every seventh is replicated, and the notes distinguish them.
    let ingress =
        "if (hdr.small.note % 5 == 1) { mark_to_drop(sm); } else if (hdr.small.note % 7 == 2) { sm.mcast_grp = 1; }";
    let count = 3 * CALL_FRAMES_MAX + BURST_PACKETS_MAX + 1;
    let frames: Vec<Vec<u8>> = (0..count).map(|number| vec![2 + (number % 2) as u8, number as u8]).collect();
    let sent = check(
        &program("", "", ingress, ""),
        "mc_mgrp_create 1\nmc_node_create 0 2 9\nmc_node_associate 1 0\n",
        &frames,
    );
    let is_sent = |frame: &&Vec<u8>| frame[1] % 5 != 1;
    let is_replicated = |frame: &Vec<u8>| frame[1] % 7 == 2;
    let expected = |leaves: &dyn Fn(&Vec<u8>) -> bool| -> Vec<u8> {
        frames.iter().filter(is_sent).filter(|frame| leaves(frame)).map(|frame| frame[1]).collect()
    };
    assert_eq!(notes(&sent, 2), expected(&|frame| frame[0] == 2 || is_replicated(frame)));
    assert_eq!(notes(&sent, 3), expected(&|frame| frame[0] == 3 && !is_replicated(frame)));
    assert_eq!(notes(&sent, 9), expected(&is_replicated));
}

/// Frames to ports 2 and 3 alternately, some of which are too short for the header.
fn mixed_frames() -> Vec<Vec<u8>> {
    (0..150).map(|number| if number % 7 == 6 { vec![2] } else { vec![2 + number % 2, number, 9, 9] }).collect()
}

#[test]
fn resubmitted_packets_are_unchanged_and_not_overtaken() {
    let ingress = "if (hdr.small.isValid()) hdr.small.note = hdr.small.note + 1; \
                   if (sm.instance_type == 0 && hdr.small.note[1:0] == 1) resubmit_preserving_field_list(1);";
    let sent = check(&program("", "", ingress, ""), "", &mixed_frames());
    let expected = |port: u8| -> Vec<u8> {
        mixed_frames().iter().filter(|frame| frame.len() > 1 && frame[0] == port).map(|frame| frame[1] + 1).collect()
    };
    assert_eq!((notes(&sent, 2), notes(&sent, 3)), (expected(2), expected(3)));
}

#[test]
fn ingress_clones_of_changed_packets_are_as_received() {
    let ingress = "hdr.small.note = 0; hdr.small.to = 1; if (hdr.small.isValid()) clone(CloneType.I2E, 5);";
    let sent = check(&program("", "", ingress, ""), "mirroring_add 5 7\n", &mixed_frames());
    let expected: Vec<Vec<u8>> = mixed_frames().into_iter().filter(|frame| frame.len() > 1).collect();
    assert_eq!(sent.0[&7], expected);
}

#[test]
fn clones_are_as_received_where_the_parser_moves_headers() {
    let more = "hdr.outer = hdr.small; packet.extract(hdr.small); hdr.small.note = 0; hdr.outer.setInvalid();";
    let ingress = "hdr.small.to = 1; if (hdr.small.isValid()) clone(CloneType.I2E, 5);";
    let source = program("", more, ingress, "");
    let source = source
        .replace("small_t small; }", "small_t small; small_t outer; }")
        .replace("packet.emit(hdr.small);", "packet.emit(hdr.small); packet.emit(hdr.outer);");
    let sent = check(&source, "mirroring_add 5 7\n", &mixed_frames());
    let again = |frame: Vec<u8>| [&[frame[2], 0], &frame[4..]].concat();
    let expected: Vec<Vec<u8>> = mixed_frames().into_iter().filter(|frame| frame.len() > 1).map(again).collect();
    assert_eq!(sent.0[&7], expected);
}

#[test]
fn recirculated_packets_are_not_overtaken() {
    let egress = "if (hdr.small.isValid() && hdr.small.note[1:0] != 0) { hdr.small.note = hdr.small.note - 1; \
                  recirculate_preserving_field_list(1); }";
    let sent = check(&program("", "", "", egress), "", &mixed_frames());
    let expected = |port: u8| -> Vec<u8> {
        mixed_frames().iter().filter(|frame| frame.len() > 1 && frame[0] == port).map(|frame| frame[1] & !3).collect()
    };
    assert_eq!((notes(&sent, 2), notes(&sent, 3)), (expected(2), expected(3)));
}

/// Frames for port 2, some of which make requests according to the lowest bits of their notes: more frames than
/// generated code takes in one call.
fn asking_frames() -> Vec<Vec<u8>> {
    (0..=CALL_FRAMES_MAX + 40).map(|number| vec![2, (number * 37 / 16) as u8, number as u8]).collect()
}

#[test]
fn requests_of_a_packet_complete_before_the_next_packet() {
    let see = "bit<8> count; seen.read(count, 0); count = count + 1; seen.write(0, count); hdr.small.note = count;";
    let (asks, is_new) = ("hdr.small.note[2:0] == 7", "sm.instance_type == 0");
    let in_ingress = format!("register<bit<8>>(1) seen; apply {{ {see}");
    let of_ingress = |asked: &str| {
        let text = program("", "", &format!("bool asks = {asks}; if (asks && {is_new}) {{ {asked} }}"), see);
        check(
            &text,
            "mirroring_add 5 7\nmc_mgrp_create 1\nmc_node_create 0 3 4\nmc_node_associate 1 0\n",
            &asking_frames(),
        )
    };
    let clones = of_ingress("clone(CloneType.I2E, 5);");
    let asking = asking_frames().iter().filter(|frame| frame[1] & 7 == 7).count();
    assert_eq!((clones.0[&2].len(), clones.0[&7].len()), (asking_frames().len(), asking));
    // A clone follows the packet from which it was made; its number is not that of a neighbour.
    let all: Vec<u8> = (1..=asking_frames().len() + asking).map(|number| number as u8).collect();
    let mut seen = notes(&clones, 7).into_iter().peekable();
    let mut expected = all.iter();
    for note in notes(&clones, 2) {
        while let Some(clone) = seen.next_if(|clone| Some(clone) == expected.clone().next()) {
            assert_eq!(Some(&clone), expected.next());
        }
        assert_eq!(Some(&note), expected.next());
    }
    of_ingress("sm.mcast_grp = 1;");
    of_ingress("resubmit_preserving_field_list(1);");
    of_ingress("assert(hdr.small.note == 7);");
    // In egress, which sees the effects of its own requests, and in ingress, which sees recirculated packets.
    for asked in ["clone(CloneType.E2E, 5);", "recirculate_preserving_field_list(1);"] {
        let text = program("", "", "", &format!("bool asks = {asks}; {see} if (asks && {is_new}) {{ {asked} }}"));
        check(&text, "mirroring_add 5 7\n", &asking_frames());
    }
    let text =
        program("", "", "", &format!("if ({asks}) {{ hdr.small.note = 0; recirculate_preserving_field_list(1); }}"))
            .replacen("apply { sm.egress_spec", &format!("{in_ingress} sm.egress_spec"), 1)
            .replace("hdr.small.note = count;", "if (count > 100) { hdr.small.note = hdr.small.note + 1; }");
    check(&text, "", &asking_frames());
}

#[test]
fn headers_are_added_to_recirculated_packets_and_their_clones() {
    let ingress = "if (sm.instance_type == 0 && hdr.small.note == 4) { hdr.large.setValid(); hdr.large.filler = 1; \
                   hdr.small.note = 5; clone(CloneType.I2E, 5); resubmit_preserving_field_list(1); }";
    let sent = check(&program("", "", ingress, ""), "mirroring_add 5 7\n", &mixed_frames());
    assert_eq!(sent.0[&7], [[2, 4, 9, 9]]);
}
