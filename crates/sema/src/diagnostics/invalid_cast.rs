//! `E0302`: a cast that does not exist.
//!
//! There are casts between `bit<1>` and `bool`, between `bit<w>` and `int<w>` of the same width, between widths of the
//! same signedness, from `int` to numbers with a width, and between a type declared with `type` (or an enum with a
//! representation) and its underlying type.
//!
//! Cast in two steps, through a type that has casts from the one type and to the other.
//!
//! ```p4,wrong
//! control C(inout bit<16> x, in int<8> y) { apply { x = (bit<16>)y; } }
//! ```
//!
//! ```p4
//! control C(inout bit<16> x, in int<8> y) { apply { x = (bit<16>)(int<16>)y; } }
//! ```
//!
//! Specification: Expressions, Casts, Explicit casts.

use base::Span;
use syntax::diag::Diagnostic;

/// `help` suggests a replacement.
pub(crate) fn invalid_cast(span: Span, expected: &str, found: &str, help: Option<String>) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("E0302", span, format!("cannot cast {found} to {expected}")).label("no such cast");
    match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn what_cannot_be_cast() {
        check_apply(
            "
            s.f = (bool)s.x;
            s.x = (bit<8>)s.h;
            s.i = (int<8>)s.y;
            s.x = (bit<8>)s.f;
            E e = (E)1;
            s.h = (H)s.x;",
            expect![[r#"
                t.p4:4:19: error[E0302]: cannot cast bit<8> to bool
                  `(bool)s.x`: no such cast
                  = compare it with a number: `x != 0`
                t.p4:5:19: error[E0302]: cannot cast H to bit<8>
                  `(bit<8>)s.h`: no such cast
                  = put its fields together with `++`
                t.p4:6:19: error[E0302]: cannot cast bit<16> to int<8>
                  `(int<8>)s.y`: no such cast
                  = cast in two steps: `(int<8>)(bit<8>)`
                t.p4:7:19: error[E0302]: cannot cast bool to bit<8>
                  `(bit<8>)s.f`: no such cast
                  = cast in two steps: `(bit<8>)(bit<1>)`
                t.p4:8:19: error[E0302]: cannot cast int to E
                  `(E)1`: no such cast
                  = give the enum a type and its members values: `enum bit<8> E { ... }`
                t.p4:9:19: error[E0302]: cannot cast bit<8> to H
                  `(H)s.x`: no such cast
            "#]],
        );
    }
}
