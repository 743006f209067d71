//! `E0602`: a function that can end without returning its result.
//!
//! End every path with `return`.
//!
//! ```p4,wrong
//! bit<8> f(in bit<8> x) { if (x > 1) { return 1; } }
//! ```
//!
//! ```p4
//! bit<8> f(in bit<8> x) { if (x > 1) { return 1; } return 0; }
//! ```
//!
//! Specification: Function declarations.

use base::Span;
use syntax::diag::Diagnostic;

/// The function's name and location.
pub(crate) fn missing_return(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error("E0602", span, format!("`{name}` can end without returning a value"))
        .label("not every path has a `return`")
        .help("end the function with a `return`")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn one_path() {
        check_errors(
            "
            bit<8> f(in bool b) { if (b) { return 1; } }
            bit<8> g(in bool b) { if (b) { return 1; } else { return 2; } }",
            expect![[r#"
                t.p4:2:20: error[E0602]: `f` can end without returning a value
                  `f`: not every path has a `return`
                  = end the function with a `return`
            "#]],
        );
    }
}
