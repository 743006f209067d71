//! `E0401`: something that is written to and is no storage.
//!
//! Variables, `out` and `inout` parameters, their fields, elements and slices can be written; results of computations cannot.

use base::Span;
use syntax::diag::Diagnostic;

/// The place of what is written to.
pub(crate) fn not_an_lvalue(span: Span) -> Diagnostic {
    Diagnostic::error("E0401", span, "this cannot be written to").label("not a variable, field, element or slice")
}
