//! `E0319`: `minSizeInBits` and its like of a type that has no size.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is the type.
pub(crate) fn no_size(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error("E0319", span, format!("values of type {found} have no size in bits")).label("no size")
}
