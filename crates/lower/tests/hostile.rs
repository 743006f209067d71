//! Programs that are made to hurt: every one ends, with an error or a program, and nothing panics.

use crate::support;

use base::limits::SHORT_PROGRAM_STATEMENTS_MAX;
use support::{Parts, lower};

fn refused(parts: &Parts<'_>) -> String {
    let text = parts.text();
    match base::stack::with_deep_stack(|| lower(&text).map(drop)) {
        Ok(()) => panic!("the program is accepted"),
        Err(errors) => errors.lines().next().unwrap_or_default().split(" at `").next().unwrap_or_default().to_owned(),
    }
}

/// Lowers a program that is nested deeply.
fn survives(text: &str) {
    base::stack::with_deep_stack(|| drop(lower(text)));
}

#[test]
fn functions_that_double_at_every_level() {
    let mut types = "bit<8> f0(inout bit<8> x) { x = x + 1; return x; }\n".to_owned();
    for level in 1..40 {
        let below = level - 1;
        types += &format!("bit<8> f{level}(inout bit<8> x) {{ return f{below}(x) + f{below}(x); }}\n");
    }
    let errors = refused(&Parts { types: &types, ingress: "hdr.h.a = f39(hdr.h.b);", ..Parts::default() });
    assert!(errors.starts_with("E0802"), "{errors}");
}

#[test]
fn functions_that_do_nothing_and_double_at_every_level() {
    let mut types = "void f0() { }\n".to_owned();
    for level in 1..40 {
        let below = level - 1;
        types += &format!("void f{level}() {{ f{below}(); f{below}(); }}\n");
    }
    let errors = refused(&Parts { types: &types, ingress: "f39();", ..Parts::default() });
    assert!(errors.starts_with("E0802"), "{errors}");
}

#[test]
fn controls_that_double_at_every_level() {
    let mut types = "control C0(inout bit<8> x) { apply { x = x + 1; } }\n".to_owned();
    for level in 1..40 {
        let below = level - 1;
        types += &format!("control C{level}(inout bit<8> x) {{ C{below}() a; C{below}() b; ");
        types += "apply { a.apply(x); b.apply(x); } }\n";
    }
    let parts = Parts { types: &types, locals: "C39() c;", ingress: "c.apply(hdr.h.a);", ..Parts::default() };
    let errors = base::stack::with_deep_stack(|| lower(&parts.text()).map(drop)).expect_err("the program is too large");
    assert!(errors.starts_with("E0802"), "{errors}");
    assert_eq!(errors.lines().count(), 1, "one cause, one error: {errors}");
}

#[test]
fn calls_thousands_deep() {
    let mut types = "bit<8> f0(in bit<8> x) { return x + 1; }\n".to_owned();
    for level in 1..5000 {
        types +=
            &format!("bit<8> f{level}(in bit<8> x) {{ if (x == 3) {{ return f{}(x + 1); }} return 0; }}\n", level - 1);
    }
    let errors = refused(&Parts { types: &types, ingress: "hdr.h.a = f4999(hdr.h.b);", ..Parts::default() });
    assert!(errors.starts_with("E0802"), "{errors}");
}

#[test]
fn expressions_as_deep_as_the_parser_allows() {
    for (open, close) in
        [("(", " + 1)"), ("f(", ")"), ("(hdr.h.b == 0 ? 8w1 : ", ")"), ("~", ""), ("(bit<8>) (bit<16>) ", "")]
    {
        for depth in [60, 240, 1000, 4000] {
            let value = format!("hdr.h.a = {}hdr.h.a{};", open.repeat(depth), close.repeat(depth));
            let parts = Parts { types: "bit<8> f(inout bit<8> x) { return x; } ", ingress: &value, ..Parts::default() };
            survives(&parts.text().replace("inout bit<8> x) { return", "in bit<8> x) { return"));
        }
    }
}

#[test]
fn blocks_as_deep_as_the_parser_allows() {
    for depth in [60, 250, 2000] {
        let ingress = format!("{} hdr.h.a = 1; {}", "if (hdr.h.a == 1) {".repeat(depth), "}".repeat(depth));
        survives(&Parts { ingress: &ingress, ..Parts::default() }.text());
    }
}

#[test]
fn types_that_explode() {
    let mut types = "struct s0 { bit<8> x; bit<8> y; }\n".to_owned();
    for level in 1..40 {
        types += &format!("struct s{level} {{ s{0} x; s{0} y; }}\n", level - 1);
    }
    refused(&Parts { types: &types, metadata: "s39 s;", ..Parts::default() });
    refused(&Parts { types: &types, ingress: "s39 s = ...;", ..Parts::default() });
    for array in ["bit<8>[1000][1000][1000] a;", "h_t[1024][1024] a;", "bit<16000>[60000] a;"] {
        for parts in [
            Parts { metadata: array, ..Parts::default() },
            Parts { ingress: array, ..Parts::default() },
            Parts { ingress: &array.replace(" a;", " a = ...;"), ..Parts::default() },
        ] {
            let _ = lower(&parts.text());
        }
    }
}

