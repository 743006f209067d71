//! `W0331`: a statement that is never reached
//!
//! The statement before it always leaves the block. `@noWarn("unreachable")` silences it.
//!
//! ```p4,wrong
//! control C(inout bit<8> x) { apply { return; x = 1; } }
//! ```
//!
//! ```p4
//! control C(inout bit<8> x) { apply { x = 1; return; } }
//! ```
//!
//! Specification: Statements.

use base::Span;
use syntax::diag::Diagnostic;

/// `leaving` is the statement that always leaves.
pub(crate) fn unreachable_statement(span: Span, leaving: Span) -> Diagnostic {
    Diagnostic::warning("W0331", span, "this statement is never reached")
        .label("never reached")
        .secondary(leaving, "control never continues after this")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn after_leaving() {
        check_apply(
            r#"
            for (bit<8> i in 8w0 .. 3) {
                if (i == r) { break; s.x = 1; }
                continue;
                s.x = 2;
            }
            if (r == 1) { exit; } else { return; }
            s.x = 3;
            s.x = 4;"#,
            expect![[r#"
                t.p4:5:38: warning[W0331]: this statement is never reached
                t.p4:7:17: warning[W0331]: this statement is never reached
                t.p4:10:13: warning[W0331]: this statement is never reached
            "#]],
        );
    }

    #[test]
    fn what_goes_on() {
        check_apply(
            r#"
            if (r == 1) { return; }
            switch (r) { 1: { return; } 2: { exit; } }
            for (bit<8> i in 8w0 .. 3) { if (i == r) { break; } }
            @noWarn("unreachable") { return; s.x = 1; }"#,
            expect![[r#""#]],
        );
    }
}
