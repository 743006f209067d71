//! `W0301`: a local variable whose value is never read
//!
//! Remove it, or read it. A leading `_` in the name marks it as intentionally unused. `@noWarn("unused")` silences it.
//!
//! ```p4,wrong
//! control C(in bit<8> x) { apply { bit<8> y = x; } }
//! ```
//!
//! ```p4
//! control C(inout bit<8> x) { apply { bit<8> y = x; x = y + 1; } }
//! ```
//!
//! Specification: Variable declarations.

use base::Span;
use syntax::diag::Diagnostic;

/// `is_assigned`: some statement assigns it.
pub(crate) fn unused_variable(span: Span, name: &str, is_assigned: bool) -> Diagnostic {
    let message = if is_assigned { "has values, but is never read" } else { "is never used" };
    Diagnostic::warning("W0301", span, format!("the variable `{name}` {message}")).label("declared here")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check_apply, check_control};
    use expect_test::expect;

    #[test]
    fn never_read() {
        check_apply(
            r#"
            bit<8> a;
            bit<8> b = r;
            bit<8> c;
            c = r;
            c[3:0] = 1;
            Pair d;
            d.a = r;
            bit<8>[4] e;
            e[r] = 1;"#,
            expect![[r#"
                t.p4:4:20: warning[W0301]: the variable `a` is never used
                t.p4:5:20: warning[W0301]: the variable `b` has values, but is never read
                t.p4:6:20: warning[W0301]: the variable `c` has values, but is never read
                t.p4:9:18: warning[W0301]: the variable `d` has values, but is never read
                t.p4:11:23: warning[W0301]: the variable `e` has values, but is never read
            "#]],
        );
    }

    #[test]
    fn read_or_meant() {
        check_control(
            r#"
            bit<8> kept = 0;
            action set() { kept = s.x; }
            table t { key = { kept: exact; } actions = { set; } default_action = set; }
            @noWarn("unused") bit<8> silenced;
            @noWarn("W0301") bit<8> by_code;
            @hidden bit<8> hidden;
            apply {
                t.apply();
                bit<8> _ignored;
                H skipped;
                fill(skipped);
                bit<8> index = 1;
                s.stack[index].setValid();
                bit<8> measured = r;
                s.x = (bit<8>)measured.minSizeInBits();
                Pair[4] counted;
                s.x = (bit<8>)counted.size;
                bit<8> both = r;
                both = both + 1;
                @noWarn("unused") { bit<8> inner; }
            }"#,
            expect![[r#""#]],
        );
    }
}
