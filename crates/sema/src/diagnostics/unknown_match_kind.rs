//! `E0622`: an unknown match kind.
//!
//! The match kinds are those of core.p4 (`exact`, `ternary`, `lpm`) and of the architecture.
//!
//! ```p4,wrong
//! #include <core.p4>
//! control C(in bit<8> x) { table t { key = { x : precise; } actions = { NoAction; } } apply { t.apply(); } }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! control C(in bit<8> x) { table t { key = { x : exact; } actions = { NoAction; } } apply { t.apply(); } }
//! ```
//!
//! Specification: Control blocks, Tables, Keys.

use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `known` lists the declared ones.
pub(crate) fn unknown_match_kind(name: &Ident, suggestion: Option<String>, known: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0622", name.span, format!("`{}` is not a match kind", name.name))
        .label("unknown match kind");
    match (suggestion, known) {
        (Some(suggestion), _) => diagnostic.help(format!("did you mean `{suggestion}`?")),
        (None, "") => diagnostic.help("add `#include <core.p4>`"),
        (None, _) => diagnostic.note(format!("there are: {known}")),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check_control;
    use expect_test::expect;

    #[test]
    fn misspelled() {
        check_control(
            "table u { key = { r: exakt; s.x: fuzzy; } actions = { one; } }",
            expect![[r#"
            t.p4:3:22: error[E0622]: `exakt` is not a match kind
              `exakt`: unknown match kind
              = did you mean `exact`?
            t.p4:3:34: error[E0622]: `fuzzy` is not a match kind
              `fuzzy`: unknown match kind
              = there are: exact, ternary, lpm
        "#]],
        );
    }
}
