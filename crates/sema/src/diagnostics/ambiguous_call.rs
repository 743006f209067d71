//! `E0507`: a call whose arguments fit several functions of the same name.
//!
//! Name the arguments to select one of them.
//!
//! ```p4,wrong
//! extern void f(in bit<8> a);
//! extern void f(in bit<8> b);
//! control C() { apply { f(1); } }
//! ```
//!
//! ```p4
//! extern void f(in bit<8> a);
//! extern void f(in bit<8> b);
//! control C() { apply { f(a = 1); } }
//! ```
//!
//! Specification: Name resolution.

use base::Span;
use syntax::diag::Diagnostic;

/// `candidates` are the locations of their declarations.
pub(crate) fn ambiguous_call(span: Span, name: &str, candidates: &[Span]) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0507", span, format!("several `{name}` take these arguments"))
        .label("which one?")
        .help("name the arguments");
    candidates.iter().fold(diagnostic, |diagnostic, &candidate| diagnostic.secondary(candidate, "a candidate"))
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn names_decide() {
        check_errors(
            "
            void f(in bit<8> a) { }
            void f(in bit<8> b) { }
            void g() { f(1); f(b = 1); }",
            expect![[r#"
                t.p4:4:24: error[E0507]: several `f` take these arguments
                  `f(1)`: which one?
                  `f`: a candidate
                  `f`: a candidate
                  = name the arguments
            "#]],
        );
    }
}
