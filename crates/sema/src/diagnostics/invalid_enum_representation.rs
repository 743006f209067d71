//! `E0308`: an enum whose representation is not a numeric type.
//!
//! Write `enum bit<8> name { ... }` or `enum int<8> name { ... }`.
//!
//! ```p4,wrong
//! enum bool E { yes = true }
//! ```
//!
//! ```p4
//! enum bit<1> E { yes = 1 }
//! ```
//!
//! Specification: P4 data types, Derived types, Enumeration types.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is the type of the representation.
pub(crate) fn invalid_enum_representation(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error("E0308", span, format!("an enum's values cannot be of type {found}"))
        .label("expected bit<w> or int<w>")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn bool_and_struct() {
        check_errors(
            "
            struct S { }
            enum bool E { A = 1 }
            enum S F { A = 1 }",
            expect![[r#"
                t.p4:3:18: error[E0308]: an enum's values cannot be of type bool
                  `bool`: expected bit<w> or int<w>
                t.p4:4:18: error[E0308]: an enum's values cannot be of type S
                  `S`: expected bit<w> or int<w>
            "#]],
        );
    }
}
