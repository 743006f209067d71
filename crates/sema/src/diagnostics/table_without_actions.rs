//! `E0621`: a table without a list of actions.

use base::Span;
use syntax::diag::Diagnostic;

/// The table's name and place.
pub(crate) fn table_without_actions(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error("E0621", span, format!("the table `{name}` has no `actions`")).label("add `actions = { ... }`")
}
