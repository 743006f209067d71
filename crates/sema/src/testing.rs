//! Helpers for tests: program text in, short diagnostics out.

use expect_test::Expect;
use syntax::{Diagnostics, MemoryFiles, Options, SourceMap, parse_text, render_short};

/// Checks a program and returns one line for each diagnostic, with the labels' texts, notes and helps below.
pub(crate) fn diagnostics_of(text: &str) -> String {
    let mut sources = SourceMap::new();
    let files = MemoryFiles::new();
    let (program, parsed) = parse_text(&mut sources, "t.p4", text, &Options::new(&files));
    let mut diagnostics = Diagnostics::new();
    diagnostics.append(parsed);
    crate::check(&program, &mut diagnostics);
    let mut shown = String::new();
    for diagnostic in &diagnostics {
        shown.push_str(&render_short(&sources, diagnostic));
        shown.push('\n');
        for label in std::iter::once(&diagnostic.primary).chain(&diagnostic.secondary) {
            shown.push_str(&format!("  `{}`: {}\n", sources.text(label.span), label.text));
        }
        for text in diagnostic.notes.iter().chain(&diagnostic.helps) {
            shown.push_str(&format!("  = {text}\n"));
        }
    }
    shown
}

/// A complete program.
pub(crate) fn check_errors(text: &str, expected: Expect) {
    expected.assert_eq(&diagnostics_of(text));
}

/// Declarations that the statements of [`check_apply`] and [`check_state`] may use, on line 1; the test's text follows.
const PRELUDE: &str = "#include <core.p4>\n\
    header H { bit<8> a; bit<16> b; } struct S { H h; H[4] stack; bit<8> x; bit<16> y; int<8> i; bool f; } \
    enum E { A, B } enum bit<8> R { one = 1, two = 2 } type bit<8> N; extern X { X(); void m(in bit<8> v); } \
    control Inner(inout bit<8> v) { apply { } } ";

/// Statements of a control's apply block. `s` is a struct, `r` a read-only `bit<8>`, `t` a table with the actions
/// `one` and `two`.
pub(crate) fn check_apply(statements: &str, expected: Expect) {
    let text = format!(
        "{PRELUDE} control C(inout S s, in bit<8> r) {{ X() x; Inner() inner; \
         action one() {{ }} action two(inout bit<8> p, bit<8> q) {{ }} \
         table t {{ key = {{ r: exact; }} actions = {{ one; two(s.x); }} }} apply {{\n{statements}\n}} }}"
    );
    expected.assert_eq(&diagnostics_of(&text));
}

/// Declarations of a control with the same declarations before it.
pub(crate) fn check_control(declarations: &str, expected: Expect) {
    let text = format!(
        "{PRELUDE} control C(inout S s, in bit<8> r) {{ action one() {{ }} action two(inout bit<8> p, bit<8> q) {{ }}\n\
         {declarations}\n apply {{ }} }}"
    );
    expected.assert_eq(&diagnostics_of(&text));
}

/// States of a parser. `s` is a struct, `p` the packet.
pub(crate) fn check_states(states: &str, expected: Expect) {
    let text = format!("{PRELUDE} parser P(packet_in p, inout S s) {{\n{states}\n}}");
    expected.assert_eq(&diagnostics_of(&text));
}
