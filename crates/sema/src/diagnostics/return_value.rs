//! `E0601`: a `return` without a value in a function with a result, or with a value where there is no result.
//!
//! ```p4,wrong
//! bit<8> f(in bit<8> x) { return; }
//! ```
//!
//! ```p4
//! bit<8> f(in bit<8> x) { return x; }
//! ```
//!
//! Specification: Statements, Return statement.

use base::Span;
use syntax::diag::Diagnostic;

/// `expected` is the type of the result.
pub(crate) fn missing_return_value(span: Span, expected: &str) -> Diagnostic {
    Diagnostic::error("E0601", span, format!("this function gives {expected}")).label("no value is returned")
}

/// `here` describes the code without a result.
pub(crate) fn unexpected_return_value(span: Span, here: &str) -> Diagnostic {
    Diagnostic::error("E0601", span, format!("{here} without result returns a value")).label("remove the value")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn given_and_missing() {
        check_errors(
            "
            bit<8> f() { return; }
            void g() { return 1; }
            bit<8> h() { return true; }",
            expect![[r#"
                t.p4:2:26: error[E0601]: this function gives bit<8>
                  `return;`: no value is returned
                t.p4:3:31: error[E0601]: a function without result returns a value
                  `1`: remove the value
                t.p4:4:33: error[E0301]: expected bit<8>, found bool
                  `true`: this is bool
                  = make it a number: `x ? 8w1 : 8w0`
            "#]],
        );
    }
}
