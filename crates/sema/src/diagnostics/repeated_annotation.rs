//! `E0211`: a structured annotation that is repeated, or written in both ways.
//!
//! One element of a program can have many unstructured annotations `@a(...)` of one name, but only one structured
//! annotation `@a[...]`, and not both; and a key of a structured annotation has one value.
//!
//! ```p4,wrong
//! @info["one"] @info["two"] control C() { apply { } }
//! ```
//!
//! ```p4
//! @info["one", "two"] control C() { apply { } }
//! ```
//!
//! Specification: Annotations, Bodies of annotations.

use base::Span;
use syntax::diag::Diagnostic;

/// `first` is the other annotation of that name.
pub(crate) fn repeated_annotation(span: Span, name: &str, first: Span) -> Diagnostic {
    Diagnostic::error("E0211", span, format!("`@{name}` stands here twice, and not both times with parentheses"))
        .label("the second")
        .secondary(first, "the first")
}

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
            r#"
            @a[1] @a[2] const bit<8> x = 1;
            @a(1) @a[2] const bit<8> y = 1;
            @a(1) @a(2) const bit<8> z = 1;
            @a[k = 1, l = 2, k = 3] const bit<8> v = 1;"#,
            expect![[r#"
                t.p4:2:19: error[E0211]: `@a` stands here twice, and not both times with parentheses
                  `@a[2]`: the second
                  `@a[1]`: the first
                t.p4:3:19: error[E0211]: `@a` stands here twice, and not both times with parentheses
                  `@a[2]`: the second
                  `@a(1)`: the first
                t.p4:5:30: error[E0211]: the annotation gives `k` two values
                  `k`: the second
                  `k`: the first
            "#]],
        );
    }
}
