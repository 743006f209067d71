//! `E0702`: a `main` that is not an instance of a package.
//!
//! A program is the instance called `main` of the architecture's package.
//!
//! ```p4,wrong
//! extern X { X(); }
//! X() main;
//! ```
//!
//! ```p4
//! extern X { X(); }
//! package Switch(X x);
//! Switch(X()) main;
//! ```
//!
//! Specification: P4 programs.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is its type.
pub(crate) fn main_not_a_package(span: Span, found: &str) -> Diagnostic {
    Diagnostic::error("E0702", span, format!("`main` must be an instance of a package, found {found}"))
        .label("not a package")
        .help("write `V1Switch(...) main;`")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn a_register() {
        check_errors(
            "
            extern X { X(); }
            X() main;",
            expect![[r#"
                t.p4:3:17: error[E0702]: `main` must be an instance of a package, found X
                  `main`: not a package
                  = write `V1Switch(...) main;`
            "#]],
        );
    }

    #[test]
    fn other_declarations() {
        for declaration in [
            "const bit<8> main = 1;",
            "void main() { }",
            "control main() { apply { } }",
            "struct main { bit<8> x; }",
            "package main();",
        ] {
            let shown = crate::testing::diagnostics_of(declaration);
            assert!(shown.contains("error[E0702]: `main` must be an instance of a package, found another declaration"));
            assert_eq!(shown.matches("error[").count(), 1, "{shown}");
        }
    }
}
