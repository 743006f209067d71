//! `E0304`: a type, function or method with the wrong number of type arguments.

use base::Span;
use syntax::diag::Diagnostic;

/// `declared` is where the generic thing is declared.
pub(crate) fn type_argument_count(span: Span, name: &str, found: usize, wanted: usize, declared: Span) -> Diagnostic {
    let plural = if wanted == 1 { "" } else { "s" };
    let message = match wanted {
        0 => format!("`{name}` is not generic, but has {found} type argument(s)"),
        _ => format!("`{name}` takes {wanted} type argument{plural}, found {found}"),
    };
    Diagnostic::error("E0304", span, message)
        .label("wrong number of type arguments")
        .secondary(declared, "declared here")
}
