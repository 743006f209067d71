//! `E0408`: a list with too many or too few values for its type.
//!
//! ```p4,wrong
//! struct S { bit<8> a; bit<8> b; }
//! const S s = { 1 };
//! ```
//!
//! ```p4
//! struct S { bit<8> a; bit<8> b; }
//! const S s = { 1, 2 };
//! ```
//!
//! Specification: Expressions, Tuple expressions.

use base::Span;
use syntax::diag::Diagnostic;

/// `expected` and `found` are numbers of values.
pub(crate) fn initializer_count(span: Span, shown: &str, expected: usize, found: usize) -> Diagnostic {
    let plural = if expected == 1 { "" } else { "s" };
    let diagnostic = Diagnostic::error("E0408", span, format!("{shown} takes {expected} value{plural}, found {found}"))
        .label("wrong number of values");
    match found < expected {
        true => diagnostic.help("end the list with `...` to give the others their default values"),
        false => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn list_too_short_and_too_long() {
        check_apply(
            "
            s.h = { 1 };
            s.h = { 1, 2, 3 };
            s.h = { 1, ... };",
            expect![[r#"
                t.p4:4:19: error[E0408]: H takes 2 values, found 1
                  `{ 1 }`: wrong number of values
                  = end the list with `...` to give the others their default values
                t.p4:5:19: error[E0408]: H takes 2 values, found 3
                  `{ 1, 2, 3 }`: wrong number of values
            "#]],
        );
    }
}
