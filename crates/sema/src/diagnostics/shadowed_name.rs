//! `W0201`: a name that hides another one.
//!
//! Nothing is wrong, but whoever reads the program may take one for the other. `@noWarn("shadow")` silences it.

use base::Span;
use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `hidden` is where the hidden name is declared.
pub(crate) fn shadowed_name(name: &Ident, hidden: Span) -> Diagnostic {
    Diagnostic::warning("W0201", name.span, format!("`{}` hides another declaration of that name", name.name))
        .label("hides it")
        .secondary(hidden, "the hidden one")
}
