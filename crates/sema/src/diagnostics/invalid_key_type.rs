//! `E0623`: a key whose values cannot be looked up.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is the key's type.
pub(crate) fn invalid_key_type(span: Span, found: &str) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("E0623", span, format!("a key cannot be of type {found}")).label("cannot be looked up");
    match found {
        "int" => diagnostic.help("write the width, as in `8w5`"),
        _ => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check_control;
    use expect_test::expect;

    #[test]
    fn int_and_extern() {
        check_control(
            "X x; table u { key = { 5: exact; } actions = { one; } }",
            expect![[r#"
            t.p4:3:1: error[E0314]: a variable cannot be of type X
              `X`: not a type of values
            t.p4:3:24: error[E0623]: a key cannot be of type int
              `5`: cannot be looked up
              = write the width, as in `8w5`
        "#]],
        );
    }
}
