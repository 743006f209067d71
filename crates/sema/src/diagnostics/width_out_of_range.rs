//! `E0306`: a width that is negative or too large, or zero for a signed number, which has at least its sign bit.
//!
//! ```p4,wrong
//! header H { int<0> x; }
//! ```
//!
//! ```p4
//! header H { int<8> x; }
//! ```
//!
//! Specification: P4 data types, Base types, Integers.

use base::Span;
use num_bigint::BigInt;
use syntax::diag::Diagnostic;

/// `type_name` is `bit`, `int` or `varbit`.
pub(crate) fn width_out_of_range(span: Span, type_name: &str, width: &BigInt) -> Diagnostic {
    let limit = base::limits::WIDTH_BITS_MAX;
    let lowest = u32::from(type_name == "int");
    Diagnostic::error("E0306", span, format!("{type_name}<{width}> has no valid width"))
        .label(format!("the width must be between {lowest} and {limit}"))
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn zero_negative_huge() {
        check_errors(
            "struct S { bit<(-1)> a; int<0> b; varbit<100000> c; }",
            expect![[r#"
                t.p4:1:17: error[E0306]: bit<-1> has no valid width
                  `-1`: the width must be between 0 and 32768
                t.p4:1:29: error[E0306]: int<0> has no valid width
                  `0`: the width must be between 1 and 32768
                t.p4:1:42: error[E0306]: varbit<100000> has no valid width
                  `100000`: the width must be between 0 and 32768
            "#]],
        );
    }
}
