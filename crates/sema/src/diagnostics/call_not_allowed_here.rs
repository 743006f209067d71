//! `E0510`: a call that is not allowed here.
//!
//! Tables and controls are applied in the `apply` block of a control, parsers in parser states. Actions are called from
//! controls and actions, `verify` from parser states.
//!
//! ```p4,wrong
//! #include <core.p4>
//! control C() {
//!     table t { actions = { NoAction; } }
//!     action a() { t.apply(); }
//!     apply { a(); }
//! }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! control C() {
//!     table t { actions = { NoAction; } }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! Specification: Control blocks.

use base::Span;
use syntax::diag::Diagnostic;

/// Both with their articles.
pub(crate) fn call_not_allowed_here(span: Span, what: &str, here: &str) -> Diagnostic {
    let message = match what.contains("apply()") {
        true => format!("{what} cannot be called in {here}"),
        false => format!("{what} cannot be called from {here}"),
    };
    Diagnostic::error("E0510", span, message).label("not here")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn tables_actions_parsers() {
        check_errors(
            "
            #include <core.p4>
            parser P(packet_in p) { state start { transition accept; } }
            control I() { apply { } }
            void f() { verify(true, error.NoError); }
            control C(packet_in p) {
             table t { actions = { NoAction; } }
             action a() { t.apply(); }
             apply { P.apply(p); verify(true, error.NoError); }
            }
            parser Q(packet_in p) { state start { I.apply(); NoAction(); transition accept; } }",
            expect![[r#"
                t.p4:5:24: error[E0510]: verify() cannot be called from a function
                  `verify(true, error.NoError)`: not here
                t.p4:8:27: error[E0510]: a table's apply() cannot be called in an action
                  `t.apply()`: not here
                t.p4:9:22: error[E0510]: a parser's apply() cannot be called in a control's apply block
                  `P.apply(p);`: not here
                t.p4:9:34: error[E0510]: verify() cannot be called from a control's apply block
                  `verify(true, error.NoError)`: not here
                t.p4:11:51: error[E0510]: a control's apply() cannot be called in a parser state
                  `I.apply();`: not here
                t.p4:11:62: error[E0510]: an action cannot be called from a parser state
                  `NoAction()`: not here
            "#]],
        );
    }
}
