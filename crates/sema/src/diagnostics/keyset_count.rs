//! `E0614`: a keyset whose number of elements differs from the number of keys.
//!
//! ```p4,wrong
//! parser P(in bit<8> x, in bit<8> y) { state start { transition select(x, y) { 1: accept; default: reject; } } }
//! ```
//!
//! ```p4
//! parser P(in bit<8> x, in bit<8> y) { state start { transition select(x, y) { (1, _): accept; default: reject; } } }
//! ```
//!
//! Specification: Packet parsing, Select expressions.

use base::Span;
use syntax::diag::Diagnostic;

/// The numbers of elements and keys.
pub(crate) fn keyset_count(span: Span, found: usize, expected: usize) -> Diagnostic {
    let keys = if expected == 1 { "there is 1 key".to_owned() } else { format!("there are {expected} keys") };
    let values = if found == 1 { "value" } else { "values" };
    Diagnostic::error("E0614", span, format!("{keys}, but {found} {values} to compare with"))
        .label("wrong number of values")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_states;
    use expect_test::expect;

    #[test]
    fn select() {
        check_states(
            "state start { transition select(s.x, s.y) { 1: accept; (1, 2): accept; (1, 2, 3): accept; default: reject; } }",
            expect![[r#"
                t.p4:3:45: error[E0614]: there are 2 keys, but 1 value to compare with
                  `1`: wrong number of values
                t.p4:3:72: error[E0614]: there are 2 keys, but 3 values to compare with
                  `(1, 2, 3)`: wrong number of values
            "#]],
        );
    }
}
