//! `E0401`: a write to an expression that is not an l-value.
//!
//! Variables, `out` and `inout` parameters, their fields, elements and slices can be written; computed values cannot.
//!
//! ```p4,wrong
//! void f(out bit<8> x) { x = 1; }
//! control C(inout bit<8> x) { apply { f(x + 1); } }
//! ```
//!
//! ```p4
//! void f(out bit<8> x) { x = 1; }
//! control C(inout bit<8> x) { apply { f(x); } }
//! ```
//!
//! Specification: L-values.

use base::Span;
use syntax::diag::Diagnostic;

/// The location of the written expression.
pub(crate) fn not_an_lvalue(span: Span) -> Diagnostic {
    Diagnostic::error("E0401", span, "this cannot be written to").label("not a variable, field, element or slice")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn results_as_arguments() {
        check_apply(
            "
            inner.apply(s.x + 1);
            inner.apply(3);",
            expect![[r#"
                t.p4:4:25: error[E0401]: this cannot be written to
                  `s.x + 1`: not a variable, field, element or slice
                t.p4:5:25: error[E0401]: this cannot be written to
                  `3`: not a variable, field, element or slice
            "#]],
        );
    }
}
