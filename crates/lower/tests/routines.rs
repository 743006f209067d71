//! What routines do is what their code does where it is inlined, also with headers that were removed.

use crate::support;

use expect_test::expect;
use support::{Parts, check_packets_with_routines};

const TUNNEL: &str = "header t_t { bit<8> id; bit<8> next; }";
const PARSER: &str = "state start { packet.extract(hdr.h); packet.extract(hdr.t); transition accept; }";

/// Packets whose first byte selects what is done, then 0, 0, 0, and a header that is removed.
const PACKETS: [&str; 4] = ["000000000709", "010000000709", "020000000709", "030000000709"];

/// Ingress with these actions; `header`, `text` and so on as in [`Parts`].
fn ingress<'a>(locals: &'a str, ingress: &'a str) -> Parts<'a> {
    Parts { types: TUNNEL, headers: "h_t h; t_t t;", parser: PARSER, locals, ingress, ..Parts::default() }
}

#[test]
fn what_the_caller_removed_is_read_and_written() {
    let locals = "action look() { hdr.h.b = hdr.t.id; hdr.t.next = hdr.t.next + 1; hdr.h.c = hdr.h.c + (bit<16>)hdr.t.next; } \
                  action further() { look(); look(); hdr.t.id = 8; }";
    let calls = "if (hdr.h.a == 0) { look(); } else if (hdr.h.a == 1) { hdr.t.setInvalid(); look(); look(); } \
                 else if (hdr.h.a == 2) { hdr.t.setInvalid(); further(); hdr.h.a = hdr.t.id; } \
                 else { hdr.t.setInvalid(); hdr.t.setValid(); further(); }";
    check_packets_with_routines(
        &ingress(locals, calls),
        &PACKETS,
        expect![[r#"
        000000000709 -> 0007000a070a
        010000000709 -> 01070015
        020000000709 -> 08070015
        030000000709 -> 030000030802
    "#]],
    );
}

#[test]
fn what_a_routine_removes_is_read_by_its_callers() {
    let locals = "action leave() { hdr.h.b = hdr.t.next; hdr.t.setInvalid(); } \
                  action both() { leave(); hdr.t.next = hdr.t.next + 2; } \
                  action renew() { hdr.t.setValid(); hdr.t.id = 5; }";
    let calls = "if (hdr.h.a == 0) { leave(); hdr.h.c[7:0] = hdr.t.id; } \
                 else if (hdr.h.a == 1) { both(); both(); hdr.h.c = hdr.t.id ++ hdr.t.next; } \
                 else if (hdr.h.a == 2) { leave(); renew(); hdr.h.c[7:0] = hdr.t.id; leave(); hdr.h.c[15:8] = hdr.t.id; } \
                 else { if (hdr.t.id == 7) { leave(); } hdr.h.c[7:0] = hdr.t.id; }";
    check_packets_with_routines(
        &ingress(locals, calls),
        &PACKETS,
        expect![[r#"
        000000000709 -> 00090007
        010000000709 -> 010b070d
        020000000709 -> 02000505
        030000000709 -> 03090000
    "#]],
    );
}

/// What an action of a table keeps is not what its control keeps.
#[test]
fn actions_of_tables_keep_their_own() {
    let locals = "action leave() { hdr.t.setInvalid(); hdr.h.b = hdr.t.id; } \
                  action other() { leave(); hdr.h.c[15:8] = hdr.t.next; } \
                  table t { actions = { other; } const default_action = other(); }";
    let calls = "leave(); t.apply(); hdr.h.c[7:0] = hdr.t.next;";
    check_packets_with_routines(
        &ingress(locals, calls),
        &PACKETS[..1],
        expect![[r#"
        000000000709 -> 00000009
    "#]],
    );
}

#[test]
fn headers_that_are_arguments_keep_their_fields() {
    let types = "header t_t { bit<8> id; bit<8> next; } bit<8> sum(in t_t t) { return t.id + t.next; } \
                 void change(inout t_t t) { t.id = t.id + 1; } void remove(inout t_t t) { t.setInvalid(); t.id = t.id + 1; }";
    let calls = "if (hdr.h.a == 0) { hdr.t.setInvalid(); hdr.h.b = sum(hdr.t); } \
                 else if (hdr.h.a == 1) { hdr.t.setInvalid(); change(hdr.t); hdr.h.b = hdr.t.id; } \
                 else if (hdr.h.a == 2) { remove(hdr.t); hdr.h.b = hdr.t.id; } else { remove(hdr.t); change(hdr.t); hdr.h.b = sum(hdr.t); }";
    check_packets_with_routines(
        &Parts { types, ..ingress("", calls) },
        &PACKETS,
        expect![[r#"
        000000000709 -> 00100000
        010000000709 -> 01080000
        020000000709 -> 02080000
        030000000709 -> 03120000
    "#]],
    );
}

#[test]
fn headers_of_the_metadata_and_of_the_packet_may_be_arguments_of_one_routine() {
    let types = "header t_t { bit<8> id; bit<8> next; } bit<8> sum(in t_t t) { return t.id + t.next; } \
                 void change(inout t_t t) { t.id = t.id + 1; } void remove(inout t_t t) { t.setInvalid(); t.id = t.id + 1; }";
    let calls = "if (hdr.h.a == 0) { meta.m.id = 5; change(meta.m); hdr.h.b = sum(meta.m); } \
                 else if (hdr.h.a == 1) { hdr.t.setInvalid(); change(hdr.t); hdr.h.b = hdr.t.id; } \
                 else if (hdr.h.a == 2) { meta.m = hdr.t; remove(meta.m); hdr.h.b = meta.m.id; } \
                 else if (hdr.h.a == 3) { remove(hdr.t); change(hdr.t); hdr.h.b = sum(hdr.t); } \
                 else { meta.m.setValid(); change(meta.m); hdr.t = meta.m; change(hdr.t); }";
    check_packets_with_routines(
        &Parts { types, metadata: "t_t m;", ..ingress("", calls) },
        &[PACKETS[0], PACKETS[1], PACKETS[2], PACKETS[3], "040000000709"],
        expect![[r#"
            000000000709 -> 000600000709
            010000000709 -> 01080000
            020000000709 -> 020800000709
            030000000709 -> 03120000
            040000000709 -> 040000000200
        "#]],
    );
}
