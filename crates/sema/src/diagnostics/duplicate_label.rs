//! `E0609`: a label that a `switch` has twice.

use base::Span;
use syntax::diag::Diagnostic;

/// `first` is the first one.
pub(crate) fn duplicate_label(span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("E0609", span, "this label appears twice")
        .label("never reached")
        .secondary(first, "the first one")
}
