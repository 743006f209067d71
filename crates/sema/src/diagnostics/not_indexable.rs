//! `E0423`: an index on a value without elements.
//!
//! Header stacks, arrays and tuples have elements. For a bit of a number use a slice: `x[3:3]`.
//!
//! ```p4,wrong
//! control C(inout bit<8> x, out bit<1> y) { apply { y = x[3]; } }
//! ```
//!
//! ```p4
//! control C(inout bit<8> x, out bit<1> y) { apply { y = x[3:3]; } }
//! ```
//!
//! Specification: Expressions, Operations on header stacks.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is the type.
pub(crate) fn not_indexable(span: Span, found: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0423", span, format!("{found} has no elements to index"))
        .label("not a stack, array or tuple");
    if found.starts_with("bit<") || found.starts_with("int<") {
        return diagnostic.help("a single bit is a slice: `x[3:3]`");
    }
    diagnostic
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn a_number() {
        check_apply(
            "
            s.x = s.x[1];
            s.h[0].a = 1;",
            expect![[r#"
                t.p4:4:19: error[E0423]: bit<8> has no elements to index
                  `s.x`: not a stack, array or tuple
                  = a single bit is a slice: `x[3:3]`
                t.p4:5:13: error[E0423]: H has no elements to index
                  `s.h`: not a stack, array or tuple
            "#]],
        );
    }

    #[test]
    fn an_extern_object() {
        check_apply(
            "x[0] = 1;",
            expect![[r#"
            t.p4:3:1: error[E0423]: X has no elements to index
              `x`: not a stack, array or tuple
              = use its methods: `m(v)`
        "#]],
        );
    }
}
