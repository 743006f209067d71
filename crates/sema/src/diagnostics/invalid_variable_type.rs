//! `E0314`: a variable, parameter, constant or result of a type whose values do not exist at run time.
//!
//! `int` and `string` are for constants; extern objects, parsers and controls are instances, not values.
//!
//! ```p4,wrong
//! control C() { apply { int n = 5; } }
//! ```
//!
//! ```p4
//! control C() { const int n = 5; apply { } }
//! ```
//!
//! Specification: P4 data types, Type nesting rules.

use base::Span;
use syntax::diag::Diagnostic;

/// `what` has its article.
pub(crate) fn invalid_variable_type(span: Span, what: &str, found: &str) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("E0314", span, format!("{what} cannot be of type {found}")).label("not a type for this");
    match found {
        "int" => diagnostic.help("give it a width: `bit<32>` or `int<32>`"),
        "string" if what == "a parameter" => {
            diagnostic.help("a string is a constant: give the parameter no direction, or make it a constructor's")
        }
        _ => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check_control, check_errors};
    use expect_test::expect;

    #[test]
    fn int_string_extern() {
        check_control(
            "int n = 5; string m; X y; void v;",
            expect![[r#"
                t.p4:3:1: error[E0314]: a variable cannot be of type int
                  `int`: not a type for this
                  = give it a width: `bit<32>` or `int<32>`
                t.p4:3:12: error[E0314]: a variable cannot be of type string
                  `string`: not a type for this
                t.p4:3:22: error[E0314]: a variable cannot be of type X
                  `X`: not a type for this
                t.p4:3:27: error[E0314]: a variable cannot be of type void
                  `void`: not a type for this
            "#]],
        );
    }

    #[test]
    fn tuples_of_constants() {
        check_control(
            "tuple<int, bit<8>> n = { 5, 5 }; tuple<tuple<string>> m; const tuple<int> fine = { 5 };",
            expect![[r#"
                t.p4:3:1: error[E0314]: a variable cannot be of type tuple<int, bit<8>>
                  `tuple<int, bit<8>>`: not a type for this
                t.p4:3:34: error[E0314]: a variable cannot be of type tuple<tuple<string>>
                  `tuple<tuple<string>>`: not a type for this
            "#]],
        );
    }

    #[test]
    fn parameters() {
        check_errors(
            "
            extern X { }
            void f(inout int n) { }
            void g(in void v) { }
            int h() { return 1; }
            bit<8> k(in string text) { return 1; }
            action m(in string text) { }
            control C(in string text) { apply { } }
            void fine(string text) { }
            extern void log(in string text);",
            expect![[r#"
                t.p4:3:26: error[E0314]: a parameter cannot be of type int
                  `int`: not a type for this
                  = give it a width: `bit<32>` or `int<32>`
                t.p4:4:23: error[E0314]: a parameter cannot be of type void
                  `void`: not a type for this
                t.p4:5:13: error[E0314]: a function's result cannot be of type int
                  `int`: not a type for this
                  = give it a width: `bit<32>` or `int<32>`
                t.p4:6:25: error[E0314]: a parameter cannot be of type string
                  `string`: not a type for this
                  = a string is a constant: give the parameter no direction, or make it a constructor's
                t.p4:7:25: error[E0314]: a parameter of an action cannot be of type string
                  `string`: not a type for this
                t.p4:8:26: error[E0314]: a parameter cannot be of type string
                  `string`: not a type for this
                  = a string is a constant: give the parameter no direction, or make it a constructor's
            "#]],
        );
    }
}
