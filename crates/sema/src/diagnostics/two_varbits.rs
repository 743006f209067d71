//! `E0312`: the extraction of a header with two `varbit` fields.
//!
//! The call of `extract` has one length, which cannot be divided between two fields. A header with several such fields
//! can be declared, assigned and emitted.
//!
//! ```p4,wrong
//! #include <core.p4>
//! header H { varbit<32> a; varbit<32> b; }
//! parser P(packet_in p, out H h) { state start { p.extract(h, 16); transition accept; } }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! header H { varbit<32> a; }
//! header G { varbit<32> b; }
//! parser P(packet_in p, out H h, out G g) { state start { p.extract(h, 16); p.extract(g, 16); transition accept; } }
//! ```
//!
//! Specification: P4 data types, Derived types, Header types.

use base::Span;
use syntax::diag::Diagnostic;

/// The call, the header's type, and the first two of its `varbit` fields.
pub(crate) fn two_varbits(span: Span, header: &str, first: Span, second: Span) -> Diagnostic {
    Diagnostic::error("E0312", span, format!("`{header}` has several varbit fields, and `extract` takes one length"))
        .label("one length for several fields")
        .secondary(first, "the first")
        .secondary(second, "the second")
        .help("divide the header into several with one varbit field each")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn extraction() {
        check_errors(
            "
            #include <core.p4>
            header H { varbit<8> a; bit<8> b; varbit<16> c; }
            parser P(packet_in p, out H h) {
                state start { p.extract(h, 8); p.extract(h); transition accept; }
            }
            control C(packet_out p, inout H h) { apply { h = h; p.emit(h); } }",
            expect![[r#"
                t.p4:5:31: error[E0312]: `H` has several varbit fields, and `extract` takes one length
                  `p.extract(h, 8)`: one length for several fields
                  `a`: the first
                  `c`: the second
                  = divide the header into several with one varbit field each
                t.p4:5:48: error[E0312]: `H` has several varbit fields, and `extract` takes one length
                  `p.extract(h)`: one length for several fields
                  `a`: the first
                  `c`: the second
                  = divide the header into several with one varbit field each
            "#]],
        );
    }
}
