//! `E0310`: a member without a value, in an enum whose members have values.
//!
//! ```p4,wrong
//! enum bit<8> E { A = 1, B }
//! ```
//!
//! ```p4
//! enum bit<8> E { A = 1, B = 2 }
//! ```
//!
//! Specification: P4 data types, Derived types, Enumeration types.

use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `representation` is the enum's type.
pub(crate) fn missing_enum_value(name: &Ident, representation: &str) -> Diagnostic {
    Diagnostic::error(
        "E0310",
        name.span,
        format!("`{}` needs a value, because the enum's type is {representation}", name.name),
    )
    .label("no value")
    .help(format!("write `{} = ...`", name.name))
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn one_is_missing() {
        check_errors(
            "enum bit<2> E { A, B = 1 }",
            expect![[r#"
            t.p4:1:17: error[E0310]: `A` needs a value, because the enum's type is bit<2>
              `A`: no value
              = write `A = ...`
        "#]],
        );
    }
}
