//! `E0603`: `break` or `continue` outside a loop.

use base::Span;
use syntax::diag::Diagnostic;

/// `keyword` is which of them.
pub(crate) fn outside_loop(span: Span, keyword: &str) -> Diagnostic {
    Diagnostic::error("E0603", span, format!("`{keyword}` stands outside a loop")).label("no loop here")
}
