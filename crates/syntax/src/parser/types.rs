//! Types, and lookahead over them.

use super::{Meaning, Parsed, Parser, WithHeight, is_name};
use crate::ast::{Expr, Ident, Path, Type, TypeKind};
use crate::codes;
use crate::diag::Diagnostic;
use crate::token::{Keyword, Token, TokenKind};
use std::num::NonZeroU32;

/// How deeply type arguments are examined to distinguish `f<T>(x)` from a comparison.
const LOOKAHEAD_DEPTH_MAX: u32 = 32;

/// Which names count as types in lookahead.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TypeNames {
    /// Those declared as types.
    Declared,
    /// All names: where the text is either a type or an error.
    Any,
}

impl Parser<'_> {
    /// Parses a type.
    pub(super) fn type_ref(&mut self) -> Parsed<Type> {
        Ok(self.type_with_height()?.node)
    }

    /// Parses a type and returns its height.
    pub(super) fn type_with_height(&mut self) -> Parsed<WithHeight<Type>> {
        self.nested(|this| {
            let mut element = this.element_type()?;
            while this.at(TokenKind::LeftBracket) {
                let open = this.bump().span;
                let size = this.expression_with_height()?;
                this.expect_close(TokenKind::RightBracket, open)?;
                let height = element.height.max(size.height);
                let span = this.span_from(element.node.span);
                let kind = TypeKind::Array { element: Box::new(element.node), size: Box::new(size.node) };
                element = this.with_height(Type { kind, span }, span, height)?;
            }
            Ok(element)
        })
    }

    /// `[size]` after a declared name, as in C: the declared type is an array.
    pub(super) fn sizes_behind_name(&mut self, type_ref: Type) -> Parsed<Type> {
        if !self.at(TokenKind::LeftBracket) {
            return Ok(type_ref);
        }
        let open = self.bump().span;
        let size = self.expression()?;
        self.expect_close(TokenKind::RightBracket, open)?;
        let span = self.span_from(open);
        if !self.is_speculative {
            let message = "the size of an array stands behind its type, not behind the name";
            let shown = format!("{}{}", self.sources.text(type_ref.span), self.sources.text(span));
            let warning = Diagnostic::warning(codes::SIZE_BEHIND_NAME, span, message);
            self.diagnostics.push(warning.label("taken as the size of the type").help(format!("write `{shown}`")));
        }
        let span = type_ref.span;
        Ok(Type { kind: TypeKind::Array { element: Box::new(type_ref), size: Box::new(size) }, span })
    }

    /// A type without array sizes.
    pub(super) fn element_type(&mut self) -> Parsed<WithHeight<Type>> {
        let token = self.peek();
        let simple = match token.keyword() {
            Some(Keyword::Bool) => TypeKind::Bool,
            Some(Keyword::Error) => TypeKind::Error,
            Some(Keyword::MatchKind) => TypeKind::MatchKind,
            Some(Keyword::String) => TypeKind::String,
            Some(Keyword::Void) => TypeKind::Void,
            Some(Keyword::Bit | Keyword::Int | Keyword::Varbit) => return self.numeric_type(),
            Some(Keyword::Tuple) => return self.tuple_type(),
            Some(Keyword::List) if self.peek_at(1).kind == TokenKind::Less => return self.list_type(),
            _ if is_name(&token) || token.kind == TokenKind::Dot => return self.named_type(),
            _ => return self.unexpected("a type"),
        };
        self.bump();
        Ok(WithHeight { node: Type { kind: simple, span: token.span }, height: 1 })
    }

    /// `bit`, `bit<w>`, `int`, `int<w>` or `varbit<w>`.
    fn numeric_type(&mut self) -> Parsed<WithHeight<Type>> {
        let token = self.bump();
        let keyword = token.keyword();
        let has_width = self.at(TokenKind::Less) || keyword == Some(Keyword::Varbit);
        if !has_width {
            let kind = if keyword == Some(Keyword::Bit) { TypeKind::Bit(None) } else { TypeKind::Integer };
            return Ok(WithHeight { node: Type { kind, span: token.span }, height: 1 });
        }
        let open = self.expect(TokenKind::Less)?.span;
        let width = self.width()?;
        self.expect_close(TokenKind::Greater, open)?;
        let size = Box::new(width.node);
        let kind = match keyword {
            Some(Keyword::Bit) => TypeKind::Bit(Some(size)),
            Some(Keyword::Int) => TypeKind::Int(size),
            _ => TypeKind::Varbit(size),
        };
        let span = self.span_from(token.span);
        self.with_height(Type { kind, span }, span, width.height)
    }

    /// A literal, or an expression in parentheses.
    fn width(&mut self) -> Parsed<WithHeight<Expr>> {
        match self.peek().kind {
            TokenKind::Integer => self.integer(),
            TokenKind::LeftParen => {
                let open = self.bump().span;
                let width = self.expression_with_height()?;
                self.expect_close(TokenKind::RightParen, open)?;
                Ok(width)
            }
            TokenKind::Word if is_name(&self.peek()) => {
                let span = self.peek().span;
                let message = "a width that is not a literal must be in parentheses";
                let shown = format!("write `({})`", self.names.text(self.peek().symbol));
                let diagnostic = Diagnostic::error(codes::WIDTH_WITHOUT_PARENTHESES, span, message).label(shown);
                self.report(diagnostic);
                self.primary_name()
            }
            _ => self.unexpected("a width"),
        }
    }

    fn tuple_type(&mut self) -> Parsed<WithHeight<Type>> {
        let start = self.bump().span;
        let arguments = self.type_arguments()?;
        let span = self.span_from(start);
        self.with_height(Type { kind: TypeKind::Tuple(arguments.node), span }, span, arguments.height)
    }

    fn list_type(&mut self) -> Parsed<WithHeight<Type>> {
        let start = self.bump().span;
        let open = self.expect(TokenKind::Less)?.span;
        let element = self.type_argument()?;
        self.expect_close(TokenKind::Greater, open)?;
        let span = self.span_from(start);
        self.with_height(Type { kind: TypeKind::List(Box::new(element.node)), span }, span, element.height)
    }

    /// `name`, `.name` or either with type arguments.
    pub(super) fn named_type(&mut self) -> Parsed<WithHeight<Type>> {
        let base = self.path()?;
        let start = base.span;
        if !self.at(TokenKind::Less) {
            return Ok(WithHeight { node: Type { kind: TypeKind::Named(base), span: start }, height: 1 });
        }
        let arguments = self.type_arguments()?;
        let span = self.span_from(start);
        let kind = TypeKind::Specialized { base, arguments: arguments.node };
        self.with_height(Type { kind, span }, span, arguments.height)
    }

    /// `name` or `.name`.
    pub(super) fn path(&mut self) -> Parsed<Path> {
        let start = self.peek().span;
        let is_global = self.take(TokenKind::Dot);
        let name = self.name()?;
        Ok(Path { is_global, name, span: self.span_from(start) })
    }

    /// `<T, ...>` with at least one type.
    pub(super) fn type_arguments(&mut self) -> Parsed<WithHeight<Vec<Type>>> {
        let open = self.expect(TokenKind::Less)?.span;
        let mut height = 0;
        let mut arguments = Vec::new();
        if !self.at(TokenKind::Greater) {
            loop {
                let argument = self.type_argument()?;
                height = height.max(argument.height);
                arguments.push(argument.node);
                if !self.take(TokenKind::Comma) {
                    break;
                }
            }
        }
        self.expect_close(TokenKind::Greater, open)?;
        Ok(WithHeight { node: arguments, height })
    }

    fn type_argument(&mut self) -> Parsed<WithHeight<Type>> {
        if self.at_keyword(Keyword::Underscore) {
            let span = self.bump().span;
            return Ok(WithHeight { node: Type { kind: TypeKind::DontCare, span }, height: 1 });
        }
        self.type_with_height()
    }

    /// `<T, ...>` as parameters, declared in the current scope; nothing if there is no `<`.
    pub(super) fn type_parameters(&mut self) -> Parsed<Vec<Ident>> {
        if !self.at(TokenKind::Less) {
            return Ok(Vec::new());
        }
        let open = self.bump().span;
        let parameters = self.separated(TokenKind::Greater, false, |this| this.declared_name(Meaning::Type))?;
        self.expect_close(TokenKind::Greater, open)?;
        Ok(parameters)
    }

    /// Whether the name at token `index` (after a dot if `is_global`) is declared as a type.
    fn is_type_name(&self, index: usize, is_global: bool) -> bool {
        let symbol = self.token(index).symbol;
        if is_global { self.scopes.is_global_type(symbol) } else { self.scopes.is_type(symbol) }
    }

    /// Whether a name that is declared as a type comes next.
    pub(super) fn at_type_name(&self) -> bool {
        let is_global = self.at(TokenKind::Dot);
        let index = self.next + usize::from(is_global);
        is_name(&self.token(index)) && self.is_type_name(index, is_global)
    }

    /// The index after the type that begins at token `index`, if there is one.
    pub(super) fn skip_type(&self, index: usize, names: TypeNames) -> Option<usize> {
        self.skip_type_at(index, names, 0)
    }

    /// The index after the type arguments that begin with the `<` at token `index`, if there are any.
    pub(super) fn skip_type_arguments(&self, index: usize, names: TypeNames) -> Option<usize> {
        self.skip_arguments_at(index, names, 0)
    }

    fn skip_type_at(&self, index: usize, names: TypeNames, depth: u32) -> Option<usize> {
        if depth > LOOKAHEAD_DEPTH_MAX {
            return None;
        }
        let token = self.token(index);
        let is_argument_next = self.token(index + 1).kind == TokenKind::Less;
        let mut end = match token.keyword() {
            Some(Keyword::Bool | Keyword::Error | Keyword::MatchKind | Keyword::String | Keyword::Void) => index + 1,
            Some(Keyword::Bit | Keyword::Int | Keyword::Varbit) if is_argument_next => self.skip_width(index + 1)?,
            Some(Keyword::Bit | Keyword::Int) => index + 1,
            Some(Keyword::Tuple) => self.skip_arguments_at(index + 1, names, depth + 1)?,
            Some(Keyword::List) if is_argument_next => self.skip_arguments_at(index + 1, names, depth + 1)?,
            Some(Keyword::Underscore) if depth > 0 => return Some(index + 1),
            _ => {
                let is_global = token.kind == TokenKind::Dot;
                let name = index + usize::from(is_global);
                let is_type = names == TypeNames::Any || self.is_type_name(name, is_global);
                if !is_name(&self.token(name)) || !is_type {
                    return None;
                }
                match self.token(name + 1).kind {
                    TokenKind::Less => self.skip_arguments_at(name + 1, names, depth + 1)?,
                    _ => name + 1,
                }
            }
        };
        while self.token(end).kind == TokenKind::LeftBracket {
            end = self.skip_brackets(end)?;
        }
        Some(end)
    }

    fn skip_arguments_at(&self, index: usize, names: TypeNames, depth: u32) -> Option<usize> {
        if self.token(index).kind != TokenKind::Less {
            return None;
        }
        let mut end = index + 1;
        if self.token(end).kind == TokenKind::Greater {
            return Some(end + 1);
        }
        loop {
            end = self.skip_type_at(end, names, depth + 1)?;
            match self.token(end).kind {
                TokenKind::Comma => end += 1,
                TokenKind::Greater => return Some(end + 1),
                _ => return None,
            }
        }
    }

    /// Moves over `<8>`, `<(W)>` or (which the parser rejects later) `<W>`.
    fn skip_width(&self, index: usize) -> Option<usize> {
        let end = match self.token(index + 1).kind {
            TokenKind::Integer | TokenKind::Word => index + 2,
            TokenKind::LeftParen => self.skip_brackets(index + 1)?,
            _ => return None,
        };
        (self.token(end).kind == TokenKind::Greater).then_some(end + 1)
    }

    /// The index after the bracket that closes the one at token `index`, if it is closed before the statement ends.
    pub(super) fn skip_brackets(&self, index: usize) -> Option<usize> {
        self.closes.get(index).copied().flatten().map(|end| end.get() as usize)
    }
}

/// For each opening bracket that is closed before the next semicolon, the index after its closing bracket. This table
/// avoids quadratic time where lookahead starts at every bracket of a deep nest.
pub(super) fn closing_brackets(tokens: &[Token]) -> Vec<Option<NonZeroU32>> {
    let mut closes = vec![None; tokens.len()];
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::LeftParen | TokenKind::LeftBracket | TokenKind::LeftBrace => open.push(at),
            TokenKind::RightParen | TokenKind::RightBracket | TokenKind::RightBrace => {
                if let Some(opening) = open.pop() {
                    closes[opening] = u32::try_from(at + 1).ok().and_then(NonZeroU32::new);
                }
            }
            TokenKind::Semicolon => open.clear(),
            _ => {}
        }
    }
    closes
}
