//! `W0206`: a range whose lower bound is above its upper bound, so that it contains nothing.

use base::Span;
use num_bigint::BigInt;
use syntax::diag::Diagnostic;

/// The bounds.
pub(crate) fn empty_range(span: Span, low: &BigInt, high: &BigInt) -> Diagnostic {
    Diagnostic::warning("W0206", span, format!("the range {low} .. {high} is empty")).label("matches nothing")
}
