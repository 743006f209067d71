//! `E0605`: a declaration that is not allowed here.
//!
//! Tables and actions are declared in controls, value sets in parsers, types in the outermost scope.
//!
//! There is no example: the grammar rejects such programs earlier. Only a syntax tree that was not parsed from text can
//! have this error.
//!
//! Specification: P4 programs.

use base::Span;
use syntax::diag::Diagnostic;

/// `here` has its article.
pub(crate) fn declaration_not_allowed_here(span: Span, here: &str) -> Diagnostic {
    Diagnostic::error("E0605", span, format!("this cannot be declared in {here}")).label("not here")
}

#[cfg(test)]
mod tests {
    use base::Span;
    use syntax::Diagnostics;
    use syntax::ast::{Declaration, DeclarationKind, Ident, Program, Table};

    /// The parser already rejects declarations in the wrong place; the checker must accept any tree.
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
