//! `W0327`: a use of a header that nothing in the program makes valid
//!
//! A packet header then reads as zero and ignores writes. A header in the metadata keeps what is written to it, as a
//! struct does; other targets may behave differently. Extract the header, assign it or call `setValid()`, or declare a
//! struct. `@noWarn("invalid_header")` silences it, and so does a call of `isValid()`.
//!
//! ```p4,wrong
//! #include <core.p4>
//! header H { bit<8> a; }
//! struct S { H h; bit<8> x; }
//! parser Parse(packet_in packet, out S s);
//! control Edit(inout S s);
//! package Package(Parse p, Edit e);
//! parser P(packet_in packet, out S s) { state start { transition accept; } }
//! control E(inout S s) { apply { s.h.a = 1; s.x = s.h.a; } }
//! Package(P(), E()) main;
//! ```
//!
//! ```p4
//! #include <core.p4>
//! header H { bit<8> a; }
//! struct S { H h; bit<8> x; }
//! parser Parse(packet_in packet, out S s);
//! control Edit(inout S s);
//! package Package(Parse p, Edit e);
//! parser P(packet_in packet, out S s) { state start { transition accept; } }
//! control E(inout S s) { apply { s.h.setValid(); s.h.a = 1; s.x = s.h.a; } }
//! Package(P(), E()) main;
//! ```
//!
//! Specification: Reading uninitialized values and writing fields of invalid headers.

use base::Span;
use syntax::diag::Diagnostic;

pub(crate) fn never_valid_header(span: Span, name: &str, declared: Span) -> Diagnostic {
    Diagnostic::warning("W0327", span, format!("`{name}` is used, but nothing in the program makes it valid"))
        .label("the header is not valid here")
        .secondary(declared, "declared here")
        .help("extract it, assign it, or call `setValid()`; for values that are not sent, declare a struct")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_program;
    use expect_test::expect;

    #[test]
    fn in_the_whole_program() {
        check_program(
            r#"
            struct T { H read; H written; H made; H asked; H given; H passed; H made_below; H[2] stack; H listed; }
            control Inner(inout T t) { apply { t.made_below.setValid(); } }
            control C(inout T t) {
                Inner() inner;
                T other = { {1, 2}, {#}, {#}, {#}, {#}, {#}, {#}, {{#}, {#}}, {1, 2} };
                apply { inner.apply(t); use(other); }
            }
            parser Parse(packet_in p, out T t); control One(inout T t);
            package P(Parse parse, One one);
            parser Q(packet_in p, out T t) { state start { transition accept; } }
            P(Q(), C()) main;"#,
            expect![""],
        );
        check_program(
            r#"
            struct T { H read; H written; H made; H asked; H given; H passed; H made_below; H[2] stack; bit<8> x; }
            control Inner(inout T t) { apply { t.made_below.setValid(); } }
            control C(inout T t) {
                Inner() inner;
                action passing(inout H h) { h.a = 1; }
                table by_header { key = { t.read.a: exact; } actions = { NoAction; } }
                apply {
                    by_header.apply();
                    t.x = t.read.a;
                    t.written.a = 1;
                    t.written.b[3:0] = 1;
                    t.made.setValid(); t.made.a = 1;
                    if (t.asked.isValid()) { t.asked.a = 1; }
                    fill(t.given); t.given.a = 2;
                    passing(t.passed); t.passed.a = 2;
                    inner.apply(t); t.made_below.a = 3;
                    t.stack[1].a = 4;
                }
            }
            parser Parse(packet_in p, out T t); control One(inout T t);
            package P(Parse parse, One one);
            parser Q(packet_in p, out T t) { state start { transition accept; } }
            P(Q(), C()) main;"#,
            expect![[r#"
                t.p4:9:43: warning[W0327]: `read` is used, but nothing in the program makes it valid
                t.p4:13:21: warning[W0327]: `written` is used, but nothing in the program makes it valid
                t.p4:20:21: warning[W0327]: `stack` is used, but nothing in the program makes it valid
            "#]],
        );
    }
}
