//! `E0211`: a repeated key of a structured annotation.
//!
//! A key of a structured annotation has one value.
//!
//! ```p4,wrong
//! @info[size = 1, size = 2] control C() { apply { } }
//! ```
//!
//! ```p4
//! @info[size = 1, color = 2] control C() { apply { } }
//! ```
//!
//! Specification: Annotations, Bodies of annotations.

use base::Span;
use syntax::diag::Diagnostic;

/// `first` is the first value for the key.
pub(crate) fn repeated_annotation_key(span: Span, key: &str, first: Span) -> Diagnostic {
    Diagnostic::error("E0211", span, format!("the annotation gives `{key}` two values"))
        .label("the second")
        .secondary(first, "the first")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn twice() {
        check_errors(
            "@a[k = 1, l = 2, k = 3] const bit<8> v = 1;",
            expect![[r#"
            t.p4:1:18: error[E0211]: the annotation gives `k` two values
              `k`: the second
              `k`: the first
        "#]],
        );
    }
}
