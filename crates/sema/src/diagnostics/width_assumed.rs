//! `W0205`: a number without width as an argument whose type is not determined otherwise.
//!
//! ```p4,wrong
//! extern void f<T>(in T value);
//! control C() { apply { f(5); } }
//! ```
//!
//! ```p4
//! extern void f<T>(in T value);
//! control C() { apply { f(32w5); } }
//! ```
//!
//! Specification: Expressions, Operations on arbitrary-precision integers.

use base::Span;
use syntax::diag::Diagnostic;

/// `ty` is the assumed type.
pub(crate) fn width_assumed(span: Span, ty: &str) -> Diagnostic {
    Diagnostic::warning("W0205", span, format!("this number has no width; {ty} is taken"))
        .label("no width")
        .help("write the width, as in `32w5`")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn type_parameter() {
        check_errors(
            "
            extern void f<T>(in T v);
            void g() { f(5); f(8w5); f({ 1, 8w2 }); }",
            expect![[r#"
                t.p4:3:26: warning[W0205]: this number has no width; bit<32> is taken
                  `5`: no width
                  = write the width, as in `32w5`
                t.p4:3:42: warning[W0205]: this number has no width; bit<32> is taken
                  `1`: no width
                  = write the width, as in `32w5`
            "#]],
        );
    }
}
