//! `E0627`: a property that a table has twice.

use base::Span;
use syntax::diag::Diagnostic;

/// `first` is the first place.
pub(crate) fn duplicate_property(span: Span, name: &str, first: Span) -> Diagnostic {
    Diagnostic::error("E0627", span, format!("the table has `{name}` twice"))
        .label("the second")
        .secondary(first, "the first")
}
