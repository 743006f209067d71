//! `W0352`: a call that only computes a result, which is not used
//!
//! Use the result, or remove the call. `@noWarn("no_effect")` silences it.
//!
//! ```p4,wrong
//! header H { bit<8> a; }
//! control C(in H h) { apply { h.isValid(); } }
//! ```
//!
//! ```p4
//! header H { bit<8> a; }
//! control C(in H h, out bool y) { apply { y = h.isValid(); } }
//! ```
//!
//! Specification: Method invocations and function calls.

use base::Span;
use syntax::diag::Diagnostic;

pub(crate) fn ignored_result(span: Span) -> Diagnostic {
    Diagnostic::warning("W0352", span, "this call does nothing but compute a result, and that is ignored")
        .label("does nothing")
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::expect;

    #[test]
    fn calls() {
        check(
            r#"
            #include <core.p4>
            extern bit<8> random();
            header H { bit<8> a; }
            bit<8> sum(in bit<8> a, in bit<8> b) { bit<8> c = a; return c + b; }
            bit<8> roll(in bit<8> a) { return a + random(); }
            bit<8> store(in bit<8> a, out bit<8> b) { b = a; return a; }
            control C(packet_in p, inout H h, inout bit<8> x) {
                apply { h.isValid(); sum(x, 1); sum(random(), 1); roll(x); store(x, x); random(); x = sum(x, 2); }
            }"#,
            expect![[r#"
                t.p4:9:25: warning[W0352]: this call does nothing but compute a result, and that is ignored
                t.p4:9:38: warning[W0352]: this call does nothing but compute a result, and that is ignored
            "#]],
        );
    }
}
