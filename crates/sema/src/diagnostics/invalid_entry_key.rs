//! `E0630`: an entry with a mask, range or `_` for a key whose match kind cannot match that.

use base::Span;
use syntax::diag::Diagnostic;

/// `form` comes with its article.
pub(crate) fn invalid_entry_key(span: Span, form: &str, kind: &str) -> Diagnostic {
    Diagnostic::error("E0630", span, format!("{form} cannot be matched by a key of kind `{kind}`"))
        .label("another form is needed")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_control;
    use expect_test::expect;

    #[test]
    fn forms() {
        check_control(
            "table u { key = { r: exact; s.x: lpm; s.y: ternary; } actions = { one; } entries = { (1 &&& 3, 2, 3): one(); (1, 2 &&& 0x0f, 3): one(); (1, 0xf0 &&& 0xf0, 1 .. 2): one(); (_, _, _): one(); } }",
            expect![[r#"
                t.p4:3:87: error[E0630]: a mask cannot be matched by a key of kind `exact`
                  `1 &&& 3`: another form is needed
                t.p4:3:114: error[E0630]: a mask with ones after a zero cannot be matched by a key of kind `lpm`
                  `2 &&& 0x0f`: another form is needed
                t.p4:3:156: error[E0630]: a range cannot be matched by a key of kind `ternary`
                  `1 .. 2`: another form is needed
                t.p4:3:173: error[E0630]: `_` cannot be matched by a key of kind `exact`
                  `_`: another form is needed
            "#]],
        );
    }
}
