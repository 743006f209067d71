//! Helpers for tests: program text in, short warnings out.

use expect_test::Expect;
use syntax::{Diagnostics, MemoryFiles, Options, SourceMap, parse_text, render_short};

/// The warnings of this crate about a program without errors, one a line.
pub(crate) fn warnings_of(text: &str) -> String {
    let mut sources = SourceMap::new();
    let files = MemoryFiles::new();
    let (tree, mut diagnostics) = parse_text(&mut sources, "t.p4", text, &Options::new(&files));
    let typed = sema::check(&tree, &mut diagnostics);
    let errors: Vec<_> = diagnostics.iter().map(|diagnostic| render_short(&sources, diagnostic)).collect();
    assert!(!diagnostics.has_errors(), "{errors:?}");
    let mut found = Diagnostics::new();
    crate::lint(&typed, &sources, &mut found);
    found.iter().map(|diagnostic| render_short(&sources, diagnostic) + "\n").collect()
}

/// A complete program.
pub(crate) fn check(text: &str, expected: Expect) {
    expected.assert_eq(&warnings_of(text));
}

/// Declarations that the test programs may use, on line 1; the test's text follows.
const PRELUDE: &str = "#include <core.p4>\n\
    header H { bit<8> a; bit<16> b; } struct S { H h; H g; H[4] stack; bit<8> x; bit<16> y; bool f; } \
    struct Pair { bit<8> a; bit<8> b; } extern bit<8> random(); extern void use<T>(in T value); \
    extern void fill<T>(out T value); extern void change<T>(inout T value);";

/// Statements of a control's apply block. `s` is a struct, `r` a read-only `bit<8>`.
pub(crate) fn check_apply(statements: &str, expected: Expect) {
    check(&format!("{PRELUDE} control C(inout S s, in bit<8> r) {{ apply {{\n{statements}\n}} }}"), expected);
}

/// Declarations and the apply block of a control with the same parameters.
pub(crate) fn check_control(text: &str, expected: Expect) {
    check(&format!("{PRELUDE} control C(inout S s, in bit<8> r) {{\n{text}\n}}"), expected);
}

/// Declarations and states of a parser. `s` is a struct that it fills, `p` the packet.
pub(crate) fn check_parser(text: &str, expected: Expect) {
    check(&format!("{PRELUDE} parser P(packet_in p, out S s, inout bit<8> m) {{\n{text}\n}}"), expected);
}

/// Declarations outside all blocks, in a complete program.
pub(crate) fn check_program(text: &str, expected: Expect) {
    let main = "control Main(inout S s); package Package(Main main);\n";
    check(&format!("{PRELUDE} {main}{text}\n"), expected);
}
