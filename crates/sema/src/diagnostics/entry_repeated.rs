//! `E0638`: an entry with the keys of an earlier one, in a table whose keys are all matched exactly.
//!
//! Such a table has at most one entry for each combination of keys, and neither of two would take precedence. In tables
//! with other match kinds the earlier entry or the one with the greater priority does; there the second is legal but
//! never used, and causes a warning (`W0207`).
//!
//! ```p4,wrong
//! #include <core.p4>
//! control C(in bit<8> x) {
//!     table t { key = { x : exact; } actions = { NoAction; } const entries = { 1: NoAction; 1: NoAction; } }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! control C(in bit<8> x) {
//!     table t { key = { x : exact; } actions = { NoAction; } const entries = { 1: NoAction; 2: NoAction; } }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! Specification: Control blocks, Tables, Entry priorities.

use base::Span;
use syntax::diag::Diagnostic;

/// `first` is the earlier one.
pub(crate) fn entry_repeated(span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("E0638", span, "the table has an entry with these keys already")
        .label("the same keys")
        .secondary(first, "the earlier one")
        .help("keys that are matched exactly must differ: remove one of the two entries")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_control;
    use expect_test::expect;

    #[test]
    fn the_same_number_in_other_words() {
        check_control(
            "table u { key = { r: exact; s.x: exact; } actions = { one; } entries = { (1, 2): one(); (2, 2): one(); (0x1, 2): one(); } }",
            expect![[r#"
                t.p4:3:104: error[E0638]: the table has an entry with these keys already
                  `(0x1, 2): one()`: the same keys
                  `(1, 2): one()`: the earlier one
                  = keys that are matched exactly must differ: remove one of the two entries
            "#]],
        );
    }

    #[test]
    fn priorities_do_not_help() {
        check_control(
            "table u { key = { r: exact; } actions = { one; } entries = { priority = 2: 1: one(); priority = 1: 1: one(); } }",
            expect![[r#"
                t.p4:3:73: error[E0637]: entries with exact keys and prefixes have no priorities: at most one of them decides
                  `2`: 
                t.p4:3:86: error[E0638]: the table has an entry with these keys already
                  `priority = 1: 1: one()`: the same keys
                  `priority = 2: 1: one()`: the earlier one
                  = keys that are matched exactly must differ: remove one of the two entries
            "#]],
        );
    }
}