#[test]
fn numbers_out_of_all_proportion() {
    for ingress in [
        "hdr.h.a = (bit<8>) (1 << 1000000000);",
        "hdr.h.a = hdr.h.a << 100000000000000000000;",
        "hdr.h.a = hdr.h.a >> 8w255;",
        "hdr.h.c = 16w1 / 16w0;",
        "hdr.h.a = (bit<8>) (5 % 0);",
        "for (bit<32> i in 32w0..32w0xffffffff) { hdr.h.a = hdr.h.a + 1; }",
        "bit<32768> x = (bit<32768>) hdr.h.a; hdr.h.b = (x ++ x)[7:0];",
    ] {
        let _ = lower(&Parts { ingress, ..Parts::default() }.text());
    }
    for locals in [
        "register<bit<8>>(4000000000) r;",
        "counter(0, CounterType.bytes) c;",
        "table t { actions = { NoAction; } size = 100000000000; }",
        "register<h_t>(4) r;",
        "register<bit<8>>(32w4 / 0) r;",
    ] {
        let _ = lower(&Parts { locals, ingress: "", ..Parts::default() }.text());
        let _ = lower(
            &Parts { locals, ingress: if locals.starts_with("table") { "t.apply();" } else { "" }, ..Parts::default() }
                .text(),
        );
    }
}

#[test]
fn parsers_that_double_at_every_level() {
    let mut types = "parser p0(packet_in packet) { state start { transition accept; } }\n".to_owned();
    for level in 1..30 {
        types += &format!(
            "parser p{level}(packet_in packet) {{ p{0}() a; p{0}() b; state start {{ a.apply(packet); b.apply(packet); transition accept; }} }}\n",
            level - 1
        );
    }
    let parser = "p29() p; state start { p.apply(packet); transition accept; }";
    let errors = refused(&Parts { types: &types, parser, ..Parts::default() });
    assert!(errors.starts_with("E0802"), "{errors}");
}

#[test]
fn wide_keys_lists_and_switches() {
    let labels: String = (0..2000).map(|label| format!("{label}: {{ hdr.h.a = {}; }}", label % 250)).collect();
    let ingress = format!("switch (hdr.h.c) {{ {labels} }}");
    assert!(lower(&Parts { ingress: &ingress, ..Parts::default() }.text()).is_ok());
    let entries: String = (0..2000).map(|entry| format!("{entry}: set({});", entry % 250)).collect();
    let locals = format!(
        "action set(bit<8> v) {{ hdr.h.b = v; }} table t {{ key = {{ hdr.h.c: exact; }} actions = {{ set; }} const entries = {{ {entries} }} }}"
    );
    assert!(lower(&Parts { locals: &locals, ingress: "t.apply();", ..Parts::default() }.text()).is_ok());
}

/// Functions of a few statements, each of which calls the one before it so often.
fn fan(width: u32, depth: u32) -> String {
    let mut types = "bit<8> f0(in bit<8> x, inout bit<8> y) { y = y + x; return y ^ x; }\n".to_owned();
    for level in 1..=depth {
        let call = format!("z = z + f{}(z, y); y = y ^ z;", level - 1);
        types += &format!(
            "bit<8> f{level}(in bit<8> x, inout bit<8> y) {{ bit<8> z = x; {} return z; }}\n",
            call.repeat(width as usize)
        );
    }
    types
}

#[test]
fn calls_within_calls_are_shared() {
    let ingress = "bit<8> y = 1; hdr.h.a = f5(hdr.h.b, y); hdr.h.b = y;";
    let program = lower(&Parts { types: &fan(8, 5), ingress, ..Parts::default() }.text()).unwrap();
    assert!(program.routines.len() >= 4, "{}", program.routines.len());
    let mut statements = 0;
    for body in ir::walk::bodies(&program) {
        ir::walk::visit_body(body, &mut |_| statements += 1);
    }
    assert!(statements < 1_000, "{statements} statements");
}

#[test]
fn few_calls_are_inlined() {
    let ingress = "bit<8> y = 1; hdr.h.a = f2(hdr.h.b, y); hdr.h.b = y;";
    let program = lower(&Parts { types: &fan(8, 2), ingress, ..Parts::default() }.text()).unwrap();
    assert!(program.routines.is_empty());
}

#[test]
fn calls_that_no_packet_could_make_in_time_are_refused() {
    let ingress = "bit<8> y = 1; hdr.h.a = f40(hdr.h.b, y); hdr.h.b = y;";
    let errors = refused(&Parts { types: &fan(8, 40), ingress, ..Parts::default() });
    assert!(errors.starts_with("E0802 a packet would run more than"), "{errors}");
}

/// Copies count when statements are lowered, but do not last.
#[test]
fn a_program_that_is_short_without_routines_has_none() {
    let copies: String = (1..20).map(|copy| format!("bit<8> t{copy} = t{};", copy - 1)).collect();
    let types = format!("bit<8> f(in bit<8> x, inout bit<8> y) {{ bit<8> t0 = x; {copies} y = y ^ t19; return t19; }}");
    let calls = "hdr.h.a = f(hdr.h.a, y);".repeat(250);
    let ingress = format!("bit<8> y = 1; {calls} hdr.h.b = y;");
    let program = lower(&Parts { types: &types, ingress: &ingress, ..Parts::default() }.text()).unwrap();
    assert_eq!(program.routines.len(), 1);
    let program = testkit::pipeline::optimised(&program).unwrap();
    let statements = ir::walk::statement_count(&program);
    assert!(program.routines.is_empty() && statements <= SHORT_PROGRAM_STATEMENTS_MAX, "{statements} statements");
}
