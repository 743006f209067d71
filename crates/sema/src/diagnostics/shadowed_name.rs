//! `W0201`: a name that hides another one.
//!
//! This is legal, but readers may confuse the two. `@noWarn("shadow")` silences it.
//!
//! ```p4,wrong
//! control C(inout bit<8> ttl) { apply { bit<8> ttl = 5; } }
//! ```
//!
//! ```p4
//! control C(inout bit<8> ttl) { apply { bit<8> limit = 5; ttl = limit; } }
//! ```
//!
//! Specification: P4 programs, Scopes.

use base::Span;
use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `hidden` is the declaration of the hidden name.
pub(crate) fn shadowed_name(name: &Ident, hidden: Span) -> Diagnostic {
    Diagnostic::warning("W0201", name.span, format!("`{}` hides another declaration of that name", name.name))
        .label("hides it")
        .secondary(hidden, "the hidden one")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check_apply, check_errors};
    use expect_test::expect;

    #[test]
    fn local_over_parameter() {
        check_apply(
            "
            bit<8> r = 1;
            s.x = r;",
            expect![[r#"
                t.p4:4:20: warning[W0201]: `r` hides another declaration of that name
                  `r`: hides it
                  `r`: the hidden one
            "#]],
        );
    }

    #[test]
    fn silenced() {
        check_errors(
            r#"
            const bit<8> A = 1;
            @noWarn("shadow") control C() { bit<8> A = 2; apply { } }"#,
            expect![[""]],
        );
    }
}
