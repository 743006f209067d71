//! `E0508`: an argument of the wrong type.
//!
//! An `out` or `inout` argument must have exactly the parameter's type, because the value is copied back.

use base::Span;
use syntax::diag::Diagnostic;

/// `declared` is where the parameter is declared.
pub(crate) fn argument_mismatch(span: Span, param: &str, wanted: &str, found: &str, declared: Span) -> Diagnostic {
    Diagnostic::error("E0508", span, format!("the argument for `{param}` must be {wanted}, found {found}"))
        .label(format!("this is {found}"))
        .secondary(declared, "this parameter")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
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
}
