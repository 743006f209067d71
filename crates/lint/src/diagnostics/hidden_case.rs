//! `W0332`: a case of a `select`, or an entry of a table, that an earlier one hides
//!
//! The first match is taken, so this one is never reached. Move it up, or remove it. `@noWarn("unreachable")` silences
//! it.
//!
//! ```p4,wrong
//! parser P(in bit<8> x) {
//!     state start { transition select(x) { _: accept; 5: reject; } }
//! }
//! ```
//!
//! ```p4
//! parser P(in bit<8> x) {
//!     state start { transition select(x) { 5: reject; _: accept; } }
//! }
//! ```
//!
//! Specification: Select expressions.

use base::Span;
use syntax::diag::Diagnostic;

/// `kind` is `case` or `entry`; `first` is the earlier one.
pub(crate) fn hidden_case(span: Span, first: Span, kind: &str) -> Diagnostic {
    Diagnostic::warning("W0332", span, format!("this {kind} is never chosen: an earlier one takes all its values"))
        .label("never chosen")
        .secondary(first, "this one comes first")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check_control, check_parser};
    use expect_test::expect;

    #[test]
    fn select() {
        check_parser(
            r#"
            const bit<8> FIVE = 5;
            state start { transition select(m) { 5: a; 8w6 &&& 0xfe: b; 7: accept; FIVE: accept; 0 .. 9: a; 3 .. 4: b; default: accept; 200: b; } }
            state a { transition select(m, m) { (1, _): accept; (1, 2): reject; (_, 2): accept; (3, 3): accept; (0x10 &&& 0x30, 0): accept; (0x10 &&& 0xf0, 0): accept; } }
            @noWarn("unreachable") state b { transition select(m) { _: accept; 1: reject; } }"#,
            expect![[r#"
                t.p4:5:73: warning[W0332]: this case is never chosen: an earlier one takes all its values
                t.p4:5:84: warning[W0332]: this case is never chosen: an earlier one takes all its values
                t.p4:5:109: warning[W0332]: this case is never chosen: an earlier one takes all its values
                t.p4:5:137: warning[W0332]: this case is never chosen: an earlier one takes all its values
                t.p4:6:23: warning[W0336]: some values match no case of this `select`
                t.p4:6:65: warning[W0332]: this case is never chosen: an earlier one takes all its values
                t.p4:6:141: warning[W0332]: this case is never chosen: an earlier one takes all its values
            "#]],
        );
    }

    #[test]
    fn entries() {
        check_control(
            r#"
            action act(bit<8> v) { s.x = v; }
            table t {
                key = { r: ternary; s.x: exact; }
                actions = { act; }
                default_action = act(0);
                const entries = {
                    (0x10 &&& 0xf0, 1): act(1);
                    (0x12, 1): act(2);
                    (0x12, 2): act(3);
                    (_, 2): act(4);
                    (0x13, 2): act(5);
                    (0x14, 2): act(6) @noWarn("unreachable");
                }
            }
            table with_priorities {
                key = { r: ternary; }
                actions = { act; }
                default_action = act(0);
                entries = { priority = 1: _: act(1); priority = 2: 5: act(2); }
            }
            table prefixes {
                key = { r: lpm; }
                actions = { act; }
                default_action = act(0);
                const entries = { 0x10 &&& 0xf0: act(1); 0x12: act(2); }
            }
            apply { t.apply(); with_priorities.apply(); prefixes.apply(); }"#,
            expect![[r#"
                t.p4:11:21: warning[W0332]: this entry is never chosen: an earlier one takes all its values
                t.p4:14:21: warning[W0332]: this entry is never chosen: an earlier one takes all its values
            "#]],
        );
    }
}
