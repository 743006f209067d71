//! `E0628`: entries before the keys or actions that they use, or a default action before the list of actions.
//!
//! ```p4,wrong
//! #include <core.p4>
//! control C(in bit<8> x) {
//!     table t { entries = { 1: NoAction; } key = { x : exact; } actions = { NoAction; } }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! control C(in bit<8> x) {
//!     table t { key = { x : exact; } actions = { NoAction; } entries = { 1: NoAction; } }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! Specification: Control blocks, Tables, Entries.

use base::Span;
use syntax::diag::Diagnostic;

/// `early` at `span` uses `name`, which stands at `late`.
pub(crate) fn property_before(span: Span, early: &str, name: &str, late: Span) -> Diagnostic {
    Diagnostic::error("E0628", span, format!("`{early}` must stand after `{name}`"))
        .label("too early")
        .secondary(late, format!("`{name}` stands here"))
}

#[cfg(test)]
mod tests {
    use crate::testing::check_control;
    use expect_test::expect;

    #[test]
    fn key_and_actions() {
        check_control(
            "
            table u { entries = { 1: one(); } key = { r: exact; } actions = { one; } }
            table v { key = { r: exact; } entries = { 1: one(); } actions = { one; } }
            table w { default_action = one(); actions = { one; } }",
            expect![[r#"
                t.p4:4:23: error[E0628]: `entries` must stand after `key`
                  `entries = { 1: one(); }`: too early
                  `key = { r: exact; }`: `key` stands here
                t.p4:5:43: error[E0628]: `entries` must stand after `actions`
                  `entries = { 1: one(); }`: too early
                  `actions = { one; }`: `actions` stands here
                t.p4:6:23: error[E0628]: `default_action` must stand after `actions`
                  `default_action = one();`: too early
                  `actions = { one; }`: `actions` stands here
            "#]],
        );
    }
}
