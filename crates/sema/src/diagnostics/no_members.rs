//! `E0206`: a member of something that has none.
//!
//! Structs, headers, enums, stacks, tables and extern objects have members; numbers and truth values have none.

use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `what` is what stands before the dot.
pub(crate) fn no_members(member: &Ident, what: &str) -> Diagnostic {
    Diagnostic::error("E0206", member.span, format!("`{what}` has no members, so `.{}` means nothing", member.name))
        .label("no such member")
}
