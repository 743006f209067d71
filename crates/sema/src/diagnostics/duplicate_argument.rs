//! `E0504`: two arguments for one parameter.

use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// The second name.
pub(crate) fn duplicate_argument(name: &Ident) -> Diagnostic {
    Diagnostic::error("E0504", name.span, format!("two arguments for `{}`", name.name)).label("the second")
}
