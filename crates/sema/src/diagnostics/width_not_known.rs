//! `E0318`: a number without width where a width is required.
//!
//! A plain `5` is an `int`, which has unlimited size and only exists at compile time. Write `8w5`, or cast it.
//!
//! ```p4,wrong
//! control C(inout bit<8> x, in bit<8> n) { apply { x = 1 << n; } }
//! ```
//!
//! ```p4
//! control C(inout bit<8> x, in bit<8> n) { apply { x = 8w1 << n; } }
//! ```
//!
//! Specification: Expressions, Operations on arbitrary-precision integers.

use base::Span;
use syntax::diag::Diagnostic;

/// The location of the number.
pub(crate) fn width_not_known(span: Span) -> Diagnostic {
    Diagnostic::error("E0318", span, "the width of this number is not known")
        .label("an `int` exists only at compile time")
        .help("write the width, as in `8w5` or `(bit<8>)n`")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn concatenation_and_select_key() {
        check_apply(
            "
            s.y = 1 ++ s.x;
            s.x = (s.f ? 1 : 2) + s.x;
            s.y = 1 << s.x;",
            expect![[r#"
                t.p4:4:19: error[E0318]: the width of this number is not known
                  `1`: an `int` exists only at compile time
                  = write the width, as in `8w5` or `(bit<8>)n`
                t.p4:5:19: error[E0318]: the width of this number is not known
                  `(s.f ? 1 : 2)`: an `int` exists only at compile time
                  = write the width, as in `8w5` or `(bit<8>)n`
                t.p4:6:19: error[E0318]: the width of this number is not known
                  `1`: an `int` exists only at compile time
                  = write the width, as in `8w5` or `(bit<8>)n`
            "#]],
        );
    }
}
