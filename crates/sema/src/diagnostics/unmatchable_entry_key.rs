//! `W0220`: an entry with a mask, range or `_` for a key whose match kind does not support it.
//!
//! The architecture defines what a match kind supports, so this is a warning; when the program is run, it is an error.
//!
//! ```p4,wrong
//! #include <core.p4>
//! control C(in bit<8> x) {
//!     table t { key = { x: exact; } actions = { NoAction; } const entries = { 1 &&& 3: NoAction(); } }
//!     apply { }
//! }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! control C(in bit<8> x) {
//!     table t { key = { x: ternary; } actions = { NoAction; } const entries = { 1 &&& 3: NoAction(); } }
//!     apply { }
//! }
//! ```
//!
//! Specification: Entries, Match kinds.

use base::Span;
use syntax::diag::Diagnostic;

/// `form` has its article.
pub(crate) fn unmatchable_entry_key(span: Span, form: &str, kind: &str) -> Diagnostic {
    Diagnostic::warning("W0220", span, format!("{form} cannot be matched by a key of kind `{kind}`"))
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
                t.p4:3:87: warning[W0220]: a mask cannot be matched by a key of kind `exact`
                  `1 &&& 3`: another form is needed
                t.p4:3:114: warning[W0220]: a mask with ones after a zero cannot be matched by a key of kind `lpm`
                  `2 &&& 0x0f`: another form is needed
                t.p4:3:156: warning[W0220]: a range cannot be matched by a key of kind `ternary`
                  `1 .. 2`: another form is needed
                t.p4:3:173: warning[W0220]: `_` cannot be matched by a key of kind `exact`
                  `_`: another form is needed
            "#]],
        );
    }
}
