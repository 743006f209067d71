//! `E0625`: an argument, in a table's list of actions, for a parameter that the control plane supplies.
//!
//! ```p4,wrong
//! #include <core.p4>
//! control C() {
//!     action a(bit<8> x) { }
//!     table t { actions = { a(1); } }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! control C() {
//!     action a(bit<8> x) { }
//!     table t { actions = { a; } default_action = a(1); }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! Specification: Control blocks, Tables, Actions.

use base::Span;
use syntax::diag::Diagnostic;

/// `declared` is the declaration of the parameter.
pub(crate) fn control_plane_argument(span: Span, param: &str, declared: Span) -> Diagnostic {
    Diagnostic::error("E0625", span, format!("`{param}` is given by the table's entries, not by its list of actions"))
        .label("remove this argument")
        .secondary(declared, "a parameter without direction")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_control;
    use expect_test::expect;

    #[test]
    fn in_the_list() {
        check_control(
            "table u { actions = { two(s.x, 1); } }",
            expect![[r#"
            t.p4:3:32: error[E0625]: `q` is given by the table's entries, not by its list of actions
              `1`: remove this argument
              `q`: a parameter without direction
        "#]],
        );
    }
}
