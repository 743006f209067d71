//! `E0205`: an unknown field, method or enum member.
//!
//! Use a member that the type has.
//!
//! ```p4,wrong
//! header H { bit<8> ttl; }
//! control C(inout H h) { apply { h.tll = 1; } }
//! ```
//!
//! ```p4
//! header H { bit<8> ttl; }
//! control C(inout H h) { apply { h.ttl = 1; } }
//! ```
//!
//! Specification: Expressions.

use base::Span;
use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `owner` is the type's name; `declared` is its declaration, if there is one.
pub(crate) fn unknown_member(member: &Ident, owner: &str, suggestion: Option<String>, declared: Span) -> Diagnostic {
    let owner = if owner.contains(' ') { owner.to_owned() } else { format!("`{owner}`") };
    let diagnostic = Diagnostic::error("E0205", member.span, format!("{owner} has no member `{}`", member.name))
        .label("unknown member")
        .secondary(declared, "declared here");
    match suggestion {
        Some(suggestion) => diagnostic.help(format!("did you mean `{suggestion}`?")),
        None => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check_apply;
    use expect_test::expect;

    #[test]
    fn fields_methods_enums() {
        check_apply(
            "
            s.hh.a = 1;
            s.h.isvalid();
            x.n(1);
            if (s.h.a == 1) { E e = E.C; }
            error e = error.NoErrors;",
            expect![[r#"
                t.p4:4:15: error[E0205]: `S` has no member `hh`
                  `hh`: unknown member
                  `S`: declared here
                t.p4:5:17: error[E0205]: `H` has no member `isvalid`
                  `isvalid`: unknown member
                  `H`: declared here
                  = did you mean `isValid`?
                t.p4:6:15: error[E0205]: `X` has no member `n`
                  `n`: unknown member
                  `X`: declared here
                t.p4:7:39: error[E0205]: `E` has no member `C`
                  `C`: unknown member
                  `E`: declared here
                t.p4:8:29: error[E0205]: `error` has no member `NoErrors`
                  `NoErrors`: unknown member
                  = did you mean `NoError`?
            "#]],
        );
    }

    #[test]
    fn methods_of_others() {
        check_apply(
            "
            s.x.setValid();
            if (s.isValid()) { s.h.push_front(1); }",
            expect![[r#"
                t.p4:4:17: error[E0205]: `bit<8>` has no member `setValid`
                  `setValid`: unknown member
                  = only headers have `setValid()`
                t.p4:5:19: error[E0205]: `S` has no member `isValid`
                  `isValid`: unknown member
                  `S`: declared here
                  = only headers and header unions have `isValid()`
                t.p4:5:36: error[E0205]: `H` has no member `push_front`
                  `push_front`: unknown member
                  `H`: declared here
                  = only stacks of headers or header unions have `push_front()`
            "#]],
        );
    }

    #[test]
    fn methods_without_parentheses() {
        check_apply(
            "
            if (s.h.isValid) { }
            s.x = s.stack.minSizeInBits;
            if (t.apply().hit()) { }
            if (t.hit()) { }",
            expect![[r#"
                t.p4:4:21: error[E0205]: `H` has no member `isValid`
                  `isValid`: unknown member
                  `H`: declared here
                  = `isValid` is a method, which is called with parentheses: `isValid()`
                t.p4:5:27: error[E0205]: `H[4]` has no member `minSizeInBits`
                  `minSizeInBits`: unknown member
                  = `minSizeInBits` is a method, which is called with parentheses: `minSizeInBits()`
                t.p4:6:27: error[E0205]: the result of t.apply() has no member `hit`
                  `hit`: unknown member
                  = `hit` is not a method, and stands without parentheses: `.hit`
                t.p4:7:19: error[E0205]: table t has no member `hit`
                  `hit`: unknown member
                  `t`: declared here
                  = write `t.apply().hit`, which applies the table
            "#]],
        );
    }

    #[test]
    fn validity() {
        check_apply(
            "
            if (s.h.valid) { }
            if (s.h.valid() && s.x.valid()) { }",
            expect![[r#"
                t.p4:4:21: error[E0205]: `H` has no member `valid`
                  `valid`: unknown member
                  `H`: declared here
                  = a header is tested with `.isValid()`
                t.p4:5:21: error[E0205]: `H` has no member `valid`
                  `valid`: unknown member
                  `H`: declared here
                  = a header is tested with `.isValid()`
                t.p4:5:36: error[E0205]: `bit<8>` has no member `valid`
                  `valid`: unknown member
            "#]],
        );
    }
}
