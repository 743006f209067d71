//! `wirespeed test`: its output and its exit status.

use expect_test::{Expect, expect};
use std::process::Command;
use tempfile::TempDir;

/// Sends packets to the port that their first byte's entry names, with the second byte changed.
const PROGRAM: &str = "\
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> kind; bit<8> note; }
struct headers { h_t h; }
struct meta_t { }
parser P(packet_in packet, out headers hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    state start { packet.extract(hdr.h); transition accept; }
}
control V(inout headers hdr, inout meta_t meta) { apply { } }
control I(inout headers hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) {
    action send(bit<9> port) { standard_metadata.egress_spec = port; hdr.h.note = hdr.h.note + 1; }
    table by_kind { key = { hdr.h.kind: exact; } actions = { send; NoAction; } }
    apply { by_kind.apply(); assert(hdr.h.kind != 0xff); }
}
control E(inout headers hdr, inout meta_t meta, inout standard_metadata_t standard_metadata) { apply { } }
control C(inout headers hdr, inout meta_t meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

const GOOD: &str = "add by_kind h.kind:1 send(port:2)\npacket 0 01 07 aabb\nexpect 2 0108aabb $\n";
const BAD: &str = "add by_kind h.kind:1 send(port:2)\npacket 0 01 07 aabb\nexpect 2 0109aabb $\npacket 0 ff00\n";

fn check(files: &[(&str, &str)], arguments: &str, expected: Expect) {
    let folder = TempDir::new().unwrap();
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
    let output = command.args(arguments.split_whitespace()).current_dir(folder.path()).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    expected.assert_eq(&format!("exit {}\n{out}{err}", output.status.code().unwrap_or(-1)));
}

#[test]
fn tests_pass_on_both_backends() {
    check(
        &[("p.p4", PROGRAM), ("p.stf", GOOD)],
        "test p.p4",
        expect![[r#"
        exit 0
        p.stf (interp): passed
        p.stf (native): passed
        2 passed, 0 failed
    "#]],
    );
}

#[test]
fn what_differs_is_shown() {
    let files = [("p.p4", PROGRAM), ("good.stf", GOOD), ("bad.stf", BAD)];
    check(
        &files,
        "test p.p4 good.stf bad.stf --backend interp",
        expect![[r#"
        exit 1
        good.stf (interp): passed
        bad.stf (interp): failed
          bad.stf:3: port 2, packet 1 of 1: differs at digit 3 (byte 1)
               0  expected  01 09 aa bb
                  got       01 08 aa bb
                                ^
            help: it came from line 2; see its journey with: wirespeed trace p.p4 --stf bad.stf
          bad.stf:4: an assertion of the program failed: assert(hdr.h.kind != 255)
            help: it came from line 4; see its journey with: wirespeed trace p.p4 --stf bad.stf
        1 passed, 1 failed
    "#]],
    );
    check(
        &files,
        "test p.p4 bad.stf --backend interp --json",
        expect![[r#"
        exit 1
        {"backend":"interp","checks":1,"event":"test","failures":[{"cause_line":2,"line":3,"message":"port 2, packet 1 of 1: differs at digit 3 (byte 1)\n     0  expected  01 09 aa bb\n        got       01 08 aa bb\n                      ^","packet":1,"port":2},{"cause_line":4,"line":4,"message":"an assertion of the program failed: assert(hdr.h.kind != 255)","packet":null,"port":null}],"file":"bad.stf","notes":[],"packets":2,"passed":false}
        {"event":"summary","failed":1,"passed":0}
    "#]],
    );
}

#[test]
fn a_program_without_tests_is_compiled() {
    check(
        &[("p.p4", PROGRAM)],
        "test p.p4",
        expect![[r#"
        exit 0
        p.p4 (interp): passed, compiled (there is no STF file)
        p.p4 (native): passed, compiled (there is no STF file)
        2 passed, 0 failed
    "#]],
    );
    check(
        &[("p.p4", "control c() { apply { x = 1; } }")],
        "test p.p4 --backend interp",
        expect![[r#"
        exit 1
        p.p4 (interp): failed
          the program does not compile
        0 passed, 1 failed
        error[E0201]: `x` is not declared
         --> p.p4:1:23
          |
        1 | control c() { apply { x = 1; } }
          |                       ^ unknown name
          |
          = note: there is no `main` in this file: if it is a part of a program, check the file that includes it

        1 error
    "#]],
    );
}

/// With another drop port 511 is a port like any other, and egress begins with the port after the drop port.
#[test]
fn the_drop_port_can_be_another() {
    let ingress = "standard_metadata.egress_spec = (bit<9>) hdr.h.kind;
        if (hdr.h.kind == 1) { mark_to_drop(standard_metadata); }
        if (hdr.h.kind == 2) { standard_metadata.egress_spec = 511; }";
    let egress = "hdr.h.note = (bit<8>) standard_metadata.egress_spec;
        if (hdr.h.kind == 3) { mark_to_drop(standard_metadata); }";
    let program = PROGRAM
        .replace(
            "apply { by_kind.apply(); assert(hdr.h.kind != 0xff); }",
            &format!("apply {{ {ingress} by_kind.apply(); }}"),
        )
        .replace("standard_metadata) { apply { } }", &format!("standard_metadata) {{ apply {{ {egress} }} }}"));
    let script = "packet 0 0100\npacket 0 0200\nexpect 511 0206 $\npacket 0 0300\npacket 0 0400\nexpect 4 0406 $\n\
                  packet 0 0500\n";
    check(
        &[("p.p4", &program), ("p.stf", script)],
        "test p.p4 --drop-port 5",
        expect![[r#"
            exit 0
            p.stf (interp): passed
            p.stf (native): passed
            2 passed, 0 failed
        "#]],
    );
}

/// Packets from hosts' ports have the other direction.
#[test]
fn ports_can_belong_to_hosts() {
    let program = "#include <core.p4>
        #include <pna.p4>
        struct none_t { }
        parser P(packet_in p, out none_t h, inout none_t m, in pna_main_parser_input_metadata_t i) {
            state start { transition accept; }
        }
        control Q(in none_t h, inout none_t m, in pna_pre_input_metadata_t i, inout pna_pre_output_metadata_t o) {
            apply { }
        }
        control C(inout none_t h, inout none_t m, in pna_main_input_metadata_t i, inout pna_main_output_metadata_t o) {
            apply { send_to_port(SelectByDirection(i.direction, (PortId_t) 5, (PortId_t) 9)); }
        }
        control D(packet_out p, in none_t h, in none_t m, in pna_main_output_metadata_t o) { apply { } }
        PNA_NIC(P(), Q(), C(), D()) main;";
    let script = "packet 1 00\nexpect 5 00 $\npacket 6 01\nexpect 9 01 $\npacket 8 02\nexpect 9 02 $\n";
    check(
        &[("p.p4", program), ("p.stf", script)],
        "test p.p4 --host-ports 4-6,8",
        expect![[r#"
            exit 0
            p.stf (interp): passed
            p.stf (native): passed
            2 passed, 0 failed
        "#]],
    );
}

#[test]
fn an_empty_test_passes_with_a_note() {
    let files = [("p.p4", PROGRAM), ("empty.stf", "# nothing yet\n"), ("odd.stf", "frob\n")];
    check(
        &files,
        "test p.p4 empty.stf odd.stf",
        expect![[r#"
        exit 1
        empty.stf (interp): passed, the file sends no packets and expects nothing
        empty.stf (native): passed, the file sends no packets and expects nothing
        odd.stf (interp): failed
          odd.stf:1: there is no command frob
            help: the commands are add, setdefault, packet, expect, no_packet, check_counter, wait, remove all, and those of the switch's command line, such as mirroring_add or register_write
        odd.stf (native): failed
          for the same reasons
        2 passed, 2 failed
    "#]],
    );
}

#[test]
fn what_cannot_be_run_fails() {
    let files = [("p.p4", PROGRAM), ("odd.stf", "packet 1 0\nfrob\n"), ("good.stf", GOOD)];
    check(
        &files,
        "test p.p4 odd.stf absent.stf --backend interp",
        expect![[r#"
            exit 1
            odd.stf (interp): failed
              odd.stf:1: a packet is whole bytes; these are 1 hexadecimal digits
              odd.stf:2: there is no command frob
                help: the commands are add, setdefault, packet, expect, no_packet, check_counter, wait, remove all, and those of the switch's command line, such as mirroring_add or register_write
            absent.stf (interp): failed
              cannot read absent.stf: No such file or directory (os error 2)
            0 passed, 2 failed
        "#]],
    );
    check(
        &files,
        "test p.p4 good.stf --arch psa --backend interp",
        expect![[r#"
            exit 1
            good.stf (interp): failed
              the program does not compile
            0 passed, 1 failed
            error: the program is not for psa: its `main` is of package V1Switch, not PSA_Switch
        "#]],
    );
}

#[test]
fn trace_shows_the_packets_of_a_test() {
    check(
        &[("p.p4", PROGRAM), ("p.stf", GOOD)],
        "trace p.p4 --stf p.stf",
        expect![[r#"
            exit 0
            packet 1 (p.stf:2): 4 bytes on port 0
              ingress: port 0, 4 bytes, a normal packet
              P
                state start                                                                           p.p4:7
                  extract hdr.h at byte 0: kind=1 note=7                                              p.p4:7
                  accept                                                                              p.p4:7
              V
              I
                table I.by_kind hdr.h.kind=1                                                          p.p4:13
                  hit entry 0: hdr.h.kind=1 -> I.send(2)
                action I.send(port=2)                                                                 p.p4:13
                  standard_metadata.egress_spec = 2                                                   p.p4:11
                  hdr.h.note = 8                                                                      p.p4:11
              => queued to port 2
              egress: port 2, replica 0, a normal packet
              E
              C
              D
                emit hdr.h: 2 bytes                                                                   p.p4:17
              => sent on port 2, 4 bytes
              out on port 2: 0108aabb

            1 packets in, 1 checks, 0 failed
        "#]],
    );
}

#[test]
fn a_cache_that_cannot_be_used_is_noted_once() {
    let folder = TempDir::new().unwrap();
    for (name, content) in [("p.p4", PROGRAM), ("a.stf", GOOD), ("b.stf", GOOD), ("cache", "a file, not a folder")] {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_wirespeed"));
    command.args(["test", "p.p4", "a.stf", "b.stf"]).current_dir(folder.path());
    let output = command.env("XDG_CACHE_HOME", folder.path().join("cache")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said.matches("note: ").count(), 1, "{said}");
    assert!(said.contains("is in a temporary folder, and is not kept"), "{said}");
}
