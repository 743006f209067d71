//! `W0204`: a parser state to which no transition leads.

use base::Span;
use syntax::diag::Diagnostic;

/// The state's name and place.
pub(crate) fn unreachable_state(span: Span, name: &str) -> Diagnostic {
    Diagnostic::warning("W0204", span, format!("the state `{name}` is never reached")).label("no way leads here")
}
