//! `W0328`: a write to a field before its header is made valid
//!
//! `setValid()` sets all fields of an invalid header to zero. Call it first.
//! `@noWarn("invalid_header")` silences it.
//!
//! ```p4,wrong
//! header H { bit<8> a; }
//! control C(inout H h) { apply { h.a = 1; h.setValid(); } }
//! ```
//!
//! ```p4
//! header H { bit<8> a; }
//! control C(inout H h) { apply { h.setValid(); h.a = 1; } }
//! ```
//!
//! Specification: Operations on headers.

use base::Span;
use syntax::diag::Diagnostic;

pub(crate) fn written_before_valid(span: Span, made_valid: Span) -> Diagnostic {
    Diagnostic::warning("W0328", span, "this field is written before its header is made valid, and loses the value")
        .label("written here")
        .secondary(made_valid, "`setValid()` makes the fields of a header zero that was not valid")
        .help("call `setValid()` first")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn order_of_statements() {
        check_apply(
            r#"
            s.h.a = 1;
            s.h.b[3:0] = 2;
            use(s.x);
            s.h.setValid();
            s.g.setValid();
            s.g.a = 1;
            s.g.setValid();
            s.stack[0].a = 1;
            s.stack[1].setValid();
            s.stack[0].setValid();"#,
            expect![[r#"
                t.p4:4:13: warning[W0328]: this field is written before its header is made valid, and loses the value
                t.p4:5:13: warning[W0328]: this field is written before its header is made valid, and loses the value
                t.p4:11:13: warning[W0328]: this field is written before its header is made valid, and loses the value
            "#]],
        );
    }

    #[test]
    fn branches_that_do_not_concern_the_header() {
        check_apply(
            r#"
            s.h.a = 1;
            if (s.x == 1) { s.y = 2; } else if (s.f) { bit<8> z = s.x; s.x = z + 1; }
            { s.y = 3; }
            s.h.setValid();
            s.g.a = 1;
            if (s.g.isValid()) { s.y = 2; }
            s.g.setValid();
            s.stack[0].a = 1;
            if (s.x == 2) { exit; }
            s.stack[0].setValid();
            s.stack[1].a = 1;
            if (s.x == 3) { s.stack[1] = s.g; }
            s.stack[1].setValid();
            if (s.x == 4) { s.stack[2].a = 1; }
            s.stack[2].setValid();"#,
            expect![[r#"
                t.p4:4:13: warning[W0328]: this field is written before its header is made valid, and loses the value
            "#]],
        );
    }

    #[test]
    fn headers_that_were_made_valid_before() {
        check_apply(
            r#"
            s.h.setValid();
            if (s.x == 1) { s.h.a = 1; }
            s.h.b = 2;
            s.h.setValid();
            s.g.setValid();
            s.g.setInvalid();
            s.g.a = 1;
            s.g.setValid();"#,
            expect![[r#"
                t.p4:10:13: warning[W0328]: this field is written before its header is made valid, and loses the value
            "#]],
        );
    }

    #[test]
    fn something_in_between() {
        check_apply(
            r#"
            s.h.a = 1;
            if (s.x == 1) { s.h.setInvalid(); }
            s.h.setValid();
            s.g.a = 1;
            use(s.g);
            s.g.setValid();
            s.stack[0] = s.g;
            s.stack[0].a = 1;
            s.stack[0].setValid();
            s.stack[s.x].a = 1;
            s.stack[r].setValid();"#,
            expect![""],
        );
    }
}
