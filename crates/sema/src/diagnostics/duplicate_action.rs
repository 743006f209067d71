//! `E0626`: an action that a table lists twice.

use base::Span;
use syntax::diag::Diagnostic;

/// `first` is the first place.
pub(crate) fn duplicate_action(span: Span, name: &str, first: Span) -> Diagnostic {
    Diagnostic::error("E0626", span, format!("`{name}` is listed twice"))
        .label("listed again")
        .secondary(first, "first listed here")
}
