//! Parsers, controls and tables.

use super::{Failed, Meaning, Parsed, Parser};
use crate::ast::{
    ActionListElement, ActionRef, Annotation, ApplyType, Block, ControlDeclaration, Declaration, DeclarationKind,
    Entry, Ident, KeyElement, ParserDeclaration, ParserState, SelectCase, Table, TableProperty, TablePropertyKind,
    Transition, TransitionKind, ValueSet,
};
use crate::codes;
use crate::diag::Diagnostic;
use crate::token::{Keyword, TokenKind};
use base::Span;

/// The permitted contents of a parser's body, for messages.
enum ParserPart {
    Local(Declaration),
    State(ParserState),
}

/// The permitted contents of a control's body, for messages.
enum ControlPart {
    Local(Declaration),
    Apply(Span, Block),
}

// Parsers.
impl Parser<'_> {
    /// `parser name(...);` or `parser name(...)(...) { ... }`
    pub(super) fn parser(&mut self) -> Parsed<DeclarationKind> {
        self.bump();
        let name = self.declared_name(Meaning::Type)?;
        self.scoped(|this| {
            let signature = this.apply_type(name)?;
            if this.at_end_of_type() {
                this.expect_semicolon()?;
                return Ok(DeclarationKind::ParserType(signature));
            }
            this.parser_body(signature)
        })
    }

    /// Whether a parser or control has no body, which makes it a type.
    fn at_end_of_type(&self) -> bool {
        !matches!(self.peek().kind, TokenKind::LeftBrace | TokenKind::LeftParen)
    }

    fn constructor_parameters(&mut self) -> Parsed<Vec<crate::ast::Parameter>> {
        if self.at(TokenKind::LeftParen) { self.parameters() } else { Ok(Vec::new()) }
    }

    fn parser_body(&mut self, signature: ApplyType) -> Parsed<DeclarationKind> {
        let constructor_parameters = self.constructor_parameters()?;
        let errors_before = self.diagnostics.error_count();
        let (parts, _) = self.braced(Self::parser_part)?;
        let (mut locals, mut states) = (Vec::new(), Vec::new());
        for part in parts {
            match part {
                ParserPart::Local(local) => {
                    if let Some(state) = states.first() {
                        self.local_after_state(local.span, state);
                    }
                    locals.push(local);
                }
                ParserPart::State(state) => states.push(state),
            }
        }
        // A state with a syntax error does not count as missing.
        if states.is_empty() && self.diagnostics.error_count() == errors_before {
            let message = format!("parser `{}` has no states", signature.name.as_str());
            let diagnostic = Diagnostic::error(codes::PARSER_WITHOUT_STATES, signature.name.span, message)
                .help("a parser begins in `state start { ... }`");
            self.report_anywhere(diagnostic);
        }
        let parser = ParserDeclaration { signature, constructor_parameters, locals, states };
        Ok(DeclarationKind::Parser(parser))
    }

    /// Reports an error that is found after its text was parsed.
    fn report_anywhere(&mut self, diagnostic: Diagnostic) {
        if !self.is_speculative {
            self.diagnostics.push(diagnostic);
        }
    }

    fn local_after_state(&mut self, span: Span, state: &ParserState) {
        let message = "declarations of a parser stand before its states";
        let diagnostic = Diagnostic::error(codes::MISPLACED_DECLARATION, span, message)
            .secondary(state.name.span, "the states begin here");
        self.report_anywhere(diagnostic);
    }

    fn parser_part(&mut self) -> Parsed<ParserPart> {
        let annotations = self.annotations()?;
        let start = self.peek().span;
        if self.at_keyword(Keyword::State) && self.peek_at(1).kind == TokenKind::Word {
            return Ok(ParserPart::State(self.state(annotations)?));
        }
        if self.at_keyword(Keyword::ValueSet) {
            let kind = self.value_set()?;
            return Ok(ParserPart::Local(Declaration { annotations, kind, span: self.span_from(start) }));
        }
        if !self.at_local_declaration() && !self.at_unknown_instance() {
            let is_declaration = matches!(self.peek().keyword(), Some(Keyword::Table | Keyword::Action));
            if is_declaration {
                return self.misplaced(start, "tables and actions stand in controls, not in parsers");
            }
            return self.unexpected("a declaration or a state");
        }
        Ok(ParserPart::Local(self.local_declaration(annotations)?))
    }

    fn value_set(&mut self) -> Parsed<DeclarationKind> {
        self.bump();
        let open = self.expect(TokenKind::Less)?.span;
        let element_type = self.type_ref()?;
        self.expect_close(TokenKind::Greater, open)?;
        let open = self.expect(TokenKind::LeftParen)?.span;
        let size = self.expression()?;
        self.expect_close(TokenKind::RightParen, open)?;
        let name = self.declared_name(Meaning::Object)?;
        self.expect_semicolon()?;
        Ok(DeclarationKind::ValueSet(ValueSet { element_type, size, name }))
    }

    fn state(&mut self, annotations: Vec<Annotation>) -> Parsed<ParserState> {
        let start = self.bump().span;
        let name = self.name()?;
        let mut transition = None;
        let (statements, _) = self.scoped(|this| {
            this.braced(|this| {
                if let Some(Transition { span, .. }) = transition {
                    let message = "nothing can stand behind the transition of a state";
                    let diagnostic = Diagnostic::error(codes::MISPLACED_DECLARATION, this.peek().span, message)
                        .secondary(span, "the state ends here");
                    this.report(diagnostic);
                    return Err(Failed);
                }
                if this.at_keyword(Keyword::Transition) {
                    transition = Some(this.transition()?);
                    return Ok(None);
                }
                this.statement().map(Some)
            })
        })?;
        let statements = statements.into_iter().flatten().collect();
        Ok(ParserState { annotations, name, statements, transition, span: self.span_from(start) })
    }

    fn transition(&mut self) -> Parsed<Transition> {
        let start = self.bump().span;
        if !self.take_keyword(Keyword::Select) {
            let next = self.name()?;
            self.expect_semicolon()?;
            return Ok(Transition { kind: TransitionKind::Direct(next), span: self.span_from(start) });
        }
        let open = self.expect(TokenKind::LeftParen)?.span;
        let keys = self.separated(TokenKind::RightParen, false, Self::expression)?;
        if keys.is_empty() {
            return self.unexpected("an expression");
        }
        self.expect_close(TokenKind::RightParen, open)?;
        let (cases, _) = self.braced(Self::select_case)?;
        Ok(Transition { kind: TransitionKind::Select { keys, cases }, span: self.span_from(start) })
    }

    fn select_case(&mut self) -> Parsed<SelectCase> {
        let keyset = self.keyset()?;
        self.expect(TokenKind::Colon)?;
        let next = self.name()?;
        let span = self.span_from(keyset.span);
        if self.at(TokenKind::Comma) {
            return self.mistaken(self.peek().span, "a case of `select` ends with `;`", "write `;` in place of `,`");
        }
        self.expect_semicolon()?;
        Ok(SelectCase { keyset, next, span })
    }
}

