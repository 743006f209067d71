//! `W0303`: an action that is neither in a table nor called
//!
//! Add it to a table, call it, or remove it. `@noWarn("unused")` silences it.
//!
//! ```p4,wrong
//! control C() { action drop() { } apply { } }
//! ```
//!
//! ```p4
//! control C() { action drop() { } apply { drop(); } }
//! ```
//!
//! Specification: Actions.

use base::Span;
use syntax::diag::Diagnostic;

pub(crate) fn unused_action(span: Span, name: &str) -> Diagnostic {
    Diagnostic::warning("W0303", span, format!("the action `{name}` is never used"))
        .label("in no table, and never called")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_control, check_program};
    use expect_test::expect;

    #[test]
    fn in_a_control() {
        check_control(
            r#"
            action never() { }
            action called() { }
            action calling() { called(); }
            action listed(bit<8> v) { }
            @noWarn("unused") action silenced() { }
            table t { actions = { listed; calling; } default_action = calling; }
            apply { t.apply(); }"#,
            expect![[r#"
                t.p4:4:20: warning[W0303]: the action `never` is never used
            "#]],
        );
    }

    #[test]
    fn outside() {
        check_program(
            r#"
            action global_never() { }
            action global_called() { }
            control C(inout S s) { apply { global_called(); } }
            Package(C()) main;"#,
            expect![[r#"
                t.p4:4:20: warning[W0303]: the action `global_never` is never used
            "#]],
        );
    }

    #[test]
    fn a_library() {
        check(
            r#"
            action global_never() { }"#,
            expect![[r#""#]],
        );
    }
}
