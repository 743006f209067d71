//! `W0351`: a variable that is assigned to itself
//!
//! One side is probably meant to be something else. `@noWarn("no_effect")` silences it.
//!
//! ```p4,wrong
//! control C(inout bit<8> x) { apply { x = x; } }
//! ```
//!
//! ```p4
//! control C(inout bit<8> x, in bit<8> y) { apply { x = y; } }
//! ```
//!
//! Specification: Assignment statement.

use base::Span;
use syntax::diag::Diagnostic;

pub(crate) fn self_assignment(span: Span) -> Diagnostic {
    Diagnostic::warning("W0351", span, "this is assigned to itself").label("does nothing")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn assignments() {
        check_apply(
            r#"
            s.x = s.x;
            s.h.a = s.g.a;
            s.stack[r].a = s.stack[r].a;
            s.y[3:0] = s.y[7:4];
            @noWarn("no_effect") { s.x = s.x; }"#,
            expect![[r#"
                t.p4:4:13: warning[W0351]: this is assigned to itself
                t.p4:6:13: warning[W0351]: this is assigned to itself
            "#]],
        );
    }
}
