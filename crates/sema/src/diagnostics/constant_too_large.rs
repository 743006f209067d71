//! `E0418`: a constant expression whose value has too many digits.

use base::Span;
use syntax::diag::Diagnostic;

/// The place of the expression.
pub(crate) fn constant_too_large(span: Span) -> Diagnostic {
    let limit = crate::consts::CONSTANT_BITS_MAX;
    Diagnostic::error("E0418", span, format!("the value of this constant is longer than {limit} bits"))
        .label("too large")
}
