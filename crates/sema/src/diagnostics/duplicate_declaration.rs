//! `E0203`: a name that is declared twice in one scope.
//!
//! A scope has one declaration for each name; only functions and actions with different parameters may share a name.
//! Rename or remove one of the two.
//!
//! ```p4,wrong
//! header H { bit<8> ttl; bit<8> ttl; }
//! ```
//!
//! ```p4
//! header H { bit<8> ttl; bit<8> protocol; }
//! ```
//!
//! Specification: P4 programs, Scopes.

use base::Span;
use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `first` is the earlier declaration.
pub(crate) fn duplicate_declaration(name: &Ident, first: Span) -> Diagnostic {
    Diagnostic::error("E0203", name.span, format!("`{}` is declared twice", name.name))
        .label("declared again")
        .secondary(first, "first declared here")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn two_constants() {
        check_errors(
            "
            const bit<8> A = 1;
            const bit<8> A = 2;",
            expect![[r#"
                t.p4:3:26: error[E0203]: `A` is declared twice
                  `A`: declared again
                  `A`: first declared here
            "#]],
        );
    }

    #[test]
    fn fields_parameters_states_errors() {
        check_errors(
            "
            struct S { bit<8> a; bool a; }
            error { X, X }
            void f(in bit<8> p, in bit<8> p) { }
            parser P() { state start { transition accept; } state start { transition accept; } }
            enum E { A, A }",
            expect![[r#"
                t.p4:2:39: error[E0203]: `a` is declared twice
                  `a`: declared again
                  `a`: first declared here
                t.p4:3:24: error[E0203]: `X` is declared twice
                  `X`: declared again
                  `X`: first declared here
                t.p4:4:43: error[E0203]: `p` is declared twice
                  `p`: declared again
                  `p`: first declared here
                t.p4:5:67: error[E0203]: `start` is declared twice
                  `start`: declared again
                  `start`: first declared here
                t.p4:6:25: error[E0203]: `A` is declared twice
                  `A`: declared again
                  `A`: first declared here
            "#]],
        );
    }
}
