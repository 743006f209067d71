//! `E0510`: a call in a place where it cannot happen.
//!
//! Tables and controls are applied in the `apply` block of a control, parsers in states of parsers. Actions are called from controls
//! and actions, `verify` from parser states.

use base::Span;
use syntax::diag::Diagnostic;

/// Both come with their articles.
pub(crate) fn call_not_allowed_here(span: Span, what: &str, here: &str) -> Diagnostic {
    let message = match what.contains("apply()") {
        true => format!("{what} cannot be called in {here}"),
        false => format!("{what} cannot be called from {here}"),
    };
    Diagnostic::error("E0510", span, message).label("not here")
}
