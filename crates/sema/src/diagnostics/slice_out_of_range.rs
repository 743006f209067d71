//! `E0403`: a slice whose bounds are reversed, negative, or beyond the value.
//!
//! `x[h:l]` selects the bits `h` down to `l`, both included; bit 0 is the least significant.
//!
//! ```p4,wrong
//! control C(inout bit<8> x) { apply { x[3:0] = x[8:5]; } }
//! ```
//!
//! ```p4
//! control C(inout bit<8> x) { apply { x[3:0] = x[7:4]; } }
//! ```
//!
//! Specification: Expressions, Operations on fixed-width bit types.

use base::Span;
use num_bigint::BigInt;
use syntax::diag::Diagnostic;

/// `width` is the width of the value; `base` is its location.
pub(crate) fn slice_out_of_range(span: Span, high: &BigInt, low: &BigInt, width: u32, base: Span) -> Diagnostic {
    let message = if high < low {
        format!("the slice [{high}:{low}] has its bounds reversed")
    } else {
        format!("the slice [{high}:{low}] is outside a value of {width} bits")
    };
    Diagnostic::error("E0403", span, message)
        .label("out of range")
        .secondary(base, format!("this has bits {} to 0", width.saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn reversed_and_outside() {
        check_apply(
            "
            s.x[3:0] = s.x[0:3];
            s.x[3:0] = s.x[8:5];
            s.x[3:0] = s.x[6 +: 4];
            s.x[0:0] = s.x[0:-1];",
            expect![[r#"
                t.p4:4:28: error[E0403]: the slice [0:3] has its bounds reversed
                  `0:3`: out of range
                  `s.x`: this has bits 7 to 0
                t.p4:5:28: error[E0403]: the slice [8:5] is outside a value of 8 bits
                  `8:5`: out of range
                  `s.x`: this has bits 7 to 0
                t.p4:6:28: error[E0403]: the slice [9:6] is outside a value of 8 bits
                  `6 +: 4`: out of range
                  `s.x`: this has bits 7 to 0
                t.p4:7:28: error[E0403]: the slice [0:-1] is outside a value of 8 bits
                  `0:-1`: out of range
                  `s.x`: this has bits 7 to 0
            "#]],
        );
    }
}
