//! `E0604`: a statement that is not allowed here: `exit` in a function, `return`, `switch` or `for` in a parser.
//!
//! In actions and functions use `if` instead of `switch`; leave parsers with `transition`. A parser state repeats
//! itself with `transition`: `for` stands only in the branches of its `if` statements, and in functions that it calls.
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

/// A loop directly in a parser state, or in a block of one.
pub(crate) fn loop_in_state(span: Span) -> Diagnostic {
    statement_not_allowed_here(span, "for", "a parser state")
        .help("repeat the state with `transition`, or put the loop into a function")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn loops_in_states() {
        check_errors(
            "
            parser P(inout bit<8> a) {
                state start {
                    for (bit<8> i in 1 .. 3) { a = a + i; }
                    { for (bit<8> i = 0; i < 3; i = i + 1) { a = a + i; } }
                    if (a == 1) { for (bit<8> i in 1 .. 3) { a = a + i; } }
                    transition accept;
                }
            }",
            expect![[r#"
                t.p4:4:21: error[E0604]: `for` cannot be used in a parser state
                  `for (bit<8> i in 1 .. 3) { a = a + i; }`: not here
                  = repeat the state with `transition`, or put the loop into a function
                t.p4:5:23: error[E0604]: `for` cannot be used in a parser state
                  `for (bit<8> i = 0; i < 3; i = i + 1) { a = a + i; }`: not here
                  = repeat the state with `transition`, or put the loop into a function
            "#]],
        );
    }

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
