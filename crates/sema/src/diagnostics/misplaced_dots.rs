//! `E0425`: `...` that is not the last element of a list, or that is outside a list.
//!
//! `...` stands for the default values of all remaining elements, so nothing can follow it. It is not a set of values:
//! in a `select` or an entry, `_` matches any value.
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

/// The location of the dots.
pub(crate) fn misplaced_dots(span: Span) -> Diagnostic {
    Diagnostic::error("E0425", span, "`...` must be the last element").label("something follows")
}

/// The location of the dots in place of a set of values.
pub(crate) fn dots_as_keyset(span: Span) -> Diagnostic {
    Diagnostic::error("E0425", span, "`...` is not a set of values")
        .label("means default values in lists only")
        .help("write `_` for any value")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check_apply, check_states};
    use expect_test::expect;

    #[test]
    fn keysets() {
        check_states(
            "state start { transition select(s.x, s.y) { (1, ...): accept; default: next; } }
             state next { transition select(s.x) { ...: accept; default: reject; } }",
            expect![[r#"
                t.p4:3:49: error[E0425]: `...` is not a set of values
                  `...`: means default values in lists only
                  = write `_` for any value
                t.p4:4:52: error[E0425]: `...` is not a set of values
                  `...`: means default values in lists only
                  = write `_` for any value
            "#]],
        );
    }

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
