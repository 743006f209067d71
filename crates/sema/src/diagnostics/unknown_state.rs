//! `E0612`: a transition to something that is no state of the parser.

use base::Span;
use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `found` is what the name means instead.
pub(crate) fn unknown_state(name: &Ident, suggestion: Option<String>, found: Option<(&str, Span)>) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0612", name.span, format!("`{}` is no state of this parser", name.name))
        .label("not a state");
    let diagnostic = match found {
        Some((kind, span)) => diagnostic.secondary(span, format!("this is {kind}")),
        None => diagnostic,
    };
    match suggestion {
        Some(suggestion) => diagnostic.help(format!("did you mean `{suggestion}`?")),
        None => diagnostic,
    }
}
