//! `E0421`: a comparison of values that cannot be compared.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is the type of both sides.
pub(crate) fn not_comparable(span: Span, operator: &str, found: &str) -> Diagnostic {
    Diagnostic::error("E0421", span, format!("values of type {found} cannot be compared with `{operator}`"))
        .label("not comparable")
}
