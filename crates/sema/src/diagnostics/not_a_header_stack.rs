//! `E0413`: `next`, `last` or `lastIndex` of an array that is not a header stack.
//!
//! ```p4,wrong
//! parser P(inout bit<8>[2] array) { state start { array.next = 1; transition accept; } }
//! ```
//!
//! ```p4
//! parser P(inout bit<8>[2] array) { state start { array[0] = 1; transition accept; } }
//! ```
//!
//! Specification: Expressions, Operations on header stacks.

use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `found` is the type.
pub(crate) fn not_a_header_stack(member: &Ident, found: &str) -> Diagnostic {
    Diagnostic::error("E0413", member.span, format!("`{}` needs a header stack, found {found}", member.name))
        .label("not a header stack")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_states;
    use expect_test::expect;

    #[test]
    fn array_of_numbers() {
        check_states(
            "state start { bit<8>[4] v; s.x = v.next; transition accept; }",
            expect![[r#"
            t.p4:3:36: error[E0413]: `next` needs a header stack, found bit<8>[4]
              `next`: not a header stack
        "#]],
        );
    }
}
