//! `W0208`: a repeated key of a table.
//!
//! The second key adds no information, and controllers need another name for it: a `$` is appended to its name. Remove
//! it, or name it with `@name("...")`.
//!
//! ```p4,wrong
//! #include <core.p4>
//! control C(in bit<8> x) {
//!     table t { key = { x : exact; x : ternary; } actions = { NoAction; } }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! control C(in bit<8> x) {
//!     table t { key = { x : ternary; } actions = { NoAction; } }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! Specification: Annotations, Control-plane API annotations.

use base::Span;
use syntax::diag::Diagnostic;

/// `name` is the name of the second key; `first` is the first one.
pub(crate) fn repeated_key(span: Span, name: &str, first: Span) -> Diagnostic {
    Diagnostic::warning("W0208", span, "the table has this key already")
        .label(format!("called `{name}` for the control plane"))
        .secondary(first, "the first one")
        .help("name it with `@name(\"...\")`, or remove it")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check_control, check_errors};
    use expect_test::expect;

    #[test]
    fn what_a_selector_hashes_may_be_a_key_too() {
        check_errors(
            "#include <core.p4>\nmatch_kind { selector } control C(in bit<8> x) { action one() { }\n\
             table t { key = { x: selector; x: exact; x: selector; } actions = { one; } default_action = one(); }\n\
             apply { t.apply(); } }",
            expect![""],
        );
    }

    #[test]
    fn three_of_one_name() {
        check_control(
            "table u { key = { r: exact; r: ternary; r: lpm; } actions = { one; } default_action = one(); }",
            expect![[r#"
                t.p4:3:29: warning[W0208]: the table has this key already
                  `r: ternary`: called `r$` for the control plane
                  `r: exact`: the first one
                  = name it with `@name("...")`, or remove it
                t.p4:3:41: warning[W0208]: the table has this key already
                  `r: lpm`: called `r$$` for the control plane
                  `r: exact`: the first one
                  = name it with `@name("...")`, or remove it
            "#]],
        );
    }
}
