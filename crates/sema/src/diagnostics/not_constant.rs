//! `E0405`: an expression that must be known at compile time, but is not.
//!
//! Widths, sizes, slice bounds, switch labels, entries of tables and arguments of constructors may only consist of
//! literals, constants and parameters of constructors.
//!
//! ```p4,wrong
//! control C(inout bit<8> x, in bit<8> n) { apply { x[3:0] = x[n:4]; } }
//! ```
//!
//! ```p4
//! control C(inout bit<8> x) { apply { x[3:0] = x[7:4]; } }
//! ```
//!
//! Specification: Compile-time known values.

use base::Span;
use syntax::diag::Diagnostic;

/// The location of the expression.
pub(crate) fn not_constant(span: Span) -> Diagnostic {
    Diagnostic::error("E0405", span, "this must be known at compile time").label("not a compile-time constant")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_control;
    use expect_test::expect;

    #[test]
    fn widths_slices_labels() {
        check_control(
            "
            action a(bit<8> d) { bit<(r)> v; s.x[0:0] = s.x[r:r]; }
            const bit<8> K = r;",
            expect![[r#"
                t.p4:4:39: error[E0405]: this must be known at compile time
                  `r`: not a compile-time constant
                t.p4:4:61: error[E0405]: this must be known at compile time
                  `r`: not a compile-time constant
                t.p4:4:63: error[E0405]: this must be known at compile time
                  `r`: not a compile-time constant
                t.p4:5:30: error[E0405]: this must be known at compile time
                  `r`: not a compile-time constant
            "#]],
        );
    }
}
