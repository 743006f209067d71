//! `E0416`: an expression without a value where one is required: a table, an instance, the call of a function without a
//! result.
//!
//! ```p4,wrong
//! void f() { }
//! bit<8> g(in bit<8> a) { return a; }
//! control C(inout bit<8> x) { apply { x = g(f()); } }
//! ```
//!
//! ```p4
//! bit<8> f() { return 1; }
//! bit<8> g(in bit<8> a) { return a; }
//! control C(inout bit<8> x) { apply { x = g(f()); } }
//! ```
//!
//! Specification: Expressions.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is the type.
pub(crate) fn not_a_value(span: Span, found: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0416", span, format!("expected a value, found {found}")).label("not a value");
    if found.starts_with("the result of") {
        return diagnostic.help("add `.hit` or `.miss`, or use `.action_run` in a `switch`");
    }
    diagnostic
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn tables_and_void() {
        check_apply(
            "
            s.x = t;
            s.f = t.apply();
            s.x = x.m(1);
            s.f = x == x;",
            expect![[r#"
                t.p4:4:19: error[E0301]: expected bit<8>, found table t
                  `t`: this is table t
                t.p4:5:19: error[E0301]: expected bool, found the result of t.apply()
                  `t.apply()`: this is the result of t.apply()
                  = add `.hit` or `.miss`
                t.p4:6:19: error[E0301]: expected bit<8>, found void
                  `x.m(1)`: this is void
                t.p4:7:19: error[E0416]: expected a value, found X
                  `x`: not a value
                t.p4:7:24: error[E0416]: expected a value, found X
                  `x`: not a value
            "#]],
        );
    }
}
