//! `W0341`: a comparison that always has the same result
//!
//! `@noWarn("constant")` silences it.
//!
//! ```p4,wrong
//! control C(in bit<8> x, out bool y) { apply { y = (x & 0x0f) == 0x10; } }
//! ```
//!
//! ```p4
//! control C(in bit<8> x, out bool y) { apply { y = (x & 0xf0) == 0x10; } }
//! ```
//!
//! Specification: Operations on fixed-width bit types.

use base::Span;
use syntax::diag::Diagnostic;

/// `reason` completes the sentence.
pub(crate) fn always_decided(span: Span, result: bool, reason: &str) -> Diagnostic {
    Diagnostic::warning("W0341", span, format!("this is always {result}, {reason}")).label("always the same")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_apply};
    use expect_test::expect;

    #[test]
    fn comparisons() {
        check_apply(
            r#"
            s.f = r < 0;
            s.f = r >= 0;
            s.f = 0 > r;
            s.f = r <= 255;
            s.f = s.y > 16w0xffff;
            s.f = (r & 0x0f) == 0x10;
            s.f = (r | 1) != 8w2;
            s.f = r == 1 && r == 2;
            s.f = r != 1 || r != 2;"#,
            expect![[r#"
                t.p4:4:19: warning[W0341]: this is always false, whatever the value of type bit<8> is
                t.p4:5:19: warning[W0341]: this is always true, whatever the value of type bit<8> is
                t.p4:6:19: warning[W0341]: this is always false, whatever the value of type bit<8> is
                t.p4:7:19: warning[W0341]: this is always true, whatever the value of type bit<8> is
                t.p4:8:19: warning[W0341]: this is always false, whatever the value of type bit<16> is
                t.p4:9:19: warning[W0341]: this is always false, because of the bits that the other side can have
                t.p4:10:19: warning[W0341]: this is always true, because of the bits that the other side can have
                t.p4:11:19: warning[W0341]: this is always false, because the two numbers differ
                t.p4:12:19: warning[W0341]: this is always true, because the two numbers differ
            "#]],
        );
    }

    #[test]
    fn open_ones() {
        check_apply(
            r#"
            const bit<8> LEAST = 0;
            const bool IS_ON = true;
            s.f = r > 0;
            s.f = r < 255;
            s.f = r >= LEAST;
            s.f = (r & 0x0f) == 0x01;
            s.f = (r | 1) == 3;
            s.f = r == 1 || r == 2;
            s.f = r != 1 && r != 2;
            s.f = s.x == 1 && r == 2;
            s.f = (int<8>) r >= 0;
            if (IS_ON) { s.x = 1; }
            if (true) { s.x = 2; }
            @noWarn("constant") { s.f = r < 0; }"#,
            expect![[r#""#]],
        );
    }

    #[test]
    fn macros() {
        check(
            r#"
            #define LEAST 0
            control C(in bit<8> x, out bool y) { apply { y = x >= LEAST; } }"#,
            expect![[r#""#]],
        );
    }
}
