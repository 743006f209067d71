//! `W0321`: a read of a variable without a value
//!
//! No path to this read assigns it. Wirespeed initialises it with zero; other targets may read any value.
//! `@noWarn("uninitialized")` silences it.
//!
//! ```p4,wrong
//! control C(out bit<8> x) { apply { bit<8> y; x = y; } }
//! ```
//!
//! ```p4
//! control C(out bit<8> x) { apply { bit<8> y = 0; x = y; } }
//! ```
//!
//! Specification: Reading uninitialized values and writing fields of invalid headers.

use base::Span;
use syntax::diag::Diagnostic;

/// `declared` is the declaration of the variable that `name` is (a part of).
pub(crate) fn read_before_assignment(span: Span, name: &str, declared: Span) -> Diagnostic {
    Diagnostic::warning("W0321", span, format!("`{name}` has no value here"))
        .label("read here, and assigned on no way to here")
        .secondary(declared, "declared here without a value")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_apply, check_control, check_parser};
    use expect_test::expect;

    #[test]
    fn variables() {
        check_apply(
            r#"
            bit<8> a;
            s.x = a;
            s.x = a;
            Pair p;
            p.a = 1;
            use(p.b);
            Pair q;
            use(q);
            bit<8>[4] values;
            use(values[r]);
            bit<8> b;
            change(b);
            bit<8> c;
            c = c + 1;
            H h;
            h.setValid();
            s.x = h.a;
            bit<8> sliced;
            use(sliced[3:0]);"#,
            expect![[r#"
                t.p4:5:19: warning[W0321]: `a` has no value here
                t.p4:9:17: warning[W0321]: `p.b` has no value here
                t.p4:11:17: warning[W0321]: `q` has no value here
                t.p4:13:17: warning[W0321]: `values[...]` has no value here
                t.p4:15:20: warning[W0321]: `b` has no value here
                t.p4:17:17: warning[W0321]: `c` has no value here
                t.p4:20:19: warning[W0321]: `h.a` has no value here
                t.p4:22:17: warning[W0321]: `sliced` has no value here
            "#]],
        );
    }

    #[test]
    fn assigned_ones() {
        check_apply(
            r#"
            bit<8> a;
            if (r == 1) { a = 1; } else { a = 2; }
            use(a);
            bit<8> b;
            if (r == 1) { b = 1; }
            if (r == 1) { use(b); }
            bit<8> c;
            fill(c);
            use(c);
            H h;
            h = s.h;
            use(h.a);
            H g;
            fill(g);
            use(g.b);
            H i = { 1, 2 };
            use(i.a);
            bit<8> d;
            switch (r) { 1: { d = 1; } 2: { return; } default: { d = 3; } }
            use(d);
            bit<8> bits;
            bits[3:0] = 1;
            bits[7:4] = 2;
            use(bits);
            S whole;
            whole.h.setInvalid();
            use(whole);
            @noWarn("uninitialized") bit<8> silenced;
            use(silenced);
            @noWarn("uninitialized_use") bit<8> silenced_too;
            use(silenced_too);"#,
            expect![[r#""#]],
        );
    }

    #[test]
    fn loops() {
        check_apply(
            r#"
            bit<8> first;
            bit<8> last;
            for (bit<8> i in 8w0 .. 3) {
                if (i > 0) { use(last); }
                last = i;
                use(first);
            }
            for (bit<8> i = 0; i < 3; i = i + 1) { bit<8> fresh; use(fresh); fresh = 1; }"#,
            expect![[r#"
                t.p4:9:21: warning[W0321]: `first` has no value here
                t.p4:11:70: warning[W0321]: `fresh` has no value here
            "#]],
        );
    }

    #[test]
    fn through_actions_and_tables() {
        check_control(
            r#"
            bit<8> early;
            bit<8> late;
            bit<8> key;
            action read_early() { s.x = early; }
            action read_late() { s.x = late; }
            action write_late() { late = 1; }
            table t { key = { key: exact; } actions = { read_early; NoAction; } }
            table u { actions = { write_late; } default_action = write_late; }
            apply { t.apply(); u.apply(); read_late(); early = 1; t.apply(); }"#,
            expect![[r#"
                t.p4:7:41: warning[W0321]: `early` has no value here
                t.p4:10:31: warning[W0321]: `key` has no value here
            "#]],
        );
    }

    #[test]
    fn silenced_where_it_is_read() {
        check_control(
            r#"
            bit<8> unset;
            @noWarn("uninitialized") action silenced() { s.x = unset; }
            action loud() { s.x = unset; }
            apply { silenced(); loud(); }"#,
            expect![[r#"
                t.p4:6:35: warning[W0321]: `unset` has no value here
            "#]],
        );
    }

    #[test]
    fn switch_on_action() {
        check_control(
            r#"
            bit<8> a;
            action set_a() { a = 1; }
            action other() { }
            table t { key = { r: exact; } actions = { set_a; other; } }
            apply { switch (t.apply().action_run) { set_a: { use(a); } other: { use(a); } } }"#,
            expect![[r#"
                t.p4:8:85: warning[W0321]: `a` has no value here
            "#]],
        );
    }

    #[test]
    fn parser_states() {
        check_parser(
            r#"
            bit<8> never;
            bit<8> looped;
            bit<8> counted = 0;
            state start { counted = counted + 1; m = counted; transition select(m) { 0: look; 1: write; _: accept; } }
            state write { looped = 1; transition look; }
            state look { m = looped; transition select(never) { 0: start; _: accept; } }"#,
            expect![[r#"
                t.p4:9:56: warning[W0321]: `never` has no value here
            "#]],
        );
    }

    #[test]
    fn functions() {
        check(
            r#"
            extern void use<T>(in T value);
            bit<8> f(out bit<8> result) { use(result); result = 1; return result; }"#,
            expect![[r#"
                t.p4:3:47: warning[W0321]: `result` has no value here
            "#]],
        );
    }
}
