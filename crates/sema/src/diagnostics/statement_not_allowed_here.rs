//! `E0604`: a statement in a place where it cannot stand: `exit` in a function, `return` or `switch` in a parser.

use base::Span;
use syntax::diag::Diagnostic;

/// `here` comes with its article.
pub(crate) fn statement_not_allowed_here(span: Span, keyword: &str, here: &str) -> Diagnostic {
    Diagnostic::error("E0604", span, format!("`{keyword}` cannot be used in {here}")).label("not here")
}
