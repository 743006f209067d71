//! `E0615`: a value set whose element type differs from the type of the keys.
//!
//! ```p4,wrong
//! parser P(in bit<16> port) {
//!     value_set<bit<8>>(4) ports;
//!     state start { transition select(port) { ports: accept; default: reject; } }
//! }
//! ```
//!
//! ```p4
//! parser P(in bit<16> port) {
//!     value_set<bit<16>>(4) ports;
//!     state start { transition select(port) { ports: accept; default: reject; } }
//! }
//! ```
//!
//! Specification: Packet parsing, Parser value sets.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is the element type, `expected` the type of the keys.
pub(crate) fn value_set_mismatch(span: Span, found: &str, expected: &str) -> Diagnostic {
    Diagnostic::error("E0615", span, format!("the value set contains {found}, the keys are {expected}"))
        .label("types differ")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check_errors, check_states};
    use expect_test::expect;

    #[test]
    fn types() {
        check_states(
            "
            value_set<bit<16>>(4) v;
            state start { transition select(s.x) { v: accept; } }",
            expect![[r#"
                t.p4:5:52: error[E0615]: the value set contains bit<16>, the keys are bit<8>
                  `v`: types differ
            "#]],
        );
    }

    #[test]
    fn structs_are_distinguished() {
        let structs = "struct T { bit<8> a; bit<8> b; } struct U { bit<8> a; bit<8> b; } struct One { T t; }";
        let check = |element: &str, keys: &str, expected| {
            check_errors(
                &format!(
                    "{structs} parser P(in T t, in bit<8> x) {{ value_set<{element}>(4) v;\n\
                     state start {{ transition select({keys}) {{ v: accept; }} }} }}"
                ),
                expected,
            );
        };
        check("T", "t", expect![""]);
        check("One", "t", expect![""]);
        check("T", "x, x", expect![""]);
        check("tuple<bit<8>, bit<8>>", "t", expect![""]);
        check("tuple<T, bit<8>>", "t, x", expect![""]);
        check(
            "U",
            "t",
            expect![[r#"
            t.p4:2:38: error[E0615]: the value set contains U, the keys are T
              `v`: types differ
        "#]],
        );
        check(
            "tuple<U, bit<8>>",
            "t, x",
            expect![[r#"
            t.p4:2:41: error[E0615]: the value set contains tuple<U, bit<8>>, the keys are T, bit<8>
              `v`: types differ
        "#]],
        );
    }
}
