//! `E0631`: a default action that is neither the name nor the call of an action.
//!
//! ```p4,wrong
//! #include <core.p4>
//! control C() { table t { actions = { NoAction; } default_action = 1; } apply { t.apply(); } }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! control C() { table t { actions = { NoAction; } default_action = NoAction; } apply { t.apply(); } }
//! ```
//!
//! Specification: Control blocks, Tables, Default action.

use base::Span;
use syntax::diag::Diagnostic;

/// The location of the value.
pub(crate) fn not_an_action(span: Span) -> Diagnostic {
    Diagnostic::error("E0631", span, "the default action must be an action")
        .label("not an action")
        .help("write `default_action = name(...);`")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_control;
    use expect_test::expect;

    #[test]
    fn number() {
        check_control(
            "table u { actions = { one; } default_action = 5; }",
            expect![[r#"
            t.p4:3:47: error[E0631]: the default action must be an action
              `5`: not an action
              = write `default_action = name(...);`
        "#]],
        );
    }
}
