//! `E0519`: a parameter with a direction that it cannot have.

use base::Span;
use syntax::diag::Diagnostic;

/// `wanted` is what it can have.
pub(crate) fn invalid_direction(span: Span, what: &str, wanted: &str) -> Diagnostic {
    Diagnostic::error("E0519", span, format!("{what} must have {wanted}")).label("wrong direction")
}
