//! `E0629`: entries in a table without a key.
//!
//! ```p4,wrong
//! #include <core.p4>
//! control C() {
//!     table t { actions = { NoAction; } entries = { 1: NoAction; } }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! control C() {
//!     table t { actions = { NoAction; } default_action = NoAction; }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! Specification: Control blocks, Tables, Entries.

use base::Span;
use syntax::diag::Diagnostic;

/// The table's name.
pub(crate) fn entries_without_key(span: Span, table: &str) -> Diagnostic {
    Diagnostic::error("E0629", span, format!("`{table}` has entries but no key")).label("nothing to compare with")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_control;
    use expect_test::expect;

    #[test]
    fn no_key() {
        check_control(
            "table u { actions = { one; } entries = { _: one(); } }",
            expect![[r#"
                t.p4:3:30: error[E0629]: `u` has entries but no key
                  `entries = { _: one(); }`: nothing to compare with
            "#]],
        );
    }
}
