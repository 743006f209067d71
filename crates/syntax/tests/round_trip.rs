//! The printer's output parses back to the same tree.

use crate::common;

use common::{SAMPLES, parse, short};

/// Parses, prints, parses again, and compares.
fn check(text: &str) {
    let (sources, program, diagnostics) = parse(text);
    assert!(diagnostics.is_empty(), "{}", short(&sources, &diagnostics));
    let printed = syntax::print(&program);
    let (sources, again, diagnostics) = parse(&printed);
    assert!(diagnostics.is_empty(), "{}\n{printed}", short(&sources, &diagnostics));
    assert_eq!(syntax::dump(&program), syntax::dump(&again), "{printed}");
    assert_eq!(printed, syntax::print(&again));
}

#[test]
fn samples_round_trip() {
    for (_, text) in SAMPLES {
        check(text);
    }
}

#[test]
fn later_v1model_round_trips() {
    check("#define V1MODEL_VERSION 20200408\n#include <v1model.p4>\nregister<bit<8>, bit<4>>(16) r;");
}

#[test]
fn expressions_round_trip() {
    for expression in [
        "a - (b - c) - d",
        "(a + b) * c",
        "-(-a)",
        "+(+a) ++ +b",
        "+ + +a ++ ~~!-a",
        "!(a == b) || (c || d) && e",
        "(a ? b : c) ? d ? e : f : g",
        "(bit<8>) (a + b)",
        "((bit<8>) a)[3:0]",
        "(a ++ b)[7:0][1:0]",
        "(-a)[0 +: 4]",
        "a < b == (c > d)",
        "a >> b >> (c >> d)",
        "a & b | c ^ d == e",
        "f(x = (a), _)",
        "{ a = { }, b = {#} }",
        "{ a, ... }",
        "(tuple<bit<8>, list<bit<8>>>) { 1, { 2 } }",
        "a.b.c[1].d(e)(f)",
        "g<bit<8>, _>(a)",
        "error.NoError",
    ] {
        check(&format!("const int x = {expression};"));
    }
}

#[test]
fn annotations_round_trip() {
    check("@a @b() @c(1, \"x\\n\", {y} (z >> 2)) @d[1 + 2, \"s\"] @e[k = 1, l = {2}] @f[] const int x = 1;");
    check("@pragma a b \"c\" 3\n@pragma d\nconst int x = 1;");
}

/// A tree of the maximum depth keeps its depth: nested prefix operators need no parentheses.
#[test]
fn many_prefix_operators_round_trip() {
    for operator in ["~", "!", "-", "+ "] {
        check(&format!("const int x = {}a;", operator.repeat(250)));
    }
}

/// In a body only parentheses need to be balanced, and any character is a token.
#[test]
fn bodies_of_annotations_round_trip() {
    for body in ["{", "(b<8{)()2", "[{]}", "]", "", "()(())", "; , @ = . $ ' ` \u{e9} \\", "}{", "\")\" ( \"(\" )"] {
        check(&format!("@a({body}) @b const int x = 1;"));
    }
}

#[test]
fn parentheses_in_annotations_match() {
    for text in ["@a(( const int x = 1;", "@a(([)] const int x = 1;", "control c() { @a( apply { } }"] {
        let (sources, _, diagnostics) = parse(text);
        let shown = short(&sources, &diagnostics);
        assert!(shown.contains("E0122") || shown.contains("E0120"), "{text}: {shown}");
    }
}

#[test]
fn characters_outside_of_annotations_are_refused() {
    let (sources, _, diagnostics) = parse("@a($) const int $ x = '; @b const int y = 1;");
    assert_eq!(short(&sources, &diagnostics).matches("E0106").count(), 2);
}
