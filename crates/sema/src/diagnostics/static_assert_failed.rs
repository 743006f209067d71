//! `E0701`: a `static_assert` whose condition is false.
//!
//! ```p4,wrong
//! #include <core.p4>
//! const int width = 12;
//! const bool checked = static_assert(width == 8, "eight bits are needed");
//! ```
//!
//! ```p4
//! #include <core.p4>
//! const int width = 8;
//! const bool checked = static_assert(width == 8, "eight bits are needed");
//! ```
//!
//! Specification: Static assertions.

use base::Span;
use syntax::diag::Diagnostic;

/// `message` is the message in the program.
pub(crate) fn static_assert_failed(span: Span, message: Option<String>) -> Diagnostic {
    let message =
        message.map_or_else(|| "static_assert failed".into(), |message| format!("static_assert failed: {message}"));
    Diagnostic::error("E0701", span, message).label("the condition is false")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn message() {
        check_errors(
            r#"
            #include <core.p4>
            const bool A = static_assert(1 > 2, "numbers " ++ "are broken");
            const bool B = static_assert(2 > 1);"#,
            expect![[r#"
                t.p4:3:28: error[E0701]: static_assert failed: numbers are broken
                  `static_assert(1 > 2, "numbers " ++ "are broken")`: the condition is false
            "#]],
        );
    }
}
