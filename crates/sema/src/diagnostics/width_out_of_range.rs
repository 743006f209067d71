//! `E0306`: a width that is zero, negative or too large.

use base::Span;
use num_bigint::BigInt;
use syntax::diag::Diagnostic;

/// `type_name` is `bit`, `int` or `varbit`.
pub(crate) fn width_out_of_range(span: Span, type_name: &str, width: &BigInt) -> Diagnostic {
    let limit = base::limits::WIDTH_BITS_MAX;
    Diagnostic::error("E0306", span, format!("{type_name}<{width}> has no valid width"))
        .label(format!("the width must be between 1 and {limit}"))
}
