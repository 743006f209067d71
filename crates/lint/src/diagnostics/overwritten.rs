//! `W0310`: a value that is overwritten before it is read
//!
//! Remove the first assignment, or correct the target. `@noWarn("unused")` silences it.
//!
//! ```p4,wrong
//! control C(inout bit<8> x) {
//!     apply {
//!         bit<8> y;
//!         y = x;
//!         y = 5;
//!         x = y;
//!     }
//! }
//! ```
//!
//! ```p4
//! control C(inout bit<8> x) {
//!     apply {
//!         bit<8> y = 5;
//!         x = y;
//!     }
//! }
//! ```
//!
//! Specification: Statements.

use base::Span;
use syntax::diag::Diagnostic;

/// `next` is the assignment that overwrites it.
pub(crate) fn overwritten(span: Span, name: &str, next: Span) -> Diagnostic {
    Diagnostic::warning("W0310", span, format!("the value that `{name}` has from here on is never read"))
        .label("assigned here")
        .secondary(next, "and replaced here")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check_apply, check_control};
    use expect_test::expect;

    #[test]
    fn in_a_row() {
        check_apply(
            r#"
            bit<8> a = 0;
            a = 1;
            a = r;
            use(a);
            a = 2;
            if (r == 0) { a = 3; }
            use(a);
            a = 4;
            a = a + 1;
            a = random();
            a = 5;
            use(a);"#,
            expect![[r#"
                t.p4:5:13: warning[W0310]: the value that `a` has from here on is never read
                t.p4:13:13: warning[W0310]: the value that `a` has from here on is never read
            "#]],
        );
    }

    #[test]
    fn not_what_others_see() {
        check_control(
            r#"
            bit<8> a;
            action look() { s.y[7:0] = a; }
            apply { a = 1; look(); a = 2; look(); s.x = 1; s.x = 2; a[3:0] = 1; a[7:4] = 2; look(); }"#,
            expect![[r#""#]],
        );
    }
}
