//! `E0610`: `default` before other labels of a `switch`.

use base::Span;
use syntax::diag::Diagnostic;

/// The place of `default`.
pub(crate) fn default_not_last(span: Span) -> Diagnostic {
    Diagnostic::error("E0610", span, "`default` must be the last label").label("other labels follow")
}
