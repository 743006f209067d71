//! `E0504`: two arguments for one parameter.
//!
//! ```p4,wrong
//! bit<8> f(in bit<8> a) { return a; }
//! control C(inout bit<8> x) { apply { x = f(a = x, a = 1); } }
//! ```
//!
//! ```p4
//! bit<8> f(in bit<8> a) { return a; }
//! control C(inout bit<8> x) { apply { x = f(a = x); } }
//! ```
//!
//! Specification: Calling convention: call by copy in/copy out.

use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// The second name.
pub(crate) fn duplicate_argument(name: &Ident) -> Diagnostic {
    Diagnostic::error("E0504", name.span, format!("two arguments for `{}`", name.name)).label("the second")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn named() {
        check_errors(
            "
            void f(in bit<8> a, in bit<8> b) { }
            void g() { f(a = 1, a = 2); }",
            expect![[r#"
                t.p4:3:33: error[E0504]: two arguments for `a`
                  `a`: the second
            "#]],
        );
    }
}
