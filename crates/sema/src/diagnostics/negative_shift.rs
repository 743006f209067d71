//! `E0407`: a shift by a negative number.

use base::Span;
use syntax::diag::Diagnostic;

/// The place of the shift's right side.
pub(crate) fn negative_shift(span: Span) -> Diagnostic {
    Diagnostic::error("E0407", span, "a shift by a negative number")
        .label("this is negative")
        .help("shift the other way")
}
