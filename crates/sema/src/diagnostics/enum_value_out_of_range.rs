//! `E0309`: an enum member whose value does not fit into the enum's type.
//!
//! Choose a value in range, or a wider type.
//!
//! ```p4,wrong
//! enum bit<2> E { A = 4 }
//! ```
//!
//! ```p4
//! enum bit<3> E { A = 4 }
//! ```
//!
//! Specification: P4 data types, Derived types, Enumeration types.

use base::Span;
use num_bigint::BigInt;
use syntax::diag::Diagnostic;

/// `representation` is the enum's type.
pub(crate) fn enum_value_out_of_range(span: Span, value: &BigInt, representation: &str) -> Diagnostic {
    Diagnostic::error("E0309", span, format!("{value} does not fit in {representation}")).label("out of range")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn too_large_and_negative() {
        check_errors(
            "enum bit<2> E { A = 3, B = 4, C = -1 }",
            expect![[r#"
            t.p4:1:28: error[E0309]: 4 does not fit in bit<2>
              `4`: out of range
            t.p4:1:35: error[E0309]: -1 does not fit in bit<2>
              `-1`: out of range
        "#]],
        );
    }
}
