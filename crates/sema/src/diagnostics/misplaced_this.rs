//! `E0208`: `this` outside the implementation of an abstract method.
//!
//! ```p4,wrong
//! control C() { apply { this.run(); } }
//! ```
//!
//! ```p4
//! extern Runner { Runner(); void start(); abstract void run(); }
//! Runner() runner = { void run() { this.start(); } };
//! ```
//!
//! Specification: P4 data types, Derived types, Extern types.

use base::Span;
use syntax::diag::Diagnostic;

/// The location of `this`.
pub(crate) fn misplaced_this(span: Span) -> Diagnostic {
    Diagnostic::error("E0208", span, "`this` stands outside an abstract method's implementation")
        .label("there is no object here")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn in_a_control() {
        check_apply(
            "this.m(1);",
            expect![[r#"
            t.p4:3:1: error[E0208]: `this` stands outside an abstract method's implementation
              `this`: there is no object here
        "#]],
        );
    }
}
