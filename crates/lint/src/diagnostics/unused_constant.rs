//! `W0302`: an unused constant of a parser, control or block
//!
//! Remove it. Constants outside all blocks are not checked: a program may use only a part of a list of protocol
//! numbers. `@noWarn("unused")` silences it.
//!
//! ```p4,wrong
//! control C() { const bit<8> LIMIT = 5; apply { } }
//! ```
//!
//! ```p4
//! control C(inout bit<8> x) { const bit<8> LIMIT = 5; apply { x = LIMIT; } }
//! ```
//!
//! Specification: Constants.

use base::Span;
use syntax::diag::Diagnostic;

pub(crate) fn unused_constant(span: Span, name: &str) -> Diagnostic {
    Diagnostic::warning("W0302", span, format!("the constant `{name}` is never used")).label("declared here")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_control};
    use expect_test::expect;

    #[test]
    fn only_inside_blocks() {
        check_control(
            r#"
            const bit<8> NEVER = 1;
            const int WIDTH = 8;
            const int HIGH = 3;
            const bit<8> LABEL = 4;
            const bit<8> CHAINED = LABEL + 1;
            apply {
                bit<(WIDTH)> a = s.x;
                s.x[HIGH:0] = 1;
                switch (a) { LABEL: { s.x = CHAINED; } }
                const bit<8> INNER = 1;
            }"#,
            expect![[r#"
                t.p4:4:26: warning[W0302]: the constant `NEVER` is never used
                t.p4:13:30: warning[W0302]: the constant `INNER` is never used
            "#]],
        );
    }

    #[test]
    fn outside() {
        check(
            r#"
            const bit<8> A = 1;"#,
            expect![[r#""#]],
        );
    }
}
