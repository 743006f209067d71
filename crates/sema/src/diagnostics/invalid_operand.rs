//! `E0419`: an operand of a type that the operator does not accept.
//!
//! Convert the operand to a type that the operator accepts.
//!
//! ```p4,wrong
//! control C(inout bool x, in bool y) { apply { x = x & y; } }
//! ```
//!
//! ```p4
//! control C(inout bool x, in bool y) { apply { x = x && y; } }
//! ```
//!
//! Specification: Expressions.

use base::Span;
use syntax::diag::Diagnostic;

/// `expected` describes what the operator accepts.
pub(crate) fn invalid_operand(span: Span, operator: &str, found: &str, expected: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0419", span, format!("`{operator}` takes {expected}, found {found}"))
        .label(format!("this is {found}"));
    match (operator, found) {
        ("&&" | "||" | "!", "bit<1>") => diagnostic.help("compare it with 1: `x == 1`"),
        ("&&" | "||" | "!", _) if found.starts_with("bit<") => {
            diagnostic.help("compare it with a number, as in `x != 0`")
        }
        ("&" | "|" | "^" | "~", "bool") => diagnostic.help("use `&&`, `||` and `!` with truth values"),
        (_, "int") if expected.contains("width") => diagnostic.help("write the width, as in `8w5`"),
        _ => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn bools_and_signs() {
        check_apply(
            "
            s.f = s.f + s.f;
            s.f = !s.x;
            s.f = s.x && true;
            s.i = s.i / 2;
            s.x = s.x << s.i;
            s.x = 3 |+| 5;
            s.h = s.h + s.h;
            s.x = ~s.f;
            s.f = s.f < true;",
            expect![[r#"
                t.p4:4:19: error[E0419]: `+` takes numbers, found bool
                  `s.f`: this is bool
                t.p4:5:20: error[E0419]: `!` takes a bool, found bit<8>
                  `s.x`: this is bit<8>
                  = compare it with a number, as in `x != 0`
                t.p4:6:19: error[E0419]: `&&` takes a bool, found bit<8>
                  `s.x`: this is bit<8>
                  = compare it with a number, as in `x != 0`
                t.p4:7:19: error[E0419]: `/` takes unsigned numbers, found int<8>
                  `s.i`: this is int<8>
                t.p4:8:26: error[E0419]: `<<` takes an unsigned number on its right, found int<8>
                  `s.i`: this is int<8>
                t.p4:9:19: error[E0419]: `|+|` takes numbers with a width, found int
                  `3`: this is int
                  = write the width, as in `8w5`
                t.p4:10:19: error[E0419]: `+` takes numbers, found H
                  `s.h`: this is H
                t.p4:11:20: error[E0419]: `~` takes a number with a width, found bool
                  `s.f`: this is bool
                  = use `&&`, `||` and `!` with truth values
                t.p4:12:19: error[E0419]: `<` takes numbers, found bool
                  `s.f`: this is bool
            "#]],
        );
    }
}
