//! `E0424`: a slice of a value that is not a number with a width.
//!
//! Only numbers with a width, and plain numbers that are known, have slices.
//!
//! ```p4,wrong
//! control C(in bool b, out bit<1> y) { apply { y = b[0:0]; } }
//! ```
//!
//! ```p4
//! control C(in bool b, out bit<1> y) { apply { y = (bit<1>)b; } }
//! ```
//!
//! Specification: Expressions, Operations on fixed-width bit types.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is the type.
pub(crate) fn not_sliceable(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error("E0424", span, format!("{found} cannot be sliced")).label("not bit<w> or int<w>")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn bool_and_header() {
        check_apply(
            "
            s.x = s.h[7:0];
            s.f = s.f[0:0] == 1;",
            expect![[r#"
                t.p4:4:19: error[E0424]: H cannot be sliced
                  `s.h`: not bit<w> or int<w>
                t.p4:5:19: error[E0424]: bool cannot be sliced
                  `s.f`: not bit<w> or int<w>
            "#]],
        );
    }
}
