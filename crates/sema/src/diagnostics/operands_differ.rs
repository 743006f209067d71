//! `E0420`: two operands of different types, for an operator that requires the same type.
//!
//! Cast one operand to the type of the other.
//!
//! ```p4,wrong
//! control C(inout bit<16> x, in bit<8> y) { apply { x = x + y; } }
//! ```
//!
//! ```p4
//! control C(inout bit<16> x, in bit<8> y) { apply { x = x + (bit<16>)y; } }
//! ```
//!
//! Specification: Expressions.

use base::Span;
use syntax::diag::Diagnostic;

/// Each side: its location and its type.
pub(crate) fn operands_differ(span: Span, operator: &str, left: (Span, &str), right: (Span, &str)) -> Diagnostic {
    Diagnostic::error(
        "E0420",
        span,
        format!("the operands of `{operator}` have different types: {} and {}", left.1, right.1),
    )
    .label("types differ")
    .secondary(left.0, left.1)
    .secondary(right.0, right.1)
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn widths_and_signs() {
        check_apply(
            "
            s.x = s.x + s.y;
            s.f = s.x == s.i;
            s.f = s.h == s.x;
            s.f = E.A == R.one;
            s.x = s.x | s.i;",
            expect![[r#"
                t.p4:4:19: error[E0420]: the operands of `+` have different types: bit<8> and bit<16>
                  `s.x + s.y`: types differ
                  `s.x`: bit<8>
                  `s.y`: bit<16>
                  = convert the right side: `(bit<8>)`
                t.p4:5:19: error[E0420]: the operands of `==` have different types: bit<8> and int<8>
                  `s.x == s.i`: types differ
                  `s.x`: bit<8>
                  `s.i`: int<8>
                  = convert the right side: `(bit<8>)`
                t.p4:6:19: error[E0420]: the operands of `==` have different types: H and bit<8>
                  `s.h == s.x`: types differ
                  `s.h`: H
                  `s.x`: bit<8>
                t.p4:7:19: error[E0420]: the operands of `==` have different types: E and bit<8>
                  `E.A == R.one`: types differ
                  `E.A`: E
                  `R.one`: bit<8>
                t.p4:8:19: error[E0420]: the operands of `|` have different types: bit<8> and int<8>
                  `s.x | s.i`: types differ
                  `s.x`: bit<8>
                  `s.i`: int<8>
                  = convert the right side: `(bit<8>)`
            "#]],
        );
    }
}
