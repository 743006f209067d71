//! `E0634`: an argument with a direction that differs from the one in the table's list of actions.
//!
//! The list of actions binds the parameters with a direction. A default action or an entry must repeat these arguments
//! unchanged, before those for the parameters without direction.
//!
//! ```p4,wrong
//! #include <core.p4>
//! control C(inout bit<8> x, inout bit<8> y) {
//!     action a(inout bit<8> p, bit<8> q) { p = q; }
//!     table t { actions = { a(x); } default_action = a(y, 1); }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! control C(inout bit<8> x, inout bit<8> y) {
//!     action a(inout bit<8> p, bit<8> q) { p = q; }
//!     table t { actions = { a(x); } default_action = a(x, 1); }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! Specification: Control blocks, Tables, Default action.

use base::Span;
use syntax::diag::Diagnostic;

/// `listed` is the argument in the list.
pub(crate) fn action_argument_differs(span: Span, parameter: &str, listed: Span) -> Diagnostic {
    Diagnostic::error("E0634", span, format!("the argument for `{parameter}` is not that of the list of actions"))
        .label("differs")
        .secondary(listed, "as it is listed")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_control;
    use expect_test::expect;

    #[test]
    fn other_place() {
        check_control(
            "table t { key = { s.x : exact; } actions = { two(s.x); one; }
               default_action = two(s.h.a, 1);
               const entries = { 1 : two(s.x, 2); 2 : two(s.h.a, 3); } }",
            expect![[r#"
                t.p4:4:37: error[E0634]: the argument for `p` is not that of the list of actions
                  `s.h.a`: differs
                  `s.x`: as it is listed
                t.p4:5:59: error[E0634]: the argument for `p` is not that of the list of actions
                  `s.h.a`: differs
                  `s.x`: as it is listed
            "#]],
        );
    }

    #[test]
    fn other_value_or_expression() {
        check_control(
            "action in_(in bit<8> p, bit<8> q) {}
             table t { key = { s.x : exact; } actions = { in_(s.x + 1); }
               default_action = in_(s.x, 1);
               const entries = { 1 : in_(s.x + 1, 2); 2 : in_(77, 3); 3 : in_(1 + 2, 3); } }
             action out_(out bit<8> p) { p = 1; }
             table u { actions = { out_(s.x); } default_action = out_(_); }",
            expect![[r#"
                t.p4:5:37: error[E0634]: the argument for `p` is not that of the list of actions
                  `s.x`: differs
                  `s.x + 1`: as it is listed
                t.p4:6:63: error[E0634]: the argument for `p` is not that of the list of actions
                  `77`: differs
                  `s.x + 1`: as it is listed
                t.p4:6:79: error[E0634]: the argument for `p` is not that of the list of actions
                  `1 + 2`: differs
                  `s.x + 1`: as it is listed
                t.p4:8:66: error[E0634]: the argument for `p` is not that of the list of actions
                  `out_(_)`: differs
                  `s.x`: as it is listed
            "#]],
        );
    }
}
