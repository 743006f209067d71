//! `E0501`: a call with too many or too few arguments.
//!
//! ```p4,wrong
//! bit<8> f(in bit<8> a) { return a; }
//! control C(inout bit<8> x) { apply { x = f(x, 1); } }
//! ```
//!
//! ```p4
//! bit<8> f(in bit<8> a) { return a; }
//! control C(inout bit<8> x) { apply { x = f(x); } }
//! ```
//!
//! Specification: Calling convention: call by copy in/copy out.

use base::Span;
use syntax::diag::Diagnostic;

/// `declared` is the declaration of the callee, if there is one.
pub(crate) fn argument_count(span: Span, name: &str, found: usize, expected: usize, declared: Span) -> Diagnostic {
    let plural = if expected == 1 { "" } else { "s" };
    Diagnostic::error("E0501", span, format!("`{name}` takes {expected} argument{plural}, found {found}"))
        .label("wrong number of arguments")
        .secondary(declared, "declared here")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check_apply, check_control};
    use expect_test::expect;

    #[test]
    fn too_many_and_too_few() {
        check_apply(
            "
            x.m();
            x.m(1, 2);
            one(1);
            t.apply(1);
            s.h.setValid(1);
            s.stack.push_front();",
            expect![[r#"
                t.p4:4:13: error[E0501]: `m` takes 1 argument, found 0
                  `x.m()`: wrong number of arguments
                  `m`: declared here
                t.p4:5:13: error[E0501]: `m` takes 1 argument, found 2
                  `x.m(1, 2)`: wrong number of arguments
                  `m`: declared here
                t.p4:6:13: error[E0501]: `one` takes 0 arguments, found 1
                  `one(1)`: wrong number of arguments
                  `one`: declared here
                t.p4:7:21: error[E0501]: `apply` takes 0 arguments, found 1
                  `1`: wrong number of arguments
                t.p4:8:13: error[E0501]: `setValid` takes 0 arguments, found 1
                  `s.h.setValid(1)`: wrong number of arguments
                t.p4:9:13: error[E0501]: `push_front` takes 1 argument, found 0
                  `s.stack.push_front()`: wrong number of arguments
            "#]],
        );
    }

    #[test]
    fn parameters_that_the_control_plane_does_not_set() {
        check_control(
            "table u { key = { r: exact; } actions = { two; } }",
            expect![[r#"
            t.p4:3:43: error[E0501]: `two` takes 2 arguments, found 0
              `two`: wrong number of arguments
              `two`: declared here
              = the list of actions has arguments for parameters with a direction; one that the control plane sets has none
        "#]],
        );
    }
}
