//! `E0611`: a parser without a state called `start`.
//!
//! ```p4,wrong
//! parser P() { state begin { transition accept; } }
//! ```
//!
//! ```p4
//! parser P() { state start { transition accept; } }
//! ```
//!
//! Specification: Packet parsing, Parser declarations.

use base::Span;
use syntax::diag::Diagnostic;

/// The parser's name and location.
pub(crate) fn no_start_state(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error("E0611", span, format!("the parser `{name}` has no state `start`")).label("nowhere to begin")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_states;
    use expect_test::expect;

    #[test]
    fn missing() {
        check_states(
            "state begin { transition accept; }",
            expect![[r#"
            t.p4:2:261: error[E0611]: the parser `P` has no state `start`
              `P`: nowhere to begin
        "#]],
        );
    }
}
