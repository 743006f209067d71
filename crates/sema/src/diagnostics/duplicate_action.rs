//! `E0626`: an action that a table lists twice.
//!
//! ```p4,wrong
//! control C() {
//!     action a() { }
//!     table t { actions = { a; a; } default_action = a; }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! ```p4
//! control C() {
//!     action a() { }
//!     table t { actions = { a; } default_action = a; }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! Specification: Control blocks, Tables, Actions.

use base::Span;
use syntax::diag::Diagnostic;

/// `first` is the location of the first occurrence.
pub(crate) fn duplicate_action(span: Span, name: &str, first: Span) -> Diagnostic {
    Diagnostic::error("E0626", span, format!("`{name}` is listed twice"))
        .label("listed again")
        .secondary(first, "first listed here")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_control;
    use expect_test::expect;

    #[test]
    fn listed_twice() {
        check_control(
            "table u { actions = { one; one; } }",
            expect![[r#"
            t.p4:3:28: error[E0626]: `one` is listed twice
              `one`: listed again
              `one`: first listed here
        "#]],
        );
    }
}
