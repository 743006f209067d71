//! `E0605`: a declaration in a place where it cannot stand.
//!
//! Tables and actions are declared in controls, value sets in parsers, types in the outermost scope.
//!
//! There is no example: the grammar refuses such programs before. Only a syntax tree that was not made from text
//! can have this fault.
//!
//! Specification: P4 programs.

use base::Span;
use syntax::diag::Diagnostic;

/// `here` comes with its article.
pub(crate) fn declaration_not_allowed_here(span: Span, here: &str) -> Diagnostic {
    Diagnostic::error("E0605", span, format!("this cannot be declared in {here}")).label("not here")
}

#[cfg(test)]
mod tests {
    use base::Span;
    use syntax::Diagnostics;
    use syntax::ast::{Declaration, DeclarationKind, Ident, Program, Table};

    /// The parser refuses what stands in the wrong place already; the checker must take any tree.
    #[test]
    fn a_table_outside_a_control() {
        let name = Ident { name: "t".into(), span: Span::new(1, 2) };
        let kind = DeclarationKind::Table(Table { name, properties: Vec::new() });
        let declaration = Declaration { annotations: Vec::new(), kind, span: Span::new(1, 2) };
        let mut diagnostics = Diagnostics::new();
        crate::check(&Program { declarations: vec![declaration] }, &mut diagnostics);
        let messages: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
        assert_eq!(messages, ["this cannot be declared in the outermost scope"]);
    }
}
