//! `E0206`: a member of a value that has no members.
//!
//! Structs, headers, enums, stacks, tables and extern objects have members; numbers and booleans do not.
//!
//! ```p4,wrong
//! control C(inout bit<8> x) { apply { x.high = 1; } }
//! ```
//!
//! ```p4
//! control C(inout bit<8> x) { apply { x[7:4] = 1; } }
//! ```
//!
//! Specification: Expressions.

use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `what` describes what precedes the dot.
pub(crate) fn no_members(member: &Ident, what: &str) -> Diagnostic {
    Diagnostic::error("E0206", member.span, format!("{what} has no members, so `.{}` means nothing", member.name))
        .label("no such member")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn of_a_number() {
        check_apply(
            "
            s.x = r.a;
            s.x.isValid();",
            expect![[r#"
                t.p4:4:21: error[E0206]: bit<8> has no members, so `.a` means nothing
                  `a`: no such member
                t.p4:5:17: error[E0205]: `bit<8>` has no member `isValid`
                  `isValid`: unknown member
                  = only headers and header unions have `isValid()`
            "#]],
        );
    }

    #[test]
    fn methods_without_parentheses() {
        check_apply(
            "
            s.x = x.m;
            if (t.apply.hit) { }
            bool b = t.hit;",
            expect![[r#"
                t.p4:4:21: error[E0206]: X has no members, so `.m` means nothing
                  `m`: no such member
                  = `m` is a method, which is called with parentheses: `m()`
                t.p4:5:19: error[E0206]: table t has no members, so `.apply` means nothing
                  `apply`: no such member
                  = `apply` is a method, which is called with parentheses: `apply()`
                t.p4:6:24: error[E0206]: table t has no members, so `.hit` means nothing
                  `hit`: no such member
                  = write `t.apply().hit`, which applies the table
            "#]],
        );
    }
}
