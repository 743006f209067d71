//! `E0307`: a header stack or array whose size is negative or too large.
//!
//! ```p4,wrong
//! header H { bit<8> x; }
//! struct S { H[-1] stack; }
//! ```
//!
//! ```p4
//! header H { bit<8> x; }
//! struct S { H[4] stack; }
//! ```
//!
//! Specification: P4 data types, Derived types, Header stacks.

use base::Span;
use num_bigint::BigInt;
use syntax::diag::Diagnostic;

/// The location of the size, and the size.
pub(crate) fn array_size_out_of_range(span: Span, size: &BigInt) -> Diagnostic {
    let limit = base::limits::STACK_ELEMENTS_MAX;
    Diagnostic::error("E0307", span, format!("an array cannot have {size} elements"))
        .label(format!("the size must be between 0 and {limit}"))
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn zero_negative_huge() {
        check_errors(
            "
            header H { bit<8> a; }
            struct S { H[0] a; H[-1] b; H[100000] c; }",
            expect![[r#"
                t.p4:3:34: error[E0307]: an array cannot have -1 elements
                  `-1`: the size must be between 0 and 1024
                t.p4:3:43: error[E0307]: an array cannot have 100000 elements
                  `100000`: the size must be between 0 and 1024
            "#]],
        );
    }
}
