//! `W0203`: a number that does not fit in its type and loses its highest bits.

use base::Span;
use num_bigint::BigInt;
use syntax::diag::Diagnostic;

/// `wrapped` is the value that remains.
pub(crate) fn literal_does_not_fit(
    span: Span,
    value: &BigInt,
    ty: &str,
    wrapped: &BigInt,
    is_pattern: bool,
) -> Diagnostic {
    let diagnostic =
        Diagnostic::warning("W0203", span, format!("{value} does not fit in {ty}")).label(format!("becomes {wrapped}"));
    match is_pattern {
        true => diagnostic.note("the bits are kept, the sign changes"),
        false => diagnostic,
    }
}
