//! Parsers: states, selects, sub-parsers.

use crate::support;

use expect_test::expect;
use ir::v1model::Stage;
use support::{Parts, check_errors, check_ir, check_packets};

fn parser(headers: &str, parser: &str, packets: &[&str], expected: expect_test::Expect) {
    check_packets(&Parts { headers, parser, ..Parts::default() }, packets, expected);
}

#[test]
fn selects_with_masks_ranges_and_several_keys() {
    parser(
        "h_t h; h_t g;",
        "state start { packet.extract(hdr.h); transition select(hdr.h.a, hdr.h.b) { (0x10 &&& 0xf0, 1..5): more; (_, 9): more; (1, 1): accept; (default, 7): reject; } } \
         state more { packet.extract(hdr.g); hdr.g.a = 0xaa; transition accept; }",
        &[
            "1f030000 00000000",
            "ff090000 00000000",
            "01010000 00000000",
            "00070000 00000000",
            "00000000 00000000",
            "1f03",
        ],
        expect![[r#"
            1f030000 00000000 -> 1f030000aa000000
            ff090000 00000000 -> ff090000aa000000
            01010000 00000000 -> 0101000000000000
            00070000 00000000 -> 0007000000000000
            00000000 00000000 -> 0000000000000000 parser_error=2
            1f03 -> 1f03 parser_error=1
        "#]],
    );
}

#[test]
fn errors_of_the_program_and_verify() {
    check_packets(
        &Parts {
            types: "error { Odd, Even }",
            parser: "state start { packet.extract(hdr.h); verify(hdr.h.a[0:0] == 0, error.Odd); transition accept; }",
            ingress: "if (sm.parser_error == error.Odd) { hdr.h.b = 1; } if (sm.parser_error == error.PacketTooShort) { sm.egress_spec = 3; }",
            ..Parts::default()
        },
        &["01000000", "02000000", "01"],
        expect![[r#"
            01000000 -> 01010000 parser_error=7
            02000000 -> 02000000
            01 -> 01 egress_spec=3 parser_error=1
        "#]],
    );
}

#[test]
fn lookahead_advance_and_length() {
    check_packets(
        &Parts {
            types: "struct pair_t { bit<4> x; bit<12> y; }",
            metadata: "bit<16> seen; bit<32> length;",
            parser: "state start { pair_t p = packet.lookahead<pair_t>(); meta.seen = p.x ++ p.y; h_t next = packet.lookahead<h_t>(); \
                     meta.length = packet.length(); packet.advance((bit<32>) 16); packet.extract(hdr.h); hdr.h.c = meta.seen + next.c; transition accept; }",
            ingress: "hdr.h.b = (bit<8>) meta.length;",
            ..Parts::default()
        },
        &["1234 56780001 ff", "12"],
        expect![[r#"
            1234 56780001 ff -> 560768acff
            12 -> 12 parser_error=1
        "#]],
    );
}

#[test]
fn a_stack_may_be_looked_ahead_at() {
    parser(
        "h_t h;",
        "state start { h_t[2] look = packet.lookahead<h_t[2]>(); packet.extract(hdr.h); hdr.h.a = look[1].a; \
         hdr.h.b = (bit<8>)(bit<1>)look[1].isValid(); transition accept; }",
        &["0102030405060708", "010203040506"],
        expect![[r#"
            0102030405060708 -> 0501030405060708
            010203040506 -> 010203040506 parser_error=1
        "#]],
    );
}

#[test]
fn a_lookahead_that_is_a_key_is_not_checked() {
    check_ir(
        Stage::Parser,
        &Parts {
            parser: "state start { transition select(packet.lookahead<bit<8>>()) { 1: more; _: accept; } } \
                     state more { bit<8> x = packet.lookahead<bit<8>>(); packet.extract(hdr.h); transition accept; }",
            ..Parts::default()
        },
        expect![[r#"
            block0 "P" parser start state0 error v14 {
              state0 "start" {
                lookahead v16 = 0 unchecked
                select (v16) {
                  case (8w0x1): state1
                  case (any): accept
                }
              }
              state1 "more" {
                lookahead v17 = 0 checked
                v18 = v17
                extract h0
                goto accept
              }
            }
        "#]],
    );
}

#[test]
fn varbit_fields_are_extracted_with_their_length() {
    check_packets(
        &Parts {
            types: "header o_t { bit<8> n; varbit<32> v; }",
            headers: "h_t h; o_t o;",
            parser: "state start { packet.extract(hdr.o, (bit<32>) packet.lookahead<bit<8>>() * 8); transition accept; }",
            ingress: "hdr.h.setValid();",
            ..Parts::default()
        },
        &["02 aabb cc", "00 cc", "05 0011223344", "03 00"],
        expect![[r#"
            02 aabb cc -> 0000000002aabbcc
            00 cc -> 0000000000cc
            05 0011223344 -> 00000000050011223344 parser_error=4
            03 00 -> 000000000300 parser_error=1
        "#]],
    );
}

#[test]
fn sub_parsers_are_inlined_for_each_call() {
    check_packets(
        &Parts {
            types: "parser Sub(packet_in packet, out h_t x, inout bit<8> count)(bit<8> step) { \
                      bit<8> local = 1; \
                      state start { packet.extract(x); count = count + step; local = local + 1; transition select(x.a) { 0xff: again; 0xee: reject; default: accept; } } \
                      state again { count = count + local; transition start; } }",
            headers: "h_t h; h_t g;",
            metadata: "bit<8> count;",
            parser: "Sub(1) s; Sub(0x10) s2; state start { s.apply(packet, hdr.h, meta.count); \
                     if (hdr.h.b == 0) { s2.apply(packet, hdr.g, meta.count); } transition select(meta.count) { 1: one; _: accept; } } \
                     state one { hdr.h.c = 0x1111; transition accept; }",
            ingress: "hdr.h.b = meta.count;",
            ..Parts::default()
        },
        &["00010000 22", "00000000 33000000 44", "ff000000 00000000 33000000 44", "ee000000 00"],
        expect![[r#"
            00010000 22 -> 0001111122
            00000000 33000000 44 -> 001100003300000044
            ff000000 00000000 33000000 44 -> 001400003300000044
            ee000000 00 -> ee01000000
        "#]],
    );
}

#[test]
fn the_states_of_an_inlined_parser() {
    check_ir(
        Stage::Parser,
        &Parts {
            types: "parser Sub(packet_in packet, out h_t x) { state start { packet.extract(x); transition accept; } }",
            headers: "h_t h; h_t g;",
            parser: "Sub() s; state start { s.apply(packet, hdr.h); s.apply(packet, hdr.g); transition accept; }",
            ..Parts::default()
        },
        expect![[r#"
            block0 "P" parser start state0 error v14 {
              state0 "start" {
                set_invalid h0
                goto state2
              }
              state1 "after_Sub" {
                set_invalid h1
                goto state4
              }
              state2 "s.start" {
                extract h0
                goto state1
              }
              state3 "after_Sub" {
                goto accept
              }
              state4 "s.start" {
                extract h1
                goto state3
              }
            }
        "#]],
    );
}

#[test]
fn value_sets() {
    check_ir(
        Stage::Parser,
        &Parts {
            types: "struct key_t { bit<8> a; @match(ternary) bit<16> c; }",
            parser: "value_set<bit<8>>(4) one; @name(\"both\") value_set<key_t>(8) two; \
                     state start { packet.extract(hdr.h); transition select(hdr.h.a) { one: next; _: accept; } } \
                     state next { transition select(hdr.h.a, hdr.h.c) { two: reject; _: accept; } }",
            ..Parts::default()
        },
        expect![[r#"
            vset0 "P.one" size 4 ("one" 8 exact)
            vset1 "P.both" size 8 ("a" 8 exact, "c" 16 ternary)
            block0 "P" parser start state0 error v14 {
              state0 "start" {
                extract h0
                select (h0.0) {
                  case (vset0): state1
                  case (any): accept
                }
              }
              state1 "next" {
                select (h0.0, h0.2) {
                  case (vset1, any): reject
                  case (any, any): accept
                }
              }
            }
        "#]],
    );
}

#[test]
fn extraction_to_nowhere() {
    parser(
        "h_t h;",
        "state start { packet.extract<h_t>(_); packet.extract(hdr.h); transition accept; }",
        &["0011223344556677"],
        expect![[r#"
        0011223344556677 -> 44556677
    "#]],
    );
}

#[test]
fn type_arguments_that_packets_are_not_made_of() {
    check_errors(
        &Parts {
            types: "header v_t { varbit<8> x; varbit<8> y; } header w_t { varbit<8> x; } \
                    parser One<T>(packet_in p, out T v) { state start { p.extract(v); transition accept; } } \
                    parser Two<T>(packet_in p, out T v) { state start { p.extract(v, 8); transition accept; } } \
                    parser See<T>(packet_in p, out T v) { state start { v = p.lookahead<T>(); transition accept; } } \
                    control Put<T>(packet_out p, in T v) { apply { p.emit(v); } }",
            headers: "h_t h; v_t v; w_t w; bit<8> n;",
            parser: "One<bit<8>>() a; One<w_t>() b; Two<v_t>() c; Two<h_t>() d; See<w_t>() e; \
                     state start { a.apply(packet, hdr.n); b.apply(packet, hdr.w); c.apply(packet, hdr.v); \
                     d.apply(packet, hdr.h); e.apply(packet, hdr.w); transition accept; }",
            deparser: "Put<bit<8>>.apply(packet, hdr.n);",
            ..Parts::default()
        },
        expect![[r#"
            E0320 `extract` of bit<8> needs a header at `p.extract(v)`
            E0320 `extract` of w_t needs a second argument: the varbit field's length at `p.extract(v)`
            E0312 `v_t` has several varbit fields, and `extract` takes one length at `p.extract(v, 8)`
            E0320 `extract` of h_t needs a header with a varbit field at `p.extract(v, 8)`
            E0320 `lookahead` of w_t needs a type of fixed size at `p.lookahead<T>()`
            E0320 `emit` of bit<8> needs a header, header union, stack, or a struct of them at `p.emit(v)`
        "#]],
    );
}
