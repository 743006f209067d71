//! `E0209`: a control-plane name or id that is not unique.
//!
//! The control-plane name of a table, action, key or instance is that of `@name("...")`, or otherwise its name in the
//! program. It must be unique within the kind. (For actions this is only checked when a P4Info is made.)
//!
//! ```p4,wrong
//! #include <core.p4>
//! control C() {
//!     @name("acl") table t { actions = { NoAction; } }
//!     @name("acl") table u { actions = { NoAction; } }
//!     apply { t.apply(); u.apply(); }
//! }
//! ```
//!
//! ```p4
//! #include <core.p4>
//! control C() {
//!     @name("acl.first") table t { actions = { NoAction; } }
//!     @name("acl.second") table u { actions = { NoAction; } }
//!     apply { t.apply(); u.apply(); }
//! }
//! ```
//!
//! Specification: Annotations, Control-plane API annotations.

use base::Span;
use syntax::diag::Diagnostic;

/// `kind` is the kind of both; `first` is the first one.
pub(crate) fn duplicate_control_plane_name(span: Span, name: &str, kind: &str, first: Span) -> Diagnostic {
    Diagnostic::error("E0209", span, format!("two {kind}s are called `{name}` for the control plane"))
        .label("the same name")
        .secondary(first, "the first one")
        .help("choose another name with `@name(\"...\")`")
}

/// The same for a declaration in several instances; `instance` is the location of the second one.
pub(crate) fn name_of_several_instances(span: Span, name: &str, kind: &str, instance: Span) -> Diagnostic {
    let article = if kind == "action" { "an" } else { "a" };
    Diagnostic::error(
        "E0209",
        span,
        format!("two instances of {article} {kind} are called `{name}` for the control plane"),
    )
    .label("the same name in all instances")
    .secondary(instance, "instantiated again here")
    .help("leave out the dot in front of the name in `@name(\"...\")`")
}

/// The same for a parser or control that is applied directly once more; `first` is the first application.
pub(crate) fn applied_twice(span: Span, name: &str, first: Span) -> Diagnostic {
    let message = format!("two instances of `{name}` have the same name for the control plane");
    Diagnostic::error("E0209", span, message)
        .label("applied directly again")
        .secondary(first, "applied directly here")
        .help("declare instances with different names, and apply them")
}

/// The same for the numbers of `@id`.
pub(crate) fn duplicate_control_plane_id(span: Span, id: &str, kind: &str, first: Span) -> Diagnostic {
    Diagnostic::error("E0209", span, format!("two {kind}s have the id {id} for the control plane"))
        .label("the same id")
        .secondary(first, "the first one")
        .help("choose another number in `@id(...)`")
}

#[cfg(test)]
mod tests {
    use crate::testing::{check_control, check_errors};
    use expect_test::expect;

    #[test]
    fn names_of_the_whole_program() {
        check_errors(
            r#"
            control A() { action a() { } @name(".t") table t { actions = { a; } default_action = a; } apply { } }
            control B() { action a() { } @name(".t") table t { actions = { a; } default_action = a; } apply { } }
            control C() { @name(".x") action a() { } apply { a(); } }
            control D() { @name(".x") action a() { } apply { a(); } }"#,
            expect![[r#"
                t.p4:3:60: error[E0209]: two tables are called `.t` for the control plane
                  `t`: the same name
                  `t`: the first one
                  = choose another name with `@name("...")`
            "#]],
        );
    }

    #[test]
    fn direct_application() {
        check_errors(
            "
            extern X { X(); }
            control Stateless(inout bit<8> x) { action one() { x = 1; } apply { one(); } }
            control Inner(inout bit<8> x) { X() x1; apply { } }
            control Outer(inout bit<8> x) { apply { Inner.apply(x); } }
            parser P(in bit<8> x) { value_set<bit<8>>(4) v; state start { transition accept; } }
            control A(inout bit<8> x) {
                apply { Stateless.apply(x); Stateless.apply(x); Inner.apply(x); if (x == 1) { Inner.apply(x); } }
            }
            control B(inout bit<8> x) { apply { Inner.apply(x); Outer.apply(x); Outer.apply(x); } }
            parser Q(in bit<8> x) {
                state start { P.apply(x); transition next; }
                state next { P.apply(x); transition accept; }
            }",
            expect![[r#"
                t.p4:8:95: error[E0209]: two instances of `Inner` have the same name for the control plane
                  `Inner`: applied directly again
                  `Inner`: applied directly here
                  = declare instances with different names, and apply them
                t.p4:10:81: error[E0209]: two instances of `Outer` have the same name for the control plane
                  `Outer`: applied directly again
                  `Outer`: applied directly here
                  = declare instances with different names, and apply them
                t.p4:13:30: error[E0209]: two instances of `P` have the same name for the control plane
                  `P`: applied directly again
                  `P`: applied directly here
                  = declare instances with different names, and apply them
            "#]],
        );
    }

    #[test]
    fn ids() {
        check_control(
            "
            @id(5) action a() { }
            @id(5) action b() { }
            @id(0x5) table t { actions = { a; } }",
            expect![[r#"
                t.p4:5:27: error[E0209]: two actions have the id 5 for the control plane
                  `b`: the same id
                  `a`: the first one
                  = choose another number in `@id(...)`
            "#]],
        );
    }

    #[test]
    fn tables_actions_keys() {
        check_control(
            r#"
            @name("x") action a() { }
            @name("x") action b() { }
            action y() { }
            @name("y") action z() { }
            table t {
                key = { r: exact; s.x: exact @name("r"); }
                actions = { a; }
            }
            @name("t") table u { actions = { a; } }"#,
            expect![[r#"
                t.p4:9:35: error[E0209]: two keys are called `r` for the control plane
                  `s.x: exact @name("r")`: the same name
                  `r: exact`: the first one
                  = choose another name with `@name("...")`
                t.p4:12:30: error[E0209]: two tables are called `t` for the control plane
                  `u`: the same name
                  `t`: the first one
                  = choose another name with `@name("...")`
            "#]],
        );
    }
}
