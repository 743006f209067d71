//! `E0633`: a table that needs the action `NoAction`, which is not declared.
//!
//! A table without `default_action` runs `NoAction` on a miss. core.p4 declares this action, so a program that does not
//! include it must declare the action itself, or declare a default action in every table.
//!
//! ```p4,wrong
//! control C() {
//!     action a() { }
//!     table t { actions = { a; } }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! control C() {
//!     action a() { }
//!     table t { actions = { a; } }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! Specification: Control blocks, Tables, Default action.

use base::Span;
use syntax::diag::Diagnostic;

/// The table's name and location.
pub(crate) fn no_action_missing(span: Span, table: &str) -> Diagnostic {
    Diagnostic::error("E0633", span, format!("the default action of `{table}` is `NoAction`, which is not declared"))
        .label("a table without `default_action`")
        .help("add `#include <core.p4>`, or write `default_action`")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn without_core() {
        check_errors(
            "control C() { action a() { } table t { actions = { a; } } \
             table u { actions = { a; } default_action = a; } apply { t.apply(); u.apply(); } }",
            expect![[r#"
                t.p4:1:36: error[E0633]: the default action of `t` is `NoAction`, which is not declared
                  `t`: a table without `default_action`
                  = add `#include <core.p4>`, or write `default_action`
            "#]],
        );
    }

    #[test]
    fn declared_by_the_program() {
        check_errors(
            "action NoAction() { } control C() { action a() { } table t { actions = { a; } } apply { t.apply(); } }",
            expect![[""]],
        );
    }
}
