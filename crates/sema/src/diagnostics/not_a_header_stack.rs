//! `E0413`: `next`, `last` or `lastIndex` of an array that is no header stack.

use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `found` is the type.
pub(crate) fn not_a_header_stack(member: &Ident, found: &str) -> Diagnostic {
    Diagnostic::error("E0413", member.span, format!("`{}` needs a header stack, found {found}", member.name))
        .label("not a header stack")
}
