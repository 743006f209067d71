//! `W0304`: a table that is never applied
//!
//! Apply it, or remove it. `@noWarn("unused")` silences it.
//!
//! ```p4,wrong
//! #include <core.p4>
//! control C() { table t { actions = { NoAction; } } apply { } }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! control C() { table t { actions = { NoAction; } } apply { t.apply(); } }
//! ```
//!
//! Specification: Match-action unit invocation.

use base::Span;
use syntax::diag::Diagnostic;

pub(crate) fn unused_table(span: Span, name: &str) -> Diagnostic {
    Diagnostic::warning("W0304", span, format!("the table `{name}` is never applied")).label("declared here")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_control;
    use expect_test::expect;

    #[test]
    fn never_applied() {
        check_control(
            r#"
            table never { actions = { NoAction; } }
            table applied { actions = { NoAction; } }
            table asked { actions = { NoAction; } }
            table switched { actions = { NoAction; } }
            @noWarn("unused") table silenced { actions = { NoAction; } }
            apply {
                applied.apply();
                if (asked.apply().hit) { s.x = 1; }
                switch (switched.apply().action_run) { NoAction: { s.x = 1; } }
            }"#,
            expect![[r#"
                t.p4:4:19: warning[W0304]: the table `never` is never applied
            "#]],
        );
    }
}
