//! `W0202`: a use of a declaration that is marked `@deprecated`.
//!
//! `@noWarn("deprecated")` silences it.
//!
//! ```p4,wrong
//! @deprecated("use g") extern void f();
//! control C() { apply { f(); } }
//! ```
//!
//! ```p4
//! extern void g();
//! control C() { apply { g(); } }
//! ```
//!
//! Specification: Annotations, The deprecated annotation.

use base::Span;
use syntax::diag::Diagnostic;

/// `advice` is the string of the annotation.
pub(crate) fn deprecated(span: Span, name: &str, advice: Option<String>) -> Diagnostic {
    let diagnostic = Diagnostic::warning("W0202", span, format!("`{name}` is deprecated")).label("deprecated");
    match advice {
        Some(advice) => diagnostic.note(advice),
        None => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn a_function() {
        check_errors(
            r#"
            @deprecated("use g") extern void f();
            void h() { f(); }"#,
            expect![[r#"
                t.p4:3:24: warning[W0202]: `f` is deprecated
                  `f()`: deprecated
                  = use g
            "#]],
        );
    }

    #[test]
    fn another_declaration_from_the_same_argument_of_a_macro() {
        check_errors(
            r#"
            #define TWO(x) @deprecated["use" ++ " y"] const bit<8> x = 1; \
                           bit<8> f(bit<8> x) { return x; }
            TWO(a)"#,
            expect![[r#"
                t.p4:4:17: warning[W0201]: `a` hides another declaration of that name
                  `a`: hides it
                  `a`: the hidden one
            "#]],
        );
    }

    #[test]
    fn anything_with_a_name() {
        check_errors(
            r#"
            #include <core.p4>
            @deprecated("use new_t") struct old_t { bit<8> a; }
            @deprecated("use B") const bit<8> A = 1;
            @deprecated("use N") extern Old { Old(); void f(); }
            @deprecated("use Next") control Former() { apply { } }
            control C(inout old_t s) {
                @deprecated("call b") action a() { }
                @deprecated("apply u") table t { actions = { a; } default_action = a; }
                @deprecated("use o") Old() old;
                Former() former;
                apply { @deprecated("use y") bit<8> x = A; s.a = x; a(); t.apply(); old.f(); former.apply(); }
            }"#,
            expect![[r#"
                t.p4:7:29: warning[W0202]: `old_t` is deprecated
                  `old_t`: deprecated
                  = use new_t
                t.p4:9:62: warning[W0202]: `a` is deprecated
                  `a`: deprecated
                  = call b
                t.p4:9:84: warning[W0202]: `a` is deprecated
                  `a`: deprecated
                  = call b
                t.p4:10:38: warning[W0202]: `Old` is deprecated
                  `Old`: deprecated
                  = use N
                t.p4:11:17: warning[W0202]: `Former` is deprecated
                  `Former`: deprecated
                  = use Next
                t.p4:12:57: warning[W0202]: `A` is deprecated
                  `A`: deprecated
                  = use B
                t.p4:12:66: warning[W0202]: `x` is deprecated
                  `x`: deprecated
                  = use y
                t.p4:12:69: warning[W0202]: `a` is deprecated
                  `a`: deprecated
                  = call b
                t.p4:12:74: warning[W0202]: `t` is deprecated
                  `t`: deprecated
                  = apply u
                t.p4:12:85: warning[W0202]: `old` is deprecated
                  `old`: deprecated
                  = use o
            "#]],
        );
    }

    #[test]
    fn silenced() {
        check_errors(
            r#"
            @deprecated("use B") const bit<8> A = 1;
            @noWarn("deprecated") const bit<8> C = A;"#,
            expect![[""]],
        );
    }
}
