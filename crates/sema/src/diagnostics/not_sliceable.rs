//! `E0424`: a slice of something that has no bits.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is the type.
pub(crate) fn not_sliceable(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error("E0424", span, format!("{found} cannot be sliced")).label("not bit<w> or int<w>")
}
