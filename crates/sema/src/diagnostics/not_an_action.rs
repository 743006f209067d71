//! `E0631`: a default action that is neither an action's name nor the call of one.

use base::Span;
use syntax::diag::Diagnostic;

/// The place of the value.
pub(crate) fn not_an_action(span: Span) -> Diagnostic {
    Diagnostic::error("E0631", span, "the default action must be an action")
        .label("not an action")
        .help("write `default_action = name(...);`")
}
