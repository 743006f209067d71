//! `E0417`: a type where a value is needed.

use base::Span;
use syntax::diag::Diagnostic;

/// The place of the type.
pub(crate) fn type_as_value(span: Span) -> Diagnostic {
    Diagnostic::error("E0417", span, "expected a value, found a type").label("a type")
}
