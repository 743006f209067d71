//! `E0607`: a `switch` on an expression of an invalid type.
//!
//! `switch` takes `t.apply().action_run`, or a number, error or enum member. Use `if` for a boolean.
//!
//! ```p4,wrong
//! struct S { bit<8> x; }
//! control C(in S s) { apply { switch (s) { default: { } } } }
//! ```
//!
//! ```p4
//! struct S { bit<8> x; }
//! control C(in S s) { apply { switch (s.x) { default: { } } } }
//! ```
//!
//! Specification: Statements, Switch statement.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is the type.
pub(crate) fn invalid_switch_subject(span: Span, found: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0607", span, format!("`switch` cannot decide on {found}"))
        .label("not a number, enum or `action_run`");
    match found {
        "bool" => diagnostic.help("use `if`"),
        _ if found.starts_with("the result of") => diagnostic.help("add `.action_run`"),
        _ => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn header_and_result() {
        check_apply(
            "
            switch (s.h) { default: { } }
            switch (s.f) { true: { } default: { } }
            switch (t.apply()) { default: { } }",
            expect![[r#"
                t.p4:4:21: error[E0607]: `switch` cannot decide on H
                  `s.h`: not a number, enum or `action_run`
                t.p4:5:21: error[E0607]: `switch` cannot decide on bool
                  `s.f`: not a number, enum or `action_run`
                  = use `if`
                t.p4:6:21: error[E0607]: `switch` cannot decide on the result of t.apply()
                  `t.apply()`: not a number, enum or `action_run`
                  = add `.action_run`
            "#]],
        );
    }
}
