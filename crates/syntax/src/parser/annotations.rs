//! Annotations and pragmas.

use super::{Failed, Parsed, Parser};
use crate::ast::{Annotation, AnnotationBody, AnnotationToken, AnnotationTokenKind, Expr, KeyValue};
use crate::codes;
use crate::diag::Diagnostic;
use crate::literal;
use crate::token::TokenKind;
use base::Span;

impl Parser<'_> {
    /// The annotations that stand here, possibly none.
    pub(super) fn annotations(&mut self) -> Parsed<Vec<Annotation>> {
        let mut annotations = Vec::new();
        while self.at(TokenKind::At) {
            annotations.push(self.annotation()?);
        }
        Ok(annotations)
    }

    fn annotation(&mut self) -> Parsed<Annotation> {
        let start = self.expect(TokenKind::At)?.span;
        let mut word = self.peek();
        if word.kind != TokenKind::Word {
            return self.unexpected("the name of an annotation");
        }
        self.bump();
        let next = self.peek();
        let is_bracket = matches!(next.kind, TokenKind::LeftParen | TokenKind::LeftBracket);
        let is_pragma = &**self.names.text(word.symbol) == "pragma"
            && next.kind == TokenKind::Word
            && !next.is_first_on_line
            && !is_bracket;
        if is_pragma {
            word = self.bump();
        }
        let body = if is_pragma {
            self.pragma_body()
        } else if self.at(TokenKind::LeftParen) {
            self.unstructured_body()?
        } else if self.at(TokenKind::LeftBracket) {
            self.structured_body()?
        } else {
            AnnotationBody::Empty
        };
        Ok(Annotation { name: self.ident(word), body, is_pragma, span: self.span_from(start) })
    }

    /// The tokens up to the end of the line.
    fn pragma_body(&mut self) -> AnnotationBody {
        let mut tokens = Vec::new();
        while !self.at(TokenKind::EndOfFile) && !self.peek().is_first_on_line {
            tokens.push(self.annotation_token());
        }
        if tokens.is_empty() {
            AnnotationBody::Empty
        } else {
            AnnotationBody::Unstructured { tokens, expressions: None }
        }
    }

    /// `(...)`, read twice: as tokens, and as expressions if they are some.
    fn unstructured_body(&mut self) -> Parsed<AnnotationBody> {
        let open = self.expect(TokenKind::LeftParen)?.span;
        let start = self.next;
        let mut tokens = Vec::new();
        let mut closing = Vec::new();
        loop {
            match self.peek().kind {
                TokenKind::LeftParen => closing.push(TokenKind::RightParen),
                TokenKind::LeftBracket => closing.push(TokenKind::RightBracket),
                TokenKind::LeftBrace => closing.push(TokenKind::RightBrace),
                TokenKind::RightParen if closing.is_empty() => break,
                // Everything may stand in the body, so that its end is looked for far away.
                TokenKind::RightBrace if closing.is_empty() => return self.unclosed_body(open),
                TokenKind::EndOfFile => return self.unclosed_body(open),
                kind @ (TokenKind::RightParen | TokenKind::RightBracket | TokenKind::RightBrace) => {
                    let wanted = closing.pop().unwrap_or(TokenKind::RightParen);
                    if wanted != kind {
                        self.expect_close(wanted, open)?;
                    }
                }
                _ => {}
            }
            tokens.push(self.annotation_token());
        }
        let end = self.next;
        self.next = start;
        let expressions = self.quiet_expressions(end);
        self.next = end;
        self.expect(TokenKind::RightParen)?;
        Ok(AnnotationBody::Unstructured { tokens, expressions })
    }

    fn unclosed_body<T>(&mut self, open: Span) -> Parsed<T> {
        let place = format!("{} stands here, where `)` is expected", self.found());
        let diagnostic = Diagnostic::error(codes::UNCLOSED_BRACKET, open, "this `(` is not closed");
        let next = self.peek().span;
        self.report(diagnostic.secondary(next, place));
        Err(Failed)
    }

    /// The tokens up to index `end` as a list of expressions, if they are one.
    fn quiet_expressions(&mut self, end: usize) -> Option<Vec<Expr>> {
        let was_quiet = std::mem::replace(&mut self.is_quiet, true);
        let list = self.separated(TokenKind::RightParen, false, Self::expression);
        self.is_quiet = was_quiet;
        list.ok().filter(|_| self.next == end)
    }

    fn annotation_token(&mut self) -> AnnotationToken {
        let is_shift = self.at_joined_greater(TokenKind::Greater);
        let token = self.bump();
        if is_shift {
            let span = token.span.to(self.bump().span);
            return AnnotationToken { kind: AnnotationTokenKind::Punctuation, text: ">>".into(), span };
        }
        let (kind, text) = match token.kind {
            TokenKind::Word => (AnnotationTokenKind::Word, token.text(&self.names)),
            TokenKind::Integer => (AnnotationTokenKind::Integer, token.text(&self.names)),
            TokenKind::String | TokenKind::UnterminatedString => {
                (AnnotationTokenKind::String, literal::unescape(self.names.text(token.symbol)).0.into())
            }
            _ => (AnnotationTokenKind::Punctuation, token.text(&self.names)),
        };
        AnnotationToken { kind, text, span: token.span }
    }

    /// `[...]`
    fn structured_body(&mut self) -> Parsed<AnnotationBody> {
        let open = self.expect(TokenKind::LeftBracket)?.span;
        let close = TokenKind::RightBracket;
        let body = if self.at_key_value() {
            AnnotationBody::KeyValues(self.separated(close, true, |this| {
                if this.at_key_value() { this.key_value() } else { this.mixed_annotation() }
            })?)
        } else {
            AnnotationBody::Expressions(self.separated(close, true, |this| {
                if this.at_key_value() { this.mixed_annotation() } else { this.expression() }
            })?)
        };
        self.expect_close(close, open)?;
        Ok(body)
    }

    /// Reports an element of an annotation's list that is of the other form than those before it.
    fn mixed_annotation<T>(&mut self) -> Parsed<T> {
        let message = "expressions and `name = value` cannot stand in one annotation";
        let help = "give all of them a name, as in `@a[x = 1, y = 2]`, or none, as in `@a[1, 2]`";
        self.mistaken(self.peek().span, message, help)
    }

    /// Whether `name =` follows.
    pub(super) fn at_key_value(&self) -> bool {
        super::is_name(&self.peek()) && self.peek_at(1).kind == TokenKind::Equal
    }

    /// `name = expression`
    pub(super) fn key_value(&mut self) -> Parsed<KeyValue> {
        let key = self.name()?;
        self.expect(TokenKind::Equal)?;
        let value = self.expression()?;
        let span = self.span_from(key.span);
        Ok(KeyValue { key, value, span })
    }

    /// Reports annotations that stand before something that takes none.
    pub(super) fn refuse_annotations(&mut self, annotations: &[Annotation]) -> Parsed<()> {
        let Some(first) = annotations.first() else { return Ok(()) };
        self.misplaced(first.span, "annotations cannot stand before this statement")
    }
}