// Controls.
impl Parser<'_> {
    /// `control name(...);` or `control name(...)(...) { ... }`
    pub(super) fn control(&mut self) -> Parsed<DeclarationKind> {
        self.bump();
        let name = self.declared_name(Meaning::Type)?;
        self.scoped(|this| {
            let signature = this.apply_type(name)?;
            if this.at_end_of_type() {
                this.expect_semicolon()?;
                return Ok(DeclarationKind::ControlType(signature));
            }
            this.control_body(signature)
        })
    }

    fn control_body(&mut self, signature: ApplyType) -> Parsed<DeclarationKind> {
        let constructor_parameters = self.constructor_parameters()?;
        let errors_before = self.diagnostics.error_count();
        let (parts, span) = self.braced(Self::control_part)?;
        let mut locals = Vec::new();
        let mut body: Option<(Span, Block)> = None;
        for part in parts {
            match (part, &body) {
                (ControlPart::Local(local), Some((apply, _))) => {
                    let message = "declarations of a control stand before its `apply` block";
                    let diagnostic = Diagnostic::error(codes::MISPLACED_DECLARATION, local.span, message)
                        .secondary(*apply, "the `apply` block");
                    self.report_anywhere(diagnostic);
                }
                (ControlPart::Local(local), None) => locals.push(local),
                (ControlPart::Apply(again, _), Some((apply, _))) => {
                    let message = "a control has one `apply` block";
                    let diagnostic =
                        Diagnostic::error(codes::REPEATED_PART, again, message).secondary(*apply, "the first is here");
                    self.report_anywhere(diagnostic);
                }
                (ControlPart::Apply(apply, block), None) => body = Some((apply, block)),
            }
        }
        let body = match body {
            Some((_, block)) => block,
            // An `apply` block with a syntax error does not count as missing.
            None if self.diagnostics.error_count() > errors_before => {
                Block { annotations: Vec::new(), statements: Vec::new(), span }
            }
            None => {
                let message = format!("control `{}` has no `apply` block", signature.name.as_str());
                let diagnostic = Diagnostic::error(codes::CONTROL_WITHOUT_APPLY, signature.name.span, message)
                    .help("add `apply { ... }` at its end");
                self.report_anywhere(diagnostic);
                Block { annotations: Vec::new(), statements: Vec::new(), span }
            }
        };
        let control = ControlDeclaration { signature, constructor_parameters, locals, body };
        Ok(DeclarationKind::Control(control))
    }

    fn control_part(&mut self) -> Parsed<ControlPart> {
        let annotations = self.annotations()?;
        let start = self.peek().span;
        if self.at_keyword(Keyword::Apply) && matches!(self.peek_at(1).kind, TokenKind::LeftBrace | TokenKind::At) {
            self.refuse_annotations(&annotations)?;
            self.bump();
            return Ok(ControlPart::Apply(start, self.block()?));
        }
        let kind = match self.peek().keyword() {
            Some(Keyword::Action) => self.action()?,
            Some(Keyword::Table) => self.table()?,
            _ if self.at_local_declaration() || self.at_unknown_instance() => {
                return Ok(ControlPart::Local(self.local_declaration(annotations)?));
            }
            Some(Keyword::If | Keyword::Switch | Keyword::For | Keyword::Return | Keyword::Exit) => {
                return self.misplaced(start, "statements of a control stand in its `apply` block");
            }
            _ if self.at(TokenKind::Semicolon) => {
                let help = "remove it: no `;` follows the `}` of an action or a table";
                return self.mistaken(start, "this `;` ends no declaration", help);
            }
            _ => return self.unexpected("an action, a table, another declaration or `apply`"),
        };
        Ok(ControlPart::Local(Declaration { annotations, kind, span: self.span_from(start) }))
    }
}

