//! `E0513`: an instance of something that has no constructor.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is the type.
pub(crate) fn not_instantiable(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error("E0513", span, format!("{found} has no constructor")).label("cannot be instantiated")
}
