//! `E0630`: an entry with a mask, range or `_` for a key whose match kind cannot match that.

use base::Span;
use syntax::diag::Diagnostic;

/// `form` comes with its article.
pub(crate) fn invalid_entry_key(span: Span, form: &str, kind: &str) -> Diagnostic {
    Diagnostic::error("E0630", span, format!("{form} cannot be matched by a key of kind `{kind}`"))
        .label("another form is needed")
}
