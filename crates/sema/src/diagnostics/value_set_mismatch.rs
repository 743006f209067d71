//! `E0615`: a value set whose elements have another type than the keys.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is the type of the elements, `wanted` that of the keys.
pub(crate) fn value_set_mismatch(span: Span, found: &str, wanted: &str) -> Diagnostic {
    Diagnostic::error("E0615", span, format!("the value set contains {found}, the keys are {wanted}"))
        .label("types differ")
}
