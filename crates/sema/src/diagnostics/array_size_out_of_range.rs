//! `E0307`: a header stack or array whose size is zero, negative or too large.

use base::Span;
use num_bigint::BigInt;
use syntax::diag::Diagnostic;

/// The place of the size, and the size.
pub(crate) fn array_size_out_of_range(span: Span, size: &BigInt) -> Diagnostic {
    let limit = base::limits::STACK_ELEMENTS_MAX;
    Diagnostic::error("E0307", span, format!("an array cannot have {size} elements"))
        .label(format!("the size must be between 1 and {limit}"))
}
