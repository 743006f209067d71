//! `E0508`: an argument of the wrong type.
//!
//! An `out` or `inout` argument must have exactly the parameter's type, because the value is copied back.
//!
//! ```p4,wrong
//! void f(inout bit<8> a) { a = a + 1; }
//! control C(inout bit<16> x) { apply { f(x); } }
//! ```
//!
//! ```p4
//! void f(inout bit<8> a) { a = a + 1; }
//! control C(inout bit<16> x) { apply { f(x[7:0]); } }
//! ```
//!
//! Specification: Calling convention: call by copy in/copy out.

use base::Span;
use syntax::diag::Diagnostic;

/// `declared` is the declaration of the parameter.
pub(crate) fn argument_mismatch(span: Span, param: &str, expected: &str, found: &str, declared: Span) -> Diagnostic {
    Diagnostic::error("E0508", span, format!("the argument for `{param}` must be {expected}, found {found}"))
        .label(format!("this is {found}"))
        .secondary(declared, "this parameter")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check_apply, check_errors};
    use expect_test::expect;

    #[test]
    fn exact_type_for_inout() {
        check_apply(
            "
            inner.apply(s.y);
            bit<4> v;
            inner.apply(v);",
            expect![[r#"
                t.p4:4:25: error[E0508]: the argument for `v` must be bit<8>, found bit<16>
                  `s.y`: this is bit<16>
                  `v`: this parameter
                t.p4:6:25: error[E0508]: the argument for `v` must be bit<8>, found bit<4>
                  `v`: this is bit<4>
                  `v`: this parameter
            "#]],
        );
    }

    #[test]
    fn a_control_with_other_parameters() {
        check_errors(
            "
            control Wanted<T>(inout T t, in bit<8> n);
            control C(inout bit<8> t) { apply { } }
            package P<T>(Wanted<T> w);
            P(C()) main;",
            expect![[r#"
                t.p4:5:15: error[E0508]: the argument for `w` must be Wanted<_>, found C
                  `C()`: this is C
                  `w`: this parameter
                  = the parameters must be (inout _, in bit<8>)
                  = they are (inout bit<8>)
            "#]],
        );
    }

    #[test]
    fn a_default_value_takes_the_type_that_other_arguments_determine() {
        check_errors(
            "
            struct S { bit<4> a; bool b; }
            control Wanted<T>(inout T t);
            control C(inout bit<8> t) { apply { } }
            control D(inout S t) { apply { } }
            package P<T>(Wanted<T> w, T n = 4);
            package Q<T>(Wanted<T> w, T n = { 4, true });
            P(C()) p;
            Q(D()) q;
            P(D()) main;",
            expect![[r#"
                t.p4:6:45: error[E0508]: the argument for `n` must be S, found int
                  `4`: this is int
                  `n`: this parameter
            "#]],
        );
    }
}
