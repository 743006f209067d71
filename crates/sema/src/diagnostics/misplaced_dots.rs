//! `E0425`: `...` that is not the last element of a list.
//!
//! `...` stands for the default values of all elements that follow, so that nothing can follow it.
//!
//! ```p4,wrong
//! struct S { bit<8> a; bit<8> b; }
//! const S s = { ..., 1 };
//! ```
//!
//! ```p4
//! struct S { bit<8> a; bit<8> b; }
//! const S s = { 1, ... };
//! ```
//!
//! Specification: Expressions, Initializing with default values.

use base::Span;
use syntax::diag::Diagnostic;

/// The dots.
pub(crate) fn misplaced_dots(span: Span) -> Diagnostic {
    Diagnostic::error("E0425", span, "`...` must be the last element").label("something follows")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn first_of_two() {
        check_apply(
            "tuple<bit<8>, bit<8>> t = { ..., 1 };",
            expect![[r#"
                t.p4:3:29: error[E0425]: `...` must be the last element
                  `...`: something follows
                t.p4:3:23: warning[W0201]: `t` hides another declaration of that name
                  `t`: hides it
                  `t`: the hidden one
            "#]],
        );
    }
}
