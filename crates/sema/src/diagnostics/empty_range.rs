//! `W0206`: an empty range, whose lower bound is greater than its upper bound.
//!
//! Write the lower bound first.
//!
//! ```p4,wrong
//! parser P(in bit<8> x) { state start { transition select(x) { 5 .. 3: accept; default: reject; } } }
//! ```
//!
//! ```p4
//! parser P(in bit<8> x) { state start { transition select(x) { 3 .. 5: accept; default: reject; } } }
//! ```
//!
//! Specification: Expressions, Operations on sets, Ranges.

use base::Span;
use num_bigint::BigInt;
use syntax::diag::Diagnostic;

/// The bounds.
pub(crate) fn empty_range(span: Span, low: &BigInt, high: &BigInt) -> Diagnostic {
    Diagnostic::warning("W0206", span, format!("the range {low} .. {high} is empty")).label("contains nothing")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_states;
    use expect_test::expect;

    #[test]
    fn reversed() {
        check_states(
            "state start { transition select(s.x) { 5 .. 3: accept; default: reject; } }",
            expect![[r#"
            t.p4:3:40: warning[W0206]: the range 5 .. 3 is empty
              `5 .. 3`: contains nothing
        "#]],
        );
    }
}
