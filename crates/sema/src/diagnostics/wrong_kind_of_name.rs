//! `E0204`: a name of the wrong kind: a type where a value is expected, a variable where an action is expected, and so on.

use base::Span;
use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `wanted` and `found` come with their articles.
pub(crate) fn wrong_kind_of_name(name: &Ident, wanted: &str, found: &str, declared: Span) -> Diagnostic {
    Diagnostic::error("E0204", name.span, format!("`{}` is {found}, not {wanted}", name.name))
        .label(format!("expected {wanted}"))
        .secondary(declared, "declared here")
}
