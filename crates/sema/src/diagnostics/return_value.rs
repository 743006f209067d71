//! `E0601`: a `return` without the value that the function gives, or with one where nothing is given.

use base::Span;
use syntax::diag::Diagnostic;

/// `wanted` is the type of the result.
pub(crate) fn missing_return_value(span: Span, wanted: &str) -> Diagnostic {
    Diagnostic::error("E0601", span, format!("this function gives {wanted}")).label("no value is returned")
}

/// `here` is what has no result.
pub(crate) fn unexpected_return_value(span: Span, here: &str) -> Diagnostic {
    Diagnostic::error("E0601", span, format!("{here} without result returns a value")).label("remove the value")
}
