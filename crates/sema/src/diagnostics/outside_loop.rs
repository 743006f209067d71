//! `E0603`: `break` or `continue` outside a loop.
//!
//! ```p4,wrong
//! control C(inout bit<8> x) { apply { if (x == 1) { break; } } }
//! ```
//!
//! ```p4
//! control C(inout bit<8> x) { apply { for (bit<8> i in 0 .. 9) { if (x == i) { break; } } } }
//! ```
//!
//! Specification: Statements.

use base::Span;
use syntax::diag::Diagnostic;

/// `keyword` is `break` or `continue`.
pub(crate) fn outside_loop(span: Span, keyword: &str) -> Diagnostic {
    Diagnostic::error("E0603", span, format!("`{keyword}` stands outside a loop")).label("no loop here")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn break_continue() {
        check_apply(
            "
            break;
            for (bit<8> i in 1 .. 3) { if (i == 2) { continue; } break; }
            continue;",
            expect![[r#"
                t.p4:4:13: error[E0603]: `break` stands outside a loop
                  `break;`: no loop here
                t.p4:6:13: error[E0603]: `continue` stands outside a loop
                  `continue;`: no loop here
            "#]],
        );
    }
}
