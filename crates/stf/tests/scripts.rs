//! The runner of STF files: what it accepts, what it refuses, which differences it finds.

use expect_test::{Expect, expect};
use std::sync::Arc;
use testkit::pipeline::{Engine, program_of_text, switch_for};

/// Forwards by a table, writes the first byte, counts.
const PROGRAM: &str = r#"
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; }
struct headers { h_t h; }
struct metadata { }
parser MyParser(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    state start { packet.extract(hdr.h); transition accept; }
}
control MyVerify(inout headers hdr, inout metadata meta) { apply { } }
control MyIngress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) {
    counter(4, CounterType.packets_and_bytes) seen;
    direct_counter(CounterType.packets) hits;
    action drop() { mark_to_drop(standard_metadata); }
    action send(bit<9> port, bit<8> value) { standard_metadata.egress_spec = port; hdr.h.b = value; }
    table forward {
        key = { hdr.h.a: exact; }
        actions = { send; drop; }
        default_action = drop();
        counters = hits;
    }
    table patch {
        key = { hdr.h.b: ternary; }
        actions = { send; NoAction; }
        default_action = NoAction();
    }
    apply {
        seen.count((bit<32>) hdr.h.a);
        assert(hdr.h.a != 0xee);
        forward.apply();
        patch.apply();
    }
}
control MyEgress(inout headers hdr, inout metadata meta, inout standard_metadata_t standard_metadata) { apply { } }
control MyCompute(inout headers hdr, inout metadata meta) { apply { } }
control MyDeparser(packet_out packet, in headers hdr) { apply { packet.emit(hdr.h); } }
V1Switch(MyParser(), MyVerify(), MyIngress(), MyEgress(), MyCompute(), MyDeparser()) main;
"#;

/// Runs an STF text on the program and shows the report, or the errors in the text.
fn check(text: &str, expected: Expect) {
    let shown = match stf::parse("test.stf", text) {
        Ok(script) => {
            let program = program_of_text("test.p4", PROGRAM).unwrap_or_else(|errors| panic!("{errors}"));
            let mut switch = switch_for(&Arc::new(program), &Engine::Interpreter).unwrap();
            let report = stf::run(&script, &mut switch).report;
            let notes: String = report.notes.iter().map(|note| format!("note: {note}\n")).collect();
            format!("{notes}{report}\n")
        }
        Err(errors) => errors.iter().map(|error| format!("{error}\n")).collect(),
    };
    expected.assert_eq(&shown);
}

