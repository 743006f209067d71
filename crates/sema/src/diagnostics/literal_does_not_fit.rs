//! `W0203`: a number that does not fit into its type and loses its most significant bits.
//!
//! Write the intended value. `@noWarn("overflow")` silences it. The bits of a signed number may be written in another
//! base than ten: `8s0b1010_1010` is -86.
//!
//! ```p4,wrong
//! const bit<8> a = 256;
//! ```
//!
//! ```p4
//! const bit<8> a = 255;
//! ```
//!
//! Specification: Expressions, Casts, Implicit casts.

use base::Span;
use num_bigint::BigInt;
use syntax::diag::Diagnostic;

/// `wrapped` is the value that remains.
pub(crate) fn literal_does_not_fit(
    span: Span,
    value: &BigInt,
    ty: &str,
    wrapped: &BigInt,
    is_pattern: bool,
) -> Diagnostic {
    let diagnostic =
        Diagnostic::warning("W0203", span, format!("{value} does not fit in {ty}")).label(format!("becomes {wrapped}"));
    match is_pattern {
        true => diagnostic.note("the bits are kept, the sign changes"),
        false => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    /// The specification writes negative numbers in this way.
    #[test]
    fn the_bits_of_a_signed_number() {
        check_apply(
            "
            s.i = 8s0b1010_1010;
            s.i = 8s0xff;
            s.i = 8s0o200;
            s.i = 8s0x1ff;
            s.i = 8s255;",
            expect![[r#"
                t.p4:7:19: warning[W0203]: 511 does not fit in int<8>
                  `8s0x1ff`: becomes -1
                t.p4:8:19: warning[W0203]: 255 does not fit in int<8>
                  `8s255`: becomes -1
            "#]],
        );
    }

    #[test]
    fn sized_and_plain() {
        check_apply(
            "
            s.x = 256;
            s.x = 8w256;
            s.i = 128;
            s.x = -1;",
            expect![[r#"
                t.p4:4:19: warning[W0203]: 256 does not fit in bit<8>
                  `256`: becomes 0
                t.p4:5:19: warning[W0203]: 256 does not fit in bit<8>
                  `8w256`: becomes 0
                t.p4:6:19: warning[W0203]: 128 does not fit in int<8>
                  `128`: becomes -128
                  = the bits are kept, the sign changes
                t.p4:7:19: warning[W0203]: -1 does not fit in bit<8>
                  `-1`: becomes 255
            "#]],
        );
    }
}
