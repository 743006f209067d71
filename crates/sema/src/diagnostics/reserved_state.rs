//! `E0613`: a state called `accept` or `reject`.
//!
//! These two states exist in every parser and end it.
//!
//! Give the state another name, and end it with `transition accept`.
//!
//! ```p4,wrong
//! parser P() { state start { transition accept; } state accept { } }
//! ```
//!
//! ```p4
//! parser P() { state start { transition last; } state last { transition accept; } }
//! ```
//!
//! Specification: Packet parsing, Parser states.

use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// The state's name.
pub(crate) fn reserved_state(name: &Ident) -> Diagnostic {
    Diagnostic::error("E0613", name.span, format!("`{}` exists already and cannot be declared", name.name))
        .label("choose another name")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_states;
    use expect_test::expect;

    #[test]
    fn accept() {
        check_states(
            "
            state start { transition accept; }
            state accept { transition reject; }",
            expect![[r#"
                t.p4:5:19: error[E0613]: `accept` exists already and cannot be declared
                  `accept`: choose another name
            "#]],
        );
    }
}
