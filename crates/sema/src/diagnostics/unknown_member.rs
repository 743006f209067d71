//! `E0205`: a field, method or enum member that does not exist.

use base::Span;
use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `owner` is the type's name; `declared` is where the type is declared, if it is.
pub(crate) fn unknown_member(member: &Ident, owner: &str, suggestion: Option<String>, declared: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0205", member.span, format!("`{owner}` has no member `{}`", member.name))
        .label("unknown member")
        .secondary(declared, "declared here");
    match suggestion {
        Some(suggestion) => diagnostic.help(format!("did you mean `{suggestion}`?")),
        None => diagnostic,
    }
}
