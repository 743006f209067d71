//! `W0324`: a read of a field whose header is invalid
//!
//! The header is invalid on every path to this read. Wirespeed reads zero, or the header's previous content if the same
//! body has just made it invalid or if the header belongs to the metadata; other targets may read any value.
//! `@noWarn("invalid_header")` silences it.
//!
//! ```p4,wrong
//! header H { bit<8> a; }
//! control C(inout H h, out bit<8> x) { apply { h.setInvalid(); x = h.a; } }
//! ```
//!
//! ```p4
//! header H { bit<8> a; }
//! control C(inout H h, out bit<8> x) { apply { x = h.a; h.setInvalid(); } }
//! ```
//!
//! Specification: Reading uninitialized values and writing fields of invalid headers.

use base::Span;
use syntax::diag::Diagnostic;

pub(crate) fn invalid_header_read(span: Span, name: &str) -> Diagnostic {
    Diagnostic::warning("W0324", span, format!("`{name}` is read, but the header is not valid here")).label("read here")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check_apply, check_control, check_parser, check_program};
    use expect_test::expect;

    #[test]
    fn surely_invalid() {
        check_apply(
            r#"
            H h;
            s.x = h.a;
            s.h.setInvalid();
            s.x = s.h.a;
            s.x = s.g.a;
            H i = {#};
            use(i.b);"#,
            expect![[r#"
                t.p4:5:19: warning[W0324]: `h.a` is read, but the header is not valid here
                t.p4:7:19: warning[W0324]: `s.h.a` is read, but the header is not valid here
                t.p4:10:17: warning[W0324]: `i.b` is read, but the header is not valid here
            "#]],
        );
    }

    #[test]
    fn perhaps_valid() {
        check_apply(
            r#"
            if (r == 1) { s.h.setInvalid(); }
            s.x = s.h.a;
            s.g.setInvalid();
            if (s.g.isValid()) { s.x = s.g.a; }
            H h;
            h = s.h;
            s.x = h.a;
            H copy;
            s.h = copy;
            s.g.setInvalid();
            s.g.setValid();
            s.g.a = 1;
            s.x = s.g.a;"#,
            expect![""],
        );
    }

    #[test]
    fn members_of_unions() {
        check_program(
            r#"
            header_union U { H a; H b; }
            control C(inout S s) {
                U u;
                apply {
                    u.a.setValid(); u.a.a = 1; s.x = u.a.a;
                    s.x = u.b.a;
                    u.b = s.h;
                    s.x = u.b.a;
                    s.x = u.a.a;
                    U v = u;
                    s.x = v.a.a + v.b.a;
                    if (u.isValid()) { s.x = u.a.a; }
                    fill(u.a);
                    s.y = u.a.b + u.b.b;
                    use(v);
                }
            }
            Package(C()) main;"#,
            expect![[r#"
                t.p4:9:27: warning[W0324]: `u.b.a` is read, but the header is not valid here
                t.p4:12:27: warning[W0324]: `u.a.a` is read, but the header is not valid here
                t.p4:14:27: warning[W0321]: `v.a.a` has no value here
            "#]],
        );
    }

    #[test]
    fn in_parsers() {
        check_parser(
            r#"
            state start { transition select(s.h.a) { 0: more; _: accept; } }
            state more { p.extract(s.g); p.extract(s.stack.next); transition select(s.g.a, s.stack.last.a) { (0, 0): more; _: accept; } }"#,
            expect![[r#"
                t.p4:4:45: warning[W0324]: `s.h.a` is read, but the header is not valid here
            "#]],
        );
    }

    #[test]
    fn through_actions() {
        check_control(
            r#"
            action look() { s.x = s.h.a; }
            action remove() { s.h.setInvalid(); }
            apply { look(); remove(); look(); }"#,
            expect![[r#"
                t.p4:4:35: warning[W0324]: `s.h.a` is read, but the header is not valid here
            "#]],
        );
    }
}
