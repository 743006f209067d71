//! `W0305`: a function that is never called
//!
//! Call it, or remove it. Only programs with a `main` are checked. `@noWarn("unused")` silences it.
//!
//! ```p4,wrong
//! void f() { }
//! control C(); package P(C c);
//! control D() { apply { } }
//! P(D()) main;
//! ```
//!
//! ```p4
//! void f() { }
//! control C(); package P(C c);
//! control D() { apply { f(); } }
//! P(D()) main;
//! ```
//!
//! Specification: Function declarations.

use base::Span;
use syntax::diag::Diagnostic;

pub(crate) fn unused_function(span: Span, name: &str) -> Diagnostic {
    Diagnostic::warning("W0305", span, format!("the function `{name}` is never called")).label("declared here")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_program};
    use expect_test::expect;

    #[test]
    fn never_called() {
        check_program(
            r#"
            void never() { }
            bit<8> called(in bit<8> v) { return v; }
            @noWarn("unused") void silenced() { }
            control C(inout S s) { apply { s.x = called(s.x); } }
            Package(C()) main;"#,
            expect![[r#"
                t.p4:4:18: warning[W0305]: the function `never` is never called
            "#]],
        );
    }

    #[test]
    fn a_library() {
        check(
            r#"
            void never() { }"#,
            expect![[r#""#]],
        );
    }
}
