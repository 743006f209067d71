//! `E0611`: a parser without a state called `start`.

use base::Span;
use syntax::diag::Diagnostic;

/// The parser's name and place.
pub(crate) fn no_start_state(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error("E0611", span, format!("the parser `{name}` has no state `start`")).label("nowhere to begin")
}
