//! `E0509`: a call of something that cannot be called.
//!
//! Functions, actions and methods are called; instances of parsers and controls have `apply`.
//!
//! ```p4,wrong
//! control A() { apply { } }
//! control B() { A() a; apply { a(); } }
//! ```
//!
//! ```p4
//! control A() { apply { } }
//! control B() { A() a; apply { a.apply(); } }
//! ```
//!
//! Specification: Expressions, Method invocations and function calls.

use base::Span;
use syntax::diag::Diagnostic;

/// `what` is the callee.
pub(crate) fn not_callable(span: Span, what: &str) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("E0509", span, format!("{what} cannot be called")).label("not a function, action or method");
    if what.contains("table") || what.contains("instance") {
        return diagnostic.help("write `.apply(...)`");
    }
    diagnostic
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn table_and_variable() {
        check_apply(
            "
            t();
            r();
            inner(s.x);",
            expect![[r#"
                t.p4:4:13: error[E0509]: `t`, which is a table, cannot be called
                  `t`: not a function, action or method
                  = write `.apply(...)`
                t.p4:5:13: error[E0509]: `r`, which is a variable, cannot be called
                  `r`: not a function, action or method
                t.p4:6:13: error[E0509]: `inner`, which is an instance, cannot be called
                  `inner`: not a function, action or method
                  = write `.apply(...)`
            "#]],
        );
    }
}
