//! `W0323`: an `out` parameter without a value at the end
//!
//! The caller's variable does not get a value. Assign the parameter on every path, or make it `inout`.
//! `@noWarn("uninitialized")` silences it. The controls of a package may ignore parameters, because the architecture
//! declares them. In a program without a `main` every control may be one of those, so only functions and actions are
//! checked.
//!
//! ```p4,wrong
//! void f(in bit<8> x, out bit<8> y) { if (x == 1) { y = 5; } }
//! ```
//!
//! ```p4
//! void f(in bit<8> x, out bit<8> y) { if (x == 1) { y = 5; } else { y = 0; } }
//! ```
//!
//! Specification: Calling convention: call by copy in/copy out.

use base::Span;
use syntax::diag::Diagnostic;

/// `is_never`: no path assigns it.
pub(crate) fn result_not_assigned(span: Span, name: &str, is_never: bool) -> Diagnostic {
    let message = if is_never { "is never assigned" } else { "is not assigned on every way to the end" };
    Diagnostic::warning("W0323", span, format!("the `out` parameter `{name}` {message}")).label("declared here")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_control};
    use expect_test::expect;

    #[test]
    fn functions_and_actions() {
        check_control(
            r#"
            action never(out bit<8> a) { }
            action sometimes(out bit<8> b) { if (r == 1) { b = 1; return; } }
            action always(out bit<8> c, out H h, out Pair p) { c = 1; if (r == 1) { exit; } p.a = 1; }
            action silenced(@noWarn("uninitialized_out_param") out bit<8> d) { }
            apply { Pair p; never(s.x); sometimes(s.x); always(s.x, s.h, p); silenced(s.x); use(p); }"#,
            expect![[r#"
                t.p4:4:37: warning[W0323]: the `out` parameter `a` is never assigned
                t.p4:5:41: warning[W0323]: the `out` parameter `b` is not assigned on every way to the end
            "#]],
        );
    }

    #[test]
    fn blocks_of_an_architecture_need_not_care() {
        check(
            r#"
            control Outer(in bit<8> x, out bit<8> y, out bit<8> z); package Package(Outer o);
            control Inner(in bit<8> x, out bit<8> never, out bit<8> sometimes) { apply { if (x == 1) { sometimes = 1; } } }
            control C(in bit<8> x, out bit<8> y, out bit<8> z) { Inner() inner; apply { inner.apply(x, y, z); } }
            control D(in bit<8> x, out bit<8> y, out bit<8> z) { apply { if (x == 1) { y = 1; } } }
            parser P(out bit<8> never) { state start { transition accept; } }
            Package(C()) other;
            Package(D()) main;"#,
            expect![[r#"
                t.p4:3:51: warning[W0323]: the `out` parameter `never` is never assigned
                t.p4:3:69: warning[W0323]: the `out` parameter `sometimes` is not assigned on every way to the end
                t.p4:6:20: warning[W0307]: the parser `P` is never instantiated
            "#]],
        );
    }

    #[test]
    fn methods_have_the_parameters_of_their_extern() {
        check(
            r#"
            extern Cell { Cell(); abstract void change(inout bit<8> value, out bit<8> result); void run(); }
            control C() { Cell() cell = { void change(inout bit<8> value, out bit<8> result) { value = value + 1; } }; apply { cell.run(); } }"#,
            expect![[""]],
        );
    }

    #[test]
    fn a_library() {
        check(
            r#"
            control C(in bit<8> x, out bit<8> never, out bit<8> sometimes) { apply { if (x == 1) { sometimes = 1; } } }"#,
            expect![[""]],
        );
    }
}
