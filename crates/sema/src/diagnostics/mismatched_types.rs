//! `E0301`: a value of the wrong type.
//!
//! The only implicit conversions are those from `int` (a number without width) to a numeric type, from an enum to its
//! representation, and from lists to structs, headers and tuples. Write a cast where one exists.
//!
//! ```p4,wrong
//! control C(inout bit<16> x, in bit<8> y) { apply { x = y; } }
//! ```
//!
//! ```p4
//! control C(inout bit<16> x, in bit<8> y) { apply { x = (bit<16>)y; } }
//! ```
//!
//! Specification: Expressions, Casts, Implicit casts.

use base::Span;
use syntax::diag::Diagnostic;

/// `expected` and `found` are types in P4 syntax.
pub(crate) fn mismatched_types(span: Span, expected: &str, found: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0301", span, format!("expected {expected}, found {found}"))
        .label(format!("this is {found}"));
    match (expected, found) {
        ("bool", _) if found.starts_with("bit<") || found.starts_with("int<") => {
            diagnostic.help("compare it with a number, as in `x != 0`")
        }
        (_, "bool") if expected != "bit<1>" && expected.starts_with("bit<") => {
            let width = expected.trim_start_matches("bit<").trim_end_matches('>');
            diagnostic.help(format!("make it a number: `x ? {width}w1 : {width}w0`"))
        }
        ("bool", _) if found.starts_with("the result of") => diagnostic.help("add `.hit` or `.miss`"),
        _ => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn assignments() {
        check_apply(
            "
            s.x = s.y;
            s.x = true;
            s.f = 1;
            s.i = s.x;
            s.y = s.i;
            if (s.x) { }",
            expect![[r#"
                t.p4:4:19: error[E0301]: expected bit<8>, found bit<16>
                  `s.y`: this is bit<16>
                  = convert it explicitly: `(bit<8>)`
                t.p4:5:19: error[E0301]: expected bit<8>, found bool
                  `true`: this is bool
                  = make it a number: `x ? 8w1 : 8w0`
                t.p4:6:19: error[E0301]: expected bool, found int
                  `1`: this is int
                  = convert it explicitly: `(bool)`
                t.p4:7:19: error[E0301]: expected int<8>, found bit<8>
                  `s.x`: this is bit<8>
                  = convert it explicitly: `(int<8>)`
                t.p4:8:19: error[E0301]: expected bit<16>, found int<8>
                  `s.i`: this is int<8>
                  = change the width first, then the sign: `(bit<16>)(int<16>)`
                t.p4:9:17: error[E0301]: expected bool, found bit<8>
                  `s.x`: this is bit<8>
                  = compare it with a number, as in `x != 0`
            "#]],
        );
    }

    #[test]
    fn no_implicit_cast_to_an_enum_or_new_type() {
        check_apply(
            "
            R e = 1;
            N n = s.x;
            N m = 1;",
            expect![[r#"
                t.p4:4:19: error[E0301]: expected R, found int
                  `1`: this is int
                  = convert it explicitly: `(R)`
                t.p4:5:19: error[E0301]: expected N, found bit<8>
                  `s.x`: this is bit<8>
                  = convert it explicitly: `(N)`
            "#]],
        );
    }
}
