//! `E0509`: a call of something that cannot be called.

use base::Span;
use syntax::diag::Diagnostic;

/// `what` is the callee.
pub(crate) fn not_callable(span: Span, what: &str) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("E0509", span, format!("{what} cannot be called")).label("not a function, action or method");
    if what.contains("table") || what.contains("instance") {
        return diagnostic.help("write `.apply(...)`");
    }
    diagnostic
}
