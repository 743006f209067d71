//! `W0326`: an emitted header that is never valid
//!
//! An invalid header adds nothing to the packet. `@noWarn("invalid_header")` silences it.
//!
//! ```p4,wrong
//! #include <core.p4>
//! header H { bit<8> a; }
//! control C(packet_out packet) { H h; apply { packet.emit(h); } }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! header H { bit<8> a; }
//! control C(packet_out packet) { H h; apply { h.setValid(); h.a = 1; packet.emit(h); } }
//! ```
//!
//! Specification: Deparsing.

use base::Span;
use syntax::diag::Diagnostic;

/// A header that is not valid where it is emitted.
pub(crate) fn invalid_header_emitted(span: Span, name: &str) -> Diagnostic {
    Diagnostic::warning("W0326", span, format!("`{name}` is emitted, but it is not valid here")).label("adds nothing")
}

/// A field whose header nothing in the program makes valid.
pub(crate) fn never_valid(span: Span, name: &str) -> Diagnostic {
    Diagnostic::warning("W0326", span, format!("`{name}` is emitted, but nothing in the program makes it valid"))
        .label("adds nothing")
        .help("extract it, assign it, or call `setValid()`")
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::expect;

    #[test]
    fn local() {
        check(
            r#"
            #include <core.p4>
            header H { bit<8> a; }
            control D(packet_out packet, in H given) { H h; H g; apply { packet.emit(h); g.setValid(); g.a = 1; packet.emit(g); packet.emit(given); } }"#,
            expect![[r#"
                t.p4:4:86: warning[W0326]: `h` is emitted, but it is not valid here
            "#]],
        );
    }

    #[test]
    fn in_the_whole_program() {
        check(
            r#"
            #include <core.p4>
            header H { bit<8> a; }
            struct S { H extracted; H made; H copied; H never; H[2] stack; }
            parser Parse(packet_in p, out S s); control Edit(inout S s); control Deparse(packet_out p, in S s);
            package Package(Parse a, Edit b, Deparse c);
            parser P(packet_in p, out S s) { state start { p.extract(s.extracted); transition accept; } }
            control E(inout S s) { apply { s.made.setValid(); s.made.a = 1; s.copied = s.made; s.stack.push_front(1); } }
            control D(packet_out p, in S s) { apply { p.emit(s.extracted); p.emit(s.made); p.emit(s.copied); p.emit(s.never); p.emit(s.stack); } }
            Package(P(), E(), D()) main;"#,
            expect![[r#"
                t.p4:9:117: warning[W0326]: `never` is emitted, but nothing in the program makes it valid
            "#]],
        );
    }
}
