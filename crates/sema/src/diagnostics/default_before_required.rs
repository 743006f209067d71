//! `E0517`: a parameter without default value after one that has one.

use base::Span;
use syntax::diag::Diagnostic;

/// `first` is the first parameter with a default value.
pub(crate) fn default_before_required(span: Span, name: &str, first: Span) -> Diagnostic {
    Diagnostic::error("E0517", span, format!("`{name}` needs a default value, because a parameter before it has one"))
        .label("no default value")
        .secondary(first, "has one")
}
