//! `E0511`: a constructor call that is not allowed here.
//!
//! Instances are declared (`register<bit<8>>(16) r;`), or created as arguments of other constructors.
//!
//! ```p4,wrong
//! extern Counter { Counter(); void count(); }
//! control A(Counter c) { apply { c.count(); } }
//! control B() { apply { A.apply(Counter()); } }
//! ```
//!
//! ```p4
//! extern Counter { Counter(); void count(); }
//! control A(Counter c) { apply { c.count(); } }
//! control B() { Counter() c; apply { A.apply(c); } }
//! ```
//!
//! Specification: Expressions, Constructor invocations.

use base::Span;
use syntax::diag::Diagnostic;

/// The location of the call; `value_type` is its type if that has values, not instances.
pub(crate) fn constructor_not_allowed_here(span: Span, value_type: Option<&str>) -> Diagnostic {
    match value_type {
        Some(ty) => Diagnostic::error("E0511", span, format!("{ty} has no constructor"))
            .label("constructor call")
            .help(format!("a cast is written `({ty})x`")),
        None => Diagnostic::error("E0511", span, "no instance can be made here")
            .label("constructor call")
            .help("declare an instance with a name, and use it"),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn in_an_assignment() {
        check_apply(
            "x = X(); s.y = bit<16>(s.x);",
            expect![[r#"
                t.p4:3:1: error[E0401]: this cannot be written to
                  `x`: not a variable, field, element or slice
                t.p4:3:5: error[E0511]: no instance can be made here
                  `X()`: constructor call
                  = declare an instance with a name, and use it
                t.p4:3:16: error[E0511]: bit<16> has no constructor
                  `bit<16>(s.x)`: constructor call
                  = a cast is written `(bit<16>)x`
            "#]],
        );
    }
}
