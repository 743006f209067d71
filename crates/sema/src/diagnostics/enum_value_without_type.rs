//! `E0311`: a member with a value, in an enum without a representation.
//!
//! Add the type of the values, or remove the values.
//!
//! ```p4,wrong
//! enum E { A = 1 }
//! ```
//!
//! ```p4
//! enum bit<8> E { A = 1 }
//! ```
//!
//! Specification: P4 data types, Derived types, Enumeration types.

use base::Span;
use syntax::diag::Diagnostic;

/// `name` is the name of the enum.
pub(crate) fn enum_value_without_type(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error("E0311", span, format!("the members of `{name}` have no values"))
        .label("a value is given")
        .help(format!("give the enum a type: `enum bit<8> {name}`"))
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn value_in_plain_enum() {
        check_errors(
            "enum E { A = 1, B }",
            expect![[r#"
            t.p4:1:14: error[E0311]: the members of `E` have no values
              `1`: a value is given
              = give the enum a type: `enum bit<8> E`
        "#]],
        );
    }
}
