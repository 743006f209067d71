//! `E0502`: a call that leaves out an argument that is needed.

use base::Span;
use syntax::diag::Diagnostic;

/// `declared` is where the parameter is declared.
pub(crate) fn missing_argument(span: Span, callee: &str, param: &str, declared: Span) -> Diagnostic {
    Diagnostic::error("E0502", span, format!("the call of `{callee}` has no argument for `{param}`"))
        .label(format!("`{param}` is missing"))
        .secondary(declared, "this parameter")
}