/// The reference's runner ignores such errors, too.
#[test]
fn refused_commands_are_noted() {
    check(
        "add forward h.a:1 send(port:2, value:3)\n\
         add forward h.a:1 send(port:3, value:4) = twice\n\
         packet 1 0100\n\
         expect 2 0103 $\n\
         check_counter hits($twice)\n",
        expect![[r#"
            note: test.stf:2: table `MyIngress.forward`: there is already an entry with this key, of handle 0: modify it, or delete it first
            test.stf:5: no entry was added as twice (`add ... = twice`)
            1 packets in, 2 checks, 1 failed
        "#]],
    );
}

#[test]
fn a_test_that_passes() {
    check(
        "# a comment\n\
         add forward h.a:0x01 send(port:2, value:0xAA) # another\n\
         add MyIngress.patch 10 hdr.h.b:0b1*** send(value:7, port:3) = first\n\
         \t PACKET 1 01 ff 1234\n\
         expect 3 0107 12** $\n\
         packet 1 0200\n\
         check_counter seen(1) packets == 1\n\
         check_counter seen(1) bytes == 8\n\
         check_counter seen(3)\n\
         wait\n",
        expect![[r#"
            2 packets in, 4 checks, 0 failed
        "#]],
    );
}

#[test]
fn a_line_that_cannot_be_read_is_shown_with_what_was_expected() {
    check(
        "frobnicate 1\n\
         packet 1 abc\n\
         packet 1 zz\n\
         packet one 00\n\
         packet 1 00 # comment\n\
         expect 1 0g\n\
         add forward send()\n\
         add forward h.a 1 send()\n\
         add forward h.a:0xzz send()\n\
         add forward h.a:1 send(port:1 value:2)\n\
         add forward h.a:1 send(port:1) extra\n\
         setdefault forward\n\
         check_counter seen(1) packets ~ 2\n\
         check_counter seen(1) apples == 2\n\
         remove some\n\
         add \"forward h.a:1 send()\n",
        expect![[r#"
            test.stf:1: there is no command frobnicate
              help: the commands are add, setdefault, packet, expect, no_packet, check_counter, wait, remove all, and those of the switch's command line, such as mirroring_add or register_write
            test.stf:2: a packet is whole bytes; these are 3 hexadecimal digits
            test.stf:3: `z` is not a hexadecimal digit
            test.stf:4: one is not a valid port: ports are decimal numbers
            test.stf:5: a comment cannot follow the bytes of `packet`; give it a line of its own
            test.stf:6: `g` is not a hexadecimal digit; `*` stands for any, `$` for the end of the packet
            test.stf:7: expected `:` and a value after the key send: an entry names at least one key
            test.stf:8: expected `:` and a value after the key h.a: an entry names at least one key
            test.stf:9: 0xzz is not a valid hexadecimal number
            test.stf:10: expected `,`, found `value`
            test.stf:11: expected the end of the line, found `extra`
            test.stf:12: expected the name of an action, but the line ends
            test.stf:13: `~` cannot be in a command of a packet test
            test.stf:14: expected `packets` or `bytes`, found `apples`
            test.stf:15: expected `all`, found `some`
            test.stf:16: the quoted name has no end
        "#]],
    );
}

#[test]
fn errors_in_names_and_values_list_the_valid_ones() {
    check(
        "add forwards h.a:1 send(port:2, value:1)\n\
         add forward h.c:1 send(port:2, value:1)\n\
         add forward h.a:1 sent(port:2, value:1)\n\
         add forward h.a:1 send(port:2)\n\
         add forward h.a:1 send(port:2, value:1, speed:3)\n\
         add forward h.a:256 drop()\n\
         add forward h.a:0x0* drop()\n\
         add patch h.b:0x0* NoAction()\n\
         add patch 1 h.b:5 NoAction()\n\
         setdefault forward send(port:512, value:1)\n\
         check_counter hit(0)\n\
         check_counter hits($none) packets == 1\n\
         check_counter seen(4) packets == 0\n",
        expect![[r#"
            test.stf:1: there is no table forwards
              help: there is MyIngress.forward, MyIngress.patch
            test.stf:2: table MyIngress.forward has no key h.c
              help: it has hdr.h.a
            test.stf:3: there is no action sent
              help: there is MyIngress.send, MyIngress.drop
            test.stf:4: action MyIngress.send needs a value for its parameter value
            test.stf:5: action MyIngress.send has no parameter speed
              help: it has port, value
            test.stf:6: 256 needs 9 bits, key hdr.h.a has 8
            test.stf:7: key hdr.h.a: 0x0*: every digit must be given here
            test.stf:8: table MyIngress.patch has ternary or optional keys: the entry needs a priority
            test.stf:9: key hdr.h.b: 5: a ternary key takes a hexadecimal or binary number, as 0x0a**
            test.stf:10: 512 needs 10 bits, parameter port has 9
            test.stf:11: there is no counter hit
              help: there is MyIngress.seen, MyIngress.hits
            test.stf:12: no entry was added as none (`add ... = none`)
            test.stf:13: counter seen has no cell 4; it has 4
            0 packets in, 3 checks, 13 failed
        "#]],
    );
}

#[test]
fn packets_that_differ_are_shown_beside_what_was_expected() {
    check(
        "add forward h.a:1 send(port:2, value:0xbb)\n\
         packet 1 01ff 000102030405060708090a0b0c0d0e0f\n\
         expect 2 01bb 000102030405060708090a0b0c0d0eff\n\
         packet 1 01ff\n\
         expect 2 01bbcc\n\
         packet 1 01ff0203\n\
         expect 2 01bb02$\n",
        expect![[r#"
            test.stf:3: port 2, packet 1 of 3: differs at digit 34 (byte 17)
                 0            01 bb 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d
                16  expected  0e ff
                    got       0e 0f
                                 ^
            test.stf:5: port 2, packet 2 of 3: is too short: 2 bytes, expected 3
                 0  expected  01 bb cc
                    got       01 bb
                                    ^^
            test.stf:7: port 2, packet 3 of 3: is too long: 4 bytes, expected 3
                 0  expected  01 bb 02
                    got       01 bb 02 03
                                       ^^
            3 packets in, 3 checks, 3 failed
        "#]],
    );
}

#[test]
fn missing_and_surplus_packets_are_shown() {
    check(
        "add forward h.a:1 send(port:2, value:0)\n\
         add forward h.a:2 send(port:1, value:0)\n\
         add forward h.a:3 send(port:4, value:0)\n\
         packet 1 01ff\n\
         packet 1 01ff\n\
         expect 2\n\
         packet 1 0200\n\
         packet 1 03ff\n\
         expect 3 00\n",
        expect![[r#"
            test.stf:6: port 2 has sent 2 packets, expected 1 packet; the first too many is
                 0  01 00
            test.stf:8: port 1 has sent 1 packet, expected none; the first too many is
                 0  02 00
            test.stf:9: port 3: packet 1 of 1 was not sent (there were 0)
                 0  00
            4 packets in, 2 checks, 3 failed
        "#]],
    );
    check(
        "no_packet\npacket 1 05ff\n",
        expect![[r#"
        1 packets in, 1 checks, 0 failed
    "#]],
    );
    check(
        "no_packet\nsetdefault forward send(port:9, value:1)\npacket 1 05ff\n",
        expect![[r#"
        test.stf:1: nothing may be sent, but port 9 has sent
             0  05 01
        1 packets in, 1 checks, 1 failed
    "#]],
    );
}

#[test]
fn counters_are_checked_where_the_line_stands() {
    check(
        "add forward h.a:1 send(port:2, value:0) = one\n\
         check_counter hits($one)\n\
         packet 1 01ff\n\
         expect 2\n\
         check_counter hits($one)\n\
         check_counter hits(0) packets >= 1\n\
         check_counter seen(1) packets != 1\n\
         remove all\n\
         packet 1 01ff\n\
         check_counter hits(0) packets < 2\n\
         check_counter hits($one)\n",
        expect![[r#"
            test.stf:5: counter hits(0) has counted 1 packets, expected == 0
            test.stf:7: counter seen(1) has counted 1 packets, expected != 1
            test.stf:11: no entry was added as one (`add ... = one`)
            2 packets in, 7 checks, 3 failed
        "#]],
    );
}

#[test]
fn commands_of_the_command_line_answer_with_notes() {
    check(
        "counter_write seen 2 7 70\n\
         counter_read seen 2 # comment\n\
         check_counter seen(2) packets == 7\n\
         mirroring_get 3\n\
         mirroring_add 3 4\n\
         mirroring_get 3\n\
         register_read none 0\n",
        expect![[r#"
            note: test.stf:2: packets=7, bytes=70
            note: test.stf:4: there is no clone session 3
            note: test.stf:6: MirroringSessionConfig(port=4, mgid=None)
            note: test.stf:7: there is no register none: the program has no registers
            0 packets in, 1 checks, 0 failed
        "#]],
    );
}

#[test]
fn a_failed_assertion_fails_the_test() {
    check(
        "packet 1 01ff\npacket 1 ee00\npacket 1 eeff\n",
        expect![[r#"
        test.stf:2: an assertion of the program failed: assert(hdr.h.a != 238)
        test.stf:3: an assertion of the program failed: assert(hdr.h.a != 238)
        3 packets in, 0 checks, 2 failed
    "#]],
    );
}
