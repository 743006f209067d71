//! `E0621`: a table without a list of actions.
//!
//! ```p4,wrong
//! control C(in bit<8> x) { table t { key = { x : exact; } } apply { t.apply(); } }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! control C(in bit<8> x) { table t { key = { x : exact; } actions = { NoAction; } } apply { t.apply(); } }
//! ```
//!
//! Specification: Control blocks, Tables.

use base::Span;
use syntax::diag::Diagnostic;

/// The table's name and location.
pub(crate) fn table_without_actions(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error("E0621", span, format!("the table `{name}` has no `actions`")).label("add `actions = { ... }`")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_control;
    use expect_test::expect;

    #[test]
    fn missing() {
        check_control(
            "table u { key = { r: exact; } }",
            expect![[r#"
            t.p4:3:7: error[E0621]: the table `u` has no `actions`
              `u`: add `actions = { ... }`
        "#]],
        );
    }
}
