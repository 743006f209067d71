//! `E0403`: a slice whose bounds are reversed, negative, or beyond the value.
//!
//! `x[h:l]` takes bits `h` down to `l`, both included; bit 0 is the lowest.

use base::Span;
use num_bigint::BigInt;
use syntax::diag::Diagnostic;

/// `width` is the value's; `base` is where the value stands.
pub(crate) fn slice_out_of_range(span: Span, high: &BigInt, low: &BigInt, width: u32, base: Span) -> Diagnostic {
    let message = if high < low {
        format!("the slice [{high}:{low}] has its bounds reversed")
    } else {
        format!("the slice [{high}:{low}] is outside a value of {width} bits")
    };
    Diagnostic::error("E0403", span, message)
        .label("out of range")
        .secondary(base, format!("this has bits {} to 0", width.saturating_sub(1)))
}
