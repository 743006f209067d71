//! `E0608`: a label that is no action, in a `switch` on the action that a table ran.

use base::Span;
use syntax::diag::Diagnostic;

/// `table` is the table's name.
pub(crate) fn invalid_switch_label(span: Span, table: &str) -> Diagnostic {
    Diagnostic::error("E0608", span, format!("a label must be an action of `{table}`"))
        .label("not the name of an action")
}
