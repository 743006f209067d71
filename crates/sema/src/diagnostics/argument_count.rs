//! `E0501`: a call with too many or too few arguments.

use base::Span;
use syntax::diag::Diagnostic;

/// `declared` is where the callee is declared, if it is.
pub(crate) fn argument_count(span: Span, name: &str, found: usize, wanted: usize, declared: Span) -> Diagnostic {
    let plural = if wanted == 1 { "" } else { "s" };
    Diagnostic::error("E0501", span, format!("`{name}` takes {wanted} argument{plural}, found {found}"))
        .label("wrong number of arguments")
        .secondary(declared, "declared here")
}
