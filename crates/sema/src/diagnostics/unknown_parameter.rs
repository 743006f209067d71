//! `E0503`: a named argument for an unknown parameter.
//!
//! ```p4,wrong
//! bit<8> f(in bit<8> a) { return a; }
//! control C(inout bit<8> x) { apply { x = f(b = x); } }
//! ```
//!
//! ```p4
//! bit<8> f(in bit<8> a) { return a; }
//! control C(inout bit<8> x) { apply { x = f(a = x); } }
//! ```
//!
//! Specification: Calling convention: call by copy in/copy out.

use base::Span;
use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `declared` is the declaration of the callee.
pub(crate) fn unknown_parameter(name: &Ident, callee: &str, suggestion: Option<String>, declared: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0503", name.span, format!("`{callee}` has no parameter `{}`", name.name))
        .label("unknown parameter")
        .secondary(declared, "declared here");
    match suggestion {
        Some(suggestion) => diagnostic.help(format!("did you mean `{suggestion}`?")),
        None => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn named() {
        check_errors(
            "
            void f(in bit<8> value) { }
            void g() { f(valeu = 1); }",
            expect![[r#"
                t.p4:3:26: error[E0503]: `f` has no parameter `valeu`
                  `valeu`: unknown parameter
                  `f`: declared here
                  = did you mean `value`?
            "#]],
        );
    }
}
