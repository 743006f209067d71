//! `E0317`: an expression whose type depends on its context, without such a context.
//!
//! `...`, `{#}` and `{ x = 1 }` have the type that the context expects. Put a cast before it: `(T){ x = 1 }`.
//!
//! ```p4,wrong
//! control C(inout bool same) { apply { same = {#} == {#}; } }
//! ```
//!
//! ```p4
//! header H { bit<8> x; }
//! control C(inout bool same, in H h) { apply { same = h == (H){#}; } }
//! ```
//!
//! Specification: Expressions, Structure-valued expressions.

use base::Span;
use syntax::diag::Diagnostic;

/// `what` is the expression without a type of its own.
pub(crate) fn type_not_known(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("E0317", span, format!("the type of {what} is not known here"))
        .label("the context does not determine its type")
        .help("write a cast before it")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn no_target() {
        check_apply(
            "
            if ({ a = 1, b = 2 } == { a = 1, b = 2 }) { }
            if ({#} == {#}) { }",
            expect![[r#"
                t.p4:4:17: error[E0317]: the type of a list of named fields is not known here
                  `{ a = 1, b = 2 }`: the context does not determine its type
                  = write a cast before it
                t.p4:5:24: error[E0317]: the type of `{#}` is not known here
                  `{#}`: the context does not determine its type
                  = write a cast before it
            "#]],
        );
    }
}
