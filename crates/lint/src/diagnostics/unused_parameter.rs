//! `W0308`: an unused parameter of a function or action
//!
//! Remove it, or begin its name with `_`. Parameters that the control plane supplies are not checked, nor those of
//! parsers and controls, which the architecture requires. `@noWarn("unused")` silences it.
//!
//! ```p4,wrong
//! bit<8> twice(in bit<8> value, in bit<8> limit) { return value + value; }
//! ```
//!
//! ```p4
//! bit<8> twice(in bit<8> value) { return value + value; }
//! ```
//!
//! Specification: Function declarations.

use base::Span;
use syntax::diag::Diagnostic;

pub(crate) fn unused_parameter(span: Span, name: &str) -> Diagnostic {
    Diagnostic::warning("W0308", span, format!("the parameter `{name}` is never used")).label("declared here")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_control};
    use expect_test::expect;

    #[test]
    fn own_choice_only() {
        check_control(
            r#"
            action one(in bit<8> never, inout bit<8> used, bit<8> from_control_plane) { used = 1; }
            action two(in bit<8> _meant) { }
            apply { one(r, s.x, 1); two(1); }"#,
            expect![[r#"
                t.p4:4:34: warning[W0308]: the parameter `never` is never used
            "#]],
        );
    }

    #[test]
    fn functions() {
        check(
            r#"
            bit<8> f(in bit<8> used, in bit<8> never) { return used; }"#,
            expect![[r#"
                t.p4:2:48: warning[W0308]: the parameter `never` is never used
            "#]],
        );
    }
}
