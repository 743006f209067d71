//! `W0346`: a table with more entries than its `size`
//!
//! The program's entries are all present, but the control plane cannot add any. A hardware table may have no room for
//! them. Declare a larger `size`, or none. `@noWarn("mismatch")` silences it.
//!
//! ```p4,wrong
//! #include <core.p4>
//! control C(in bit<8> x) {
//!     action a() { }
//!     table t {
//!         key = { x: exact; }
//!         actions = { a; }
//!         const entries = { 1: a(); 2: a(); }
//!         size = 1;
//!     }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! control C(in bit<8> x) {
//!     action a() { }
//!     table t {
//!         key = { x: exact; }
//!         actions = { a; }
//!         const entries = { 1: a(); 2: a(); }
//!         size = 2;
//!     }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! Specification: Tables, Size.

use base::Span;
use num_bigint::BigInt;
use syntax::diag::Diagnostic;

/// `size` is the location of the size; `entries` is the number of entries; `first` is the first entry beyond the size.
pub(crate) fn beyond_size(size: Span, number: &BigInt, entries: usize, first: Span) -> Diagnostic {
    let message = format!("the table has {entries} entries, which is more than its size of {number}");
    Diagnostic::warning("W0346", size, message).label("the size").secondary(first, "from here on there are too many")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_control;
    use expect_test::expect;

    #[test]
    fn entries() {
        check_control(
            r#"
            const int SIZE = 1;
            action act() { s.x = 1; }
            table t { key = { r: exact; } actions = { act; } default_action = act; size = SIZE;
                const entries = { 1: act; 2: act; } }
            table u { key = { r: exact; } actions = { act; } default_action = act; size = 2;
                entries = { 1: act; 2: act; } }
            table v { key = { r: exact; } actions = { act; } default_action = act; size = 2;
                entries = { 1: act; 2: act; 3: act; } }
            @noWarn("mismatch")
            table w { key = { r: exact; } actions = { act; } default_action = act; size = 1;
                entries = { 1: act; 2: act; 3: act; } }
            table no_size { key = { r: exact; } actions = { act; } default_action = act; size = 0;
                entries = { 1: act; 2: act; 3: act; } }
            apply { t.apply(); u.apply(); v.apply(); w.apply(); no_size.apply(); }"#,
            expect![[r#"
                t.p4:6:91: warning[W0346]: the table has 2 entries, which is more than its size of 1
                t.p4:10:91: warning[W0346]: the table has 3 entries, which is more than its size of 2
            "#]],
        );
    }
}
