//! `E0614`: a keyset with more or fewer elements than there are keys.

use base::Span;
use syntax::diag::Diagnostic;

/// The numbers of elements and keys.
pub(crate) fn keyset_count(span: Span, found: usize, wanted: usize) -> Diagnostic {
    let plural = if wanted == 1 { "" } else { "s" };
    Diagnostic::error("E0614", span, format!("there are {wanted} key{plural}, but {found} value(s) to compare with"))
        .label("wrong number of values")
}
