//! `W0334`: a cycle of parser states in which nothing changes
//!
//! A packet that completes the cycle once repeats it forever. Extract a header, or count. `@noWarn("unreachable")`
//! silences it.
//!
//! ```p4,wrong
//! parser P(in bit<8> x) {
//!     state start { transition select(x) { 0: start; _: accept; } }
//! }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! header H { bit<8> a; }
//! parser P(packet_in packet, out H[4] h) {
//!     state start { packet.extract(h.next); transition select(h.last.a) { 0: start; _: accept; } }
//! }
//! ```
//!
//! Specification: Parser abstract machine.

use base::Span;
use syntax::diag::Diagnostic;

/// One state of the loop.
pub(crate) fn endless_loop(span: Span, name: &str) -> Diagnostic {
    Diagnostic::warning(
        "W0334",
        span,
        format!("the state `{name}` leads back to itself, and nothing changes on the way"),
    )
    .label("a packet that comes back here never leaves")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_parser;
    use expect_test::expect;

    #[test]
    fn idle_states() {
        check_parser(
            r#"
            state start { transition select(m) { 0: a; 1: c; 2: counting; 3: looking; _: accept; } }
            state a { transition b; }
            state b { transition select(m) { 0: a; _: accept; } }
            state c { p.extract(s.stack.next); transition c; }
            state counting { m = m - 1; transition select(m) { 2: counting; _: accept; } }
            state looking { transition select(p.lookahead<bit<8>>()) { 0: looking; _: accept; } }"#,
            expect![[r#"
                t.p4:5:19: warning[W0334]: the state `a` leads back to itself, and nothing changes on the way
                t.p4:9:19: warning[W0334]: the state `looking` leads back to itself, and nothing changes on the way
            "#]],
        );
    }
}
