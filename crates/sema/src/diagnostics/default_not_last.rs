//! `E0610`: `default` before other labels of a `switch`.
//!
//! ```p4,wrong
//! control C(in bit<8> x) { apply { switch (x) { default: { } 1: { } } } }
//! ```
//!
//! ```p4
//! control C(in bit<8> x) { apply { switch (x) { 1: { } default: { } } } }
//! ```
//!
//! Specification: Statements, Switch statement.

use base::Span;
use syntax::diag::Diagnostic;

/// The location of `default`, and of the label after it.
pub(crate) fn default_not_last(span: Span, next: Span) -> Diagnostic {
    Diagnostic::error("E0610", span, "`default` must be the last label")
        .label("other labels follow")
        .secondary(next, "this one cannot be reached")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn followed() {
        check_apply(
            "switch (s.x) { default: { } 1: { } }",
            expect![[r#"
            t.p4:3:16: error[E0610]: `default` must be the last label
              `default`: other labels follow
              `1`: this one cannot be reached
        "#]],
        );
    }
}
