//! `W0336`: a `select` that does not cover all values
//!
//! If no case matches, parsing ends with the error `NoMatch`. Make that explicit with a last case, `default: reject;`
//! or `default: accept;`. `@noWarn("parser-transition")` silences it.
//!
//! ```p4,wrong
//! parser P(in bit<16> x) {
//!     state start { transition select(x) { 0x800: accept; } }
//! }
//! ```
//!
//! ```p4
//! parser P(in bit<16> x) {
//!     state start { transition select(x) { 0x800: accept; default: reject; } }
//! }
//! ```
//!
//! Specification: Select expressions.

use base::Span;
use syntax::diag::Diagnostic;

pub(crate) fn unmatched_select(span: Span) -> Diagnostic {
    Diagnostic::warning("W0336", span, "some values match no case of this `select`")
        .label("parsing ends with the error `NoMatch` there")
        .help("add a last case, such as `default: accept;` or `default: reject;`")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_parser;
    use expect_test::expect;

    #[test]
    fn cases() {
        check_parser(
            r#"
            state start { transition select(m) { 5: a; 6: b; } }
            state a { transition select(m[0:0], s.f) { (0, true): accept; (1, _): accept; (_, false): b; } }
            state b { transition select(m[1:0]) { 0: accept; 2 .. 3: c; } }
            state c { transition select(m) { 8w0 &&& 1: accept; 8w1 &&& 1: accept; } }
            state d { transition select(m, s.y) { (1, _): accept; (_, _): accept; } }"#,
            expect![[r#"
                t.p4:4:27: warning[W0336]: some values match no case of this `select`
                t.p4:5:49: warning[W0321]: `s.f` has no value here
                t.p4:6:23: warning[W0336]: some values match no case of this `select`
            "#]],
        );
    }
}
