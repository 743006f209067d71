//! `E0701`: a `static_assert` whose condition does not hold.

use base::Span;
use syntax::diag::Diagnostic;

/// `message` is the program's own.
pub(crate) fn static_assert_failed(span: Span, message: Option<String>) -> Diagnostic {
    let message =
        message.map_or_else(|| "static_assert failed".into(), |message| format!("static_assert failed: {message}"));
    Diagnostic::error("E0701", span, message).label("the condition is false")
}
