//! `E0415`: `default` where a value is needed.

use base::Span;
use syntax::diag::Diagnostic;

/// The place of `default`.
pub(crate) fn misplaced_default(span: Span) -> Diagnostic {
    Diagnostic::error("E0415", span, "`default` is no value").label("a value is needed here")
}
