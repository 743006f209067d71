//! `E0314`: a variable, parameter, constant or result of a type whose values do not exist at run time.
//!
//! `int` and `string` are for constants; extern objects, parsers and controls are instances, not values.

use base::Span;
use syntax::diag::Diagnostic;

/// `what` comes with its article.
pub(crate) fn invalid_variable_type(span: Span, what: &str, found: &str) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("E0314", span, format!("{what} cannot be of type {found}")).label("not a type of values");
    match found {
        "int" => diagnostic.help("give it a width: `bit<32>` or `int<32>`"),
        _ => diagnostic,
    }
}
