//! `W0335`: a `for` loop that never ends
//!
//! Its condition stays true, and no statement leaves the loop. The limit on loop iterations stops a packet that reaches
//! it. `@noWarn("unreachable")` silences it.
//!
//! ```p4,wrong
//! control C(inout bit<8> x) { apply { for (bit<8> i = 0; i < 4; x = x + 1) { x = x * 2; } } }
//! ```
//!
//! ```p4
//! control C(inout bit<8> x) { apply { for (bit<8> i = 0; i < 4; i = i + 1) { x = x * 2; } } }
//! ```
//!
//! Specification: Statements, Loop statements.

use base::Span;
use syntax::diag::Diagnostic;

/// The loop's condition.
pub(crate) fn endless_for(span: Span) -> Diagnostic {
    Diagnostic::warning("W0335", span, "this loop never ends: its condition stays true, and nothing leaves it")
        .label("nothing in the loop changes this")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn conditions_that_stay() {
        check_apply(
            r#"
            for (;true;) { s.x = s.x + 1; }
            for (bit<8> i = 0; i < 4; s.x = s.x + 1) { s.y = (bit<16>)i; }
            for (bit<8> i = 0; i < 4;) { for (bit<8> j = 0; j < 4; j = j + 1) { if (j == 2) { break; } } }"#,
            expect![[r#"
                t.p4:4:19: warning[W0335]: this loop never ends: its condition stays true, and nothing leaves it
                t.p4:5:32: warning[W0335]: this loop never ends: its condition stays true, and nothing leaves it
                t.p4:6:32: warning[W0335]: this loop never ends: its condition stays true, and nothing leaves it
            "#]],
        );
    }

    #[test]
    fn ways_out() {
        check_apply(
            r#"
            for (;true;) { if (s.x == 1) { break; } s.x = 1; }
            for (bit<8> i = 0; i < 4; i = i + 1) { s.x = i; }
            for (bit<8> i = 0; i < 4;) { s.x = 1; change(i); }
            for (bit<8> i = 0; i < 4;) { i[1:0] = 3; i[7:2] = r[7:2]; }
            for (bit<8> i = 0; i < s.x; s.x = s.x - 1) { use(i); }
            for (;true;) { if (s.x == 1) { return; } s.x = 1; }
            for (;true;) { if (s.x == 1) { exit; } s.x = 1; }"#,
            expect![[""]],
        );
    }
}
