//! `E0614`: a keyset with more or fewer elements than there are keys.

use base::Span;
use syntax::diag::Diagnostic;

/// The numbers of elements and keys.
pub(crate) fn keyset_count(span: Span, found: usize, wanted: usize) -> Diagnostic {
    let plural = if wanted == 1 { "" } else { "s" };
    Diagnostic::error("E0614", span, format!("there are {wanted} key{plural}, but {found} value(s) to compare with"))
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
                t.p4:3:45: error[E0614]: there are 2 keys, but 1 value(s) to compare with
                  `1`: wrong number of values
                t.p4:3:72: error[E0614]: there are 2 keys, but 3 value(s) to compare with
                  `(1, 2, 3)`: wrong number of values
            "#]],
        );
    }
}
