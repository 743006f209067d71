//! `E0623`: a key whose values cannot be looked up.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is the key's type.
pub(crate) fn invalid_key_type(span: Span, found: &str) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("E0623", span, format!("a key cannot be of type {found}")).label("cannot be looked up");
    match found {
        "int" => diagnostic.help("write the width, as in `8w5`"),
        _ => diagnostic,
    }
}
