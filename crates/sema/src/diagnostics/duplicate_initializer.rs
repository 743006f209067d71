//! `E0410`: a list of named fields that gives a field twice.

use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// The second name.
pub(crate) fn duplicate_initializer(name: &Ident) -> Diagnostic {
    Diagnostic::error("E0410", name.span, format!("`{}` is given a value twice", name.name)).label("the second value")
}
