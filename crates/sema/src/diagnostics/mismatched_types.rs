//! `E0301`: a value of the wrong type.
//!
//! The only conversions that need not be written are those from `int` (a number without width) to a number type, from an enum to its
//! representation, and from lists to structs, headers and tuples. Write a cast where one exists.

use base::Span;
use syntax::diag::Diagnostic;

/// `wanted` and `found` are types as they are written.
pub(crate) fn mismatched_types(span: Span, wanted: &str, found: &str) -> Diagnostic {
    Diagnostic::error("E0301", span, format!("expected {wanted}, found {found}")).label(format!("this is {found}"))
}
