//! `E0623`: a key of a type that cannot be matched.
//!
//! The keys of tables and of `select` are scalars of a fixed width. In a `select` also structs and tuples of them are
//! allowed, whose fields are matched one by one, but not headers.
//!
//! ```p4,wrong
//! #include <core.p4>
//! header H { bit<8> x; }
//! control C(in H h) { table t { key = { h : exact; } actions = { NoAction; } } apply { t.apply(); } }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! header H { bit<8> x; }
//! control C(in H h) { table t { key = { h.x : exact; } actions = { NoAction; } } apply { t.apply(); } }
//! ```
//!
//! Specification: Control blocks, Tables, Keys.

use base::Span;
use syntax::diag::Diagnostic;

/// `found` is the type of the key of a table; `field` is a suggested field, if the key has fields.
pub(crate) fn invalid_key_type(span: Span, found: &str, field: Option<&str>) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("E0623", span, format!("a key cannot be of type {found}")).label("cannot be looked up");
    with_help(diagnostic, found, field)
}

/// `found` is the type of the value of a `select`; `field` is a suggested field, if the value has fields.
pub(crate) fn invalid_select_key(span: Span, found: &str, field: Option<&str>) -> Diagnostic {
    let diagnostic =
        Diagnostic::error("E0623", span, format!("`select` cannot decide on {found}")).label("cannot be selected on");
    with_help(diagnostic, found, field)
}

fn with_help(diagnostic: Diagnostic, found: &str, field: Option<&str>) -> Diagnostic {
    match (found, field) {
        ("int", _) => diagnostic.help("write the width, as in `8w5`"),
        (_, Some(field)) => diagnostic.help(format!("list its fields one by one, as in `{field}`")),
        _ => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check_control, check_states};
    use expect_test::expect;

    #[test]
    fn int_and_extern() {
        check_control(
            "X x; table u { key = { 5: exact; } actions = { one; } }",
            expect![[r#"
                t.p4:3:1: error[E0314]: a variable cannot be of type X
                  `X`: not a type for this
                t.p4:3:24: error[E0623]: a key cannot be of type int
                  `5`: cannot be looked up
                  = write the width, as in `8w5`
            "#]],
        );
    }

    #[test]
    fn header_struct_and_stack() {
        check_control(
            "table u { key = { s.h: exact; s: ternary; s.stack: exact; s.stack[1]: exact; s.stack[1].a: exact; } \
             actions = { one; } }",
            expect![[r#"
                t.p4:3:19: error[E0623]: a key cannot be of type H
                  `s.h`: cannot be looked up
                  = list its fields one by one, as in `s.h.a`
                t.p4:3:31: error[E0623]: a key cannot be of type S
                  `s`: cannot be looked up
                  = list its fields one by one, as in `s.h.a`
                t.p4:3:43: error[E0623]: a key cannot be of type H[4]
                  `s.stack`: cannot be looked up
                t.p4:3:59: error[E0623]: a key cannot be of type H
                  `s.stack[1]`: cannot be looked up
                  = list its fields one by one, as in `s.stack[1].a`
            "#]],
        );
    }

    #[test]
    fn varbit_and_tuple() {
        check_control(
            "tuple<bit<8>, bool> pair; varbit<8> v; table u { key = { pair: exact; v: exact; pair[0]: exact; } \
             actions = { one; } }",
            expect![[r#"
                t.p4:3:58: error[E0623]: a key cannot be of type tuple<bit<8>, bool>
                  `pair`: cannot be looked up
                t.p4:3:71: error[E0623]: a key cannot be of type varbit<8>
                  `v`: cannot be looked up
            "#]],
        );
    }

    #[test]
    fn select_on_header_struct_and_stack() {
        check_states(
            "state start { transition select(s.h) { default: accept; } }
             state two { transition select(s.x, s) { default: accept; } }
             state three { transition select(s.stack, { s.h }) { default: accept; } }
             state four { transition select({ s.x, s.f }) { default: accept; } }
             state five { transition select(p.lookahead<H>()) { default: accept; } }",
            expect![[r#"
                t.p4:3:33: error[E0623]: `select` cannot decide on H
                  `s.h`: cannot be selected on
                  = list its fields one by one, as in `s.h.a`
                t.p4:4:49: error[E0623]: `select` cannot decide on S
                  `s`: cannot be selected on
                  = list its fields one by one, as in `s.h.a`
                t.p4:5:46: error[E0623]: `select` cannot decide on H[4]
                  `s.stack`: cannot be selected on
                t.p4:5:55: error[E0623]: `select` cannot decide on tuple<H>
                  `{ s.h }`: cannot be selected on
                t.p4:7:45: error[E0623]: `select` cannot decide on H
                  `p.lookahead<H>()`: cannot be selected on
            "#]],
        );
    }
}
