//! `E0306`: a width that is zero, negative or too large.

use base::Span;
use num_bigint::BigInt;
use syntax::diag::Diagnostic;

/// `type_name` is `bit`, `int` or `varbit`.
pub(crate) fn width_out_of_range(span: Span, type_name: &str, width: &BigInt) -> Diagnostic {
    let limit = base::limits::WIDTH_BITS_MAX;
    Diagnostic::error("E0306", span, format!("{type_name}<{width}> has no valid width"))
        .label(format!("the width must be between 1 and {limit}"))
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn zero_negative_huge() {
        check_errors(
            "struct S { bit<0> a; int<(1 - 3)> b; varbit<100000> c; }",
            expect![[r#"
            t.p4:1:16: error[E0306]: bit<0> has no valid width
              `0`: the width must be between 1 and 16384
            t.p4:1:27: error[E0306]: int<-2> has no valid width
              `1 - 3`: the width must be between 1 and 16384
            t.p4:1:45: error[E0306]: varbit<100000> has no valid width
              `100000`: the width must be between 1 and 16384
        "#]],
        );
    }
}
