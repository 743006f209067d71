//! `E0320`: an argument of `extract`, `lookahead` or `emit` that cannot be read from or written to a packet.
//!
//! `extract` reads headers; one with a `varbit` field requires its length as second argument. `lookahead` reads types
//! of a fixed size. `emit` writes headers, unions, stacks and structs of them.
//!
//! ```p4,wrong
//! #include <core.p4>
//! parser P(packet_in packet, out bit<8> x) { state start { packet.extract(x); transition accept; } }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! parser P(packet_in packet, out bit<8> x) { state start { x = packet.lookahead<bit<8>>(); transition accept; } }
//! ```
//!
//! Specification: Packet parsing, Data extraction.

use base::Span;
use syntax::diag::Diagnostic;

/// `expected` describes what the method accepts.
pub(crate) fn invalid_packet_type(span: Span, method: &str, found: &str, expected: &str) -> Diagnostic {
    Diagnostic::error("E0320", span, format!("`{method}` of {found} needs {expected}"))
        .label(format!("expected {expected}"))
}

#[cfg(test)]
mod tests {
    use crate::testing::check_states;
    use expect_test::expect;

    #[test]
    fn extract_lookahead_emit() {
        check_states(
            "state start { p.extract(s.x); p.extract(s.h, 8); s.f = p.lookahead<varbit<8>>() == p.lookahead<varbit<8>>(); transition accept; }",
            expect![[r#"
                t.p4:3:15: error[E0320]: `extract` of bit<8> needs a header
                  `p.extract(s.x)`: expected a header
                t.p4:3:31: error[E0320]: `extract` of H needs a header with a varbit field
                  `p.extract(s.h, 8)`: expected a header with a varbit field
                t.p4:3:56: error[E0320]: `lookahead` of varbit<8> needs a type of fixed size
                  `p.lookahead<varbit<8>>()`: expected a type of fixed size
                t.p4:3:84: error[E0320]: `lookahead` of varbit<8> needs a type of fixed size
                  `p.lookahead<varbit<8>>()`: expected a type of fixed size
            "#]],
        );
    }

    #[test]
    fn extract_of_a_stack() {
        check_states(
            "state start { p.extract(s.stack); transition accept; }",
            expect![[r#"
            t.p4:3:15: error[E0320]: `extract` of H[4] needs a header
              `p.extract(s.stack)`: expected a header
              = extract one element after another: `extract(stack.next)`, in a state that loops
        "#]],
        );
    }
}
