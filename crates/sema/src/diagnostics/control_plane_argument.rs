//! `E0625`: an argument, in a table's list of actions, for a parameter that the entries give.

use base::Span;
use syntax::diag::Diagnostic;

/// `declared` is where the parameter is declared.
pub(crate) fn control_plane_argument(span: Span, param: &str, declared: Span) -> Diagnostic {
    Diagnostic::error("E0625", span, format!("`{param}` is given by the table's entries, not by its list of actions"))
        .label("remove this argument")
        .secondary(declared, "a parameter without direction")
}
