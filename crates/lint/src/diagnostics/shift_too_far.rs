//! `W0343`: a shift by at least the width of the value
//!
//! The result is zero for every value. `@noWarn("constant")` silences it.
//!
//! ```p4,wrong
//! control C(inout bit<8> x) { apply { x = x << 8; } }
//! ```
//!
//! ```p4
//! control C(inout bit<16> x) { apply { x = x << 8; } }
//! ```
//!
//! Specification: Operations on fixed-width bit types.

use base::Span;
use num_bigint::BigInt;
use syntax::diag::Diagnostic;

/// `width` is the width of the shifted value.
pub(crate) fn shift_too_far(span: Span, count: &BigInt, width: u32) -> Diagnostic {
    Diagnostic::warning("W0343", span, format!("a value of {width} bits is shifted by {count}: the result is zero"))
        .label("always zero")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn shifts() {
        check_apply(
            r#"
            s.x = r << 8;
            s.x = r >> 8w20;
            s.y = s.y << 15;
            s.x = r << s.x;
            s.y = (bit<16>) r << 8;"#,
            expect![[r#"
                t.p4:4:19: warning[W0343]: a value of 8 bits is shifted by 8: the result is zero
                t.p4:5:19: warning[W0343]: a value of 8 bits is shifted by 20: the result is zero
            "#]],
        );
    }
}
