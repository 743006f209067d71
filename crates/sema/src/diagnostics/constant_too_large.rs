//! `E0418`: a constant expression whose value has too many digits.
//!
//! ```p4,wrong
//! const int n = 1 << 1000000;
//! ```
//!
//! ```p4
//! const int n = 1 << 100;
//! ```
//!
//! Specification: Expressions, Operations on arbitrary-precision integers.

use base::Span;
use syntax::diag::Diagnostic;

/// The place of the expression.
pub(crate) fn constant_too_large(span: Span) -> Diagnostic {
    let limit = crate::consts::CONSTANT_BITS_MAX;
    Diagnostic::error("E0418", span, format!("the value of this constant is longer than {limit} bits"))
        .label("too large")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn shift_far() {
        check_errors(
            "
            const int A = 1 << 1000000;
            const int B = 1 << 100000;
            const int C = B * B;",
            expect![[r#"
                t.p4:2:27: error[E0418]: the value of this constant is longer than 131072 bits
                  `1 << 1000000`: too large
                t.p4:4:27: error[E0418]: the value of this constant is longer than 131072 bits
                  `B * B`: too large
            "#]],
        );
    }
}
