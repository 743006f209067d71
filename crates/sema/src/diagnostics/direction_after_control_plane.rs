//! `E0518`: an action parameter with a direction after one without.
//!
//! The entries of tables supply the parameters without direction, which come last.
//!
//! ```p4,wrong
//! action a(bit<8> value, inout bit<8> x) { x = value; }
//! ```
//!
//! ```p4
//! action a(inout bit<8> x, bit<8> value) { x = value; }
//! ```
//!
//! Specification: Control blocks, Actions.

use base::Span;
use syntax::diag::Diagnostic;

/// `name` is the name of the parameter.
pub(crate) fn direction_after_control_plane(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error("E0518", span, format!("`{name}` has a direction, but follows a parameter without"))
        .label("must come first")
        .help("put the parameters without direction last")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_control;
    use expect_test::expect;

    #[test]
    fn order() {
        check_control(
            "action a(bit<8> d, in bit<8> e) { }",
            expect![[r#"
            t.p4:3:20: error[E0518]: `e` has a direction, but follows a parameter without
              `in bit<8> e`: must come first
              = put the parameters without direction last
        "#]],
        );
    }
}
