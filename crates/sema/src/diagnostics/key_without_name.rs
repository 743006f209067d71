//! `E0636`: a computed key without `@name`.
//!
//! Every key needs a control-plane name. Variables, fields, elements, slices, `isValid()` and masks with a constant
//! have a default name; any other expression requires the annotation.
//!
//! ```p4,wrong
//! #include <core.p4>
//! control C(in bit<8> x) {
//!     table t { key = { x + 1 : exact; } actions = { NoAction; } }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! control C(in bit<8> x) {
//!     table t { key = { x + 1 : exact @name("successor"); } actions = { NoAction; } }
//!     apply { t.apply(); }
//! }
//! ```
//!
//! Specification: Annotations, Control-plane API annotations, Computing control-plane names.

use base::Span;
use syntax::diag::Diagnostic;

/// The key's expression.
pub(crate) fn key_without_name(span: Span) -> Diagnostic {
    Diagnostic::error("E0636", span, "a computed key needs a name for the control plane")
        .label("no name follows from this")
        .help("add `@name(\"...\")` behind the match kind")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_control;
    use expect_test::expect;

    #[test]
    fn a_name_may_be_computed() {
        check_control(
            r#"const string K = "k"; table t { key = { s.x + 1 : exact @name["k" ++ "1"]; s.y + 1 : exact @name[K]; }
               actions = { one; } }"#,
            expect![[r#""#]],
        );
    }

    #[test]
    fn computed() {
        check_control(
            r#"table t { key = { s.x + 1 : exact; s.x ++ s.y : exact @name("both"); s.x & 3 : exact; s.y[3:0] : exact;
               s.h.isValid() : exact; s.stack[1].a : exact; s.f ? s.x : 1 : exact; (bit<16>)s.x : exact; }
               actions = { one; } }"#,
            expect![[r#"
                t.p4:3:19: error[E0636]: a computed key needs a name for the control plane
                  `s.x + 1`: no name follows from this
                  = add `@name("...")` behind the match kind
                t.p4:4:61: error[E0636]: a computed key needs a name for the control plane
                  `s.f ? s.x : 1`: no name follows from this
                  = add `@name("...")` behind the match kind
                t.p4:4:84: error[E0636]: a computed key needs a name for the control plane
                  `(bit<16>)s.x`: no name follows from this
                  = add `@name("...")` behind the match kind
            "#]],
        );
    }
}
