//! `E0305`: a `type` (or `typedef`) of a type that does not allow it.
//!
//! `type` makes a new type from numbers, booleans and other new types. For structs, headers and others use `typedef`,
//! which only declares another name.
//!
//! ```p4,wrong
//! header H { bit<8> x; }
//! type H G;
//! ```
//!
//! ```p4
//! header H { bit<8> x; }
//! typedef H G;
//! ```
//!
//! Specification: Introducing new types.

use base::Span;
use syntax::diag::Diagnostic;

/// `keyword` is the keyword in the source.
pub(crate) fn invalid_newtype(span: Span, keyword: &str, found: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0305", span, format!("`{keyword}` cannot be used with {found}"))
        .label("not a number or bool");
    match keyword {
        "type" => diagnostic.help("use `typedef` to give a type another name"),
        _ => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn of_a_header() {
        check_errors(
            "
            header H { bit<8> a; }
            type H N;
            typedef void V;",
            expect![[r#"
                t.p4:3:18: error[E0305]: `type` cannot be used with H
                  `H`: not a number or bool
                  = use `typedef` to give a type another name
                t.p4:4:21: error[E0305]: `typedef` cannot be used with void
                  `void`: not a number or bool
            "#]],
        );
    }
}
