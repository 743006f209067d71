//! `E0612`: a transition to a name that is not a state of the parser.
//!
//! ```p4,wrong
//! parser P() { state start { transition next; } }
//! ```
//!
//! ```p4
//! parser P() { state start { transition next; } state next { transition accept; } }
//! ```
//!
//! Specification: Packet parsing, Transition statements.

use base::Span;
use syntax::ast::Ident;
use syntax::diag::Diagnostic;

/// `found` is the kind of the name, if it is declared.
pub(crate) fn unknown_state(name: &Ident, suggestion: Option<String>, found: Option<(&str, Span)>) -> Diagnostic {
    let diagnostic = Diagnostic::error("E0612", name.span, format!("`{}` is not a state of this parser", name.name))
        .label("not a state");
    let diagnostic = match found {
        Some((kind, span)) => diagnostic.secondary(span, format!("this is {kind}")),
        None => diagnostic,
    };
    match suggestion {
        Some(suggestion) => diagnostic.help(format!("did you mean `{suggestion}`?")),
        None => diagnostic,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::check_states;
    use expect_test::expect;

    #[test]
    fn misspelled_and_variable() {
        check_states(
            "
            state start { transition parse_ip; }
            state parse_ipv { transition s; }",
            expect![[r#"
                t.p4:4:38: error[E0612]: `parse_ip` is not a state of this parser
                  `parse_ip`: not a state
                  = did you mean `parse_ipv`?
                t.p4:5:42: error[E0612]: `s` is not a state of this parser
                  `s`: not a state
                  `s`: this is a variable
            "#]],
        );
    }
}
