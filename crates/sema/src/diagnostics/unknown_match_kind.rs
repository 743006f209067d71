//! `E0622`: a key with a match kind that does not exist.

use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `known` lists those that do.
pub(crate) fn unknown_match_kind(name: &Ident, suggestion: Option<String>, known: &str) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("E0622", name.span, format!("`{}` is no match kind", name.name)).label("unknown match kind");
    match (suggestion, known) {
        (Some(suggestion), _) => diagnostic.help(format!("did you mean `{suggestion}`?")),
        (None, "") => diagnostic.help("add `#include <core.p4>`"),
        (None, _) => diagnostic.note(format!("there are: {known}")),
    }
}
