//! `E0412`: `next`, `last` or `lastIndex` of a header stack outside a parser.
//!
//! They mean the element that the parser extracts next, or extracted last. Elsewhere use an index.

use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// The member.
pub(crate) fn stack_member_outside_parser(member: &Ident) -> Diagnostic {
    Diagnostic::error("E0412", member.span, format!("`{}` of a header stack exists only in parsers", member.name))
        .label("not in a parser")
        .help("use an index, as in `stack[0]`")
}
