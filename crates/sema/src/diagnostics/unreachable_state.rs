//! `W0204`: a parser state that no transition leads to.
//!
//! Remove the state, or add a transition to it. `@noWarn("unreachable")` silences it.
//!
//! ```p4,wrong
//! parser P() { state start { transition accept; } state lost { transition accept; } }
//! ```
//!
//! ```p4
//! parser P() { state start { transition found; } state found { transition accept; } }
//! ```
//!
//! Specification: Packet parsing, Transition statements.

use base::Span;
use syntax::diag::Diagnostic;

/// The state's name and location.
pub(crate) fn unreachable_state(span: Span, name: &str) -> Diagnostic {
    Diagnostic::warning("W0204", span, format!("the state `{name}` is never reached")).label("no way leads here")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_states;
    use expect_test::expect;

    #[test]
    fn no_way() {
        check_states(
            "
            state start { transition accept; }
            state lost { transition start; }",
            expect![[r#"
                t.p4:5:19: warning[W0204]: the state `lost` is never reached
                  `lost`: no way leads here
            "#]],
        );
    }
}
