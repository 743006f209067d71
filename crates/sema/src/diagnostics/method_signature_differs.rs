//! `E0515`: the implementation of an abstract method with other parameters or another result.

use base::Span;
use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `declared` is where the method is declared.
pub(crate) fn method_signature_differs(name: &Ident, declared: Span) -> Diagnostic {
    Diagnostic::error(
        "E0515",
        name.span,
        format!("`{}` has another signature than the method it implements", name.name),
    )
    .label("types or directions differ")
    .secondary(declared, "the method")
}
