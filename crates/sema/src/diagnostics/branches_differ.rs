//! `E0422`: a conditional expression whose two values have different types.
//!
//! ```p4,wrong
//! control C(inout bit<8> x, in bool b, in bit<16> y) { apply { x = b ? x : y; } }
//! ```
//!
//! ```p4
//! control C(inout bit<8> x, in bool b, in bit<16> y) { apply { x = b ? x : (bit<8>)y; } }
//! ```
//!
//! Specification: Expressions, Conditional operator.

use base::Span;
use syntax::diag::Diagnostic;

/// Each branch: its location and its type.
pub(crate) fn branches_differ(span: Span, yes: (Span, &str), no: (Span, &str)) -> Diagnostic {
    Diagnostic::error("E0422", span, format!("the two values of `?:` have different types: {} and {}", yes.1, no.1))
        .label("types differ")
        .secondary(yes.0, yes.1)
        .secondary(no.0, no.1)
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn width() {
        check_apply(
            "s.x = s.f ? s.x : s.y;",
            expect![[r#"
            t.p4:3:7: error[E0422]: the two values of `?:` have different types: bit<8> and bit<16>
              `s.f ? s.x : s.y`: types differ
              `s.x`: bit<8>
              `s.y`: bit<16>
        "#]],
        );
    }
}
