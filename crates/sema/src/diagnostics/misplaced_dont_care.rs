//! `E0414`: `_` where a value is required.
//!
//! `_` is allowed as an `out` argument whose value is not needed, as an optional argument, and as a key that matches
//! anything.
//!
//! ```p4,wrong
//! bit<8> f(in bit<8> x) { return x; }
//! control C() { apply { f(_); } }
//! ```
//!
//! ```p4
//! void f(out bit<8> x) { x = 1; }
//! control C() { apply { f(_); } }
//! ```
//!
//! Specification: Expressions.

use base::Span;
use syntax::diag::Diagnostic;

/// The location of the `_`.
pub(crate) fn misplaced_dont_care(span: Span) -> Diagnostic {
    Diagnostic::error("E0414", span, "`_` is not a value").label("a value is needed here")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn as_value() {
        check_apply(
            "
            inner.apply(_);",
            expect![[r#"
                t.p4:4:25: error[E0414]: `_` is not a value
                  `_`: a value is needed here
            "#]],
        );
    }
}
