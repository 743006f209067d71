//! `W0337`: a parser state without a `transition`
//!
//! Such a state rejects every packet. Say where parsing continues, or that it ends: `transition accept;`, or
//! `transition reject;` if that is meant. `@noWarn("parser-transition")` silences it.
//!
//! ```p4,wrong
//! parser P(out bit<8> x) {
//!     state start { x = 1; }
//! }
//! ```
//!
//! ```p4
//! parser P(out bit<8> x) {
//!     state start { x = 1; transition accept; }
//! }
//! ```
//!
//! Specification: Transition statements.

use base::Span;
use syntax::diag::Diagnostic;

pub(crate) fn missing_transition(span: Span, name: &str) -> Diagnostic {
    Diagnostic::warning("W0337", span, format!("the state `{name}` has no `transition`, so it rejects every packet"))
        .label("ends without a transition")
        .help("end it with `transition accept;`, another state, or `transition reject;`")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_parser;
    use expect_test::expect;

    #[test]
    fn implied_and_written() {
        check_parser(
            r#"
            state start { transition select(m) { 0: a; 1: b; _: c; } }
            state a { p.extract(s.h); }
            state b { transition reject; }
            @noWarn("parser-transition") state c { }"#,
            expect![[r#"
                t.p4:5:19: warning[W0337]: the state `a` has no `transition`, so it rejects every packet
            "#]],
        );
    }
}
