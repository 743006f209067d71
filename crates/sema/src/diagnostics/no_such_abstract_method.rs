//! `E0516`: a function in an instance's initializer that does not implement an abstract method.
//!
//! ```p4,wrong
//! extern Runner { Runner(); abstract void run(); }
//! Runner() runner = { void run() { } void walk() { } };
//! ```
//!
//! ```p4
//! extern Runner { Runner(); abstract void run(); }
//! Runner() runner = { void run() { } };
//! ```
//!
//! Specification: Instantiations, Instantiating objects with abstract methods.

use base::Span;
use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `declared` is the declaration of the instance's type.
pub(crate) fn no_such_abstract_method(name: &Ident, owner: &str, declared: Span) -> Diagnostic {
    Diagnostic::error("E0516", name.span, format!("`{owner}` has no abstract method `{}`", name.name))
        .label("implements nothing")
        .secondary(declared, "declared here")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn name() {
        check_errors(
            "
            extern E { E(); void c(); }
            E() e = { void c() { } };",
            expect![[r#"
                t.p4:3:28: error[E0516]: `E` has no abstract method `c`
                  `c`: implements nothing
                  `E`: declared here
            "#]],
        );
    }
}
