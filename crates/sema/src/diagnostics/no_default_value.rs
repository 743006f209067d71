//! `E0411`: `...` for a type that has no default value.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is the type.
pub(crate) fn no_default_value(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error("E0411", span, format!("values of type {found} have no default")).label("no default value")
}
