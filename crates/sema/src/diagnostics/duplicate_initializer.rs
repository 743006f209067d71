//! `E0410`: a list of named fields that contains a field twice.
//!
//! ```p4,wrong
//! struct S { bit<8> a; bit<8> b; }
//! const S s = { a = 1, b = 2, a = 3 };
//! ```
//!
//! ```p4
//! struct S { bit<8> a; bit<8> b; }
//! const S s = { a = 1, b = 2 };
//! ```
//!
//! Specification: Expressions, Structure-valued expressions.

use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// The second name.
pub(crate) fn duplicate_initializer(name: &Ident) -> Diagnostic {
    Diagnostic::error("E0410", name.span, format!("`{}` is given a value twice", name.name)).label("the second value")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn field_twice() {
        check_apply(
            "s.h = { a = 1, a = 2, b = 3 };",
            expect![[r#"
            t.p4:3:16: error[E0410]: `a` is given a value twice
              `a`: the second value
        "#]],
        );
    }
}
