//! `E0208`: `this` outside the implementation of an abstract method.

use base::Span;
use syntax::diag::Diagnostic;

/// The place of `this`.
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
