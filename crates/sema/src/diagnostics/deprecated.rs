//! `W0202`: the use of something that is marked `@deprecated`.
//!
//! `@noWarn("deprecated")` silences it.
//!
//! ```p4,wrong
//! @deprecated("use g") extern void f();
//! control C() { apply { f(); } }
//! ```
//!
//! ```p4
//! extern void g();
//! control C() { apply { g(); } }
//! ```
//!
//! Specification: Annotations, The deprecated annotation.

use base::Span;
use syntax::diag::Diagnostic;

/// `advice` is what the annotation says.
pub(crate) fn deprecated(span: Span, name: &str, advice: Option<String>) -> Diagnostic {
    let diagnostic = Diagnostic::warning("W0202", span, format!("`{name}` is deprecated")).label("deprecated");
    match advice {
        Some(advice) => diagnostic.note(advice),
        None => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn a_function() {
        check_errors(
            r#"
            @deprecated("use g") extern void f();
            void h() { f(); }"#,
            expect![[r#"
                t.p4:3:24: warning[W0202]: `f` is deprecated
                  `f()`: deprecated
                  = use g
            "#]],
        );
    }
}
