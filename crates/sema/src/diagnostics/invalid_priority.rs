//! `E0637`: an invalid or missing priority of a table entry.
//!
//! Priorities are numbers from zero on. `const entries` have none, because an earlier entry always takes precedence,
//! nor have entries of tables whose keys are all `exact` or `lpm`, because at most one of those that match decides. If
//! some entries of a table have a priority, the first must have one, from which the others are derived.
//!
//! ```p4,wrong
//! #include <core.p4>
//! control C(in bit<8> x) {
//!     table t {
//!         key = { x : ternary; }
//!         actions = { NoAction; }
//!         const entries = { priority = 2 : 1 &&& 3 : NoAction; }
//!     }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! control C(in bit<8> x) {
//!     table t {
//!         key = { x : ternary; }
//!         actions = { NoAction; }
//!         entries = { priority = 2 : 1 &&& 3 : NoAction; }
//!     }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! Specification: Control blocks, Tables, Entry priorities.

use base::Span;
use syntax::diag::Diagnostic;

/// `message` describes the error.
pub(crate) fn invalid_priority(span: Span, message: &str) -> Diagnostic {
    Diagnostic::error("E0637", span, message)
}

#[cfg(test)]
mod tests {
    use crate::testing::check_control;
    use expect_test::expect;

    #[test]
    fn counted_out_of_range() {
        check_control(
            "
            table u { key = { r: ternary; } actions = { one; }
                entries = { priority = 5: 1: one(); 2: one(); 3: one(); } priority_delta = 3; }
            table v { key = { r: ternary; } actions = { one; } largest_priority_wins = false;
                entries = { priority = 5: 1: one(); 2: one(); priority = 0x80000000: 3: one(); } }
            table w { key = { r: ternary; } actions = { one; } largest_priority_wins = false; priority_delta = 5;
                entries = { priority = 0x7ffffff0: 1: one(); 2: one(); 3: one(); 4: one(); 5: one(); } }",
            expect![[r#"
                t.p4:5:63: error[E0637]: the priority -1 is out of range: it is from 0 to 2147483647
                  `3: one()`: 
                t.p4:7:74: error[E0637]: the priority 2147483648 is out of range: it is from 0 to 2147483647
                  `0x80000000`: 
                t.p4:9:92: error[E0637]: the priority 2147483652 is out of range: it is from 0 to 2147483647
                  `5: one()`: 
            "#]],
        );
    }

    #[test]
    fn of_keys_that_need_none() {
        check_control(
            "
            table u { key = { r: exact; } actions = { one; } entries = { priority = 3: 1: one(); } }
            table v { key = { r: lpm; s.x: exact; } actions = { one; } entries = { priority = 3: (1, 2): one(); } }
            table w { key = { r: ternary; s.x: exact; } actions = { one; } entries = { priority = 3: (1, 2): one(); } }",
            expect![[r#"
                t.p4:4:85: error[E0637]: entries with exact keys and prefixes have no priorities: at most one of them decides
                  `3`: 
                t.p4:5:95: error[E0637]: entries with exact keys and prefixes have no priorities: at most one of them decides
                  `3`: 
            "#]],
        );
    }

    #[test]
    fn of_constant_entries_and_out_of_range() {
        check_control(
            "
            table u { key = { r: ternary; } actions = { one; } const entries = { 2: one(); priority = 1: 1: one(); } }
            table v { key = { r: ternary; } actions = { one; } entries = { 2: one(); priority = 1: 1: one(); } }
            table w { key = { r: ternary; } actions = { one; } entries = { priority = -1: 1: one(); } }
            table x { key = { r: ternary; } actions = { one; } priority_delta = 0; entries = { 1: one(); } }
            table y { key = { r: ternary; } actions = { one; } largest_priority_wins = 1; entries = { 1: one(); } }",
            expect![[r#"
                t.p4:4:103: error[E0637]: entries of `const entries` have no priorities: an earlier one comes first
                  `1`: 
                t.p4:5:76: error[E0637]: the first entry needs a priority, because others have one
                  `2: one()`: 
                t.p4:6:87: error[E0637]: a priority cannot be negative
                  `-1`: 
                t.p4:7:81: error[E0637]: `priority_delta` must be positive
                  `0`: 
                t.p4:8:88: error[E0301]: expected bool, found int
                  `1`: this is int
                  = convert it explicitly: `(bool)`
            "#]],
        );
    }
}
