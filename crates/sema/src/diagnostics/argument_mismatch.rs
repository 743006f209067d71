//! `E0508`: an argument of the wrong type.
//!
//! An `out` or `inout` argument must have exactly the parameter's type, because the value is copied back.

use base::Span;
use syntax::diag::Diagnostic;

/// `declared` is where the parameter is declared.
pub(crate) fn argument_mismatch(span: Span, param: &str, wanted: &str, found: &str, declared: Span) -> Diagnostic {
    Diagnostic::error("E0508", span, format!("the argument for `{param}` must be {wanted}, found {found}"))
        .label(format!("this is {found}"))
        .secondary(declared, "this parameter")
}
