//! `E0629`: entries in a table that has no key.

use base::Span;
use syntax::diag::Diagnostic;

/// The table's name.
pub(crate) fn entries_without_key(span: Span, table: &str) -> Diagnostic {
    Diagnostic::error("E0629", span, format!("`{table}` has entries but no key")).label("nothing to compare with")
}
