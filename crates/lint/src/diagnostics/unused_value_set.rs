//! `W0309`: a value set that no `select` uses
//!
//! Use it in a `select`, or remove it. `@noWarn("unused")` silences it.
//!
//! ```p4,wrong
//! parser P() { value_set<bit<8>>(4) ports; state start { transition accept; } }
//! ```
//!
//! ```p4
//! parser P(in bit<8> x) {
//!     value_set<bit<8>>(4) ports;
//!     state start { transition select(x) { ports: accept; _: reject; } }
//! }
//! ```
//!
//! Specification: Parser value sets.

use base::Span;
use syntax::diag::Diagnostic;

pub(crate) fn unused_value_set(span: Span, name: &str) -> Diagnostic {
    Diagnostic::warning("W0309", span, format!("the value set `{name}` is never used")).label("declared here")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_parser;
    use expect_test::expect;

    #[test]
    fn used_and_not() {
        check_parser(
            r#"
            value_set<bit<8>>(4) never;
            value_set<bit<8>>(4) used;
            value_set<bit<8>>(4) one_of_two;
            state start { transition select(m) { used: next; _: accept; } }
            state next { transition select(m, m) { (one_of_two, _): accept; _: reject; } }"#,
            expect![[r#"
                t.p4:4:34: warning[W0309]: the value set `never` is never used
            "#]],
        );
    }
}
