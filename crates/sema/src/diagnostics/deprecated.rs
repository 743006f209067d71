//! `W0202`: the use of something that is marked `@deprecated`.

use base::Span;
use syntax::diag::Diagnostic;

/// `advice` is what the annotation says.
pub(crate) fn deprecated(span: Span, name: &str, advice: Option<String>) -> Diagnostic {
    let diagnostic = Diagnostic::warning("W0202", span, format!("`{name}` is deprecated")).label("deprecated");
    match advice {
        Some(advice) => diagnostic.note(advice),
        None => diagnostic,
    }
}
