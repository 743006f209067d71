//! `W0215`: a repeated annotation of a kind that an element may only have once.
//!
//! An element of a program can have many unstructured annotations `@a(...)` of one name, but the specification allows
//! only one structured annotation `@a[...]`, and not both; and it can have only one `@name`. Tools usually read the
//! first. `@noWarn("duplicate")` silences it.
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
    let message = match name {
        "name" => "there are two `@name` annotations here".to_owned(),
        _ => format!("`@{name}` stands here twice, and not both times with parentheses"),
    };
    Diagnostic::warning("W0215", span, message).label("the second").secondary(first, "the first")
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
            @noWarn("duplicate") @a[1] @a[2] const bit<8> v = 1;"#,
            expect![[r#"
                t.p4:2:19: warning[W0215]: `@a` stands here twice, and not both times with parentheses
                  `@a[2]`: the second
                  `@a[1]`: the first
                t.p4:3:19: warning[W0215]: `@a` stands here twice, and not both times with parentheses
                  `@a[2]`: the second
                  `@a(1)`: the first
            "#]],
        );
    }
}
