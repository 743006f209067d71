//! `W0221`: an entry in a table whose list of keys is empty.
//!
//! Such a table has nothing to look up, so it always runs its default action, and the entry is ignored.
//!
//! ```p4,wrong
//! #include <core.p4>
//! control C() {
//!     action a() { }
//!     table t { key = { } actions = { a; NoAction; } const entries = { _ : a(); } }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! control C() {
//!     action a() { }
//!     table t { key = { } actions = { a; NoAction; } const default_action = a(); }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! Specification: Control blocks, Tables, Entries.

use base::Span;
use syntax::diag::Diagnostic;

/// `span` is the first entry of the table.
pub(crate) fn entry_without_key(span: Span, table: &str) -> Diagnostic {
    Diagnostic::warning("W0221", span, format!("`{table}` has no keys, so its entries are ignored"))
        .label("never looked up")
        .help("the default action always runs: set `default_action`")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_control;
    use expect_test::expect;

    #[test]
    fn forms() {
        check_control(
            "
            table u { key = { } actions = { one; } const entries = { _ : one(); } }
            table v { key = { } actions = { one; } entries = { default : one(); _ : one(); } }
            table w { key = { } actions = { one; } entries = { _ : three(); } }
            @noWarn(\"entries\") table x { key = { } actions = { one; } entries = { _ : one(); } }",
            expect![[r#"
                t.p4:4:70: warning[W0221]: `u` has no keys, so its entries are ignored
                  `_ : one()`: never looked up
                  = the default action always runs: set `default_action`
                t.p4:5:64: warning[W0221]: `v` has no keys, so its entries are ignored
                  `default : one()`: never looked up
                  = the default action always runs: set `default_action`
                t.p4:6:64: warning[W0221]: `w` has no keys, so its entries are ignored
                  `_ : three()`: never looked up
                  = the default action always runs: set `default_action`
                t.p4:6:68: error[E0201]: `three` is not declared
                  `three`: unknown name
                  = there is no `main` in this file: if it is a part of a program, check the file that includes it
            "#]],
        );
    }
}
