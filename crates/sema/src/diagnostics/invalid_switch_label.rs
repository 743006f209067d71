//! `E0608`: a label that is not an action, in a `switch` on the action that a table ran.
//!
//! ```p4,wrong
//! #include <core.p4>
//! control C() {
//!     table t { actions = { NoAction; } }
//!     apply { switch (t.apply().action_run) { 1: { } } }
//! }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! control C() {
//!     table t { actions = { NoAction; } }
//!     apply { switch (t.apply().action_run) { NoAction: { } } }
//! }
//! ```
//!
//! Specification: Statements, Switch statement.

use base::Span;
use syntax::diag::Diagnostic;

/// `table` is the table's name.
pub(crate) fn invalid_switch_label(span: Span, table: &str) -> Diagnostic {
    Diagnostic::error("E0608", span, format!("a label must be an action of `{table}`"))
        .label("not the name of an action")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check_apply, check_control};
    use expect_test::expect;

    #[test]
    fn number_for_an_action() {
        check_apply(
            "switch (t.apply().action_run) { 1: { } one: { } three: { } }",
            expect![[r#"
            t.p4:3:33: error[E0608]: a label must be an action of `t`
              `1`: not the name of an action
            t.p4:3:49: error[E0624]: `three` is not in the `actions` of `t`
              `three`: not an action of the table
              `t`: the table
              = add `three;` to `actions`
        "#]],
        );
    }

    #[test]
    fn no_action_as_the_default() {
        check_apply(
            "switch (t.apply().action_run) { NoAction: { } one: { } NoAction: { } }",
            expect![[r#"
            t.p4:3:56: error[E0609]: this label appears twice
              `NoAction`: never reached
              `NoAction`: the first one
        "#]],
        );
        check_control(
            "table u { actions = { one; } default_action = one; }
             apply { switch (u.apply().action_run) { NoAction: { } } }",
            expect![[r#"
                t.p4:5:2: error[E0129]: a control has one `apply` block
                  `apply`: 
                  `apply`: the first is here
                t.p4:4:54: error[E0624]: `NoAction` is not in the `actions` of `u`
                  `NoAction`: not an action of the table
                  `u`: the table
                  = add `NoAction;` to `actions`
            "#]],
        );
    }
}
