//! `W0333`: an `else if` that repeats an earlier condition
//!
//! If it were true, the earlier branch would have been taken. `@noWarn("unreachable")` silences it.
//!
//! ```p4,wrong
//! control C(inout bit<8> x) {
//!     apply { if (x == 1) { x = 2; } else if (x == 1) { x = 3; } }
//! }
//! ```
//!
//! ```p4
//! control C(inout bit<8> x) {
//!     apply { if (x == 1) { x = 2; } else if (x == 2) { x = 3; } }
//! }
//! ```
//!
//! Specification: Conditional statement.

use base::Span;
use syntax::diag::Diagnostic;

/// `first` is the earlier condition.
pub(crate) fn repeated_condition(span: Span, first: Span) -> Diagnostic {
    Diagnostic::warning("W0333", span, "this condition is never true: it was asked before")
        .label("never true")
        .secondary(first, "asked here")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn chains() {
        check_apply(
            r#"
            if (r == 1) { s.x = 1; } else if (r == 2) { s.x = 2; } else if (r == 1) { s.x = 3; }
            if (s.h.isValid()) { s.x = 1; } else if (s.h.isValid()) { s.x = 2; }
            if (random() == 1) { s.x = 1; } else if (random() == 1) { s.x = 2; }
            if (r == 1) { s.x = 1; } else { s.x = 2; if (r == 1) { s.x = 3; } }"#,
            expect![[r#"
                t.p4:4:77: warning[W0333]: this condition is never true: it was asked before
                t.p4:5:54: warning[W0333]: this condition is never true: it was asked before
            "#]],
        );
    }
}
