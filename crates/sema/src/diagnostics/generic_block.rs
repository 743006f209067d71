//! `E0321`: a parser or control with type parameters.
//!
//! Types of parsers and controls may be generic; a parser or control with a body is written for certain types.
//!
//! ```p4,wrong
//! control C<T>(inout T x) { apply { } }
//! ```
//!
//! ```p4
//! control C<T>(inout T x);
//! control D(inout bit<8> x) { apply { } }
//! ```
//!
//! Specification: P4 data types, Derived types, Parser and control blocks types.

use base::Span;
use syntax::diag::Diagnostic;

/// `what` comes with its article.
pub(crate) fn generic_block(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error("E0321", span, format!("{what} with a body cannot be generic"))
        .label("type parameters")
        .help("write the types that it works on")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn parsers_and_controls() {
        check_errors(
            "
            control C<T, U>(inout T t) { apply { } }
            parser P<T>(inout T t) { state start { transition accept; } }",
            expect![[r#"
                t.p4:2:23: error[E0321]: a control with a body cannot be generic
                  `T, U`: type parameters
                  = write the types that it works on
                t.p4:3:22: error[E0321]: a parser with a body cannot be generic
                  `T`: type parameters
                  = write the types that it works on
            "#]],
        );
    }
}
