//! `E0202`: a name that is used before it is declared.
//!
//! P4 reads from top to bottom: only parser states may be used before their declaration. Move the declaration up.

use base::Span;
use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `declared` is where the declaration stands.
pub(crate) fn used_before_declaration(name: &Ident, declared: Span) -> Diagnostic {
    Diagnostic::error("E0202", name.span, format!("`{}` is used before it is declared", name.name))
        .label("not known here yet")
        .secondary(declared, "declared here, too late")
        .help("move the declaration before its first use")
}
