//! `E0512`: an instance that is not allowed here.
//!
//! Packages are instantiated in the outermost scope, controls in controls, parsers in parsers, and extern objects in
//! all of these.
//!
//! ```p4,wrong
//! extern Counter { Counter(); void count(); }
//! control C() { apply { Counter() c; c.count(); } }
//! ```
//!
//! ```p4
//! extern Counter { Counter(); void count(); }
//! control C() { Counter() c; apply { c.count(); } }
//! ```
//!
//! Specification: Instantiations.

use base::Span;
use syntax::diag::Diagnostic;

/// `here` has its article.
pub(crate) fn instance_not_allowed_here(span: Span, shown: &str, here: &str) -> Diagnostic {
    Diagnostic::error("E0512", span, format!("an instance of {shown} cannot be declared in {here}")).label("not here")
}

#[cfg(test)]
mod tests {
    use crate::testing::check_errors;
    use expect_test::expect;

    #[test]
    fn wrong_places() {
        check_errors(
            "
            control I() { apply { } }
            parser P() { I() i; state start { transition accept; } }
            I() top;
            package K();
            control C() { K() k; action a() { I() i; } apply { } }",
            expect![[r#"
                t.p4:3:26: error[E0512]: an instance of I cannot be declared in a parser
                  `I() i;`: not here
                t.p4:4:13: error[E0512]: an instance of I cannot be declared in the outermost scope
                  `I() top;`: not here
                t.p4:6:27: error[E0512]: an instance of K cannot be declared in a control
                  `K() k;`: not here
                t.p4:6:47: error[E0512]: an instance of I cannot be declared in an action
                  `I() i;`: not here
            "#]],
        );
    }
}
