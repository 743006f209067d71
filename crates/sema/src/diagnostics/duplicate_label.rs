//! `E0609`: a repeated label of a `switch`.
//!
//! ```p4,wrong
//! control C(in bit<8> x) { apply { switch (x) { 1: { } 1: { } } } }
//! ```
//!
//! ```p4
//! control C(in bit<8> x) { apply { switch (x) { 1: { } 2: { } } } }
//! ```
//!
//! Specification: Statements, Switch statement.

use base::Span;
use syntax::diag::Diagnostic;

/// `first` is the first one.
pub(crate) fn duplicate_label(span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("E0609", span, "this label appears twice")
        .label("never reached")
        .secondary(first, "the first one")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn actions_and_values() {
        check_apply(
            "
            switch (t.apply().action_run) { one: { } one: { } }
            switch (s.x) { 1: two: { } 1: { } }",
            expect![[r#"
                t.p4:4:54: error[E0609]: this label appears twice
                  `one`: never reached
                  `one`: the first one
                t.p4:5:31: error[E0204]: `two` is an action, not a value
                  `two`: expected a value
                  `two`: declared here
                t.p4:5:40: error[E0609]: this label appears twice
                  `1`: never reached
                  `1`: the first one
            "#]],
        );
    }
}
