//! `E0315`: a type with too many parts.
//!
//! Types inside types multiply; this one has more fields and elements than any program can use.

use base::Span;
use syntax::diag::Diagnostic;

/// The place of the type.
pub(crate) fn type_too_large(span: Span) -> Diagnostic {
    Diagnostic::error("E0315", span, "this type has too many parts").label("too large")
}
