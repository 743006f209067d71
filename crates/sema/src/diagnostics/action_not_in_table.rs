//! `E0624`: an action that is not in the table's list of actions.
//!
//! ```p4,wrong
//! control C() {
//!     action a() { }
//!     action b() { }
//!     table t { actions = { a; } default_action = b; }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! ```p4
//! control C() {
//!     action a() { }
//!     action b() { }
//!     table t { actions = { a; b; } default_action = b; }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! Specification: Control blocks, Tables, Actions.

use base::Span;
use syntax::diag::Diagnostic;

/// `declared` is the declaration of the table.
pub(crate) fn action_not_in_table(
    span: Span,
    action: &str,
    table: &str,
    suggestion: Option<String>,
    declared: Span,
) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0624", span, format!("`{action}` is not in the `actions` of `{table}`"))
        .label("not an action of the table")
        .secondary(declared, "the table");
    match suggestion {
        Some(suggestion) => diagnostic.help(format!("did you mean `{suggestion}`? Otherwise add it to `actions`")),
        None => diagnostic.help(format!("add `{action};` to `actions`")),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check_control;
    use expect_test::expect;

    #[test]
    fn default_and_entry() {
        check_control(
            "table u { key = { r: exact; } actions = { one; } default_action = two; entries = { 1: one(); 2: two(s.x, 1); } }",
            expect![[r#"
                t.p4:3:67: error[E0624]: `two` is not in the `actions` of `u`
                  `two`: not an action of the table
                  `u`: the table
                  = add `two;` to `actions`
                t.p4:3:97: error[E0624]: `two` is not in the `actions` of `u`
                  `two(s.x, 1)`: not an action of the table
                  `u`: the table
                  = add `two;` to `actions`
            "#]],
        );
    }
}
