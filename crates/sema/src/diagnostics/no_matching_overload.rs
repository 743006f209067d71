//! `E0506`: a call whose arguments fit none of the functions of that name.

use base::Span;
use syntax::diag::Diagnostic;

/// `counts` are the numbers of parameters that there are.
pub(crate) fn no_matching_overload(span: Span, name: &str, found: usize, counts: &[usize]) -> Diagnostic {
    let counts = counts.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    Diagnostic::error("E0506", span, format!("no `{name}` takes these {found} argument(s)"))
        .label("fits none of them")
        .note(format!("the numbers of parameters are: {counts}"))
}
