//! `E0406`: a division by zero.
//!
//! ```p4,wrong
//! const int n = 5 / 0;
//! ```
//!
//! ```p4
//! const int n = 5 / 2;
//! ```
//!
//! Specification: Expressions, Operations on arbitrary-precision integers.

use base::Span;
use syntax::diag::Diagnostic;

/// The location of the divisor.
pub(crate) fn division_by_zero(span: Span) -> Diagnostic {
    Diagnostic::error("E0406", span, "division by zero").label("this is zero")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn constants() {
        check_apply(
            "
            s.x = s.x / 0;
            s.x = 4 % (3 - 3);",
            expect![[r#"
                t.p4:4:25: error[E0406]: division by zero
                  `0`: this is zero
                t.p4:5:23: error[E0406]: division by zero
                  `(3 - 3)`: this is zero
            "#]],
        );
    }
}
