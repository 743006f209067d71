//! `E0316`: `_` as a type where nothing can be inferred.
//!
//! ```p4,wrong
//! struct P<T> { T a; }
//! struct S { P<_> p; }
//! ```
//!
//! ```p4
//! struct P<T> { T a; }
//! struct S { P<bit<8>> p; }
//! ```
//!
//! Specification: P4 data types, Don't care types.

use base::Span;
use syntax::diag::Diagnostic;

/// The location of the `_`.
pub(crate) fn misplaced_dont_care_type(span: Span) -> Diagnostic {
    Diagnostic::error("E0316", span, "`_` is not allowed as a type here")
        .label("nothing is inferred here")
        .help("write the type")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn in_a_field() {
        check_errors(
            "
            struct P<T> { T a; }
            struct S { P<_> p; }",
            expect![[r#"
                t.p4:3:26: error[E0316]: `_` is not allowed as a type here
                  `_`: nothing is inferred here
                  = write the type
            "#]],
        );
    }
}
