//! `W0207`: an entry with the same keys as an earlier one, which takes precedence.
//!
//! Remove one of the two. If all keys are matched exactly, this is an error (`E0638`).
//!
//! ```p4,wrong
//! #include <core.p4>
//! control C(in bit<8> x) {
//!     table t { key = { x : lpm; } actions = { NoAction; } const entries = { 1: NoAction; 1: NoAction; } }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! control C(in bit<8> x) {
//!     table t { key = { x : lpm; } actions = { NoAction; } const entries = { 1: NoAction; 2: NoAction; } }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! Specification: Control blocks, Tables, Entries.

use base::Span;
use syntax::diag::Diagnostic;

/// `first` is the earlier one.
pub(crate) fn duplicate_entry(span: Span, first: Span) -> Diagnostic {
    Diagnostic::warning("W0207", span, "this entry has the keys of an earlier one")
        .label("never used")
        .secondary(first, "the earlier one")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_control;
    use expect_test::expect;

    #[test]
    fn same_key() {
        check_control(
            "table u { key = { r: ternary; } actions = { one; } entries = { 1: one(); 0x1: one(); } }",
            expect![[r#"
                t.p4:3:74: warning[W0207]: this entry has the keys of an earlier one
                  `0x1: one()`: never used
                  `1: one()`: the earlier one
            "#]],
        );
    }
}
