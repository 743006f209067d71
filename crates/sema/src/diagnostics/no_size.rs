//! `E0319`: `minSizeInBits` or a related method of a type without a size.
//!
//! ```p4,wrong
//! enum E { A }
//! const int n = E.minSizeInBits();
//! ```
//!
//! ```p4
//! enum bit<8> E { A = 1 }
//! const int n = E.minSizeInBits();
//! ```
//!
//! Specification: Expressions, Operations on types.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is the type.
pub(crate) fn no_size(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error("E0319", span, format!("values of type {found} have no size in bits")).label("no size")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn of_a_plain_enum() {
        check_errors(
            "
            enum E { A }
            const int N = E.minSizeInBits();",
            expect![[r#"
                t.p4:3:27: error[E0319]: values of type E have no size in bits
                  `E.minSizeInBits()`: no size
            "#]],
        );
    }
}
