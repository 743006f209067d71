//! `E0635`: an action that is `@tableonly` as default action, or `@defaultonly` in an entry.
//!
//! ```p4,wrong
//! #include <core.p4>
//! control C() {
//!     action a() { }
//!     table t { actions = { @tableonly a; } default_action = a; }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! control C() {
//!     action a() { }
//!     table t { actions = { @tableonly a; NoAction; } default_action = NoAction; }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! Specification: Annotations, Table action list annotations.

use base::Span;
use syntax::diag::Diagnostic;

/// `annotation` is the name of the annotation in the list at `listed`; `place` is the use that it forbids.
pub(crate) fn restricted_action(span: Span, action: &str, annotation: &str, place: &str, listed: Span) -> Diagnostic {
    Diagnostic::error("E0635", span, format!("`{action}` is `@{annotation}` and cannot be {place}"))
        .label("not here")
        .secondary(listed, "listed here")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_control;
    use expect_test::expect;

    #[test]
    fn both_ways() {
        check_control(
            "table t { key = { s.x : exact; } actions = { @tableonly one; @defaultonly NoAction; }
               default_action = one;
               const entries = { 1 : one; 2 : NoAction; } }",
            expect![[r#"
                t.p4:4:33: error[E0635]: `one` is `@tableonly` and cannot be the default action
                  `one`: not here
                  `one`: listed here
                t.p4:5:47: error[E0635]: `NoAction` is `@defaultonly` and cannot be the action of an entry
                  `NoAction`: not here
                  `NoAction`: listed here
            "#]],
        );
    }
}
