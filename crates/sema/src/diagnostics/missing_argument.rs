//! `E0502`: a call without a required argument.
//!
//! ```p4,wrong
//! bit<8> f(in bit<8> a, in bit<8> b) { return a + b; }
//! control C(inout bit<8> x) { apply { x = f(x); } }
//! ```
//!
//! ```p4
//! bit<8> f(in bit<8> a, in bit<8> b = 1) { return a + b; }
//! control C(inout bit<8> x) { apply { x = f(x); } }
//! ```
//!
//! Specification: Calling convention: call by copy in/copy out.

use base::Span;
use syntax::diag::Diagnostic;

/// `declared` is the declaration of the parameter.
pub(crate) fn missing_argument(span: Span, callee: &str, param: &str, declared: Span) -> Diagnostic {
    Diagnostic::error("E0502", span, format!("the call of `{callee}` has no argument for `{param}`"))
        .label(format!("`{param}` is missing"))
        .secondary(declared, "this parameter")
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
            void g() { f(a = 1); f(1); }",
            expect![[r#"
                t.p4:3:24: error[E0502]: the call of `f` has no argument for `b`
                  `f(a = 1)`: `b` is missing
                  `b`: this parameter
                t.p4:3:34: error[E0502]: the call of `f` has no argument for `b`
                  `f(1)`: `b` is missing
                  `b`: this parameter
            "#]],
        );
    }

    #[test]
    fn results_of_the_target_go_to_an_argument() {
        check_errors(
            "
            extern register { register(bit<32> size); void read(out bit<8> result, in bit<32> index); }
            control C(inout bit<8> x) { register(4) r; apply { x = r.read(0); } }",
            expect![[r#"
                t.p4:3:68: error[E0502]: the call of `read` has no argument for `index`
                  `r.read(0)`: `index` is missing
                  `index`: this parameter
                  = the result is written to the argument for `result`: `read(result, index);`
            "#]],
        );
    }
}
