//! `E0514`: an instance that does not implement an abstract method of its type.
//!
//! ```p4,wrong
//! extern Runner { Runner(); abstract void run(); }
//! Runner() runner;
//! ```
//!
//! ```p4
//! extern Runner { Runner(); abstract void run(); }
//! Runner() runner = { void run() { } };
//! ```
//!
//! Specification: Instantiations, Instantiating objects with abstract methods.

use base::Span;
use syntax::diag::Diagnostic;

/// `declared` is the declaration of the method.
pub(crate) fn missing_method(span: Span, method: &str, declared: Span) -> Diagnostic {
    Diagnostic::error("E0514", span, format!("the abstract method `{method}` is not implemented"))
        .label(format!("needs `= {{ ... {method}(...) {{ ... }} }}`"))
        .secondary(declared, "the method")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn left_out() {
        check_errors(
            "
            extern E { E(); abstract bit<8> m(in bit<8> a); }
            E() e;
            E() f = { bit<8> m(in bit<8> a) { return a; } };",
            expect![[r#"
                t.p4:3:13: error[E0514]: the abstract method `m` is not implemented
                  `E() e;`: needs `= { ... m(...) { ... } }`
                  `m`: the method
            "#]],
        );
    }
}
