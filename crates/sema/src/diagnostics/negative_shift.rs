//! `E0407`: a shift by a negative number.
//!
//! ```p4,wrong
//! control C(inout bit<8> x) { apply { x = x << -1; } }
//! ```
//!
//! ```p4
//! control C(inout bit<8> x) { apply { x = x >> 1; } }
//! ```
//!
//! Specification: Expressions, Shifts.

use base::Span;
use syntax::diag::Diagnostic;

/// The location of the shift amount.
pub(crate) fn negative_shift(span: Span) -> Diagnostic {
    Diagnostic::error("E0407", span, "a shift by a negative number")
        .label("this is negative")
        .help("shift the other way")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn by_constants() {
        check_apply(
            "
            s.x = s.x << -1;
            s.x = s.x >> (1 - 2);",
            expect![[r#"
                t.p4:4:26: error[E0407]: a shift by a negative number
                  `-1`: this is negative
                  = shift the other way
                t.p4:5:26: error[E0407]: a shift by a negative number
                  `(1 - 2)`: this is negative
                  = shift the other way
            "#]],
        );
    }
}
