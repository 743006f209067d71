//! `W0342`: an operator with the same operand on both sides
//!
//! One of them is probably meant to be something else. `@noWarn("constant")` silences it.
//!
//! ```p4,wrong
//! control C(in bit<8> x, out bool y) { apply { y = x == x; } }
//! ```
//!
//! ```p4
//! control C(in bit<8> x, in bit<8> z, out bool y) { apply { y = x == z; } }
//! ```
//!
//! Specification: Expressions.

use base::Span;
use syntax::diag::Diagnostic;

/// `result` describes the constant result.
pub(crate) fn same_operands(span: Span, operator: &str, result: &str) -> Diagnostic {
    Diagnostic::warning("W0342", span, format!("both sides of `{operator}` are the same: the result is {result}"))
        .label("always the same")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn same() {
        check_apply(
            r#"
            s.f = r == r;
            s.f = s.h.a != s.h.a;
            s.f = s.f && s.f;
            s.x = s.x - s.x;
            s.x = s.x | s.x;"#,
            expect![[r#"
                t.p4:4:19: warning[W0342]: both sides of `==` are the same: the result is `true`
                t.p4:5:19: warning[W0342]: both sides of `!=` are the same: the result is `false`
                t.p4:6:19: warning[W0342]: both sides of `&&` are the same: the result is the operand itself
                t.p4:7:19: warning[W0342]: both sides of `-` are the same: the result is 0
                t.p4:8:19: warning[W0342]: both sides of `|` are the same: the result is the operand itself
            "#]],
        );
    }

    #[test]
    fn others() {
        check_apply(
            r#"
            const bit<8> A = 1;
            s.f = s.h.a == s.g.a;
            s.f = random() == random();
            s.x = r + r;
            s.x = r << r;
            s.x = s.x[3:0] ++ s.x[3:0];
            s.f = s.stack[0].a == s.stack[1].a;
            s.f = 1 == 1;"#,
            expect![[r#"
                t.p4:4:26: warning[W0302]: the constant `A` is never used
            "#]],
        );
    }
}
