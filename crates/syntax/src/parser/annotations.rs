//! Annotations and pragmas.

use super::{Failed, Parsed, Parser};
use crate::ast::{Annotation, AnnotationBody, AnnotationToken, AnnotationTokenKind, Expr, ExprKind, KeyValue};
use crate::codes;
use crate::diag::{Diagnostic, Diagnostics};
use crate::literal;
use crate::token::{Names, Token, TokenKind};
use base::Span;

/// The most tokens that are searched for the end of a body with unbalanced brackets. Otherwise each of many such
/// annotations would search the rest of the program.
const UNBALANCED_TOKENS_MAX: usize = 1000;

/// A bracket mismatch in an annotation's body.
struct BracketMismatch {
    at: usize,
    /// The token that is expected there.
    expected: TokenKind,
}

impl Parser<'_> {
    /// Parses a possibly empty sequence of annotations.
    pub(super) fn annotations(&mut self) -> Parsed<Vec<Annotation>> {
        let mut annotations = Vec::new();
        while self.at(TokenKind::At) {
            let annotation = self.annotation()?;
            if !self.is_ignored(&annotation) {
                annotations.push(annotation);
            }
        }
        Ok(annotations)
    }

    fn is_ignored(&self, annotation: &Annotation) -> bool {
        self.ignored_annotations.iter().any(|&name| *self.names.text(name) == annotation.name.name)
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

    /// `(...)`, read twice: as tokens, and as expressions if they are valid ones.
    fn unstructured_body(&mut self) -> Parsed<AnnotationBody> {
        let open = self.expect(TokenKind::LeftParen)?.span;
        let start = self.next;
        let end = match self.body_end(start) {
            Ok(end) => end,
            Err(mismatch) => match self.parenthesis_end(start) {
                Some(end) => end,
                None => return self.wrong_body(open, mismatch),
            },
        };
        let mut tokens = Vec::new();
        while self.next < end {
            tokens.push(self.annotation_token());
        }
        self.next = start;
        let expressions = self.quiet_expressions(end);
        self.next = end;
        self.expect(TokenKind::RightParen)?;
        Ok(match joined_strings(&tokens).filter(|_| expressions.is_some()) {
            Some(joined) => AnnotationBody::Unstructured {
                expressions: Some(vec![Expr { kind: ExprKind::String(joined.text.clone()), span: joined.span }]),
                tokens: vec![joined],
            },
            None => AnnotationBody::Unstructured { tokens, expressions },
        })
    }

    /// The index of the `)` that ends a body whose first token is `start`, if its brackets of all kinds are balanced.
    fn body_end(&self, start: usize) -> Result<usize, BracketMismatch> {
        let mut closing = Vec::new();
        for at in start.. {
            match self.token(at).kind {
                TokenKind::LeftParen => closing.push(TokenKind::RightParen),
                TokenKind::LeftBracket => closing.push(TokenKind::RightBracket),
                TokenKind::LeftBrace => closing.push(TokenKind::RightBrace),
                TokenKind::EndOfFile => return Err(BracketMismatch { at, expected: TokenKind::RightParen }),
                kind @ (TokenKind::RightParen | TokenKind::RightBracket | TokenKind::RightBrace) => {
                    match closing.pop() {
                        None if kind == TokenKind::RightParen => return Ok(at),
                        Some(expected) if expected == kind => {}
                        expected => {
                            return Err(BracketMismatch { at, expected: expected.unwrap_or(TokenKind::RightParen) });
                        }
                    }
                }
                _ => {}
            }
        }
        Err(BracketMismatch { at: start, expected: TokenKind::RightParen })
    }

    /// The index of the `)` that ends a body in which only parentheses are balanced, which is all that the grammar
    /// requires. If a parenthesis is missing, there is none.
    fn parenthesis_end(&self, start: usize) -> Option<usize> {
        let mut open = 0_usize;
        for at in start..start + UNBALANCED_TOKENS_MAX {
            match self.token(at).kind {
                TokenKind::LeftParen => open += 1,
                TokenKind::RightParen if open == 0 => return Some(at),
                TokenKind::RightParen => open -= 1,
                TokenKind::EndOfFile => return None,
                _ => {}
            }
        }
        None
    }

    /// Reports a body without the expected end.
    fn wrong_body<T>(&mut self, open: Span, mismatch: BracketMismatch) -> Parsed<T> {
        self.next = mismatch.at;
        // Anything may occur in the body, so its end may have been searched for far away.
        if matches!(self.peek().kind, TokenKind::RightBrace | TokenKind::EndOfFile)
            && mismatch.expected == TokenKind::RightParen
        {
            return self.unclosed_body(open);
        }
        self.expect_close(mismatch.expected, open)?;
        Err(Failed)
    }

    fn unclosed_body<T>(&mut self, open: Span) -> Parsed<T> {
        let place = format!("{} stands here, where `)` is expected", self.found());
        let diagnostic = Diagnostic::error(codes::UNCLOSED_BRACKET, open, "this `(` is not closed");
        let next = self.peek().span;
        self.report(diagnostic.secondary(next, place));
        Err(Failed)
    }

    /// Parses the tokens up to index `end` as a list of expressions, if they are one.
    fn quiet_expressions(&mut self, end: usize) -> Option<Vec<Expr>> {
        let was_quiet = std::mem::replace(&mut self.is_speculative, true);
        let list = self.separated(TokenKind::RightParen, false, Self::expression);
        self.is_speculative = was_quiet;
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

    /// Reports an element of an annotation's list that has a different form from those before it.
    fn mixed_annotation<T>(&mut self) -> Parsed<T> {
        let message = "expressions and `name = value` cannot stand in one annotation";
        let help = "give all of them a name, as in `@a[x = 1, y = 2]`, or none, as in `@a[1, 2]`";
        self.mistaken(self.peek().span, message, help)
    }

    /// Whether `name =` comes next.
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

    /// Reports annotations before something that cannot have any.
    pub(super) fn refuse_annotations(&mut self, annotations: &[Annotation]) -> Parsed<()> {
        let Some(first) = annotations.first() else { return Ok(()) };
        self.misplaced(first.span, "annotations cannot stand before this statement")
    }
}

/// `"a" ++ "b"` as one string; none if the tokens are something else. So a name may be put together from constants of
/// the preprocessor.
fn joined_strings(tokens: &[AnnotationToken]) -> Option<AnnotationToken> {
    let (first, last) = (tokens.first()?, tokens.last()?);
    let is_sum = tokens.len() > 1
        && tokens.len() % 2 == 1
        && tokens.iter().enumerate().all(|(position, token)| match position % 2 {
            0 => token.kind == AnnotationTokenKind::String,
            _ => token.kind == AnnotationTokenKind::Punctuation && &*token.text == "++",
        });
    let text: String = tokens.iter().step_by(2).map(|token| &*token.text).collect();
    is_sum.then(|| AnnotationToken {
        kind: AnnotationTokenKind::String,
        text: text.into(),
        span: first.span.to(last.span),
    })
}

/// Reports and removes characters that do not begin a token. In the bodies of annotations they stay: the grammar allows
/// them there.
pub(super) fn drop_invalid_characters(tokens: &mut Vec<Token>, names: &Names, diagnostics: &mut Diagnostics) {
    if !tokens.iter().any(|token| token.kind == TokenKind::InvalidCharacter) {
        return;
    }
    // The number of open parentheses in a body, and whether the preceding tokens are `@` and `@name`.
    let (mut open, mut begins) = (0_usize, (false, false));
    tokens.retain(|token| {
        let is_kept = token.kind != TokenKind::InvalidCharacter || open > 0;
        if !is_kept {
            let character = token.text(names).escape_default().to_string();
            let message = format!("the character `{character}` has no meaning in P4");
            diagnostics.push(Diagnostic::error(codes::INVALID_CHARACTER, token.span, message));
        }
        match token.kind {
            TokenKind::LeftParen if open > 0 || begins.1 => open += 1,
            TokenKind::RightParen => open = open.saturating_sub(1),
            _ => {}
        }
        begins = (token.kind == TokenKind::At, begins.0 && token.kind == TokenKind::Word);
        is_kept
    });
}
