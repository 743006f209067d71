//! Plans as text: a router that is run in place, a program whose state makes packets run one after the other, and one
//! that makes headers.

use cgen::{Description, Plan, describe};
use expect_test::{Expect, expect};
use testkit::pipeline::{optimised, program_of_text};

/// A program with an Ethernet and an IPv4 header around these parts.
fn described(locals: &str, ingress: &str, egress: &str) -> Description {
    let text = format!(
        "#include <core.p4>
#include <v1model.p4>
#include <wirespeed.p4>
header ethernet_t {{ bit<48> dst; bit<48> src; bit<16> type; }}
header ipv4_t {{ bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst; }}
struct headers {{ ethernet_t ethernet; ipv4_t ipv4; }}
struct meta_t {{ bit<16> hop; }}
parser P(packet_in packet, out headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{
    state start {{
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {{ 0x800: ipv4; default: accept; }}
    }}
    state ipv4 {{ packet.extract(hdr.ipv4); transition accept; }}
}}
control V(inout headers hdr, inout meta_t meta) {{
    apply {{
        verify_checksum(hdr.ipv4.isValid(), {{ hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst }},
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }}
}}
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{ {locals} apply {{ {ingress} }} }}
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{ apply {{ {egress} }} }}
control C(inout headers hdr, inout meta_t meta) {{
    apply {{
        update_checksum(hdr.ipv4.isValid(), {{ hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst }},
            hdr.ipv4.checksum, HashAlgorithm.csum16);
    }}
}}
control D(packet_out packet, in headers hdr) {{ apply {{ packet.emit(hdr.ethernet); packet.emit(hdr.ipv4); }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"
    );
    let program = program_of_text("describe.p4", &text).unwrap_or_else(|errors| panic!("{errors}"));
    let program = optimised(&program).unwrap();
    describe(&program, &Plan::new(&program).unwrap())
}

fn check(locals: &str, ingress: &str, egress: &str, expected: Expect) {
    expected.assert_eq(&described(locals, ingress, egress).to_string());
}

const ROUTE: &str = "
    action forward(bit<9> port, bit<16> hop) { sm.egress_spec = port; meta.hop = hop; hdr.ipv4.ttl = hdr.ipv4.ttl - 1; }
    action drop() { mark_to_drop(sm); }
    counter(16, CounterType.packets) hops;
    table route { key = { hdr.ipv4.dst: lpm; } actions = { forward; drop; } default_action = drop(); }
    table mac { key = { meta.hop: exact; hdr.ethernet.src: ternary; } actions = { drop; NoAction; } }";

#[test]
fn a_router_is_run_in_place() {
    check(
        ROUTE,
        "if (hdr.ipv4.isValid() && route.apply().hit) { mac.apply(); hops.count(0); }",
        "",
        expect![[r#"
            program for v1model
            burst: 64 packets: packets cannot observe that they run together
            fast path: in place: packets are processed where their bytes lie
              deparser: left out: what it would emit is there already
              incremental checksum: hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst
              batch stage 0
                node 0 (entered): 5 statements; then if hdr.ipv4.isValid() node 1 else node 3
                node 1: then looks up I.route, node 4
                node 3: then if tmp#2 node 5 else node 7
                node 5: then looks up I.mac, node 8
                node 7: 10 statements; then done
              batch stage 1
                node 4 (entered): result of I.route; 1 statement; then node 9
                node 9: then if tmp#2 node 10 else node 11
                node 10: then looks up I.mac, node 8
                node 11: 10 statements; then done
              batch stage 2
                node 8 (entered): result of I.mac; 1 statement; then node 12
                node 12: 10 statements; then done

            block V
              batch stage 0
                node 0 (entered): 4 statements; then done

            block I
              batch stage 0
                node 0 (entered): 1 statement; then if hdr.ipv4.isValid() node 1 else node 3
                node 1: then looks up I.route, node 4
              batch stage 1
                node 4 (entered): result of I.route; 1 statement; then node 3
                node 3 (entered): then if tmp#2 node 5 else done
                node 5: then looks up I.mac, node 8
              batch stage 2
                node 8 (entered): result of I.mac; 1 statement; then done

            block C
              batch stage 0
                node 0 (entered): 2 statements; then done

            block D
              batch stage 0
                node 0 (entered): 2 statements; then done

            context: 64 bytes for each packet in flight

            variables
              meta.hop: 16 bits: C variable; in blocks: context, byte 0
              sm.egress_spec: 9 bits: C variable, saved for each packet up to batch stage 2; in blocks: packet, slot 1
              sm.mcast_grp: 16 bits: C variable, saved for each packet up to batch stage 2; in blocks: packet, slot 11
              sm.checksum_error: 1 bits: C variable; in blocks: packet, slot 13
              sm.parser_error: 32 bits: C variable; in blocks: packet, slot 14
              tmp: 16 bits: C variable
              tmp#2: 1 bits: C variable, saved for each packet up to batch stage 1; in blocks: C variable, saved for each packet
              I.forward.port: 9 bits: C variable
              I.forward.hop: 16 bits: C variable
              I.route hit: 1 bits: C variable

            headers
              hdr.ethernet: 112 bits: packet, byte 0
              hdr.ipv4: 96 bits: packet, byte 14

            tables
              I.route: trie whose first level is an array; key of 32 bits in 1 word, looked up once per burst
                lpm hdr.ipv4.dst: 32 bits
                entries have 16 bytes of action data
              I.mac: decision trees, linear while it is small; key of 64 bits in 1 word, looked up once per burst
                exact meta.hop: 16 bits
                ternary hdr.ethernet.src: 48 bits

            state
              counter I.hops: sum: each worker has cells of its own, which are added up
        "#]],
    );
}

#[test]
fn a_register_that_two_tables_lie_between_keeps_packets_in_line() {
    let locals = format!("{ROUTE} register<bit<32>>(4) last; register<bit<32>>(4) sum; bit<32> v;");
    let ingress = "last.read(v, 0); hdr.ipv4.src = v; route.apply(); last.write(0, hdr.ipv4.dst);
        sum.read(v, 1); v = v + 1; sum.write(1, v);";
    check(
        &locals,
        ingress,
        "",
        expect![[r#"
            program for v1model
            burst: 64 packets: packets cannot observe that they run together
            fast path: in place: packets are processed where their bytes lie
              deparser: left out: what it would emit is there already
              incremental checksum: hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst
              one packet after the other: packets would meet register I.last in another order
              batch stage 0, which workers take turns at
                node 0 (entered): 21 statements; looks up per packet I.route; then done

            block V
              batch stage 0
                node 0 (entered): 4 statements; then done

            block I
              one packet after the other: packets would meet register I.last in another order
              batch stage 0, which workers take turns at
                node 0 (entered): 7 statements; looks up per packet I.route; then done

            block C
              batch stage 0
                node 0 (entered): 2 statements; then done

            block D
              batch stage 0
                node 0 (entered): 2 statements; then done

            context: 64 bytes for each packet in flight

            variables
              meta.hop: 16 bits: C variable; in blocks: context, byte 0
              sm.egress_spec: 9 bits: C variable; in blocks: packet, slot 1
              sm.mcast_grp: 16 bits: C variable; in blocks: packet, slot 11
              sm.checksum_error: 1 bits: C variable; in blocks: packet, slot 13
              sm.parser_error: 32 bits: C variable; in blocks: packet, slot 14
              tmp: 16 bits: C variable
              v: 32 bits: C variable
              I.forward.port: 9 bits: C variable
              I.forward.hop: 16 bits: C variable

            headers
              hdr.ethernet: 112 bits: packet, byte 0
              hdr.ipv4: 96 bits: packet, byte 14

            tables
              I.route: trie whose first level is an array; key of 32 bits in 1 word, looked up packet by packet
                lpm hdr.ipv4.dst: 32 bits
                entries have 16 bytes of action data

            state
              counter I.hops: sum: each worker has cells of its own, which are added up
              register I.last: guarded: packets can observe the order of use: workers take turns at the guarded batch stages
              register I.sum: guarded: packets can observe the order of use: workers take turns at the guarded batch stages
        "#]],
    );
}

#[test]
fn a_header_that_comes_and_goes_is_moved_in_place() {
    check(
        ROUTE,
        "route.apply(); if (sm.egress_spec == 3) { hdr.ipv4.setInvalid(); }",
        "",
        expect![[r#"
            program for v1model
            burst: 64 packets: packets cannot observe that they run together
            fast path: in place: packets are processed where their bytes lie
              deparser: moves headers in place
              batch stage 0
                node 0 (entered): 4 statements; then looks up I.route, node 1
              batch stage 1
                node 1 (entered): result of I.route; 14 statements; then done

            block V
              batch stage 0
                node 0 (entered): 4 statements; then done

            block I
              batch stage 0
                node 0 (entered): then looks up I.route, node 1
              batch stage 1
                node 1 (entered): result of I.route; 2 statements; then done

            block C
              batch stage 0
                node 0 (entered): 2 statements; then done

            block D
              batch stage 0
                node 0 (entered): 2 statements; then done

            context: 64 bytes for each packet in flight

            variables
              meta.hop: 16 bits: C variable; in blocks: context, byte 0
              sm.egress_spec: 9 bits: C variable; in blocks: packet, slot 1
              sm.mcast_grp: 16 bits: C variable; in blocks: packet, slot 11
              sm.checksum_error: 1 bits: C variable; in blocks: packet, slot 13
              sm.parser_error: 32 bits: C variable; in blocks: packet, slot 14
              tmp: 16 bits: C variable
              I.forward.port: 9 bits: C variable
              I.forward.hop: 16 bits: C variable

            headers
              hdr.ethernet: 112 bits: packet
              hdr.ipv4: 96 bits: packet

            tables
              I.route: trie whose first level is an array; key of 32 bits in 1 word, looked up once per burst
                lpm hdr.ipv4.dst: 32 bits
                entries have 16 bytes of action data

            state
              counter I.hops: sum: each worker has cells of its own, which are added up
        "#]],
    );
}

#[test]
fn clones_for_egress_do_not_meet_what_ingress_touches() {
    let locals = format!("{ROUTE} register<bit<8>>(16) last; meter(4, MeterType.bytes) rate;");
    let touching = "bit<8> ttl; route.apply(); last.read(ttl, 3); last.write(3, ttl ^ hdr.ipv4.ttl);
        bit<8> colour; rate.execute_meter(0, colour); digest<bit<8>>(1, colour);";
    let burst = |ingress: &str, egress: &str| {
        let plan = described(&locals, ingress, egress).to_string();
        plan.lines().find(|line| line.starts_with("burst")).unwrap().to_owned()
    };
    let (from_ingress, from_egress) = ("clone(CloneType.I2E, 5);", "clone(CloneType.E2E, 5);");
    let bursts = [
        burst(&format!("{touching} {from_ingress}"), ""),
        burst(touching, from_egress),
        burst(
            "route.apply(); clone(CloneType.I2E, 5);",
            "bit<8> number; random(number, 0, 9); hdr.ipv4.protocol = number;",
        ),
        burst(&format!("{touching} resubmit_preserving_field_list(1);"), ""),
    ];
    expect![[r#"
        burst: 64 packets: packets cannot observe that they run together
        burst: 64 packets: packets cannot observe that they run together
        burst: 64 packets: packets cannot observe that they run together
        burst: 64 packets: packets cannot observe that they run together"#]]
    .assert_eq(&bursts.join("\n"));
}

#[test]
fn packets_that_draw_random_numbers_and_are_copied_go_one_by_one() {
    let ingress = "route.apply(); if (sm.egress_spec == 3) { clone(CloneType.I2E, 5); }";
    check(
        ROUTE,
        ingress,
        "bit<8> number; random(number, 0, 9); hdr.ipv4.protocol = number;",
        expect![[r#"
            program for v1model
            burst: 64 packets: packets cannot observe that they run together
            fast path: in place: packets are processed where their bytes lie
              deparser: left out: what it would emit is there already
              incremental checksum: hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst
              packets are punted for requests of ingress
              replicas share their packet's metadata, and take the part behind the queues
              one packet after the other: each packet runs to completion before the next begins, which might meet the sequence of random numbers first
              batch stage 0
                node 0 (entered): 22 statements; looks up per packet I.route; then done

            block V
              batch stage 0
                node 0 (entered): 4 statements; then done

            block I
              batch stage 0
                node 0 (entered): then looks up I.route, node 1
              batch stage 1
                node 1 (entered): result of I.route; 3 statements; then done

            block E
              batch stage 0
                node 0 (entered): 2 statements; then done

            block C
              batch stage 0
                node 0 (entered): 2 statements; then done

            block D
              batch stage 0
                node 0 (entered): 2 statements; then done

            context: 64 bytes for each packet in flight

            variables
              meta.hop: 16 bits: C variable; in blocks: context, byte 0
              sm.egress_spec: 9 bits: C variable; in blocks: packet, slot 1
              sm.mcast_grp: 16 bits: C variable; in blocks: packet, slot 11
              sm.checksum_error: 1 bits: C variable, saved for each packet up to batch stage 1; in blocks: packet, slot 13
              sm.parser_error: 32 bits: C variable, saved for each packet up to batch stage 1; in blocks: packet, slot 14
              tmp: 16 bits: C variable
              I.forward.port: 9 bits: C variable
              I.forward.hop: 16 bits: C variable
              clone from ingress: 32 bits: C variable; in blocks: packet, slot 16
              field list of the clone: 32 bits: C variable; in blocks: packet, slot 18
              number: 8 bits: C variable

            headers
              hdr.ethernet: 112 bits: packet, byte 0
              hdr.ipv4: 96 bits: packet, byte 14

            tables
              I.route: trie whose first level is an array; key of 32 bits in 1 word, looked up packet by packet
                lpm hdr.ipv4.dst: 32 bits
                entries have 16 bytes of action data

            state
              counter I.hops: sum: each worker has cells of its own, which are added up
        "#]],
    );
}

#[test]
fn a_key_of_one_word_is_searched_by_generated_code() {
    check(
        "action forward(bit<9> port) { sm.egress_spec = port; }
         table bridge { key = { hdr.ethernet.dst: exact; } actions = { forward; NoAction; } }",
        "bridge.apply();",
        "",
        expect![[r#"
            program for v1model
            burst: 64 packets: packets cannot observe that they run together
            fast path: in place: packets are processed where their bytes lie
              deparser: left out: what it would emit is there already
              incremental checksum: hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst
              batch stage 0
                node 0 (entered): 4 statements; then looks up I.bridge, node 1
              batch stage 1
                node 1 (entered): result of I.bridge; 10 statements; then done

            block V
              batch stage 0
                node 0 (entered): 4 statements; then done

            block I
              batch stage 0
                node 0 (entered): then looks up I.bridge, node 1
              batch stage 1
                node 1 (entered): result of I.bridge; then done

            block C
              batch stage 0
                node 0 (entered): 2 statements; then done

            block D
              batch stage 0
                node 0 (entered): 2 statements; then done

            context: 64 bytes for each packet in flight

            variables
              sm.egress_spec: 9 bits: C variable; in blocks: packet, slot 1
              sm.checksum_error: 1 bits: C variable; in blocks: packet, slot 13
              sm.parser_error: 32 bits: C variable; in blocks: packet, slot 14
              tmp: 16 bits: C variable
              I.forward.port: 9 bits: C variable

            headers
              hdr.ethernet: 112 bits: packet, byte 0
              hdr.ipv4: 96 bits: packet, byte 14

            tables
              I.bridge: hash whose slots hold the keys; key of 48 bits in 1 word, looked up once per burst, searched by generated code
                exact hdr.ethernet.dst: 48 bits
                entries have 8 bytes of action data
        "#]],
    );
}

#[test]
fn tables_without_state_around_them_are_looked_up_for_the_whole_burst() {
    check(
        "action forward(bit<9> port) { sm.egress_spec = port; }
         table before { key = { hdr.ethernet.dst: exact; } actions = { forward; NoAction; } }
         table within { key = { hdr.ethernet.src: exact; } actions = { forward; NoAction; } }
         table behind { key = { hdr.ipv4.dst: exact; } actions = { forward; NoAction; } }
         register<bit<32>>(4) seen;",
        "before.apply();
         bit<32> v; seen.read(v, 0); seen.write(0, v * 3 + 1);
         within.apply();
         seen.read(v, 1); seen.write(1, v * 5 + 1);
         behind.apply();",
        "",
        expect![[r#"
            program for v1model
            burst: 64 packets: packets cannot observe that they run together
            fast path: in place: packets are processed where their bytes lie
              deparser: left out: what it would emit is there already
              incremental checksum: hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst
              in part one packet after the other: packets would meet register I.seen in another order
              batch stage 0
                node 0 (entered): 4 statements; then looks up I.before, node 1
              batch stage 1, which workers take turns at
                node 1 (entered): result of I.before; 5 statements; looks up per packet I.within; then looks up I.behind, node 2
              batch stage 2
                node 2 (entered): result of I.behind; 10 statements; then done

            block V
              batch stage 0
                node 0 (entered): 4 statements; then done

            block I
              in part one packet after the other: packets would meet register I.seen in another order
              batch stage 0
                node 0 (entered): then looks up I.before, node 1
              batch stage 1, which workers take turns at
                node 1 (entered): result of I.before; 5 statements; looks up per packet I.within; then looks up I.behind, node 2
              batch stage 2
                node 2 (entered): result of I.behind; then done

            block C
              batch stage 0
                node 0 (entered): 2 statements; then done

            block D
              batch stage 0
                node 0 (entered): 2 statements; then done

            context: 64 bytes for each packet in flight

            variables
              sm.egress_spec: 9 bits: C variable, saved for each packet up to batch stage 2; in blocks: packet, slot 1
              sm.checksum_error: 1 bits: C variable; in blocks: packet, slot 13
              sm.parser_error: 32 bits: C variable; in blocks: packet, slot 14
              tmp: 16 bits: C variable
              I.forward.port: 9 bits: C variable
              v: 32 bits: C variable

            headers
              hdr.ethernet: 112 bits: packet, byte 0
              hdr.ipv4: 96 bits: packet, byte 14

            tables
              I.before: hash whose slots hold the keys; key of 48 bits in 1 word, looked up once per burst, searched by generated code
                exact hdr.ethernet.dst: 48 bits
                entries have 8 bytes of action data
              I.within: hash whose slots hold the keys; key of 48 bits in 1 word, looked up packet by packet, searched by generated code
                exact hdr.ethernet.src: 48 bits
                entries have 8 bytes of action data
              I.behind: hash whose slots hold the keys; key of 32 bits in 1 word, looked up once per burst, searched by generated code
                exact hdr.ipv4.dst: 32 bits
                entries have 8 bytes of action data

            state
              register I.seen: guarded: packets can observe the order of use: workers take turns at the guarded batch stages
        "#]],
    );
}

#[test]
fn packets_that_pass_by_a_table_wait_where_order_would_show() {
    check(
        ROUTE,
        "if (hdr.ipv4.isValid()) { route.apply(); } bit<8> ttl; random(ttl, 1, 9); hdr.ipv4.ttl = ttl;",
        "",
        expect![[r#"
            program for v1model
            burst: 64 packets: packets cannot observe that they run together
            fast path: in place: packets are processed where their bytes lie
              deparser: left out: what it would emit is there already
              incremental checksum: hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst
              batch stage 0
                node 0 (entered): 4 statements; then if hdr.ipv4.isValid() node 1 else node 3
                node 1: then looks up I.route, node 4
              batch stage 1
                node 4 (entered): result of I.route; then node 3
                node 3 (entered): 12 statements; then done

            block V
              batch stage 0
                node 0 (entered): 4 statements; then done

            block I
              batch stage 0
                node 0 (entered): then if hdr.ipv4.isValid() node 1 else node 3
                node 1: then looks up I.route, node 4
              batch stage 1
                node 4 (entered): result of I.route; then node 3
                node 3 (entered): 2 statements; then done

            block C
              batch stage 0
                node 0 (entered): 2 statements; then done

            block D
              batch stage 0
                node 0 (entered): 2 statements; then done

            context: 64 bytes for each packet in flight

            variables
              meta.hop: 16 bits: C variable; in blocks: context, byte 0
              sm.egress_spec: 9 bits: C variable; in blocks: packet, slot 1
              sm.mcast_grp: 16 bits: C variable; in blocks: packet, slot 11
              sm.checksum_error: 1 bits: C variable; in blocks: packet, slot 13
              sm.parser_error: 32 bits: C variable; in blocks: packet, slot 14
              tmp: 16 bits: C variable
              I.forward.port: 9 bits: C variable
              I.forward.hop: 16 bits: C variable
              ttl: 8 bits: C variable

            headers
              hdr.ethernet: 112 bits: packet, byte 0
              hdr.ipv4: 96 bits: packet, byte 14

            tables
              I.route: trie whose first level is an array; key of 32 bits in 1 word, looked up once per burst
                lpm hdr.ipv4.dst: 32 bits
                entries have 16 bytes of action data

            state
              counter I.hops: sum: each worker has cells of its own, which are added up
        "#]],
    );
}

#[test]
fn one_worker_has_packets_that_wait_for_each_other() {
    check(
        "",
        "sm.egress_spec = 1;",
        "pile_gather(1, 100, 1000);",
        expect![[r#"
            program for v1model
            burst: 64 packets: packets cannot observe that they run together
            fast path: in place: packets are processed where their bytes lie
              deparser: left out: what it would emit is there already
              incremental checksum: hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst
              packets are punted for requests of egress
              one packet after the other: each packet runs to completion before the next begins, which might meet the coalescing buffers first
              batch stage 0
                node 0 (entered): 18 statements; then done

            block V
              batch stage 0
                node 0 (entered): 4 statements; then done

            block I
              batch stage 0
                node 0 (entered): 1 statement; then done

            block E
              batch stage 0
                node 0 (entered): 1 statement; then done

            block C
              batch stage 0
                node 0 (entered): 2 statements; then done

            block D
              batch stage 0
                node 0 (entered): 2 statements; then done

            context: 64 bytes for each packet in flight

            variables
              sm.egress_spec: 9 bits: C variable; in blocks: packet, slot 1
              sm.checksum_error: 1 bits: C variable; in blocks: packet, slot 13
              sm.parser_error: 32 bits: C variable; in blocks: packet, slot 14
              tmp: 16 bits: C variable
              gather: 64 bits: C variable; in blocks: packet, slot 24

            headers
              hdr.ethernet: 112 bits: packet, byte 0
              hdr.ipv4: 96 bits: packet, byte 14

            state
              the coalescing buffers: turns: only one worker runs the program, which preserves the order of packets
        "#]],
    );
}

#[test]
fn what_makes_packets_expensive_is_reported() {
    let meter = "meter(4, MeterType.bytes) flows; bit<8> colour;";
    let register =
        "register<bit<8>>(1) seen; bit<8> last; action see() { seen.read(last, 0); seen.write(0, last + 1); }";
    let cases = [
        ("nothing", "", "", ""),
        (
            "depths and times",
            "",
            "",
            "meta.hop = (bit<16>)(sm.enq_qdepth + sm.deq_qdepth); hdr.ipv4.src =
            (bit<32>)sm.egress_global_timestamp + sm.enq_timestamp + sm.deq_timedelta + (bit<32>)meta.hop;",
        ),
        ("times in ingress", "", "hdr.ipv4.src = sm.enq_timestamp;", ""),
        ("times that are written", "", "", "sm.egress_global_timestamp = 1;"),
        ("an assertion", "", "assert(hdr.ipv4.ttl != 0);", ""),
        ("assertions in two blocks", "", "assert(hdr.ipv4.ttl != 0);", "assume(hdr.ipv4.ttl != 1);"),
        ("truncation", "", "truncate(100);", ""),
        ("a meter", meter, "flows.execute_meter(0, colour); hdr.ipv4.protocol = colour;", ""),
        ("a clone to ingress", "", "clone(CloneType.I2E, 5);", ""),
        ("a resubmission", "", "resubmit_preserving_field_list(0);", ""),
        ("recirculation", "", "", "recirculate_preserving_field_list(0);"),
        ("a register", register, "see();", ""),
        ("a register that packets meet again", register, "see(); resubmit_preserving_field_list(0);", ""),
    ];
    let mut found = String::new();
    for (what, locals, ingress, egress) in cases {
        let plan = described(locals, ingress, egress);
        let mode = match &plan.fast_path {
            None => "blocks",
            Some(fast_path) if fast_path.in_place => "in place",
            Some(_) => "in chunks",
        };
        let hindrance = plan.hindrance().map_or(String::new(), |why| format!("; {why}"));
        found.push_str(&format!("{what}: {mode}, bursts of {}{hindrance}\n", plan.burst_packets));
    }
    expect![[r#"
        nothing: in place, bursts of 64
        depths and times: in place, bursts of 64
        times in ingress: blocks, bursts of 1; no fast path: the program writes the times that queues write, or reads them in ingress
        times that are written: blocks, bursts of 1; no fast path: the program writes the times that queues write, or reads them in ingress
        an assertion: in place, bursts of 64
        assertions in two blocks: in place, bursts of 64
        truncation: in place, bursts of 64
        a meter: in place, bursts of 64
        a clone to ingress: in place, bursts of 64
        a resubmission: in place, bursts of 64
        recirculation: in place, bursts of 64
        a register: in place, bursts of 64
        a register that packets meet again: in place, bursts of 64; one packet at a time: each packet runs to completion before the next begins, which might meet register I.seen first
    "#]].assert_eq(&found);
}

/// What the fast path of a program is whose parser reads a stack of this many elements in a loop.
fn fast_path_of_stack(elements: u32, ingress: &str) -> String {
    let text = format!(
        "#include <core.p4>
#include <v1model.p4>
header label_t {{ bit<1> ends; bit<31> value; }}
struct headers {{ label_t[{elements}] labels; }}
struct meta_t {{ bit<8> at; }}
parser P(packet_in packet, out headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{
    state start {{
        packet.extract(hdr.labels.next);
        transition select(hdr.labels.last.ends) {{ 1: accept; default: start; }}
    }}
}}
control V(inout headers hdr, inout meta_t meta) {{ apply {{ }} }}
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{ apply {{ {ingress} }} }}
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t sm) {{ apply {{ }} }}
control C(inout headers hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out packet, in headers hdr) {{ apply {{ packet.emit(hdr); }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"
    );
    let program = program_of_text("describe.p4", &text).unwrap_or_else(|errors| panic!("{errors}"));
    let program = optimised(&program).unwrap();
    let text = describe(&program, &Plan::new(&program).unwrap()).to_string();
    text.lines().filter(|line| line.contains("fast path") || line.contains("deparser:")).collect::<Vec<_>>().join("\n")
}

#[test]
fn stacks_whose_elements_have_names_are_worked_on_in_place() {
    let moved = "if (hdr.labels[0].value == 7) { hdr.labels.pop_front(1); } else { hdr.labels.push_front(1); \
                 hdr.labels[0].setValid(); }";
    let cases = [
        (3, "hdr.labels[0].value = 7;"),
        (3, moved),
        (3, "hdr.labels[meta.at].value = 7;"),
        (40, "hdr.labels[0].value = 7;"),
        (40, "hdr.labels.pop_front(1);"),
        (300, "hdr.labels[0].value = 7;"),
    ];
    let found: String =
        cases.map(|(elements, ingress)| format!("{}\n", fast_path_of_stack(elements, ingress))).concat();
    expect![[r#"
        fast path: in place: packets are processed where their bytes lie
          deparser: left out: what it would emit is there already
        fast path: in place: packets are processed where their bytes lie
          deparser: moves headers in place, up to 24 bytes into the headroom
        fast path: in chunks: the elements of hdr.labels are indexed at run time
          deparser: emits headers
        fast path: in place: packets are processed where their bytes lie
          deparser: left out: what it would emit is there already
        fast path: in chunks: hdr.labels is pushed or popped and has 40 elements, more than 32
          deparser: emits headers
        fast path: in chunks: the elements of hdr.labels are indexed at run time
          deparser: emits headers
    "#]]
    .assert_eq(&found);
}

/// What the fast path of a program for PSA is, with these parts: states of the egress parser, ingress, ingress
/// deparser, egress and egress deparser.
fn fast_path_of_psa([parser, ingress, ingress_deparser, egress, egress_deparser]: [&str; 5]) -> String {
    let text = format!(
        "#include <core.p4>
#include <psa.p4>
header ethernet_t {{ bit<48> dst; bit<48> src; bit<16> type; }}
header ipv4_t {{ bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst; }}
struct headers {{ ethernet_t ethernet; ipv4_t ipv4; }}
struct meta_t {{ bit<16> hop; }}
struct empty_t {{ }}
struct note_t {{ bit<16> hop; }}
parser IP(packet_in packet, out headers hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd,
          in empty_t resubmitted, in empty_t recirculated) {{
    state start {{
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {{ 0x800: ipv4; default: accept; }}
    }}
    state ipv4 {{ packet.extract(hdr.ipv4); transition accept; }}
}}
control I(inout headers hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd,
          inout psa_ingress_output_metadata_t ostd) {{
    apply {{ send_to_port(ostd, (PortId_t)(PortIdUint_t)(bit<32>) hdr.ethernet.dst[7:0]); {ingress} }}
}}
control ID(packet_out packet, out empty_t cloned, out empty_t resubmitted, out note_t normal, inout headers hdr,
           in meta_t meta, in psa_ingress_output_metadata_t istd) {{
    apply {{ {ingress_deparser} }}
}}
parser EP(packet_in packet, out headers hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd,
          in note_t normal, in empty_t cloned, in empty_t cloned_again) {{
    {parser}
}}
control E(inout headers hdr, inout meta_t meta, in psa_egress_input_metadata_t istd,
          inout psa_egress_output_metadata_t ostd) {{
    apply {{ {egress} }}
}}
control ED(packet_out packet, out empty_t cloned, out empty_t recirculated, inout headers hdr, in meta_t meta,
           in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {{
    apply {{ {egress_deparser} }}
}}
PSA_Switch(IngressPipeline(IP(), I(), ID()), PacketReplicationEngine(), EgressPipeline(EP(), E(), ED()),
           BufferingQueueingEngine()) main;
"
    );
    let program = program_of_text("describe.p4", &text).unwrap_or_else(|errors| panic!("{errors}"));
    let program = optimised(&program).unwrap();
    let plan = describe(&program, &Plan::new(&program).unwrap());
    match (&plan.fast_path, &plan.no_fast_path_reason) {
        (Some(path), _) => {
            let place = if path.in_place { "in place" } else { "in chunks" };
            let deparser = if path.deparser_left_out { ", no deparser" } else { "" };
            format!("{place}{deparser}, punted for {}", path.punts_for.join(", "))
        }
        (None, why) => format!("none: {}", why.as_deref().unwrap_or_default()),
    }
}

#[test]
fn psa_has_the_fast_path_where_headers_are_found_again() {
    let same = "state start {
            packet.extract(hdr.ethernet);
            transition select(hdr.ethernet.type) { 0x800: ipv4; default: accept; }
        }
        state ipv4 { packet.extract(hdr.ipv4); transition accept; }";
    let notes = "state start { meta.hop = normal.hop; packet.extract(hdr.ethernet); transition more; }
        state more { transition select(istd.packet_path) {
            PSA_PacketPath_t.NORMAL_UNICAST: ipv4; default: accept; } }
        state ipv4 { packet.extract(hdr.ipv4); transition accept; }";
    let selects_note = "state start { packet.extract(hdr.ethernet);
            transition select(normal.hop) { 0: accept; default: ipv4; } }
        state ipv4 { packet.extract(hdr.ipv4); transition accept; }";
    let looks_ahead = "state start {
            transition select(packet.lookahead<bit<8>>()) { 0: accept; default: ethernet; } }
        state ethernet { packet.extract(hdr.ethernet); transition accept; }";
    let nothing = "state start { transition accept; }";
    let emits = "packet.emit(hdr.ethernet); packet.emit(hdr.ipv4);";
    let note = "normal.hop = meta.hop; packet.emit(hdr);";
    let reads = "hdr.ethernet.src = (bit<48>) meta.hop;";
    let cases = [
        ("the same parser", [same, "", emits, "", emits]),
        ("another order of headers", [same, "", "packet.emit(hdr.ipv4); packet.emit(hdr.ethernet);", "", emits]),
        ("a header is removed", [same, "hdr.ipv4.setInvalid();", emits, "", emits]),
        ("egress removes a header", [same, "", emits, "hdr.ipv4.setInvalid();", emits]),
        ("metadata are handed on", [notes, "meta.hop = 5;", note, reads, emits]),
        ("metadata decide", [selects_note, "meta.hop = 5;", note, reads, emits]),
        ("the parser looks ahead", [looks_ahead, "", emits, "", emits]),
        ("headers under a condition", [same, "", "if (meta.hop == 0) { packet.emit(hdr.ipv4); }", "", emits]),
        ("egress does not parse", [nothing, "", emits, "", ""]),
        ("egress does not parse, and may clone", [nothing, "", emits, "ostd.clone = meta.hop == 0;", ""]),
        ("egress does not parse, and has headers", [nothing, "", emits, reads, emits]),
        ("egress clones and drops", [same, "", emits, "ostd.clone = true; ostd.drop = true;", emits]),
        ("multicast", [same, "multicast(ostd, (MulticastGroup_t) 1);", emits, "", emits]),
    ];
    let found: Vec<String> =
        cases.iter().map(|(what, parts)| format!("{what}: {}\n", fast_path_of_psa(*parts))).collect();
    expect![[r#"
        the same parser: in place, no deparser, punted for requests of egress, requests of ingress
        another order of headers: in place, no deparser, punted for requests of egress, requests of ingress
        a header is removed: in place, punted for requests of egress, requests of ingress
        egress removes a header: in place, punted for requests of egress, requests of ingress
        metadata are handed on: in place, no deparser, punted for requests of egress, requests of ingress
        metadata decide: none: packets are parsed again before egress, and headers may not be found again as they are
        the parser looks ahead: none: packets are parsed again before egress, and headers may not be found again as they are
        headers under a condition: none: packets are parsed again before egress, and headers may not be found again as they are
        egress does not parse: in place, no deparser, punted for requests of ingress
        egress does not parse, and may clone: none: packets are parsed again before egress, and headers may not be found again as they are
        egress does not parse, and has headers: none: packets are parsed again before egress, and headers may not be found again as they are
        egress clones and drops: in place, no deparser, punted for requests of egress, requests of ingress
        multicast: in place, no deparser, punted for requests of egress, requests of ingress
    "#]].assert_eq(&found.concat());
}
