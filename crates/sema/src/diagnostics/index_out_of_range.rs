//! `E0404`: an index or count that is beyond the array, stack or tuple.

use base::Span;
use num_bigint::BigInt;
use syntax::diag::Diagnostic;

/// `size` is the number of elements.
pub(crate) fn index_out_of_range(span: Span, index: &BigInt, size: usize) -> Diagnostic {
    Diagnostic::error("E0404", span, format!("{index} is out of range: there are {size} elements"))
        .label("out of range")
}
