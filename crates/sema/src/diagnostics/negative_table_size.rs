//! `E0632`: a table whose size is negative.

use base::Span;
use syntax::diag::Diagnostic;

/// The place of the size.
pub(crate) fn negative_table_size(span: Span) -> Diagnostic {
    Diagnostic::error("E0632", span, "a table's size cannot be negative").label("this is negative")
}
