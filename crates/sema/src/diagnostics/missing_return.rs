//! `E0602`: a function that can end without giving its result.

use base::Span;
use syntax::diag::Diagnostic;

/// The function's name and place.
pub(crate) fn missing_return(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error("E0602", span, format!("`{name}` can end without returning a value"))
        .label("not every path has a `return`")
        .help("end the function with a `return`")
}
