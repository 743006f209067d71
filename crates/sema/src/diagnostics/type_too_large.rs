//! `E0315`: a type with too many parts.
//!
//! The sizes of nested types multiply; this one has more fields and elements than any program can use.
//!
//! ```p4,wrong
//! typedef bit<8>[1000] T;
//! typedef T[1000] U;
//! ```
//!
//! ```p4
//! typedef bit<8>[10] T;
//! typedef T[10] U;
//! ```
//!
//! Specification: P4 data types.

use base::Span;
use syntax::diag::Diagnostic;

/// The location of the type.
pub(crate) fn type_too_large(span: Span) -> Diagnostic {
    Diagnostic::error("E0315", span, "this type has too many parts").label("too large")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn typedefs_that_double() {
        check_errors(
            "
            typedef tuple<bool, bool> A;
            typedef tuple<A, A> B;
            typedef tuple<B, B> C;
            typedef tuple<C, C> D;
            typedef tuple<D, D> E;
            typedef tuple<E, E> F;
            typedef tuple<F, F> G;
            typedef tuple<G, G> I;
            typedef tuple<I, I> J;
            typedef tuple<J, J> K;
            typedef tuple<K, K> L;
            typedef tuple<L, L> M;",
            expect![[r#"
                t.p4:13:21: error[E0315]: this type has too many parts
                  `tuple<L, L>`: too large
            "#]],
        );
    }

    #[test]
    fn nested_structs() {
        check_errors(
            "
            struct A { bit<1>[1000] a; }
            struct B { A[1000] b; }",
            expect![[r#"
                t.p4:3:24: error[E0315]: this type has too many parts
                  `A[1000]`: too large
            "#]],
        );
    }
}
