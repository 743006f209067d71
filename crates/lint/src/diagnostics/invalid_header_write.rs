//! `W0325`: an assignment to a field whose header is invalid
//!
//! The assignment has no effect on a packet header. A header in the metadata or in a variable keeps the value
//! until `setValid()` sets its fields to zero; other targets may behave differently. Make the header valid first:
//! `h.setValid();` `@noWarn("invalid_header")` silences it.
//!
//! ```p4,wrong
//! header H { bit<8> a; }
//! control C(inout H h) { apply { h.setInvalid(); h.a = 1; } }
//! ```
//!
//! ```p4
//! header H { bit<8> a; }
//! control C(inout H h) { apply { h.setValid(); h.a = 1; } }
//! ```
//!
//! Specification: Reading uninitialized values and writing fields of invalid headers.

use base::Span;
use syntax::diag::Diagnostic;

pub(crate) fn invalid_header_write(span: Span, name: &str) -> Diagnostic {
    Diagnostic::warning("W0325", span, format!("`{name}` is assigned, but the header is not valid here"))
        .label("the fields of an invalid header have no defined value")
        .help("call `setValid()` before")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check_apply, check_parser};
    use expect_test::expect;

    #[test]
    fn surely_invalid() {
        check_apply(
            r#"
            s.h.setInvalid();
            s.h.a = 1;
            s.g.a = 1;
            s.g.setInvalid();
            fill(s.g.b);"#,
            expect![[r#"
                t.p4:5:13: warning[W0325]: `s.h.a` is assigned, but the header is not valid here
                t.p4:8:18: warning[W0325]: `s.g.b` is assigned, but the header is not valid here
            "#]],
        );
    }

    #[test]
    fn parser() {
        check_parser(
            r#"
            state start { s.h.a = 1; s.h.setValid(); s.g.setValid(); s.g.a = 1; s.h.a = s.g.a; transition accept; }"#,
            expect![[r#"
                t.p4:4:27: warning[W0325]: `s.h.a` is assigned, but the header is not valid here
            "#]],
        );
    }
}
