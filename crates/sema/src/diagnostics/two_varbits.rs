//! `E0312`: a header with two `varbit` fields.
//!
//! When a header is extracted one length is given; it could not be divided between two fields.
//!
//! ```p4,wrong
//! header H { varbit<32> a; varbit<32> b; }
//! ```
//!
//! ```p4
//! header H { varbit<32> a; }
//! header G { varbit<32> b; }
//! ```
//!
//! Specification: P4 data types, Derived types, Header types.

use base::Span;
use syntax::diag::Diagnostic;

/// `first` is the first of the two.
pub(crate) fn two_varbits(span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("E0312", span, "a header can have only one varbit field")
        .label("the second")
        .secondary(first, "the first")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn second() {
        check_errors(
            "header H { varbit<8> a; bit<8> b; varbit<16> c; }",
            expect![[r#"
            t.p4:1:35: error[E0312]: a header can have only one varbit field
              `varbit<16> c`: the second
              `varbit<8> a`: the first
        "#]],
        );
    }
}
