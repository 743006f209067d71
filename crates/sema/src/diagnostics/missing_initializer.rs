//! `E0409`: a list of named fields in which fields are missing.
//!
//! ```p4,wrong
//! struct S { bit<8> a; bit<8> b; }
//! const S s = { a = 1 };
//! ```
//!
//! ```p4
//! struct S { bit<8> a; bit<8> b; }
//! const S s = { a = 1, ... };
//! ```
//!
//! Specification: Expressions, Structure-valued expressions.

use base::Span;
use syntax::diag::Diagnostic;

/// `names` are the missing fields.
pub(crate) fn missing_initializer(span: Span, owner: &str, names: &[&str], declared: Span) -> Diagnostic {
    let list = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    Diagnostic::error("E0409", span, format!("no value for {list} of `{owner}`"))
        .label("incomplete")
        .secondary(declared, "declared here")
        .help("add them, or end the list with `...` to give them their default values")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn field_left_out() {
        check_apply(
            "
            s.h = { a = 1 };
            s.h = { a = 1, ... };",
            expect![[r#"
                t.p4:4:19: error[E0409]: no value for `b` of `H`
                  `{ a = 1 }`: incomplete
                  `H`: declared here
                  = add them, or end the list with `...` to give them their default values
            "#]],
        );
    }
}
