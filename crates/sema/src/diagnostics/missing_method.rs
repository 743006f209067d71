//! `E0514`: an instance that does not implement an abstract method of its type.

use base::Span;
use syntax::diag::Diagnostic;

/// `declared` is where the method is declared.
pub(crate) fn missing_method(span: Span, method: &str, declared: Span) -> Diagnostic {
    Diagnostic::error("E0514", span, format!("the abstract method `{method}` is not implemented"))
        .label(format!("needs `= {{ ... {method}(...) {{ ... }} }}`"))
        .secondary(declared, "the method")
}
