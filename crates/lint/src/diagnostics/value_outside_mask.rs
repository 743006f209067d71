//! `W0345`: a value with ones where its mask has zeros
//!
//! Those bits of the value are ignored. Either the value or the mask is probably wrong. `@noWarn("mismatch")`
//! silences it.
//!
//! ```p4,wrong
//! parser P(in bit<8> x) {
//!     state start { transition select(x) { 0x12 &&& 0xf0: accept; _: reject; } }
//! }
//! ```
//!
//! ```p4
//! parser P(in bit<8> x) {
//!     state start { transition select(x) { 0x10 &&& 0xf0: accept; _: reject; } }
//! }
//! ```
//!
//! Specification: Select expressions.

use base::Span;
use syntax::diag::Diagnostic;

/// The locations of value and mask.
pub(crate) fn value_outside_mask(value: Span, mask: Span) -> Diagnostic {
    Diagnostic::warning("W0345", value, "this value has ones where its mask has zeros")
        .label("these bits are ignored")
        .secondary(mask, "the mask")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check_control, check_parser};
    use expect_test::expect;

    #[test]
    fn select() {
        check_parser(
            r#"
            const bit<8> MASK = 0xf0;
            state start { transition select(m) { 0x12 &&& 0xf0: accept; 0x20 &&& 0xf0: accept; 0x31 &&& MASK: accept; _: reject; } }"#,
            expect![[r#"
                t.p4:5:50: warning[W0345]: this value has ones where its mask has zeros
            "#]],
        );
    }

    #[test]
    fn entries() {
        check_control(
            r#"
            action act() { s.x = 1; }
            table t { key = { r: ternary; } actions = { act; } default_action = act; const entries = { 1 &&& 2: act; 2 &&& 2: act; } }
            apply { t.apply(); }"#,
            expect![[r#"
                t.p4:5:104: warning[W0345]: this value has ones where its mask has zeros
            "#]],
        );
    }
}
