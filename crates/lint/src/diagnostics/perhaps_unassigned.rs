//! `W0322`: a read of a variable that some path does not assign
//!
//! Assign a value in the declaration. `@noWarn("uninitialized")` silences it.
//!
//! ```p4,wrong
//! control C(in bit<8> x, out bit<8> z) {
//!     apply {
//!         bit<8> y;
//!         if (x == 1) { y = 5; }
//!         z = y;
//!     }
//! }
//! ```
//!
//! ```p4
//! control C(in bit<8> x, out bit<8> z) {
//!     apply {
//!         bit<8> y = 0;
//!         if (x == 1) { y = 5; }
//!         z = y;
//!     }
//! }
//! ```
//!
//! Specification: Reading uninitialized values and writing fields of invalid headers.

use base::Span;
use syntax::diag::Diagnostic;

/// `declared` is the declaration of the variable that `name` is (a part of).
pub(crate) fn perhaps_unassigned(span: Span, name: &str, declared: Span) -> Diagnostic {
    Diagnostic::warning("W0322", span, format!("`{name}` may have no value here"))
        .label("read here, and assigned on some ways to here only")
        .secondary(declared, "declared here without a value")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check_apply, check_control};
    use expect_test::expect;

    #[test]
    fn always_read() {
        check_apply(
            r#"
            bit<8> a;
            if (r == 1) { a = 1; }
            use(a);
            bit<8> b;
            if (r == 1) { b = 1; } else { return; }
            use(b);
            bit<8> c;
            if (r == 1) { c = 1; }
            if (r != 0) { use(c); }
            bool d;
            switch (r) { 1: { d = true; } }
            s.f = d;"#,
            expect![[r#"
                t.p4:6:17: warning[W0322]: `a` may have no value here
                t.p4:15:19: warning[W0322]: `d` may have no value here
            "#]],
        );
    }

    #[test]
    fn tables() {
        check_control(
            r#"
            bit<8> missed;
            bit<8> chosen;
            action set_missed() { missed = 1; }
            action set_chosen(bit<8> v) { chosen = v; }
            table t { key = { r: exact; } actions = { set_missed; } }
            table u { key = { r: exact; } actions = { set_chosen; } default_action = set_chosen(1); }
            apply { t.apply(); u.apply(); s.x = missed; s.x = chosen; }"#,
            expect![[r#"
                t.p4:10:49: warning[W0322]: `missed` may have no value here
            "#]],
        );
    }

    #[test]
    fn after_loops() {
        check_control(
            r#"
            const bit<8> FIRST = 0;
            apply {
                bit<8> a;
                for (bit<8> i in FIRST .. 3) { a = i; }
                use(a);
                bit<8> b;
                for (bit<8> i = FIRST; i < 4; i = i + 1) { if (r == 1) { b = 1; break; } b = i; }
                use(b);
                bit<8> c;
                for (H h in s.stack) { c = h.a; }
                use(c);
                bit<8> d;
                for (bit<8> i in 0 .. 3) { for (bit<8> j in 1 .. 2) { d = j; } }
                use(d);
                bit<8> e;
                for (bit<8> i in 0 .. r) { e = i; }
                use(e);
                bit<8> f;
                for (bit<8> i = r; i < 4; i = i + 1) { f = i; }
                use(f);
                bit<8> g;
                for (bit<8> i in 0 .. 3) { if (r == i) { break; } g = i; }
                use(g);
                bit<8> k;
                for (bit<8> i in 0 .. 3) { if (r == i) { k = i; } }
                use(k);
            }"#,
            expect![[r#"
                t.p4:20:21: warning[W0322]: `e` may have no value here
                t.p4:23:21: warning[W0322]: `f` may have no value here
                t.p4:26:21: warning[W0322]: `g` may have no value here
                t.p4:29:21: warning[W0322]: `k` may have no value here
            "#]],
        );
    }

    #[test]
    fn after_hits_and_misses() {
        check_control(
            r#"
            bit<8> a; bit<8> b; bit<8> c; bit<8> d;
            action set_a() { a = 1; }
            action set_b() { b = 1; }
            action set_c() { c = 1; }
            action set_d() { d = 1; }
            table ta { key = { r: exact; } actions = { set_a; @defaultonly NoAction; } const default_action = NoAction; }
            table tb { key = { r: exact; } actions = { NoAction; set_b; } const default_action = set_b; }
            table tc { key = { r: exact; } actions = { set_c; NoAction; } default_action = set_c; }
            table td { key = { r: exact; } actions = { set_d; @tableonly NoAction; } default_action = set_d; }
            apply {
                if (!ta.apply().hit) { a = 0; }
                use(a);
                if (tb.apply().miss) { } else { b = 2; }
                use(b);
                if (tc.apply().hit) { c = 2; }
                use(c);
                if (td.apply().hit) { return; }
                use(d);
            }"#,
            expect![[r#"
                t.p4:19:21: warning[W0322]: `c` may have no value here
            "#]],
        );
    }
}
