//! What STF files cannot express: messages to the control plane, and queues that fill.

use base::Bits;
use base::index::Id as _;
use expect_test::{Expect, expect};
use ir::DigestId;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use switch::{Output, Switch};
use testkit::corpus::{Way, folder};
use testkit::pipeline::{program_of_file, program_of_text, switch_for};

/// All output of a switch as lines: its messages to the control plane, and the packets it sends.
#[derive(Default)]
struct Story {
    messages: String,
    packets: String,
}

impl Output for Story {
    fn transmit(&mut self, port: u32, frame: &[u8], time_ns: u64) {
        let _ = write!(self.packets, "{time_ns} ns, port {port}: ");
        for byte in frame {
            let _ = write!(self.packets, "{byte:02x}");
        }
        self.packets.push('\n');
    }

    fn digest(&mut self, digest: DigestId, values: Vec<Bits>) {
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        let _ = writeln!(self.messages, "digest {}: {}", digest.index(), values.join(", "));
    }

    fn log(&mut self, line: &str) {
        let _ = writeln!(self.messages, "log: {line}");
    }

    fn assertion_failed(&mut self, text: &str) {
        let _ = writeln!(self.messages, "failed: {text}");
    }
}

/// Creates a switch in every execution mode, runs `scene` on it, and compares its output.
fn check(program: &ir::Program, mut scene: impl FnMut(&mut Switch, &mut Story), expected: &Expect) {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("native");
    let stories = Way::ALL.map(|way| {
        let program = Arc::new(way.program(program).unwrap());
        let mut switch = switch_for(&program, &way.engine(&cache)).unwrap();
        let mut story = Story::default();
        scene(&mut switch, &mut story);
        story.messages + &story.packets
    });
    expected.assert_eq(&stories[0]);
    for (way, story) in Way::ALL.iter().zip(&stories) {
        assert_eq!(*story, stories[0], "{}", way.describe());
    }
}

fn corpus_program(path: &str) -> ir::Program {
    program_of_file(&folder().join(path)).unwrap_or_else(|errors| panic!("{errors}"))
}

fn install(switch: &mut Switch, text: &str) {
    let commands = control::parse_entries("entries", text, switch.program()).unwrap();
    control::apply_all(switch, &commands).unwrap();
}

fn bytes(digits: &str) -> Vec<u8> {
    let digits: Vec<u32> = digits.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}

