//! `E0406`: a division by zero.

use base::Span;
use syntax::diag::Diagnostic;

/// The place of the divisor.
pub(crate) fn division_by_zero(span: Span) -> Diagnostic {
    Diagnostic::error("E0406", span, "division by zero").label("this is zero")
}
