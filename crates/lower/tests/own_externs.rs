//! The extern functions and objects that a program declares of its own.

use crate::support;

use expect_test::expect;
use ir::v1model::Stage;
use support::{Parts, check_errors, check_ir, check_packets, ir_text, lower_ok};

/// What the program needs from a plug-in.
fn wanted(parts: &Parts<'_>) -> String {
    let text = ir::text::print(&lower_ok(&parts.text()));
    let lines = text.lines().filter(|line| line.starts_with("xfunction") || line.starts_with("xinstance"));
    lines.map(|line| line.split(" @").next().unwrap_or_default().to_owned() + "\n").collect()
}

#[test]
fn arguments_are_copied_in_and_out() {
    let parts = Parts {
        types: "extern bit<8> f(in bit<8> a, inout bit<16> b, out bool c);",
        metadata: "bool c;",
        ingress: "hdr.h.a = f(hdr.h.a, hdr.h.c, meta.c);",
        ..Parts::default()
    };
    expect![[r#"
        xfunction0 "f" function (in "a" bit<8>, inout "b" bit<16>, out "c" bool) returns bit<8>
    "#]]
    .assert_eq(&wanted(&parts));
    check_ir(
        Stage::Ingress,
        &parts,
        expect![[r#"
        block2 "I" control {
          v17 = h0.2
          call v20 = xfunction0 (h0.0, v17)
          v17 = v20[24:9]
          v18 = bool(v20[8:8])
          v19 = v20[7:0]
          h0.2 = v17
          v0 = v18
          h0.0 = v19
        }
    "#]],
    );
}

#[test]
fn named_arguments_are_copied_out_as_they_are_written() {
    let parts = Parts {
        types: "extern void f(out bit<8> a, out bit<8> b, in bit<8> c);",
        ingress: "f(c = hdr.h.b, b = hdr.h.a, a = hdr.h.a);",
        ..Parts::default()
    };
    check_ir(
        Stage::Ingress,
        &parts,
        expect![[r#"
        block2 "I" control {
          call v18 = xfunction0 (h0.1)
          v16 = v18[15:8]
          v17 = v18[7:0]
          h0.0 = v17
          h0.0 = v16
        }
    "#]],
    );
}

#[test]
fn structs_and_headers_are_flattened() {
    let parts = Parts {
        types: "struct s_t { bit<4> x; tuple<bool, int<12>> y; } extern s_t f(in s_t s, out h_t h, in bit<100> w);",
        metadata: "s_t s;",
        ingress: "meta.s = f(meta.s, hdr.h, 5);",
        ..Parts::default()
    };
    expect![[r#"
        xfunction0 "f" function (in "s_x" bit<4>, in "s_y_0" bool, in "s_y_1" int<12>, out "h_valid" bool, out "h_a" bit<8>, out "h_b" bit<8>, out "h_c" bit<16>, in "w" bit<100>, out "result_x" bit<4>, out "result_y_0" bool, out "result_y_1" int<12>)
    "#]].assert_eq(&wanted(&parts));
    check_ir(
        Stage::Ingress,
        &parts,
        expect![[r#"
        block2 "I" control {
          call v22 = xfunction0 (v0, v1, v2, 100w0x5)
          if bool(v22[49:49]) {
            set_valid h1
          } else {
            set_invalid h1
          }
          h1.0 = v22[48:41]
          h1.1 = v22[40:33]
          h1.2 = v22[32:17]
          v19 = v22[16:13]
          v20 = bool(v22[12:12])
          v21 = int<12>(v22[11:0])
          copy h0 = h1
          v0 = v19
          v1 = v20
          v2 = v21
        }
    "#]],
    );
}

#[test]
fn objects_are_made_when_they_are_used() {
    let parts = Parts {
        types: "extern Sum<T> { Sum(T start, string name, int number); void add(in T v); void add(); T get(); }
                extern Other { Other(Sum<bit<8>> sum); void run(); }
                extern bit<8> pick<T>(in T value); extern bit<8> pick<T>(in T value, in bit<8> other);",
        locals: "Sum<bit<8>>(1, \"a b\", -3) used; Sum<bit<16>>(1, \"\", 4) unused; Other(used) other;",
        ingress: "used.add(hdr.h.a); used.add(); other.run(); hdr.h.a = used.get(); hdr.h.b = pick(hdr.h.c); \
                  hdr.h.b = pick(hdr.h, hdr.h.a);",
        ..Parts::default()
    };
    expect![[r#"
        xfunction0 "Sum_bit8_new" constructor (in "start" bit<8>, in "name" text "a b", in "number" int<64>)
        xfunction1 "Sum_bit8_add_1" method (in "v" bit<8>)
        xfunction2 "Sum_bit8_add_0" method ()
        xfunction3 "Other_new" constructor (in "sum" xinstance0)
        xfunction4 "Other_run" method ()
        xfunction5 "Sum_bit8_get" method () returns bit<8>
        xfunction6 "pick_bit16_1" function (in "value" bit<16>) returns bit<8>
        xfunction7 "pick_h_t_2" function (in "value_valid" bool, in "value_a" bit<8>, in "value_b" bit<8>, in "value_c" bit<16>, in "other" bit<8>) returns bit<8>
        xinstance0 "I.used" xfunction0 (8w0x1, 64w0xfffffffffffffffd)
        xinstance1 "I.other" xfunction3 ()
    "#]].assert_eq(&wanted(&parts));
}

#[test]
fn methods_written_in_p4_are_inlined() {
    let parts = Parts {
        types: "extern Virtual { Virtual(); abstract bit<8> f(in bit<8> x); abstract void g(inout bit<8> x); }",
        locals: "bit<8> more = 3;
                 Virtual() v = {
                     bit<8> f(in bit<8> x) { if (x == 0) { return 9; } return x + more; }
                     void g(inout bit<8> x) { x = this.f(x); }
                 };",
        ingress: "hdr.h.b = v.f(hdr.h.a); v.g(hdr.h.a);",
        ..Parts::default()
    };
    assert_eq!(wanted(&parts), "");
    check_packets(
        &parts,
        &["01000000", "00000000"],
        expect![[r#"
        01000000 -> 04040000
        00000000 -> 09090000
    "#]],
    );
}

#[test]
fn a_call_stands_in_any_block() {
    let parts = Parts {
        types: "extern bool f(in bit<8> a);",
        parser: "state start { packet.extract(hdr.h); transition select(f(hdr.h.a)) { true: more; _: accept; } }
                 state more { transition accept; }",
        locals: "action act() { hdr.h.b = f(hdr.h.a) ? 8w1 : 2; } table t { actions = { act; } default_action = act; }",
        ingress: "t.apply();",
        compute: "if (f(1)) { hdr.h.a = 1; }",
        ..Parts::default()
    };
    let program = lower_ok(&parts.text());
    for stage in [Stage::Parser, Stage::Ingress, Stage::ComputeChecksum] {
        assert!(ir_text(&program, stage).contains("call"), "{stage:?}");
    }
}

#[test]
fn what_cannot_cross_is_refused() {
    for (types, ingress, expected) in [
        (
            "extern void f(in tuple<varbit<8>> a);",
            "tuple<varbit<8>> t; f(t);",
            expect![[r#"
            E0801 not supported yet: passing a value of this type to a plug-in at `f(t)`
        "#]],
        ),
        (
            "extern Sum { Sum(bit<8> x); void f(); } control Sub(inout bit<8> x)(Sum s) { apply { s.f(); } }",
            "Sub.apply(hdr.h.a);",
            expect![[r#"
                E0501 `Sub` takes 1 argument, found 0 at `Sub`
            "#]],
        ),
    ] {
        check_errors(&Parts { types, ingress, ..Parts::default() }, expected);
    }
}
