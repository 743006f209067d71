//! `E0203`: a name that is declared twice in one scope.
//!
//! A scope has one declaration for each name; only functions and actions with different parameters may share one. Rename or remove one
//! of the two.

use base::Span;
use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `first` is where the name was declared before.
pub(crate) fn duplicate_declaration(name: &Ident, first: Span) -> Diagnostic {
    Diagnostic::error("E0203", name.span, format!("`{}` is declared twice", name.name))
        .label("declared again")
        .secondary(first, "first declared here")
}
