//! `E0515`: the implementation of an abstract method with a different signature.
//!
//! ```p4,wrong
//! extern Runner { Runner(); abstract void run(in bit<8> speed); }
//! Runner() runner = { void run() { } };
//! ```
//!
//! ```p4
//! extern Runner { Runner(); abstract void run(in bit<8> speed); }
//! Runner() runner = { void run(in bit<8> speed) { } };
//! ```
//!
//! Specification: Instantiations, Instantiating objects with abstract methods.

use base::Span;
use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `declared` is the declaration of the method.
pub(crate) fn method_signature_differs(name: &Ident, declared: Span) -> Diagnostic {
    Diagnostic::error(
        "E0515",
        name.span,
        format!("`{}` has another signature than the method it implements", name.name),
    )
    .label("types or directions differ")
    .secondary(declared, "the method")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn other_types() {
        check_errors(
            "
            extern E { E(); abstract bit<8> m(in bit<8> a); }
            E() e = { bit<8> m(in bit<9> a) { return 1; } };",
            expect![[r#"
                t.p4:3:30: error[E0515]: `m` has another signature than the method it implements
                  `m`: types or directions differ
                  `m`: the method
            "#]],
        );
    }
}
