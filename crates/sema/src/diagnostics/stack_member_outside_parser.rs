//! `E0412`: `next`, `last` or `lastIndex` of a header stack outside a parser.
//!
//! They refer to the element that the parser extracts next, or extracted last. Elsewhere use an index.
//!
//! ```p4,wrong
//! header H { bit<8> x; }
//! control C(inout H[2] stack) { apply { stack.last.x = 1; } }
//! ```
//!
//! ```p4
//! header H { bit<8> x; }
//! control C(inout H[2] stack) { apply { stack[1].x = 1; } }
//! ```
//!
//! Specification: Expressions, Operations on header stacks.

use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// The member.
pub(crate) fn stack_member_outside_parser(member: &Ident) -> Diagnostic {
    Diagnostic::error("E0412", member.span, format!("`{}` of a header stack exists only in parsers", member.name))
        .label("not in a parser")
        .help("use an index, as in `stack[0]`")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn in_a_control() {
        check_apply(
            "
            s.stack.next.a = 1;
            s.x = s.stack.last.a;
            s.y = (bit<16>)s.stack.lastIndex;",
            expect![[r#"
                t.p4:4:21: error[E0412]: `next` of a header stack exists only in parsers
                  `next`: not in a parser
                  = use an index, as in `stack[0]`
                t.p4:5:27: error[E0412]: `last` of a header stack exists only in parsers
                  `last`: not in a parser
                  = use an index, as in `stack[0]`
                t.p4:6:36: error[E0412]: `lastIndex` of a header stack exists only in parsers
                  `lastIndex`: not in a parser
                  = use an index, as in `stack[0]`
            "#]],
        );
    }
}
