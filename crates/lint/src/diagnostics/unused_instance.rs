//! `W0306`: an instance that is never used
//!
//! Remove it, or use it. `@noWarn("unused")` silences it.
//!
//! ```p4,wrong
//! extern Counter { Counter(); void count(); }
//! control C() { Counter() packets; apply { } }
//! ```
//!
//! ```p4
//! extern Counter { Counter(); void count(); }
//! control C() { Counter() packets; apply { packets.count(); } }
//! ```
//!
//! Specification: Instantiation.

use base::Span;
use syntax::diag::Diagnostic;

pub(crate) fn unused_instance(span: Span, name: &str) -> Diagnostic {
    Diagnostic::warning("W0306", span, format!("the instance `{name}` is never used")).label("made here")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_program;
    use expect_test::expect;

    #[test]
    fn of_externs_and_controls() {
        check_program(
            r#"
            extern Counter { Counter(); void count(); }
            control Inner(inout bit<8> v) { apply { v = 1; } }
            control Outer(inout bit<8> v)(Counter counter) { apply { counter.count(); v = 2; } }
            control C(inout S s) {
                Counter() never;
                Counter() counted;
                Counter() direct;
                Counter() passed;
                @hidden Counter() hidden;
                Inner() idle;
                Outer(passed) outer;
                table t { actions = { NoAction; } counters = direct; }
                apply { counted.count(); t.apply(); outer.apply(s.x); }
            }
            Counter() everywhere;
            Package(C()) main;"#,
            expect![[r#"
                t.p4:8:27: warning[W0306]: the instance `never` is never used
                t.p4:13:25: warning[W0306]: the instance `idle` is never used
                t.p4:18:23: warning[W0306]: the instance `everywhere` is never used
            "#]],
        );
    }
}
