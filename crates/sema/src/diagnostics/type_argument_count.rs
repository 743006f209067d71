//! `E0304`: a type, function or method with the wrong number of type arguments.
//!
//! Write one type argument for each type parameter, or none if they can be inferred.
//!
//! ```p4,wrong
//! struct pair<T, U> { T first; U second; }
//! struct S { pair<bit<8>> p; }
//! ```
//!
//! ```p4
//! struct pair<T, U> { T first; U second; }
//! struct S { pair<bit<8>, bool> p; }
//! ```
//!
//! Specification: P4 data types, Type specialization.

use base::Span;
use syntax::diag::Diagnostic;

/// `declared` is the declaration of the generic type, function or method.
pub(crate) fn type_argument_count(span: Span, name: &str, found: usize, expected: usize, declared: Span) -> Diagnostic {
    let plural = if expected == 1 { "" } else { "s" };
    let message = match expected {
        0 => format!("`{name}` is not generic, but has {found} type argument(s)"),
        _ => format!("`{name}` takes {expected} type argument{plural}, found {found}"),
    };
    Diagnostic::error("E0304", span, message)
        .label("wrong number of type arguments")
        .secondary(declared, "declared here")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn too_few_and_too_many() {
        check_errors(
            "
            struct S<T> { T a; }
            struct U { S s; S<bit<8>, bool> t; }
            struct V { U<bit<8>> u; }
            T f<T>(in T v) { return v; }
            void g(in bit<8> x) { bit<8> y = f<bit<8>, bool>(x); }",
            expect![[r#"
                t.p4:3:24: error[E0304]: `S` takes 1 type argument, found 0
                  `S`: wrong number of type arguments
                  `S`: declared here
                t.p4:3:29: error[E0304]: `S` takes 1 type argument, found 2
                  `S<bit<8>, bool>`: wrong number of type arguments
                  `S`: declared here
                t.p4:4:24: error[E0304]: `U` is not generic, but has 1 type argument(s)
                  `U<bit<8>>`: wrong number of type arguments
                  `U`: declared here
                t.p4:6:46: error[E0304]: `f` takes 1 type argument, found 2
                  `f<bit<8>, bool>(x)`: wrong number of type arguments
                  `f`: declared here
            "#]],
        );
    }
}
