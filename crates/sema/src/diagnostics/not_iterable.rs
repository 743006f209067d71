//! `E0606`: a `for ... in` over something that has no elements.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is the type.
pub(crate) fn not_iterable(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error("E0606", span, format!("a loop cannot go over {found}")).label("not an array, list or range")
}
