//! `E0201`: a name that means nothing here.
//!
//! The name is neither declared in this scope nor in one around it. Often it is misspelled, or the file that declares it is
//! not included (`#include <core.p4>`, `#include <v1model.p4>`).

use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `suggestion` is a name that is known and looks alike.
pub(crate) fn unknown_name(name: &Ident, suggestion: Option<String>) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("E0201", name.span, format!("`{}` is not declared", name.name)).label("unknown name");
    match (suggestion, name.as_str()) {
        (Some(suggestion), _) => diagnostic.help(format!("did you mean `{suggestion}`?")),
        (None, "NoAction" | "packet_in" | "packet_out") => diagnostic.help("add `#include <core.p4>`"),
        (None, "standard_metadata_t" | "V1Switch" | "mark_to_drop") => diagnostic.help("add `#include <v1model.p4>`"),
        (None, _) => diagnostic,
    }
}
