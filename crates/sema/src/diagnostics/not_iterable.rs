//! `E0606`: a `for ... in` over a value without elements.
//!
//! Iterate over a header stack, a list, or a range of numbers.
//!
//! ```p4,wrong
//! control C(inout bit<8> x) { apply { for (bit<8> i in x) { } } }
//! ```
//!
//! ```p4
//! control C(inout bit<8> x) { apply { for (bit<8> i in 0 .. x) { } } }
//! ```
//!
//! Specification: Statements, For statement.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is the type.
pub(crate) fn not_iterable(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error("E0606", span, format!("a loop cannot go over {found}")).label("not an array, list or range")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn a_number() {
        check_apply(
            "
            for (bit<8> i in s.x) { }
            for (H h in s.stack) { }
            for (bool b in 1 .. 2) { }",
            expect![[r#"
                t.p4:4:30: error[E0606]: a loop cannot go over bit<8>
                  `s.x`: not an array, list or range
                t.p4:6:28: error[E0301]: expected bool, found a range of numbers
                  `1 .. 2`: this is a range of numbers
            "#]],
        );
    }
}
