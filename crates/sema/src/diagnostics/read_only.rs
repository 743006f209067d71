//! `E0402`: a write to something that may only be read.

use base::Span;
use syntax::diag::Diagnostic;

/// `what` comes with its article.
pub(crate) fn read_only(span: Span, name: &str, what: &str, declared: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0402", span, format!("`{name}` is {what} and cannot be written to"))
        .secondary(declared, "declared here");
    if what.contains("parameter") && !what.contains("constructor") {
        return diagnostic.label("only read here").help("declare the parameter `inout`, or copy it to a variable");
    }
    diagnostic.label("only read here")
}
