//! `E0605`: a declaration in a place where it cannot stand.
//!
//! Tables and actions are declared in controls, value sets in parsers, types in the outermost scope.

use base::Span;
use syntax::diag::Diagnostic;

/// `here` comes with its article.
pub(crate) fn declaration_not_allowed_here(span: Span, here: &str) -> Diagnostic {
    Diagnostic::error("E0605", span, format!("this cannot be declared in {here}")).label("not here")
}
