//! `E0632`: a table or value set whose size is negative.
//!
//! ```p4,wrong
//! #include <core.p4>
//! control C(in bit<8> x) {
//!     table t { key = { x : exact; } actions = { NoAction; } size = -1; }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! control C(in bit<8> x) {
//!     table t { key = { x : exact; } actions = { NoAction; } size = 64; }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! Specification: Control blocks, Tables.

use base::Span;
use syntax::diag::Diagnostic;

/// The location of the size.
pub(crate) fn negative_table_size(span: Span) -> Diagnostic {
    Diagnostic::error("E0632", span, "a size cannot be negative").label("this is negative")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_control;
    use expect_test::expect;

    #[test]
    fn minus() {
        check_control(
            "table u { actions = { one; } size = -1; }",
            expect![[r#"
                t.p4:3:37: error[E0632]: a size cannot be negative
                  `-1`: this is negative
            "#]],
        );
    }
}
