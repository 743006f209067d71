//! `E0411`: `...` for a type without a default value, such as a list.
//!
//! ```p4,wrong
//! const list<bit<8>> l = ...;
//! ```
//!
//! ```p4
//! const list<bit<8>> l = { 1, 2 };
//! ```
//!
//! Specification: Default values.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is the type.
pub(crate) fn no_default_value(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error("E0411", span, format!("values of type {found} have no default")).label("no default value")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn of_a_list() {
        check_errors(
            "const list<bit<8>> A = ...;",
            expect![[r#"
            t.p4:1:24: error[E0411]: values of type list<bit<8>> have no default
              `...`: no default value
        "#]],
        );
    }
}
