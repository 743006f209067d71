//! `E0404`: an index or count beyond the size of the array, stack or tuple.
//!
//! ```p4,wrong
//! header H { bit<8> x; }
//! control C(inout H[2] stack) { apply { stack[2].x = 1; } }
//! ```
//!
//! ```p4
//! header H { bit<8> x; }
//! control C(inout H[2] stack) { apply { stack[1].x = 1; } }
//! ```
//!
//! Specification: Expressions, Operations on header stacks.

use base::Span;
use num_bigint::BigInt;
use syntax::diag::Diagnostic;

/// `size` is the number of elements.
pub(crate) fn index_out_of_range(span: Span, index: &BigInt, size: usize) -> Diagnostic {
    let elements = if size == 1 { "there is 1 element".to_owned() } else { format!("there are {size} elements") };
    Diagnostic::error("E0404", span, format!("{index} is out of range: {elements}")).label("out of range")
}

/// `count` is the number of elements that are pushed or popped.
pub(crate) fn count_out_of_range(span: Span, count: &BigInt) -> Diagnostic {
    let limit = base::limits::STACK_ELEMENTS_MAX;
    Diagnostic::error("E0404", span, format!("a stack cannot move by {count} elements"))
        .label(format!("must be between 1 and {limit}"))
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn stack_and_tuple() {
        check_apply(
            "
            s.stack[4].a = 1;
            s.stack[-1].a = 1;
            tuple<bit<8>, bool> u = { 1, true };
            s.f = u[2];
            tuple<bit<8>> t1 = { 1 };
            s.x = t1[1];",
            expect![[r#"
                t.p4:4:21: error[E0404]: 4 is out of range: there are 4 elements
                  `4`: out of range
                t.p4:5:21: error[E0404]: -1 is out of range: there are 4 elements
                  `-1`: out of range
                t.p4:7:21: error[E0404]: 2 is out of range: there are 2 elements
                  `2`: out of range
                t.p4:9:22: error[E0404]: 1 is out of range: there is 1 element
                  `1`: out of range
            "#]],
        );
    }
}
