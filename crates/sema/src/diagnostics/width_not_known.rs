//! `E0318`: a number without width where a width is needed.
//!
//! A plain `5` is an `int`, of any size, and exists only when the program is compiled. Write `8w5`, or cast it.

use base::Span;
use syntax::diag::Diagnostic;

/// The place of the number.
pub(crate) fn width_not_known(span: Span) -> Diagnostic {
    Diagnostic::error("E0318", span, "the width of this number is not known")
        .label("an `int` exists only at compile time")
        .help("write the width, as in `8w5` or `(bit<8>)n`")
}
