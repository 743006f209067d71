//! `E0421`: a comparison of values that are not comparable.
//!
//! Compare fields, or values that `==` is defined for.
//!
//! ```p4,wrong
//! const bool b = "a" == "b";
//! ```
//!
//! ```p4
//! const bool b = 1 == 2;
//! ```
//!
//! Specification: Expressions.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is the type of both sides.
pub(crate) fn not_comparable(span: Span, operator: &str, found: &str) -> Diagnostic {
    Diagnostic::error("E0421", span, format!("values of type {found} cannot be compared with `{operator}`"))
        .label("not comparable")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn strings() {
        check_errors(
            r#"const bool B = "a" == "b";"#,
            expect![[r#"
            t.p4:1:16: error[E0421]: values of type string cannot be compared with `==`
              `"a" == "b"`: not comparable
        "#]],
        );
    }
}
