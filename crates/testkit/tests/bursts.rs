//! Whole bursts through every way of running a program: what comes out must not tell how packets were batched, nor
//! which backend ran. Each case was once told apart.

use base::limits::{BURST_PACKETS_MAX, CALL_FRAMES_MAX, HEADROOM_BYTES};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use switch::{Frame, Output, Switch};
use testkit::corpus::Way;
use testkit::pipeline::{program_of_text, switch_for};

/// Frames by port, in order.
#[derive(Default, PartialEq, Eq, Debug)]
struct Ports(BTreeMap<u32, Vec<Vec<u8>>>);

impl Output for Ports {
    fn transmit(&mut self, port: u32, frame: &[u8], _time_ns: u64) {
        self.0.entry(port).or_default().push(frame.to_vec());
    }
}

/// A program with one header, whose parser, ingress and egress do more than nothing: `parser` stands before the
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

/// Sends all frames as one burst, in every way of running the program, and returns what comes out.
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
            switch.receive(0, 1, frame);
        }
        switch.run(0, &mut sent);
        sent
    });
    for (way, result) in Way::ALL.iter().zip(&results) {
        assert!(*result == results[0], "{} differs", way.describe());
        // With room before them in which headers can be added, and without.
        for room in [HEADROOM_BYTES, 0] {
            let (mut switch, mut sent) = (switch(*way), Ports::default());
            let mut memory: Vec<Vec<u8>> = frames.iter().map(|frame| [&vec![0; room], &frame[..]].concat()).collect();
            let lent = memory.iter_mut().map(|memory| Frame::behind_room(memory, room, 1, 0));
            switch.forward(0, &mut lent.collect::<Vec<_>>(), &mut sent);
            assert!(sent == results[0], "{} differs with lent frames and {room} bytes before them", way.describe());
        }
    }
    let [first, ..] = results;
    first
}

/// The second byte of each frame on a port: the programs' note.
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
fn priorities_do_not_reorder_what_no_rate_holds_back() {
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
fn the_depth_of_a_queue_does_not_tell_how_many_came_together() {
    let egress = "hdr.small.note = (bit<8>)sm.enq_qdepth;";
    assert_eq!(notes(&check(&program("", "", "", egress), "", &vec![vec![2, 9]; 20]), 2), [0; 20]);
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
fn clones_are_as_long_as_their_session_wants() {
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

#[test]
fn a_clone_from_egress_knows_its_length() {
    let egress = "hdr.small.note = (bit<8>)sm.packet_length; if (sm.instance_type == 0) clone(CloneType.E2E, 5);";
    let source = program("", "", "hdr.large.setValid();", egress);
    let sent = check(&source, "mirroring_add 5 7\n", &[vec![2, 0]]);
    // The large header stands before the small one.
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
fn a_packet_that_multiplies_does_not_starve_its_neighbours() {
    // The first clones itself again and again in egress until its budget or its passes end; the others go out as they
    // are.
    let egress = "if (hdr.small.note == 1) { clone(CloneType.E2E, 5); }";
    let mut frames = vec![vec![2, 0]; 10];
    frames[0] = vec![2, 1];
    let source = program("", "", "", egress);
    let entries = "mc_mgrp_create 1\nmc_node_create 0 2 3 4\nmc_node_associate 1 0\nmirroring_add_mc 5 1\n";
    let sent = check(&source, entries, &frames);
    assert_eq!(notes(&sent, 2).iter().filter(|&&note| note == 0).count(), 9);
}

#[test]
fn more_frames_than_generated_code_takes_at_once_leave_in_order() {
    // Every fifth is dropped, every seventh replicated, and the notes tell them apart.
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

/// Frames to ports 2 and 3 by turns, some of which are too short for the header.
fn mixed_frames() -> Vec<Vec<u8>> {
    (0..150).map(|number| if number % 7 == 6 { vec![2] } else { vec![2 + number % 2, number, 9, 9] }).collect()
}

#[test]
fn what_is_resubmitted_is_as_it_was_received_and_not_overtaken() {
    let ingress = "if (hdr.small.isValid()) hdr.small.note = hdr.small.note + 1; \
                   if (sm.instance_type == 0 && hdr.small.note[1:0] == 1) resubmit_preserving_field_list(1);";
    let sent = check(&program("", "", ingress, ""), "", &mixed_frames());
    let expected = |port: u8| -> Vec<u8> {
        mixed_frames().iter().filter(|frame| frame.len() > 1 && frame[0] == port).map(|frame| frame[1] + 1).collect()
    };
    assert_eq!((notes(&sent, 2), notes(&sent, 3)), (expected(2), expected(3)));
}

#[test]
fn clones_of_what_was_changed_are_as_it_was_received() {
    let ingress = "hdr.small.note = 0; hdr.small.to = 1; if (hdr.small.isValid()) clone(CloneType.I2E, 5);";
    let sent = check(&program("", "", ingress, ""), "mirroring_add 5 7\n", &mixed_frames());
    let expected: Vec<Vec<u8>> = mixed_frames().into_iter().filter(|frame| frame.len() > 1).collect();
    assert_eq!(sent.0[&7], expected);
}

#[test]
fn what_goes_round_is_not_overtaken() {
    let egress = "if (hdr.small.isValid() && hdr.small.note[1:0] != 0) { hdr.small.note = hdr.small.note - 1; \
                  recirculate_preserving_field_list(1); }";
    let sent = check(&program("", "", "", egress), "", &mixed_frames());
    let expected = |port: u8| -> Vec<u8> {
        mixed_frames().iter().filter(|frame| frame.len() > 1 && frame[0] == port).map(|frame| frame[1] & !3).collect()
    };
    assert_eq!((notes(&sent, 2), notes(&sent, 3)), (expected(2), expected(3)));
}

#[test]
fn headers_are_added_to_what_goes_round_and_clones_of_it() {
    let ingress = "if (sm.instance_type == 0 && hdr.small.note == 4) { hdr.large.setValid(); hdr.large.filler = 1; \
                   hdr.small.note = 5; clone(CloneType.I2E, 5); resubmit_preserving_field_list(1); }";
    let sent = check(&program("", "", ingress, ""), "mirroring_add 5 7\n", &mixed_frames());
    assert_eq!(sent.0[&7], [[2, 4, 9, 9]]);
}
