//! `E0513`: an instance of a type without a constructor.
//!
//! Externs with a constructor, parsers and controls with a body, and packages can be instantiated. For structs and
//! headers declare variables.
//!
//! ```p4,wrong
//! struct S { bit<8> x; }
//! control C() { S() s; apply { } }
//! ```
//!
//! ```p4
//! struct S { bit<8> x; }
//! control C() { S s; apply { } }
//! ```
//!
//! Specification: Instantiations.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is the type.
pub(crate) fn not_instantiable(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error("E0513", span, format!("{found} has no constructor")).label("cannot be instantiated")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn types_without_constructor() {
        check_errors(
            "
            extern E { void m(); }
            E() e;
            control T(in bit<8> a);
            package K(T t);
            K(T()) main;
            struct S { }
            S() s;",
            expect![[r#"
                t.p4:3:13: error[E0513]: E has no constructor
                  `E() e;`: cannot be instantiated
                t.p4:6:15: error[E0513]: T has no constructor
                  `T()`: cannot be instantiated
                t.p4:8:13: error[E0513]: S has no constructor
                  `S() s;`: cannot be instantiated
            "#]],
        );
    }
}
