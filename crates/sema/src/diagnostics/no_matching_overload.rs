//! `E0506`: a call whose arguments do not fit any of the functions of that name.
//!
//! ```p4,wrong
//! #include <core.p4>
//! header H { bit<8> x; }
//! parser P(packet_in packet, out H h) { state start { packet.extract(h, 1, 2); transition accept; } }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! header H { bit<8> x; }
//! parser P(packet_in packet, out H h) { state start { packet.extract(h); transition accept; } }
//! ```
//!
//! Specification: Name resolution.

use base::Span;
use syntax::diag::Diagnostic;

/// `counts` are the numbers of parameters of these functions.
pub(crate) fn no_matching_overload(span: Span, name: &str, found: usize, counts: &[usize]) -> Diagnostic {
    let counts = counts.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    Diagnostic::error("E0506", span, format!("no `{name}` takes these {found} argument(s)"))
        .label("fits none of them")
        .note(format!("the numbers of parameters are: {counts}"))
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn number_of_arguments() {
        check_errors(
            "
            void f(in bit<8> a) { }
            void f(in bit<8> a, in bit<8> b) { }
            void g() { f(1, 2, 3); f(1); f(1, 2); f(c = 1); }",
            expect![[r#"
                t.p4:4:24: error[E0506]: no `f` takes these 3 argument(s)
                  `f(1, 2, 3)`: fits none of them
                  = the numbers of parameters are: 1, 2
                t.p4:4:51: error[E0506]: no `f` takes these 1 argument(s)
                  `f(c = 1)`: fits none of them
                  = the numbers of parameters are: 1, 2
            "#]],
        );
    }
}
