//! `W0307`: a parser or control that is never instantiated
//!
//! Only programs with a `main` are checked. `@noWarn("unused")` silences it.
//!
//! ```p4,wrong
//! control C(); package P(C c);
//! control Old() { apply { } }
//! control New() { apply { } }
//! P(New()) main;
//! ```
//!
//! ```p4
//! control C(); package P(C c);
//! control New() { apply { } }
//! P(New()) main;
//! ```
//!
//! Specification: Parameterization.

use base::Span;
use syntax::diag::Diagnostic;

/// `kind` is `parser` or `control`.
pub(crate) fn unused_block(span: Span, kind: &str, name: &str) -> Diagnostic {
    Diagnostic::warning("W0307", span, format!("the {kind} `{name}` is never instantiated")).label("declared here")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_program};
    use expect_test::expect;

    #[test]
    fn never_made() {
        check_program(
            r#"
            control Never(inout S s) { apply { s.x = 1; } }
            parser Lost(packet_in p) { state start { transition accept; } }
            @noWarn("unused") control Silenced() { apply { } }
            control Direct(inout S s) { apply { s.x = 1; } }
            control C(inout S s) { apply { Direct.apply(s); } }
            Package(C()) main;"#,
            expect![[r#"
                t.p4:4:21: warning[W0307]: the control `Never` is never instantiated
                t.p4:5:20: warning[W0307]: the parser `Lost` is never instantiated
            "#]],
        );
    }

    #[test]
    fn a_library() {
        check(
            r#"
            control Never() { apply { } }"#,
            expect![[r#""#]],
        );
    }
}
