//! `E0207`: a function, action, parser or control that calls itself.
//!
//! P4 has no recursion: everything that a packet passes through is laid out at compile time. Use a loop, or a parser
//! that returns to an earlier state.
//!
//! ```p4,wrong
//! bit<8> count(in bit<8> n) { return n == 0 ? 8w0 : count(n - 1) + 1; }
//! ```
//!
//! ```p4
//! bit<8> count(in bit<8> n) { return n; }
//! ```
//!
//! Specification: Calling convention: call by copy in/copy out.

use base::Span;
use syntax::diag::Diagnostic;

/// `declared` is the declaration of the recursive function, action, parser or control.
pub(crate) fn recursion(span: Span, name: &str, declared: Span) -> Diagnostic {
    Diagnostic::error("E0207", span, format!("`{name}` calls itself"))
        .label("recursive use")
        .secondary(declared, "declared here")
        .note("P4 has no recursion")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn functions_actions_controls() {
        check_errors(
            "
            void f() { f(); }
            control C() { action a() { a(); } C() c; apply { c.apply(); } }",
            expect![[r#"
                t.p4:2:24: error[E0207]: `f` calls itself
                  `f()`: recursive use
                  `f`: declared here
                  = P4 has no recursion
                t.p4:3:40: error[E0207]: `a` calls itself
                  `a()`: recursive use
                  `a`: declared here
                  = P4 has no recursion
                t.p4:3:47: error[E0207]: `C` calls itself
                  `C() c;`: recursive use
                  `C`: declared here
                  = P4 has no recursion
            "#]],
        );
    }
}
