//! `E0519`: a parameter with a direction that it cannot have.
//!
//! Extern objects and parameters of constructors are passed without direction; parameters with default values are `in`.
//! Only parameters of packages, of types of parsers and controls, and of externs may be `@optional`: code written in P4
//! needs all of its arguments.
//!
//! ```p4,wrong
//! extern Counter { Counter(); void count(); }
//! control C(in Counter c) { apply { c.count(); } }
//! ```
//!
//! ```p4
//! extern Counter { Counter(); void count(); }
//! control C(Counter c) { apply { c.count(); } }
//! ```
//!
//! Specification: Calling convention: call by copy in/copy out.

use base::Span;
use syntax::diag::Diagnostic;

/// `expected` is the valid direction, or what the parameter may not have.
pub(crate) fn invalid_direction(span: Span, what: &str, expected: &str) -> Diagnostic {
    let label = if expected.ends_with("direction") { "wrong direction" } else { "not allowed here" };
    Diagnostic::error("E0519", span, format!("{what} must have {expected}")).label(label)
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn extern_and_constructor() {
        check_errors(
            "
            extern X { X(); }
            void f(in X x) { }
            control C()(in bit<8> a) { apply { } }
            void g(out bit<8> a = 1) { a = 1; }",
            expect![[r#"
                t.p4:3:20: error[E0519]: a parameter of the extern type `X` must have no direction
                  `in X x`: wrong direction
                t.p4:4:25: error[E0519]: a constructor's parameter must have no direction
                  `in bit<8> a`: wrong direction
                t.p4:5:20: error[E0519]: a parameter with a default value must have `in` or no direction
                  `out bit<8> a = 1`: wrong direction
            "#]],
        );
    }

    #[test]
    fn optional() {
        check_errors(
            "
            control Shape(@optional in bit<8> x);
            extern void e(@optional in bit<8> x);
            control C(@optional in bit<8> a)(@optional bit<8> b) { apply { e(); } }
            parser P(@optional in bit<8> a) { state start { transition accept; } }
            void f(@optional in bit<8> a) { }",
            expect![[r#"
                t.p4:4:46: error[E0519]: a parameter of a control's constructor must have no `@optional`
                  `@optional`: not allowed here
                t.p4:6:20: error[E0519]: a parameter of a function must have no `@optional`
                  `@optional`: not allowed here
            "#]],
        );
    }
}
