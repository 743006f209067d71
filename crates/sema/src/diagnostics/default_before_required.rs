//! `E0517`: a parameter without a default value after one that has one.
//!
//! Put the parameters with default values last.
//!
//! ```p4,wrong
//! bit<8> f(in bit<8> a = 1, in bit<8> b) { return a + b; }
//! ```
//!
//! ```p4
//! bit<8> f(in bit<8> b, in bit<8> a = 1) { return a + b; }
//! ```
//!
//! Specification: Calling convention: call by copy in/copy out.

use base::Span;
use syntax::diag::Diagnostic;

/// `first` is the first parameter with a default value.
pub(crate) fn default_before_required(span: Span, name: &str, first: Span) -> Diagnostic {
    Diagnostic::error("E0517", span, format!("`{name}` needs a default value, because a parameter before it has one"))
        .label("no default value")
        .secondary(first, "has one")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn order() {
        check_errors(
            "void f(in bit<8> a = 1, in bit<8> b) { }",
            expect![[r#"
            t.p4:1:25: error[E0517]: `b` needs a default value, because a parameter before it has one
              `in bit<8> b`: no default value
              `in bit<8> a = 1`: has one
        "#]],
        );
    }
}
