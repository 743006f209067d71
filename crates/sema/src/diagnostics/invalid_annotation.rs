//! `E0210`: an annotation with an invalid body.
//!
//! `@name`, `@deprecated` and `@noWarn` take one string; `@atomic`, `@hidden`, `@optional`, `@tableonly`,
//! `@defaultonly`, `@pure` and `@noSideEffects` have no body; `@match` takes a match kind. Structured annotations, in
//! brackets, take compile-time values: numbers, strings and booleans.
//!
//! ```p4,wrong
//! @name(5) control C() { apply { } }
//! ```
//!
//! ```p4
//! @name("five") control C() { apply { } }
//! ```
//!
//! Specification: Annotations.

use base::Span;
use syntax::diag::Diagnostic;

/// `expected` describes the valid body.
pub(crate) fn invalid_annotation(span: Span, name: &str, expected: &str) -> Diagnostic {
    Diagnostic::error("E0210", span, format!("`@{name}` takes {expected}")).label(format!("not {expected}"))
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn strings_that_the_program_computes() {
        check_errors(
            r#"
            const string P = "a";
            @name[P ++ "b"] control C() { apply { } }
            @deprecated[("x" ++ P)] const bit<8> x = 1;
            @noWarn["dep" ++ "recated"] bit<8> f() { return x; }
            bit<8> g() { return x; }
            @name["a" ++ 1] const bit<8> y = 1;
            @name["a", "b"] const bit<8> z = 1;"#,
            expect![[r#"
                t.p4:6:33: warning[W0202]: `x` is deprecated
                  `x`: deprecated
                  = xa
                t.p4:7:26: error[E0419]: `++` takes two strings, found int
                  `1`: this is int
                t.p4:8:13: error[E0210]: `@name` takes one string
                  `@name["a", "b"]`: not one string
            "#]],
        );
    }

    #[test]
    fn annotations_of_entries() {
        check_errors(
            r#"
            #include <core.p4>
            control C(inout bit<8> x) {
                action a() { }
                table t {
                    key = { x: exact; }
                    actions = { a; }
                    default_action = a;
                    const entries = { 1: a() @name(5); 2: a() @name["a" ++ "b"]; 3: a() @f({] ++); }
                }
                apply { t.apply(); }
            }"#,
            expect![[r#"
                t.p4:9:46: error[E0210]: `@name` takes one string
                  `@name(5)`: not one string
            "#]],
        );
    }

    #[test]
    fn bodies() {
        check_errors(
            "#include <core.p4>
            @name(5) @deprecated const bit<8> a = 1;
            @hidden(1) struct S { @match(5) bit<8> x; @match(exact) bit<8> y; }
            @noWarn const bit<8> b = 1;
            @info[size=unknown] const bit<8> c = 1;
            @info[size={1}, width=2 + 3] const bit<8> d = 1;",
            expect![[r#"
                t.p4:2:13: error[E0210]: `@name` takes one string
                  `@name(5)`: not one string
                t.p4:2:22: error[E0210]: `@deprecated` takes one string
                  `@deprecated`: not one string
                t.p4:3:13: error[E0210]: `@hidden` takes no arguments
                  `@hidden(1)`: not no arguments
                t.p4:3:35: error[E0210]: `@match` takes a match kind
                  `@match(5)`: not a match kind
                t.p4:4:13: error[E0210]: `@noWarn` takes one string
                  `@noWarn`: not one string
                t.p4:5:24: error[E0201]: `unknown` is not declared
                  `unknown`: unknown name
                  = there is no `main` in this file: if it is a part of a program, check the file that includes it
                t.p4:6:24: error[E0210]: `@info` takes numbers, strings and truth values that are known at compile time
                  `{1}`: not numbers, strings and truth values that are known at compile time
            "#]],
        );
    }
}
