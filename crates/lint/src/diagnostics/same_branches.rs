//! `W0344`: two identical branches
//!
//! The condition makes no difference. One of the branches is probably meant to be different. `@noWarn("no_effect")`
//! silences it.
//!
//! ```p4,wrong
//! control C(inout bit<8> x) {
//!     apply { if (x == 1) { x = 2; } else { x = 2; } }
//! }
//! ```
//!
//! ```p4
//! control C(inout bit<8> x) {
//!     apply { if (x == 1) { x = 2; } else { x = 3; } }
//! }
//! ```
//!
//! Specification: Conditional statement.

use base::Span;
use syntax::diag::Diagnostic;

/// The locations of the two branches.
pub(crate) fn same_branches(span: Span, yes: Span, no: Span) -> Diagnostic {
    Diagnostic::warning("W0344", span, "both branches are the same")
        .label("the condition decides nothing")
        .secondary(yes, "this")
        .secondary(no, "and this")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn branches() {
        check_apply(
            r#"
            if (r == 1) { s.x = 1; } else {  s.x  =  1; }
            s.x = r == 1 ? s.h.a : s.h.a;
            if (r == 1) { s.x = 1; } else { s.x = 2; }
            if (r == 1) { } else { }
#define X 1
            if (r == 1) { s.x = X; }
#undef X
#define X 2
            else { s.x = X; }
            s.x = r == 1 ? s.h.a : s.g.a;"#,
            expect![[r#"
                t.p4:4:13: warning[W0344]: both branches are the same
                t.p4:5:19: warning[W0344]: both branches are the same
            "#]],
        );
    }
}
