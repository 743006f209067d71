//! `E0402`: a write to something read-only.
//!
//! Change the direction of the parameter, or copy it to a variable.
//!
//! ```p4,wrong
//! control C(in bit<8> x) { apply { x = 1; } }
//! ```
//!
//! ```p4
//! control C(inout bit<8> x) { apply { x = 1; } }
//! ```
//!
//! Specification: Calling convention: call by copy in/copy out.

use base::Span;
use syntax::diag::Diagnostic;

/// `what` has its article.
pub(crate) fn read_only(span: Span, name: &str, what: &str, declared: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0402", span, format!("`{name}` is {what} and cannot be written to"))
        .secondary(declared, "declared here");
    if what.contains("parameter") && !what.contains("constructor") {
        return diagnostic.label("only read here").help("declare the parameter `inout`, or copy it to a variable");
    }
    diagnostic.label("only read here")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_control;
    use expect_test::expect;

    #[test]
    fn parameters_and_constants() {
        check_control(
            "
            const bit<8> K = 1;
            action a(bit<8> d) { K = 2; r = 3; d = 4; r[3:0] = 1; }",
            expect![[r#"
                t.p4:5:34: error[E0402]: `K` is a constant and cannot be written to
                  `K`: only read here
                  `K`: declared here
                t.p4:5:41: error[E0402]: `r` is an `in` parameter and cannot be written to
                  `r`: only read here
                  `r`: declared here
                  = declare the parameter `inout`, or copy it to a variable
                t.p4:5:48: error[E0402]: `d` is a parameter without direction and cannot be written to
                  `d`: only read here
                  `d`: declared here
                  = declare the parameter `inout`, or copy it to a variable
                t.p4:5:55: error[E0402]: `r` is an `in` parameter and cannot be written to
                  `r`: only read here
                  `r`: declared here
                  = declare the parameter `inout`, or copy it to a variable
            "#]],
        );
    }
}
