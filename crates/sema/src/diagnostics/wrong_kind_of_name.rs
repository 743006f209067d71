//! `E0204`: a name of the wrong kind: a type where a value is expected, a variable where an action is expected, and so
//! on.
//!
//! Use a name of the expected kind.
//!
//! ```p4,wrong
//! const bit<8> size = 4;
//! struct S { size x; }
//! ```
//!
//! ```p4
//! typedef bit<8> size_t;
//! struct S { size_t x; }
//! ```
//!
//! Specification: Name resolution.

use base::Span;
use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `expected` and `found` have their articles.
pub(crate) fn wrong_kind_of_name(name: &Ident, expected: &str, found: &str, declared: Span) -> Diagnostic {
    Diagnostic::error("E0204", name.span, format!("`{}` is {found}, not {expected}", name.name))
        .label(format!("expected {expected}"))
        .secondary(declared, "declared here")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_control;
    use expect_test::expect;

    #[test]
    fn a_variable_is_no_type() {
        check_control(
            "
            bit<8> v;
            v w;
            table t { actions = { v; } }",
            expect![[r#"
                t.p4:5:13: error[E0204]: `v` is a variable, not a type
                  `v`: expected a type
                  `v`: declared here
                t.p4:6:35: error[E0204]: `v` is a variable, not an action
                  `v`: expected an action
                  `v`: declared here
            "#]],
        );
    }
}
