//! `W0353`: an `if` or a loop whose body is a lone `;`
//!
//! What follows is executed in any case. Remove the `;`, or write `{ }`. `@noWarn("no_effect")` silences it.
//!
//! ```p4,wrong
//! control C(inout bit<8> x) { apply { if (x == 1); { x = 2; } } }
//! ```
//!
//! ```p4
//! control C(inout bit<8> x) { apply { if (x == 1) { x = 2; } } }
//! ```
//!
//! Specification: Empty statement.

use base::Span;
use syntax::diag::Diagnostic;

/// `keyword` begins the statement.
pub(crate) fn empty_body(span: Span, keyword: &str) -> Diagnostic {
    Diagnostic::warning("W0353", span, format!("the body of this `{keyword}` is empty"))
        .label("ends the statement")
        .help("remove the `;`, or write `{ }`")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn bodies() {
        check_apply(
            r#"
            if (r == 1); { s.x = 1; }
            if (r == 1) { }
            if (r == 1) s.x = 1; else s.x = 2;
            for (bit<8> i in 8w0 .. 3);"#,
            expect![[r#"
                t.p4:4:24: warning[W0353]: the body of this `if` is empty
                t.p4:7:39: warning[W0353]: the body of this `for` is empty
            "#]],
        );
    }
}