// Tables.
impl Parser<'_> {
    fn table(&mut self) -> Parsed<DeclarationKind> {
        self.bump();
        let name = self.declared_name(Meaning::Object)?;
        let (properties, _) = self.braced(Self::table_property)?;
        self.check_repeated_properties(&properties);
        Ok(DeclarationKind::Table(Table { name, properties }))
    }

    fn check_repeated_properties(&mut self, properties: &[TableProperty]) {
        for (index, property) in properties.iter().enumerate() {
            let name = property_name(&property.kind);
            if let Some(first) = properties[..index].iter().find(|other| property_name(&other.kind) == name) {
                let message = format!("a table has one property `{name}`");
                let diagnostic = Diagnostic::error(codes::REPEATED_PART, property.span, message)
                    .secondary(first.span, "the first is here");
                self.report_anywhere(diagnostic);
            }
        }
    }

    /// Reports a property in the form of P4_14: `reads {`, `actions {`, `size :`.
    fn refuse_property_of_p4_14(&mut self, name: &Ident) -> Parsed<()> {
        let help = match self.peek().kind {
            TokenKind::LeftBrace if name.as_str() == "reads" => "P4_16 writes `key = { field : kind; }`".to_owned(),
            TokenKind::LeftBrace => format!("write `{} = {{ ... }}`", name.name),
            TokenKind::Colon => format!("write `{} = ...;`", name.name),
            _ => return Ok(()),
        };
        let message = format!("expected `=`, found {}", self.found());
        let diagnostic = Diagnostic::error(codes::UNEXPECTED_TOKEN, self.peek().span, message);
        self.report(diagnostic.label("expected `=`").help(help));
        Err(Failed)
    }

    fn table_property(&mut self) -> Parsed<TableProperty> {
        let annotations = self.annotations()?;
        let start = self.peek().span;
        let is_const = self.take_keyword(Keyword::Const);
        let name_token = self.peek();
        let name = self.name()?;
        self.refuse_property_of_p4_14(&name)?;
        self.expect(TokenKind::Equal)?;
        let kind = match name_token.keyword() {
            Some(Keyword::Key) => TablePropertyKind::Key(self.braced(Self::key_element)?.0),
            Some(Keyword::Actions) => TablePropertyKind::Actions(self.braced(Self::action_list_element)?.0),
            Some(Keyword::Entries) => TablePropertyKind::Entries(self.braced(Self::entry)?.0),
            _ => {
                let value = self.expression()?;
                self.expect_semicolon()?;
                match name.as_str() {
                    "default_action" => TablePropertyKind::DefaultAction(value),
                    "size" => TablePropertyKind::Size(value),
                    _ => TablePropertyKind::Other { name: name.clone(), value },
                }
            }
        };
        let span = self.span_from(start);
        if is_const && matches!(kind, TablePropertyKind::Key(_) | TablePropertyKind::Actions(_)) {
            let message = format!("`{}` cannot be `const`: it always is", name.as_str());
            self.report_anywhere(Diagnostic::error(codes::MISPLACED_DECLARATION, start, message));
        }
        Ok(TableProperty { annotations, is_const, kind, span })
    }

    fn key_element(&mut self) -> Parsed<KeyElement> {
        let expression = self.expression()?;
        self.expect(TokenKind::Colon)?;
        let match_kind = self.name()?;
        let annotations = self.annotations()?;
        let span = self.span_from(expression.span);
        self.expect_semicolon()?;
        Ok(KeyElement { expression, match_kind, annotations, span })
    }

    fn action_list_element(&mut self) -> Parsed<ActionListElement> {
        let annotations = self.annotations()?;
        let action = self.action_ref()?;
        self.expect_semicolon()?;
        Ok(ActionListElement { annotations, action })
    }

    fn action_ref(&mut self) -> Parsed<ActionRef> {
        let path = self.path()?;
        let arguments = if self.at(TokenKind::LeftParen) { Some(self.arguments()?) } else { None };
        let span = self.span_from(path.span);
        Ok(ActionRef { path, arguments, span })
    }

    fn entry(&mut self) -> Parsed<Entry> {
        let start = self.peek().span;
        let is_const = self.take_keyword(Keyword::Const);
        let mut priority = None;
        if self.at_keyword(Keyword::Priority) && self.peek_at(1).kind == TokenKind::Equal {
            self.bump();
            self.bump();
            priority = Some(self.expression()?);
            self.expect(TokenKind::Colon)?;
        }
        let keyset = self.keyset()?;
        self.expect(TokenKind::Colon)?;
        let action = self.action_ref()?;
        let annotations = self.annotations()?;
        let span = self.span_from(start);
        self.expect_semicolon()?;
        Ok(Entry { is_const, priority, keyset, action, annotations, span })
    }
}

fn property_name(kind: &TablePropertyKind) -> &str {
    match kind {
        TablePropertyKind::Key(_) => "key",
        TablePropertyKind::Actions(_) => "actions",
        TablePropertyKind::Entries(_) => "entries",
        TablePropertyKind::DefaultAction(_) => "default_action",
        TablePropertyKind::Size(_) => "size",
        TablePropertyKind::Other { name, .. } => name.as_str(),
    }
}
