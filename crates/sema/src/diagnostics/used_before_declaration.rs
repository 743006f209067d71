//! `E0202`: a name that is used before it is declared.
//!
//! P4 programs are read from top to bottom: only parser states may be used before their declaration. Move the
//! declaration up.
//!
//! ```p4,wrong
//! struct headers_t { ethernet_t ethernet; }
//! header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
//! ```
//!
//! ```p4
//! header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
//! struct headers_t { ethernet_t ethernet; }
//! ```
//!
//! Specification: Name resolution.

use base::Span;
use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `declared` is the location of the declaration.
pub(crate) fn used_before_declaration(name: &Ident, declared: Span) -> Diagnostic {
    Diagnostic::error("E0202", name.span, format!("`{}` is used before it is declared", name.name))
        .label("not known here yet")
        .secondary(declared, "declared here, too late")
        .help("move the declaration before its first use")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn order_matters() {
        check_errors(
            "
            const bit<8> A = B;
            const bit<8> B = 1;",
            expect![[r#"
                t.p4:2:30: error[E0202]: `B` is used before it is declared
                  `B`: not known here yet
                  `B`: declared here, too late
                  = move the declaration before its first use
            "#]],
        );
    }
}
