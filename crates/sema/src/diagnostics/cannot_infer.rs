//! `E0313`: a type argument that cannot be inferred.
//!
//! Type arguments may be omitted if the arguments of the call determine them. Write them: `f<bit<8>>(...)`.
//!
//! ```p4,wrong
//! extern T make<T>();
//! control C() { apply { make(); } }
//! ```
//!
//! ```p4
//! extern T make<T>();
//! control C() { apply { make<bit<8>>(); } }
//! ```
//!
//! Specification: P4 data types, Type specialization.

use base::Span;
use syntax::diag::Diagnostic;

/// A type parameter of a function or method.
pub(crate) fn cannot_infer(span: Span, param: &str, name: &str, declared: Span) -> Diagnostic {
    Diagnostic::error("E0313", span, format!("the type argument `{param}` of `{name}` cannot be inferred"))
        .label("nothing determines it")
        .secondary(declared, "declared here")
        .help(format!("write it: `{name}<...>(...)`"))
}

/// The type of an instance.
pub(crate) fn cannot_infer_instance(span: Span, shown: &str, declared: Span) -> Diagnostic {
    Diagnostic::error("E0313", span, format!("the type arguments of `{shown}` cannot be inferred"))
        .label("nothing determines them")
        .secondary(declared, "declared here")
        .help(format!("write them: `{}<...>(...)`", shown.split('<').next().unwrap_or(shown)))
}

#[cfg(test)]
mod tests {
    use crate::testing::{check_errors, check_states};
    use expect_test::expect;

    #[test]
    fn result_only() {
        check_states(
            "state start { s.x = p.lookahead(); transition accept; }",
            expect![[r#"
            t.p4:3:21: error[E0313]: the type argument `T` of `lookahead` cannot be inferred
              `p.lookahead()`: nothing determines it
              `lookahead`: declared here
              = write it: `lookahead<...>(...)`
        "#]],
        );
    }

    #[test]
    fn instance() {
        check_errors(
            "
            extern G<T> { G(); }
            G() g;",
            expect![[r#"
                t.p4:3:13: error[E0313]: the type arguments of `G<_>` cannot be inferred
                  `G() g;`: nothing determines them
                  `G`: declared here
                  = write them: `G<...>(...)`
            "#]],
        );
    }

    #[test]
    fn instance_of_a_control() {
        check_errors(
            "
            control G<T>(inout T x) { apply { } }
            control F<T>()(T x) { apply { } }
            control C(inout bit<8> x) { F(8w1) f; G() g; apply { f.apply(); g.apply(x); } }",
            expect![[r#"
                t.p4:4:51: error[E0313]: the type arguments of `G<_>` cannot be inferred
                  `G() g;`: nothing determines them
                  `G`: declared here
                  = write them: `G<...>(...)`
            "#]],
        );
    }
}