/// The controller of a learning switch: each unknown source causes a digest, known ones have entries.
#[test]
fn a_controller_learns_addresses_from_digests() {
    let to_b = bytes("080000000222 080000000111 0800 aa");
    let to_a = bytes("080000000111 080000000222 0800 bb");
    let scene = |switch: &mut Switch, story: &mut Story| {
        install(switch, "mc_mgrp_create 1\nmc_node_create 0 2 3\nmc_node_associate 1 0");
        install(switch, "table_add select_mcast_grp set_mcast_grp 1 => 1");
        switch.receive(0, 1, &to_b);
        switch.run(0, story);
        install(switch, "table_add smac NoAction 08:00:00:00:01:11 =>\ntable_add dmac forward 08:00:00:00:01:11 => 1");
        switch.receive(1000, 2, &to_a);
        switch.receive(1000, 1, &to_b);
        switch.run(1000, story);
    };
    check(
        &corpus_program("course/learning.p4"),
        scene,
        &expect![[r#"
            log: flooding a frame of port 1 to 8796093022754
            digest 0: 0x80000000111, 0x1
            digest 0: 0x80000000222, 0x2
            log: flooding a frame of port 1 to 8796093022754
            0 ns, port 2: 0800000002220800000001110800aa
            0 ns, port 3: 0800000002220800000001110800aa
            1000 ns, port 1: 0800000001110800000002220800bb
            1000 ns, port 2: 0800000002220800000001110800aa
            1000 ns, port 3: 0800000002220800000001110800aa
        "#]],
    );
}

/// A slow queue: packets that find it long are marked, and packets at its tail are dropped.
#[test]
fn long_queues_mark_packets_and_then_drop_them() {
    let scene = |switch: &mut Switch, story: &mut Story| {
        install(switch, "table_add ipv4_lpm ipv4_forward 10.0.2.2/32 => 08:00:00:00:02:22 2");
        install(switch, "set_queue_rate 1000 2\nset_queue_depth 6 2");
        for _ in 0..9 {
            let frame = bytes("080000000100 080000000111 0800 45010014 0001 0000 4011 0000 0a000101 0a000202");
            switch.receive(0, 1, &frame);
        }
        switch.run(0, story);
        while let Some(next_ns) = switch.next_event_ns() {
            switch.run(next_ns, story);
        }
    };
    check(
        &corpus_program("course/ecn.p4"),
        scene,
        &expect![[r#"
            0 ns, port 2: 080000000222080000000100080045010014000100003f1164d50a0001010a000202
            1000000 ns, port 2: 080000000222080000000100080045010014000100003f1164d50a0001010a000202
            2000000 ns, port 2: 080000000222080000000100080045010014000100003f1164d50a0001010a000202
            3000000 ns, port 2: 080000000222080000000100080045010014000100003f1164d50a0001010a000202
            4000000 ns, port 2: 080000000222080000000100080045030014000100003f1164d30a0001010a000202
            5000000 ns, port 2: 080000000222080000000100080045030014000100003f1164d30a0001010a000202
            6000000 ns, port 2: 080000000222080000000100080045030014000100003f1164d30a0001010a000202
        "#]],
    );
}

#[test]
fn log_lines_are_filled_in_and_failed_assertions_drop() {
    let text = "
        #include <core.p4>
        #include <v1model.p4>
        header h_t { bit<8> a; int<8> b; bit<96> wide; }
        struct headers { h_t h; }
        struct metadata { }
        parser MyParser(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
            state start { packet.extract(hdr.h); transition accept; }
        }
        control MyVerify(inout headers hdr, inout metadata meta) { apply { } }
        control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
            apply {
                log_msg(\"plain\");
                log_msg(\"a={} b={} wide={} valid={} {}\", { hdr.h.a, hdr.h.b, hdr.h.wide, hdr.h.isValid(), standard_metadata.ingress_port });
                assert(hdr.h.a < 10);
                assume(hdr.h.b != 5);
                standard_metadata.egress_spec = 2;
            }
        }
        control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) { apply { } }
        control MyCompute(inout headers hdr, inout metadata meta) { apply { } }
        control MyDeparser(packet_out packet, in headers hdr) { apply { packet.emit(hdr.h); } }
        V1Switch(MyParser(), MyVerify(), MyIngress(), MyEgress(), MyCompute(), MyDeparser()) main;
    ";
    let program = program_of_text("log.p4", text).unwrap_or_else(|errors| panic!("{errors}"));
    let scene = |switch: &mut Switch, story: &mut Story| {
        for start in ["01ff", "0a00", "0205"] {
            switch.receive(0, 7, &bytes(&format!("{start} 0102030405060708090a0b0c")));
            switch.run(0, story);
        }
    };
    check(
        &program,
        scene,
        &expect![[r#"
            log: plain
            log: a=1 b=-1 wide=311917102708983781990730508 valid=1 7
            log: plain
            log: a=10 b=0 wide=311917102708983781990730508 valid=1 7
            failed: assert(hdr.h.a < 10)
            log: plain
            log: a=2 b=5 wide=311917102708983781990730508 valid=1 7
            failed: assume(hdr.h.b != 5)
            0 ns, port 2: 01ff0102030405060708090a0b0c
        "#]],
    );
}

/// Of several digests the last one is sent, with the field values at the end of ingress, whatever happens to the
/// packet. The receiver need not be known at compile time.
#[test]
fn a_digest_has_the_values_of_the_end_of_ingress() {
    let text = "
        #include <core.p4>
        #include <v1model.p4>
        header h_t { bit<8> a; bit<8> b; }
        struct headers { h_t h; }
        struct metadata { bit<32> receiver; bit<16> x; }
        struct seen_t { bit<16> x; h_t h; }
        parser MyParser(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
            state start { packet.extract(hdr.h); transition accept; }
        }
        control MyVerify(inout headers hdr, inout metadata meta) { apply { } }
        control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
            apply {
                bit<8> local = hdr.h.a;
                meta.receiver = (bit<32>) hdr.h.b;
                digest(meta.receiver, { hdr.h.a, local, meta.x });
                if (hdr.h.a == 1) {
                    digest<seen_t>(2, { meta.x, hdr.h });
                }
                standard_metadata.egress_spec = 2;
                if (hdr.h.b == 5) { mark_to_drop(standard_metadata); }
                hdr.h.a = 9;
                local = 8;
                meta.x = 7;
            }
        }
        control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) { apply { } }
        control MyCompute(inout headers hdr, inout metadata meta) { apply { } }
        control MyDeparser(packet_out packet, in headers hdr) { apply { packet.emit(hdr.h); } }
        V1Switch(MyParser(), MyVerify(), MyIngress(), MyEgress(), MyCompute(), MyDeparser()) main;
    ";
    let program = program_of_text("digest.p4", text).unwrap_or_else(|errors| panic!("{errors}"));
    let scene = |switch: &mut Switch, story: &mut Story| {
        for packet in ["01ff", "0205", "0306"] {
            switch.receive(0, 7, &bytes(packet));
            switch.run(0, story);
        }
    };
    check(
        &program,
        scene,
        &expect![[r#"
            digest 1: 0x7, 0x1, 0x9, 0xff
            digest 0: 0x9, 0x2, 0x7
            digest 0: 0x9, 0x3, 0x7
            0 ns, port 2: 09ff
            0 ns, port 2: 0906
        "#]],
    );
}

/// The digests of a PSA program's deparsers: a packet that is dropped in ingress sends none, a packet that is dropped
/// in egress sends both.
#[test]
fn deparsers_send_digests() {
    let scene = |switch: &mut Switch, story: &mut Story| {
        for how in 0..4 {
            switch.receive(0, 7, &[how, 1, 0x12, 0xff]);
            switch.run(0, story);
        }
    };
    check(
        &corpus_program("psa/digests.p4"),
        scene,
        &expect![[r#"
            digest 0: 0x0, 0x1
            digest 0: 0x0, 0x0
            digest 1: 0x7, 0x1, 0x0, 0x7
            digest 2: 0x1, 0x1, 0x1, 0x1, 0x1, 0x2, 0x0, 0x0, 0x0
            digest 3: 0x1
            digest 0: 0x1, 0x1
            digest 0: 0x1, 0x0
            digest 1: 0x7, 0x1, 0x0, 0x7
            digest 2: 0x1, 0x3, 0x1, 0x1, 0x1, 0x2, 0x0, 0x0, 0x0
            digest 3: 0x1
            digest 0: 0x3, 0x1
            digest 0: 0x3, 0x0
            0 ns, port 1: 000112ff
            0 ns, port 1: 010112ff
        "#]],
    );
}

/// The clones of a session in PSA: truncated, and with a class of service.
#[test]
fn clones_of_a_session_are_cut() {
    let scene = |switch: &mut Switch, story: &mut Story| {
        let sessions = r#"{"target": "bmv2", "clone_session_entries": [
            {"clone_session_id": 8, "replicas": [{"egress_port": 5, "instance": 3}, {"egress_port": 4000000000}],
             "class_of_service": 2, "packet_length_bytes": 6},
            {"clone_session_id": 9, "replicas": [{"egress_port": 6}], "packet_length_bytes": 2}]}"#;
        install(switch, sessions);
        for how in [1, 2] {
            switch.receive(0, 0, &[how, 0, 0, 0, 0xaa, 0xbb, 0xcc, 0xdd]);
            switch.run(0, story);
        }
    };
    let text = "
        #include <core.p4>
        #include <psa.p4>
        header note_t { bit<8> how; bit<8> path; bit<8> service; bit<8> instance; }
        struct headers_t { note_t note; }
        struct empty_t { }
        parser ip(packet_in p, out headers_t hdr, inout empty_t m, in psa_ingress_parser_input_metadata_t istd,
                  in empty_t resubmit_meta, in empty_t recirculate_meta) {
            state start { p.extract(hdr.note); transition accept; }
        }
        control ig(inout headers_t hdr, inout empty_t m, in psa_ingress_input_metadata_t istd,
                   inout psa_ingress_output_metadata_t ostd) {
            apply {
                ostd.class_of_service = (ClassOfService_t) 1;
                ostd.clone = hdr.note.how == 1;
                ostd.clone_session_id = (CloneSessionId_t) 8;
                send_to_port(ostd, (PortId_t) 1);
            }
        }
        control id(packet_out p, out empty_t clone_i2e_meta, out empty_t resubmit_meta, out empty_t normal_meta,
                   inout headers_t hdr, in empty_t m, in psa_ingress_output_metadata_t istd) {
            apply { p.emit(hdr); }
        }
        parser ep(packet_in p, out headers_t hdr, inout empty_t m, in psa_egress_parser_input_metadata_t istd,
                  in empty_t normal_meta, in empty_t clone_i2e_meta, in empty_t clone_e2e_meta) {
            state start { p.extract(hdr.note); transition accept; }
        }
        control eg(inout headers_t hdr, inout empty_t m, in psa_egress_input_metadata_t istd,
                   inout psa_egress_output_metadata_t ostd) {
            apply {
                hdr.note.path = istd.packet_path == PSA_PacketPath_t.CLONE_I2E ? 8w3
                              : istd.packet_path == PSA_PacketPath_t.CLONE_E2E ? 8w4 : 8w1;
                hdr.note.service = (ClassOfServiceUint_t) istd.class_of_service;
                hdr.note.instance = (bit<8>) (EgressInstanceUint_t) istd.instance;
                ostd.clone = hdr.note.how == 2 && istd.packet_path == PSA_PacketPath_t.NORMAL_UNICAST;
                ostd.clone_session_id = (CloneSessionId_t) 9;
            }
        }
        control ed(packet_out p, out empty_t clone_e2e_meta, out empty_t recirculate_meta, inout headers_t hdr,
                   in empty_t m, in psa_egress_output_metadata_t istd,
                   in psa_egress_deparser_input_metadata_t edstd) {
            apply { p.emit(hdr); }
        }
        PSA_Switch(IngressPipeline(ip(), ig(), id()), PacketReplicationEngine(), EgressPipeline(ep(), eg(), ed()),
                   BufferingQueueingEngine()) main;";
    let program = program_of_text("clones.p4", text).unwrap_or_else(|errors| panic!("{errors}"));
    check(
        &program,
        scene,
        &expect![[r#"
        0 ns, port 5: 01030203aabb
        0 ns, port 4000000000: 01030200aabb
        0 ns, port 1: 01010100aabbccdd
        0 ns, port 1: 02010100aabbccdd
        0 ns, port 6: 0201
    "#]],
    );
}
