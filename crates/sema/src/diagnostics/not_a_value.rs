//! `E0416`: something that is no value where one is needed: a table, an instance, the call of a function that gives nothing.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is the type.
pub(crate) fn not_a_value(span: Span, found: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0416", span, format!("expected a value, found {found}")).label("not a value");
    if found.starts_with("the result of") {
        return diagnostic.help("add `.hit` or `.miss`, or use `.action_run` in a `switch`");
    }
    diagnostic
}
