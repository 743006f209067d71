//! `E0604`: a statement that is not allowed here: `exit` in a function, `return` or `switch` in a parser.
//!
//! In actions and functions use `if` instead of `switch`; leave parsers with `transition`.
//!
//! ```p4,wrong
//! control C(inout bit<8> x) {
//!     action a() { switch (x) { 1: { x = 2; } } }
//!     apply { a(); }
//! }
//! ```
//!
//! ```p4
//! control C(inout bit<8> x) {
//!     action a() { if (x == 1) { x = 2; } }
//!     apply { a(); }
//! }
//! ```
//!
//! Specification: Statements.

use base::Span;
use syntax::diag::Diagnostic;

/// `here` has its article.
pub(crate) fn statement_not_allowed_here(span: Span, keyword: &str, here: &str) -> Diagnostic {
    Diagnostic::error("E0604", span, format!("`{keyword}` cannot be used in {here}")).label("not here")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn exit_return_switch() {
        check_errors(
            "
            void f() { exit; }
            parser P(in bit<8> a) { state start { switch (a) { default: { } } transition accept; } }",
            expect![[r#"
                t.p4:2:24: error[E0604]: `exit` cannot be used in a function
                  `exit;`: not here
                t.p4:3:51: error[E0604]: `switch` cannot be used in a parser state
                  `switch (a) { default: { } }`: not here
            "#]],
        );
    }
}
