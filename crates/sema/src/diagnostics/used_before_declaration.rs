//! `E0202`: a name that is used before it is declared.
//!
//! P4 programs are read from top to bottom: only parser states may be used before their declaration. Move the
//! declaration up. A type is not declared before the end of its declaration, so it cannot contain itself.
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

/// The same for a type within its own declaration at `declared`.
pub(crate) fn contains_itself(name: &Ident, declared: Span) -> Diagnostic {
    Diagnostic::error("E0202", name.span, format!("`{}` is used in its own declaration", name.name))
        .label("not known before the end of the declaration")
        .secondary(declared, "declared here")
        .help("a type cannot contain itself")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn a_type_cannot_contain_itself() {
        check_errors(
            "
            header s_t { bit<8> a; s_t z; }
            struct t_t { t_t[2] z; }
            struct u_t { v_t z; }
            struct v_t { u_t z; }",
            expect![[r#"
                t.p4:2:36: error[E0202]: `s_t` is used in its own declaration
                  `s_t`: not known before the end of the declaration
                  `s_t`: declared here
                  = a type cannot contain itself
                t.p4:3:26: error[E0202]: `t_t` is used in its own declaration
                  `t_t`: not known before the end of the declaration
                  `t_t`: declared here
                  = a type cannot contain itself
                t.p4:4:26: error[E0202]: `v_t` is used before it is declared
                  `v_t`: not known here yet
                  `v_t`: declared here, too late
                  = move the declaration before its first use
            "#]],
        );
    }

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
