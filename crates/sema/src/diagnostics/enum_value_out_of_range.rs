//! `E0309`: an enum member whose value does not fit in the enum's type.

use base::Span;
use num_bigint::BigInt;
use syntax::diag::Diagnostic;

/// `representation` is the enum's type.
pub(crate) fn enum_value_out_of_range(span: Span, value: &BigInt, representation: &str) -> Diagnostic {
    Diagnostic::error("E0309", span, format!("{value} does not fit in {representation}")).label("out of range")
}
