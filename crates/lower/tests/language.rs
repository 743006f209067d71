//! The language: programs run on the interpreter, packet in, packet out.

use crate::support;

use expect_test::expect;
use ir::v1model::Stage;
use support::{Parts, check_errors, check_ir, check_packets, lower_ok};

fn ingress(ingress: &str, packets: &[&str], expected: expect_test::Expect) {
    check_packets(&Parts { ingress, ..Parts::default() }, packets, expected);
}

fn with_locals(locals: &str, ingress: &str, packets: &[&str], expected: expect_test::Expect) {
    check_packets(&Parts { locals, ingress, ..Parts::default() }, packets, expected);
}

fn with_types(types: &str, ingress: &str, packets: &[&str], expected: expect_test::Expect) {
    check_packets(&Parts { types, ingress, ..Parts::default() }, packets, expected);
}

#[test]
fn operators() {
    ingress(
        "hdr.h.c = (hdr.h.a ++ hdr.h.b) + 16w3 * (bit<16>) hdr.h.a; hdr.h.b = hdr.h.b |-| 8w200; \
         hdr.h.a[3:0] = hdr.h.a[7:4]; hdr.h.a = hdr.h.a << 1;",
        &["12 c9 0000", "f0 01 0000"],
        expect![[r#"
            12 c9 0000 -> 220112ff
            f0 01 0000 -> fe00f2d1
        "#]],
    );
}

#[test]
fn signed_arithmetic_keeps_the_sign() {
    ingress(
        "int<8> x = (int<8>) hdr.h.a; hdr.h.c = (bit<16>) (int<16>) (x >> 1); hdr.h.b = x < 0 ? 8w1 : 8w2;",
        &["80 00 0000", "7f 00 0000"],
        expect![[r#"
            80 00 0000 -> 8001ffc0
            7f 00 0000 -> 7f02003f
        "#]],
    );
}

#[test]
fn integers_are_computed_at_compile_time() {
    with_types(
        "const int BIG = 1 << 100; const bit<16> SMALL = (bit<16>) (BIG >> 93); const bit<8> X = 8w250 + 10;",
        "hdr.h.c = SMALL; hdr.h.a = X;",
        &["00 00 0000"],
        expect![[r#"
            00 00 0000 -> 04000080
        "#]],
    );
}

#[test]
fn variables_that_are_not_initialised_are_zero_every_time() {
    ingress(
        "for (bit<8> i in 8w1..8w3) { bit<8> x; x = x + i; hdr.h.a = hdr.h.a + x; }",
        &["00 00 0000"],
        expect![[r#"
            00 00 0000 -> 06000000
        "#]],
    );
}

#[test]
fn loops_break_and_continue() {
    ingress(
        "for (bit<8> i = 0; i < 10; i = i + 1) { if (i == 2) { continue; } if (i == 5) { break; } hdr.h.a = hdr.h.a + i; } \
         for (bit<8> i in 8w254..8w255) { hdr.h.b = hdr.h.b + 1; } \
         for (bit<16> x in { 16w1, 16w2, 16w4 }) { if (x == 4) { break; } hdr.h.c = hdr.h.c + x; }",
        &["00 00 0000"],
        expect![[r#"
            00 00 0000 -> 08020003
        "#]],
    );
}

#[test]
fn functions_return_from_inside() {
    with_types(
        "bit<8> f(in bit<8> x) { if (x > 10) { return 1; } if (x > 5) { return 2; } return 3; }",
        "hdr.h.a = f(hdr.h.a) + f(hdr.h.b);",
        &["0b 06 0000", "00 0b 0000"],
        expect![[r#"
            0b 06 0000 -> 03060000
            00 0b 0000 -> 040b0000
        "#]],
    );
}

#[test]
fn generic_functions_are_made_per_type() {
    with_types(
        "T pick<T>(in bool first, in T a, in T b) { if (first) { return a; } return b; }",
        "hdr.h.a = pick(hdr.h.c == 1, hdr.h.a, hdr.h.b); hdr.h.c = pick(false, hdr.h.c, 16w7);",
        &["0a 0b 0001", "0a 0b 0002"],
        expect![[r#"
            0a 0b 0001 -> 0a0b0007
            0a 0b 0002 -> 0b0b0007
        "#]],
    );
}

#[test]
fn arguments_are_evaluated_from_left_to_right_and_copied() {
    with_types(
        "bit<8> bump(inout bit<8> x) { x = x + 1; return x; }\n\
         void two(inout bit<8> x, inout bit<8> y) { x = x + 1; y = y + 10; }\n\
         bit<8> seen(in bit<8> before, inout bit<8> x) { x = 9; return before; }",
        "hdr.h.c = hdr.h.a ++ bump(hdr.h.a); two(hdr.h.b, hdr.h.b); hdr.h.a = seen(hdr.h.a, hdr.h.a);",
        &["05 20 0000"],
        expect![[r#"
            05 20 0000 -> 062a0506
        "#]],
    );
}

#[test]
fn the_right_side_of_logic_is_evaluated_only_if_it_matters() {
    with_types(
        "bool touch(inout bit<8> x) { x = x + 1; return true; }",
        "if (hdr.h.a == 1 && touch(hdr.h.b)) { hdr.h.c = 1; } if (hdr.h.a == 1 || touch(hdr.h.b)) { hdr.h.c = hdr.h.c + 2; } \
         bit<8> x = hdr.h.a == 2 ? 8w0 : (touch(hdr.h.b) ? 8w1 : 8w2);",
        &["01 00 0000", "02 00 0000", "03 00 0000"],
        expect![[r#"
            01 00 0000 -> 01020003
            02 00 0000 -> 02010002
            03 00 0000 -> 03020002
        "#]],
    );
}

#[test]
fn structs_and_tuples_are_assigned_as_wholes() {
    with_types(
        "struct pair_t { bit<8> x; bit<8> y; } struct outer_t { pair_t p; bit<16> z; }",
        "pair_t p = { hdr.h.a, hdr.h.b }; p = { p.y, p.x }; outer_t o = { p = p, z = 16w5 }; \
         tuple<bit<8>, bit<16>> t = { o.p.x, o.z }; hdr.h.a = t[0]; hdr.h.b = o.p.y; hdr.h.c = t[1]; \
         if (p == { hdr.h.a, hdr.h.b }) { hdr.h.c = hdr.h.c + 16w0x100; }",
        &["01 02 0000"],
        expect![[r#"
            01 02 0000 -> 02010105
        "#]],
    );
}

#[test]
fn headers_are_copied_compared_and_made() {
    check_packets(
        &Parts {
            headers: "h_t h; h_t g; h_t k;",
            ingress: "hdr.g = hdr.h; hdr.g.a = 0x77; if (hdr.g == hdr.h) { hdr.h.b = 1; } \
                      hdr.k = { 8w1, 8w2, hdr.h.c }; hdr.h = {#}; if (hdr.h == {#} && !hdr.h.isValid()) { hdr.k.a = 3; } \
                      h_t local; if (!local.isValid()) { hdr.k.b = 4; } local.setValid(); local.c = 6; \
                      hdr.k.c = hdr.k.c + local.c;",
            ..Parts::default()
        },
        &["01 02 0304"],
        expect![[r#"
            01 02 0304 -> 770203040304030a
        "#]],
    );
}

#[test]
fn fields_of_invalid_headers_are_zero_and_keep_nothing() {
    check_packets(
        &Parts {
            headers: "h_t h; h_t g;",
            ingress: "hdr.g.a = 5; hdr.h.a = hdr.g.a; hdr.g.setValid(); hdr.h.b = hdr.g.a;",
            ..Parts::default()
        },
        &["01 02 0304"],
        expect![[r#"
            01 02 0304 -> 0000030400000000
        "#]],
    );
}

const STACK: Parts<'static> = Parts {
    types: "header b_t { bit<8> v; }",
    headers: "h_t h; b_t[3] s;",
    metadata: "",
    parser: "state start { packet.extract(hdr.s.next); transition select(hdr.s.last.v) { 0 &&& 1: start; default: accept; } }",
    locals: "",
    ingress: "",
    egress: "",
    verify: "",
    compute: "",
    deparser: "packet.emit(hdr.s);",
};

#[test]
fn stacks_are_pushed_and_popped() {
    check_packets(
        &Parts { ingress: "hdr.s.push_front(1); hdr.s[0].setValid(); hdr.s[0].v = 0xee;", ..STACK },
        &["01", "0203", "020405", "02040608"],
        expect![[r#"
            01 -> ee01
            0203 -> ee0203
            020405 -> ee0204
            02040608 -> ee020408 parser_error=3
        "#]],
    );
    check_packets(
        &Parts { ingress: "hdr.s.pop_front(1); hdr.s[1] = hdr.s[0]; hdr.s[0].v = 9;", ..STACK },
        &["01", "0203", "020405"],
        expect![[r#"
            01 -> 
            0203 -> 0903
            020405 -> 0904
        "#]],
    );
}

#[test]
fn stacks_are_indexed_at_run_time() {
    check_packets(
        &Parts { ingress: "bit<8> i = hdr.s[0].v >> 4; hdr.s[i].v = 0xaa; hdr.s[0].v = hdr.s[i + 1].v;", ..STACK },
        &["00 02 05", "10 02 05", "20 02 05", "70 02 05"],
        expect![[r#"
            00 02 05 -> 020205
            10 02 05 -> 05aa05
            20 02 05 -> 0002aa
            70 02 05 -> 000205
        "#]],
    );
}

#[test]
fn arrays_of_values_are_indexed_at_run_time() {
    ingress(
        "bit<8>[4] x = { 10, 20, 30, 40 }; x[hdr.h.a] = 99; hdr.h.b = x[hdr.h.b]; hdr.h.c = (bit<16>) x[2];",
        &["00 00 0000", "02 01 0000", "09 07 0000"],
        expect![[r#"
            00 00 0000 -> 0063001e
            02 01 0000 -> 02140063
            09 07 0000 -> 0900001e
        "#]],
    );
}

#[test]
fn one_member_of_a_union_is_valid() {
    check_packets(
        &Parts {
            types: "header s_t { bit<8> x; } header l_t { bit<16> y; } header_union u_t { s_t s; l_t l; }",
            headers: "h_t h; u_t u; u_t v;",
            parser: "state start { packet.extract(hdr.h); transition select(hdr.h.a) { 1: short; 2: long; _: accept; } } \
                     state short { packet.extract(hdr.u.s); transition accept; } \
                     state long { packet.extract(hdr.u.l); transition accept; }",
            ingress: "hdr.v = hdr.u; if (hdr.h.b == 1) { hdr.v.s.setValid(); hdr.v.s.x = 0x55; } \
                      if (hdr.h.b == 2) { hdr.v.l = hdr.u.l; } hdr.h.c = hdr.v.isValid() ? 16w1 : 16w0;",
            ..Parts::default()
        },
        &["01 00 0000 aa", "02 00 0000 aabb", "00 00 0000", "02 01 0000 aabb", "01 02 0000 aa", "02 02 0000 aabb"],
        expect![[r#"
            01 00 0000 aa -> 01000001aaaa
            02 00 0000 aabb -> 02000001aabbaabb
            00 00 0000 -> 00000000
            02 01 0000 aabb -> 02010001aabb55
            01 02 0000 aa -> 01020001aaaa
            02 02 0000 aabb -> 02020001aabbaabb
        "#]],
    );
}

#[test]
fn stacks_of_unions_share_their_next() {
    check_packets(
        &Parts {
            types: "header s_t { bit<8> x; } header l_t { bit<16> y; } header_union u_t { s_t s; l_t l; }",
            headers: "u_t[3] u;",
            parser: "state start { transition select(packet.lookahead<bit<8>>()) { 0: short; 1: long; _: accept; } } \
                     state short { packet.extract(hdr.u.next.s); transition start; } \
                     state long { packet.extract(hdr.u.next.l); transition start; }",
            ingress: "hdr.u.pop_front(1);",
            ..Parts::default()
        },
        &["00 01aa 00 ff", "01aa 00 ff", "ff"],
        expect![[r#"
            00 01aa 00 ff -> 01aa00ff
            01aa 00 ff -> 00ff
            ff -> ff
        "#]],
    );
}

#[test]
fn next_of_a_stack_of_unions_moves_once() {
    check_packets(
        &Parts {
            types: "header s_t { bit<8> x; } header l_t { bit<16> y; } header_union u_t { s_t s; l_t l; }",
            headers: "u_t[4] u;",
            parser: "state start { transition select(packet.lookahead<bit<8>>()) { 0: short; 1: long; 2: push; 3: pop; _: accept; } } \
                     state short { packet.extract(hdr.u.next.s); transition start; } \
                     state long { packet.extract(hdr.u.next.l); transition start; } \
                     state push { packet.advance(8); hdr.u.push_front(1); transition start; } \
                     state pop { packet.advance(8); hdr.u.pop_front(1); transition start; }",
            ingress: "if (hdr.u[0].s.isValid()) { hdr.u[0].s.x = 0xf0; } if (hdr.u[1].s.isValid()) { hdr.u[1].s.x = 0xf1; } \
                      if (hdr.u[2].s.isValid()) { hdr.u[2].s.x = 0xf2; } if (hdr.u[3].s.isValid()) { hdr.u[3].s.x = 0xf3; }",
            ..Parts::default()
        },
        &["00 02 00 ff", "00 00 00 03 00 ff", "00 00 02 02 ff", "00 00 02 02 00 ff", "03 00 ff", "01aa 02 00 ff"],
        expect![[r#"
            00 02 00 ff -> f1f2ff
            00 00 00 03 00 ff -> f0f1f2ff
            00 00 02 02 ff -> f2f3ff
            00 00 02 02 00 ff -> f2f300ff parser_error=3
            03 00 ff -> f0ff
            01aa 02 00 ff -> 01aaf2ff
        "#]],
    );
}

#[test]
fn switches_on_values() {
    with_types(
        "enum color_t { red, green, blue } enum bit<8> kind_t { one = 1, two = 2 }",
        "color_t c = color_t.red; switch (hdr.h.a) { 1: 2: { c = color_t.green; } 3: { c = color_t.blue; } } \
         switch (c) { color_t.green: { hdr.h.b = 10; } color_t.blue: { hdr.h.b = 20; } default: { hdr.h.b = 30; } } \
         kind_t k = (kind_t) hdr.h.a; if (k == kind_t.two) { hdr.h.c = (bit<16>) (bit<8>) kind_t.two; }",
        &["01 00 0000", "02 00 0000", "03 00 0000", "04 00 0000"],
        expect![[r#"
            01 00 0000 -> 010a0000
            02 00 0000 -> 020a0002
            03 00 0000 -> 03140000
            04 00 0000 -> 041e0000
        "#]],
    );
}

#[test]
fn actions_see_their_control_and_are_copied() {
    with_locals(
        "bit<8> g = 1; action a(inout bit<8> x, in bit<8> y) { hdr.h.a = 7; x = x + y; g = g + 1; } \
         action r(in bit<8> x) { if (x == 0) { return; } hdr.h.b = x; }",
        "a(hdr.h.a, 1); a(hdr.h.b, g); r(0); hdr.h.c = (bit<16>) g; r(hdr.h.b);",
        &["20 30 0000"],
        expect![[r#"
            20 30 0000 -> 07320003
        "#]],
    );
}

#[test]
fn exit_copies_out_and_ends_the_block_only() {
    check_packets(
        &Parts {
            types: "control Sub(inout bit<8> x, inout bit<8> y) { apply { x = 0x11; if (y == 1) { exit; } y = 0x22; } }",
            locals: "Sub() sub;",
            ingress: "bit<8> z = hdr.h.b; sub.apply(hdr.h.a, z); hdr.h.b = z; hdr.h.c = 16w1;",
            egress: "hdr.h.c = hdr.h.c + 16w0x100;",
            ..Parts::default()
        },
        &["00 01 0000", "00 02 0000"],
        expect![[r#"
            00 01 0000 -> 11010100
            00 02 0000 -> 11220101
        "#]],
    );
}

#[test]
fn sub_controls_take_constructor_parameters() {
    check_packets(
        &Parts {
            types: "control Add(inout h_t h)(bit<8> amount, bool twice) { apply { h.a = h.a + amount; if (twice) { h.a = h.a + amount; } } }",
            locals: "Add(1, false) one; Add(amount = 3, twice = true) three;",
            ingress: "one.apply(hdr.h); three.apply(hdr.h); one.apply(hdr.h);",
            ..Parts::default()
        },
        &["01 00 0000"],
        expect![[r#"
            01 00 0000 -> 09000000
        "#]],
    );
}

#[test]
fn aliases_among_arguments_are_copied() {
    check_packets(
        &Parts {
            types: "control Sub(inout h_t x, inout h_t y, in bit<8> v) { apply { x.a = 1; y.b = 2; x.c = (bit<16>) v; } }",
            headers: "h_t h; h_t g;",
            locals: "Sub() s1; Sub() s2;",
            ingress: "hdr.g = hdr.h; s1.apply(hdr.h, hdr.h, hdr.h.a); s2.apply(hdr.g, hdr.g, 8w5);",
            ..Parts::default()
        },
        &["50 60 7070"],
        expect![[r#"
            50 60 7070 -> 5002707050027070
        "#]],
    );
}

#[test]
fn bits_are_assigned_at_run_time_positions() {
    ingress(
        "hdr.h.c[hdr.h.a +: 4] = 4w0xf; hdr.h.b = hdr.h.c[hdr.h.b +: 8];",
        &["04 00 0000", "0e 08 0000"],
        expect![[r#"
            04 00 0000 -> 04f000f0
            0e 08 0000 -> 0ec0c000
        "#]],
    );
}

#[test]
fn a_parameter_stands_for_its_argument_where_that_cannot_be_observed() {
    check_ir(
        Stage::Ingress,
        &Parts {
            types: "control Sub(inout h_t x, out h_t y, in bit<8> v, in bit<8> w) { apply { x.b = v; y.setValid(); y.a = w; x.c = 3; } }",
            headers: "h_t h; h_t g;",
            locals: "Sub() s;",
            ingress: "s.apply(hdr.h, hdr.g, hdr.h.a, hdr.g.a); s.apply(hdr.g, hdr.h, 5, 6);",
            ..Parts::default()
        },
        expect![[r#"
            block2 "I" control {
              v16 = h0.0
              v17 = h1.0
              set_invalid h1
              h0.1 = v16
              set_valid h1
              h1.0 = v17
              h0.2 = 16w0x3
              set_invalid h0
              h1.1 = 8w0x5
              set_valid h0
              h0.0 = 8w0x6
              h1.2 = 16w0x3
            }
        "#]],
    );
}

#[test]
fn headers_with_structs_and_other_types_in_them() {
    check_packets(
        &Parts {
            types: "enum bit<4> nibble_t { one = 1, two = 2 } type bit<8> port_t; struct inner_t { bit<4> x; nibble_t y; } \
                    header n_t { inner_t i; bool flag; bit<7> rest; int<8> n; port_t p; } struct nest_t { n_t n; h_t[2] s; } \
                    header g_t<T> { T v; }",
            headers: "nest_t nest; g_t<bit<16>> g;",
            parser: "state start { packet.extract(hdr.nest.n); packet.extract(hdr.g); transition select(hdr.nest.n.i.y) { nibble_t.two: more; default: accept; } } \
                     state more { packet.extract(hdr.nest.s.next); transition accept; }",
            ingress: "inner_t old = hdr.nest.n.i; hdr.nest.n.i = { old.x + 1, nibble_t.one }; if (hdr.nest.n.flag) { hdr.nest.n.n = -hdr.nest.n.n; } \
                      hdr.nest.n.flag = !hdr.nest.n.flag; hdr.nest.n.p = (port_t) ((bit<8>) hdr.nest.n.p + 1); hdr.g.v = hdr.nest.s[0].c; \
                      if (old == { hdr.nest.n.i.x - 1, nibble_t.two }) { hdr.nest.n.rest = 7w0x7f; }",
            ..Parts::default()
        },
        &["1280 0510 0000 01020304", "1300 0510 0000 01020304"],
        expect![[r#"
            1280 0510 0000 01020304 -> 217ffb11010203040304
            1300 0510 0000 01020304 -> 21800511000001020304
        "#]],
    );
}

#[test]
fn functions_and_conditionals_give_structs_and_headers() {
    check_packets(
        &Parts {
            types: "struct pair_t { bit<8> x; bit<8> y; } pair_t swap(in pair_t p) { return { p.y, p.x }; } \
                    h_t other(in h_t h, in bool swapped) { h_t result = h; if (swapped) { result.a = h.b; result.b = h.a; return result; } result.setInvalid(); return result; } \
                    void fill(out h_t h) { h.setValid(); h.a = 7; }",
            headers: "h_t h; h_t g; h_t k;",
            ingress: "pair_t p = swap(swap({ hdr.h.a, hdr.h.b })); hdr.h.c = p.x ++ p.y; hdr.g = other(hdr.h, hdr.h.a == 1); \
                      hdr.k = hdr.h.a == 1 ? hdr.g : hdr.h; if (hdr.h.a == 2) { fill(hdr.g); } p = hdr.h.a == 1 ? { 8w1, 8w2 } : p; hdr.k.b = p.y;",
            ..Parts::default()
        },
        &["01 05 0000", "02 06 0000"],
        expect![[r#"
            01 05 0000 -> 010501050501010505020105
            02 06 0000 -> 020602060700000002060206
        "#]],
    );
}

#[test]
fn controls_are_given_to_controls() {
    check_packets(
        &Parts {
            types: "control step_t(inout h_t h); control One(inout h_t h)(bit<8> by) { apply { h.a = h.a + by; } } \
                    control Twice(inout h_t h)(step_t step) { apply { step.apply(h); step.apply(h); h.b = h.b + 1; } }",
            locals: "Twice(One(3)) t; Twice(Twice(One(1))) u;",
            ingress: "t.apply(hdr.h); u.apply(hdr.h);",
            ..Parts::default()
        },
        &["00 00 0000"],
        expect![[r#"
            00 00 0000 -> 0a040000
        "#]],
    );
}

#[test]
fn stacks_are_local_and_walked() {
    ingress(
        "h_t[2] s; s[0] = hdr.h; s[1] = { 8w9, 8w8, 16w7 }; for (h_t x in s) { hdr.h.b = hdr.h.b + x.a; } \
         s.push_front(1); if (!s[0].isValid()) { hdr.h.c = s[1].c; } h_t[2] t = s; if (t == s) { hdr.h.a = 0xee; }",
        &["01 02 0304"],
        expect![[r#"
            01 02 0304 -> ee0c0304
        "#]],
    );
}

#[test]
fn blocks_in_blocks_leave_what_they_should() {
    with_types(
        "bit<8> find(in bit<8> wanted, in bit<16> bits) { for (bit<8> i in 8w0..8w15) { switch (wanted) { 0: { return i; } 1: { if (bits >> i == 1) { return i; } } \
         default: { for (bit<8> j in 8w0..8w3) { if (i == 3) { continue; } if (j + i == wanted) { return i + 0x10; } if (j == 2) { break; } } } } } return 0xff; }",
        "hdr.h.b = find(hdr.h.a, hdr.h.c);",
        &["00 00 0000", "01 00 0080", "02 00 0000", "04 00 0000", "06 00 0000", "20 00 0000"],
        expect![[r#"
            00 00 0000 -> 00000000
            01 00 0080 -> 01070080
            02 00 0000 -> 02100000
            04 00 0000 -> 04120000
            06 00 0000 -> 06140000
            20 00 0000 -> 20ff0000
        "#]],
    );
}

#[test]
fn instances_are_made_where_they_are_applied() {
    check_packets(
        &Parts {
            types: "control Add(inout h_t h, in bit<8> by) { register<bit<8>>(2) seen; apply { bit<8> old; seen.read(old, 0); h.a = h.a + by + old; seen.write(0, 1); } } \
                    control Outer(inout h_t h) { apply { Add.apply(h, 2); } } \
                    parser Skip(packet_in packet) { state start { packet.advance(8); transition accept; } }",
            parser: "state start { Skip.apply(packet); packet.extract(hdr.h); transition accept; }",
            locals: "Add() inner;",
            ingress: "Add.apply(hdr.h, 1); Outer.apply(hdr.h); { inner.apply(hdr.h, 4); inner.apply(hdr.h, 8); }",
            ..Parts::default()
        },
        &["ff 00 00 0000", "ff 00 00 0000"],
        expect![[r#"
            ff 00 00 0000 -> 10000000
            ff 00 00 0000 -> 13000000
            I.Add.seen[0] = 0x1
            I.Outer.Add.seen[0] = 0x1
            I.inner.seen[0] = 0x1
        "#]],
    );
}

#[test]
fn arguments_by_name_by_default_and_thrown_away() {
    with_types(
        "bit<8> f(in bit<8> x, in bit<8> y = 5) { return x - y; } void g(out bit<8> x, out bit<8> y) { x = 1; y = 2; }",
        "hdr.h.a = f(y = 1, x = 9); hdr.h.b = f(9); g(_, hdr.h.c[7:0]); g(x = hdr.h.c[15:8], y = _);",
        &["00 00 0000"],
        expect![[r#"
            00 00 0000 -> 08040102
        "#]],
    );
}

#[test]
fn switches_fall_through_and_tuples_are_compared() {
    ingress(
        "tuple<bit<8>, bit<8>> t = { hdr.h.a, hdr.h.b }; if (t == { 8w1, 8w2 }) { hdr.h.c = 1; } else if (t != { 8w3, 8w4 }) { hdr.h.c = 2; } \
         switch (hdr.h.a) { 1: 3: { hdr.h.b = 0x10; } 5: default: { hdr.h.b = 0x20; } }",
        &["01 02 0000", "03 04 0000", "05 00 0000", "07 00 0000"],
        expect![[r#"
            01 02 0000 -> 01100001
            03 04 0000 -> 03100000
            05 00 0000 -> 05200002
            07 00 0000 -> 07200002
        "#]],
    );
}

#[test]
fn actions_call_actions_that_exit() {
    check_packets(
        &Parts {
            types: "control Sub(inout bit<8> x) { bit<8> kept = x; action inner(inout bit<8> y) { y = 0x33; exit; } action outer() { kept = 1; inner(kept); } \
                    table t { key = { x: exact; } actions = { outer; NoAction; } default_action = NoAction; const entries = { 1: outer(); } } \
                    apply { switch (t.apply().action_run) { outer: { x = 0xff; } } x = x + kept; if (x == 4) { outer(); } } }",
            locals: "Sub() s;",
            ingress: "s.apply(hdr.h.a); s.apply(hdr.h.b); hdr.h.c = 0x7777;",
            ..Parts::default()
        },
        &["01 00 0000", "03 02 0000", "02 05 0000"],
        expect![[r#"
            01 00 0000 -> 01000000
            03 02 0000 -> 06040000
            02 05 0000 -> 04050000
        "#]],
    );
}

#[test]
fn unions_without_members_and_headers_with_two_varbit_fields() {
    check_packets(
        &Parts {
            types: "header_union U { } header vb_t { bit<8> n; varbit<16> p; varbit<16> q; } struct inner_t { U u; vb_t vb; }",
            headers: "h_t h; U u; vb_t vb; U[2] us;",
            metadata: "inner_t inner; vb_t other;",
            ingress: "meta.other.setValid(); meta.other.n = 7; meta.inner.vb = meta.other; hdr.vb = meta.inner.vb; \
                      if (hdr.u.isValid()) { hdr.h.a = 1; } if (hdr.vb.p == hdr.vb.p && hdr.vb == meta.other) { hdr.h.b = 2; } \
                      U local; hdr.u = local; hdr.us.push_front(1); if (hdr.us[0].isValid()) { hdr.h.a = 2; }",
            ..Parts::default()
        },
        &["05 00 0000"],
        expect![[r#"
            05 00 0000 -> 0502000007
        "#]],
    );
}

#[test]
fn headers_with_several_varbit_fields_are_emitted_as_one_number() {
    let parts = Parts {
        types: "header vb_t { bit<4> n; varbit<16> p; varbit<8> q; }",
        headers: "h_t h; vb_t vb;",
        ingress: "hdr.vb.setValid(); hdr.vb.p = hdr.vb.p;",
        deparser: "packet.emit(hdr.vb);",
        ..Parts::default()
    };
    check_ir(
        Stage::Deparser,
        &parts,
        expect![[r#"
        block5 "D" control {
          if valid(h1) {
            v16 = (32w0x0 | bit<32>(h1.0))
            v17 = ((v16 << h1.1) | bit<32>(h1.2))
            v18 = (32w0x8 + h1.1)
            v19 = ((v17 << h1.3) | bit<32>(h1.4))
            v20 = (v18 + h1.3)
            set_valid h2
            set_varbit h2.0 = v20 of (v19 << 32w0x4)
            emit h2
          }
        }
    "#]],
    );
    check_errors(
        &Parts {
            types: "header vb_t { varbit<20000> p; varbit<20000> q; }",
            headers: "h_t h; vb_t vb;",
            ..Parts::default()
        },
        expect![[r#"
            E0802 a header with several varbit fields of 40000 bits; the most is 32768 at `packet.emit(hdr)`
        "#]],
    );
}

#[test]
fn registers_of_headers_with_several_varbit_fields_hold_lengths_and_numbers() {
    let parts = Parts {
        types: "header vb_t { bit<8> n; varbit<16> p; varbit<8> q; }",
        headers: "h_t h; vb_t vb;",
        locals: "register<vb_t>(1) r;",
        ingress: "r.read(hdr.vb, 0);",
        ..Parts::default()
    };
    let program = lower_ok(&parts.text());
    let parts = |register: &ir::Register| register.parts_bits.clone();
    assert_eq!(program.registers.iter().map(parts).collect::<Vec<_>>(), [[1, 8, 32, 16, 32, 8]]);
}
