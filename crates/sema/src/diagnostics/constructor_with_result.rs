//! `E0520`: a method with a result type and the name of its extern.
//!
//! The name of an extern is reserved for its constructors, which have no result type.
//!
//! ```p4,wrong
//! extern Counter { void Counter(); }
//! ```
//!
//! ```p4
//! extern Counter { Counter(); }
//! ```
//!
//! Specification: P4 data types, Derived types, Extern types.

use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// The method's name.
pub(crate) fn constructor_with_result(name: &Ident) -> Diagnostic {
    Diagnostic::error("E0520", name.span, format!("the constructor `{}` cannot have a result type", name.name))
        .label("the name of the extern")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn void() {
        check_errors(
            "extern E { void E(); bit<8> E(in bit<8> a); }",
            expect![[r#"
                t.p4:1:17: error[E0520]: the constructor `E` cannot have a result type
                  `E`: the name of the extern
                t.p4:1:29: error[E0520]: the constructor `E` cannot have a result type
                  `E`: the name of the extern
            "#]],
        );
    }
}
