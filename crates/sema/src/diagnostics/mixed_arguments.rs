//! `E0505`: a call in which some arguments are named and some are not.
//!
//! Name all arguments, or none.
//!
//! ```p4,wrong
//! bit<8> f(in bit<8> a, in bit<8> b) { return a + b; }
//! control C(inout bit<8> x) { apply { x = f(x, b = 1); } }
//! ```
//!
//! ```p4
//! bit<8> f(in bit<8> a, in bit<8> b) { return a + b; }
//! control C(inout bit<8> x) { apply { x = f(a = x, b = 1); } }
//! ```
//!
//! Specification: Calling convention: call by copy in/copy out.

use base::Span;
use syntax::diag::Diagnostic;

/// The location of the call.
pub(crate) fn mixed_arguments(span: Span) -> Diagnostic {
    Diagnostic::error("E0505", span, "either all arguments are named or none is").label("some are named, some are not")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn named_and_not() {
        check_errors(
            "
            void f(in bit<8> a, in bit<8> b) { }
            void g() { f(1, b = 2); }",
            expect![[r#"
                t.p4:3:24: error[E0505]: either all arguments are named or none is
                  `f(1, b = 2)`: some are named, some are not
            "#]],
        );
    }
}
