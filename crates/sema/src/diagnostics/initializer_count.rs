//! `E0408`: a list with too many or too few values for what it is to become.

use base::Span;
use syntax::diag::Diagnostic;

/// `wanted` and `found` are numbers of values.
pub(crate) fn initializer_count(span: Span, shown: &str, wanted: usize, found: usize) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("E0408", span, format!("{shown} has {wanted} parts, but {found} values are given"))
            .label("wrong number of values");
    match found < wanted {
        true => diagnostic.help("end the list with `...` to give the others their default values"),
        false => diagnostic,
    }
}
