//! Tokens to the syntax tree: recursive descent, one function for each rule of the grammar.
//!
//! P4's grammar depends on which names are types (`(a) - b`, `f<a>(b)`), so the parser keeps the scopes of declared
//! names ([`scopes`]). It uses them only where the text is ambiguous: `Foo x;` is a declaration even if `Foo` is not
//! declared, and `sema` reports that there is no such type.
//!
//! A rule that fails reports the error and returns [`Failed`]; the enclosing list continues after the next `;` or
//! before the closing `}`. One token gives at most one error.
//!
//! * this module: tokens, errors, recovery, names;
//! * [`braces`]: finds the unclosed one of several braces;
//! * [`annotations`], [`declarations`], [`blocks`] (parsers, controls, tables), [`types`], [`statements`],
//!   [`expressions`].

mod annotations;
mod blocks;
mod braces;
mod declarations;
mod expressions;
mod scopes;
mod statements;
mod types;

use crate::ast::{Ident, Program};
use crate::codes;
use crate::diag::{Diagnostic, Diagnostics};
use crate::preprocess::Tokens;
use crate::source::SourceMap;
use crate::token::{Keyword, Names, Symbol, Token, TokenKind};
use base::limits::NESTING_MAX;
use base::{OrderedMap, OrderedSet, Span};
pub(crate) use expressions::precedence;
use scopes::{Meaning, Scopes};
use std::num::NonZeroU32;

/// A rule did not match; the error has been reported.
struct Failed;

type Parsed<T> = Result<T, Failed>;

/// A node with its height.
struct WithHeight<T> {
    node: T,
    height: u32,
}

struct Parser<'a> {
    tokens: Vec<Token>,
    names: Names,
    /// The macros that expanded to nothing, by the index of the following token.
    empty_expansions: OrderedMap<usize, Symbol>,
    /// The tokens, by index, that a macro use stands before which was reported as wrong.
    behind_errors: OrderedSet<usize>,
    /// The macros that the options define as nothing.
    empty_options: OrderedSet<Symbol>,
    /// Names of annotations that are dropped.
    ignored_annotations: OrderedSet<Symbol>,
    /// See [`types::closing_brackets`].
    closes: Vec<Option<NonZeroU32>>,
    /// The index of the next token.
    next: usize,
    sources: &'a SourceMap,
    diagnostics: &'a mut Diagnostics,
    scopes: Scopes,
    /// The current nesting depth of rules.
    depth: u32,
    /// The token at which the last error was reported.
    last_error_at: Option<usize>,
    /// Whether errors are not reported, because the parse is speculative.
    is_speculative: bool,
    /// Whether the program has as many closing braces as opening ones.
    braces_balance: bool,
}

/// Parses the preprocessed program.
pub(crate) fn parse(tokens: Tokens, sources: &SourceMap, diagnostics: &mut Diagnostics) -> Program {
    let Tokens { mut tokens, names, empty_expansions, behind_errors, empty_options, ignored_annotations } = tokens;
    annotations::drop_invalid_characters(&mut tokens, &names, diagnostics);
    let scopes = Scopes::new(names.len());
    let closes = types::closing_brackets(&tokens);
    let count = |kind: TokenKind| tokens.iter().filter(|token| token.kind == kind).count();
    let braces_balance = count(TokenKind::LeftBrace) == count(TokenKind::RightBrace);
    let mut parser = Parser {
        tokens,
        names,
        empty_expansions,
        behind_errors,
        empty_options,
        ignored_annotations,
        closes,
        next: 0,
        sources,
        diagnostics,
        scopes,
        depth: 0,
        last_error_at: None,
        is_speculative: false,
        braces_balance,
    };
    parser.program()
}

/// Keywords that may be used as names.
fn is_name_keyword(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::Apply
            | Keyword::Key
            | Keyword::Actions
            | Keyword::State
            | Keyword::Entries
            | Keyword::Type
            | Keyword::Priority
            | Keyword::List
    )
}

/// Whether a word is a keyword that can never be a name.
pub fn is_reserved(word: &str) -> bool {
    Keyword::ALL.iter().any(|&keyword| keyword.as_str() == word && !is_name_keyword(keyword))
}

/// Whether the token can be a name.
fn is_name(token: &Token) -> bool {
    token.kind == TokenKind::Word && token.keyword().is_none_or(is_name_keyword)
}

// Tokens.
impl Parser<'_> {
    fn peek(&self) -> Token {
        self.peek_at(0)
    }

    /// The token `distance` ahead; past the end, always the end of the file.
    fn peek_at(&self, distance: usize) -> Token {
        self.token(self.next + distance)
    }

    fn token(&self, index: usize) -> Token {
        self.tokens[index.min(self.tokens.len() - 1)]
    }

    fn bump(&mut self) -> Token {
        let token = self.peek();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    fn at(&self, kind: TokenKind) -> bool {
        self.peek().kind == kind
    }

    fn at_keyword(&self, keyword: Keyword) -> bool {
        self.peek().keyword() == Some(keyword)
    }

    fn take(&mut self, kind: TokenKind) -> bool {
        let is_next = self.at(kind);
        if is_next {
            self.bump();
        }
        is_next
    }

    fn take_keyword(&mut self, keyword: Keyword) -> bool {
        let is_next = self.at_keyword(keyword);
        if is_next {
            self.bump();
        }
        is_next
    }

    /// The span of the previous token.
    fn previous_span(&self) -> Span {
        self.next.checked_sub(1).map_or(Span::NONE, |index| self.tokens[index].span)
    }

    /// The span from `start` to the previous token.
    fn span_from(&self, start: Span) -> Span {
        start.to(self.previous_span())
    }

    /// Whether the next two tokens are `>` and `second` without space between: the operators `>>` and `>>=`.
    fn at_joined_greater(&self, second: TokenKind) -> bool {
        let next = self.peek_at(1);
        self.at(TokenKind::Greater) && next.kind == second && !next.has_space_before
    }

    /// The description of the next token in an error message.
    fn found(&self) -> String {
        let token = self.peek();
        match token.kind {
            TokenKind::EndOfFile => "the end of the file".into(),
            TokenKind::String | TokenKind::UnterminatedString => "a string".into(),
            _ => {
                let text = token.text(&self.names);
                let mut shown: String = text.chars().take(40).collect();
                if shown.len() < text.len() {
                    shown.push_str("...");
                }
                let noun = if token.keyword().is_some() { "keyword " } else { "" };
                format!("{noun}`{shown}`")
            }
        }
    }
}

// Errors and expectations.
impl Parser<'_> {
    /// Reports an error, unless the last one was at the same token, or follows from a macro use that was reported.
    fn report(&mut self, diagnostic: Diagnostic) {
        if self.is_speculative || self.last_error_at == Some(self.next) {
            return;
        }
        self.last_error_at = Some(self.next);
        if self.behind_errors.contains(&self.next) {
            return;
        }
        self.diagnostics.push(match self.empty_expansions.get(&self.next) {
            Some(&symbol) => {
                let name = self.names.text(symbol);
                let noted = diagnostic.note(format!("the macro `{name}` stands before it and expands to nothing"));
                match self.empty_options.contains(&symbol) {
                    true => noted.help(format!("`-D {name}=` is without a value: write for example `-D {name}=255`")),
                    false => noted,
                }
            }
            None => diagnostic,
        });
    }

    /// Reports that the next token is not the expected one.
    fn unexpected<T>(&mut self, expected: &str) -> Parsed<T> {
        let message = format!("expected {expected}, found {}", self.found());
        let (previous, next) = (self.previous_span(), self.peek().span);
        // A macro that ends in an operator is at fault, and not what follows its use.
        let is_cut_off = expected == "an expression" && !previous.origin.is_none() && next.origin.is_none();
        let (span, label) = match is_cut_off {
            true => (previous, format!("expected {expected} after this")),
            false => (next, format!("expected {expected}")),
        };
        let diagnostic = Diagnostic::error(codes::UNEXPECTED_TOKEN, span, message).label(label);
        let is_comment = self.at(TokenKind::Hash);
        self.report(if is_comment { diagnostic.help("a comment begins with `//`") } else { diagnostic });
        Err(Failed)
    }

    /// The same if the intention is clear: `message` states the error, `help` the correction.
    fn mistaken<T>(&mut self, span: Span, message: &str, help: &str) -> Parsed<T> {
        self.report_mistake(span, message, help);
        Err(Failed)
    }

    /// The same if parsing can continue.
    fn report_mistake(&mut self, span: Span, message: &str, help: &str) {
        self.report(Diagnostic::error(codes::UNEXPECTED_TOKEN, span, message).label("not P4").help(help));
    }

    fn expect(&mut self, kind: TokenKind) -> Parsed<Token> {
        if self.at(kind) { Ok(self.bump()) } else { self.unexpected(&format!("`{}`", kind.as_str())) }
    }

    fn expect_keyword(&mut self, keyword: Keyword) -> Parsed<Token> {
        if self.at_keyword(keyword) { Ok(self.bump()) } else { self.unexpected(&format!("`{}`", keyword.as_str())) }
    }

    /// Expects the bracket that closes the one at `open`.
    fn expect_close(&mut self, kind: TokenKind, open: Span) -> Parsed<Token> {
        if self.at(kind) {
            return Ok(self.bump());
        }
        let close = kind.as_str();
        let message = format!("expected `{close}`, found {}", self.found());
        let code = if self.at(TokenKind::EndOfFile) { codes::UNCLOSED_BRACKET } else { codes::UNEXPECTED_TOKEN };
        let diagnostic = Diagnostic::error(code, self.peek().span, message)
            .label(format!("expected `{close}`"))
            .secondary(open, "to close this");
        let help = match self.peek().kind {
            _ if kind != TokenKind::RightParen => None,
            TokenKind::Equal => Some("write `==` to compare"),
            TokenKind::Word => match &*self.peek().text(&self.names) {
                "and" => Some("write `&&`"),
                "or" => Some("write `||`"),
                _ => None,
            },
            _ => None,
        };
        self.report(match help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        });
        Err(Failed)
    }

    /// Expects a semicolon. If the next token begins a line or closes a block, the semicolon was clearly forgotten, and
    /// parsing continues as if it were there.
    fn expect_semicolon(&mut self) -> Parsed<()> {
        if self.take(TokenKind::Semicolon) {
            return Ok(());
        }
        let next = self.peek();
        // The unterminated string contains the semicolon.
        if self.next > 0 && self.tokens[self.next - 1].kind == TokenKind::UnterminatedString {
            return Ok(());
        }
        if !(next.is_first_on_line || next.kind == TokenKind::RightBrace) {
            return self.unexpected("`;`");
        }
        let previous = self.previous_span();
        let is_behind_macro = !previous.origin.is_none() && next.span.origin.is_none();
        // Where the arguments of a macro end is not known.
        let (span, label) = if is_behind_macro {
            (next.span, "expected `;` before this")
        } else {
            (previous.end(), "expected `;` here")
        };
        self.report(Diagnostic::error(codes::MISSING_SEMICOLON, span, "a `;` is missing").label(label));
        Ok(())
    }

    /// Parses a new name, or a name that is not resolved by scope (a member, a state, ...).
    fn name(&mut self) -> Parsed<Ident> {
        let token = self.peek();
        if is_name(&token) {
            self.bump();
            return Ok(self.ident(token));
        }
        match token.keyword() {
            Some(keyword) => {
                let message = format!("expected a name, found keyword `{}`", keyword.as_str());
                let diagnostic =
                    Diagnostic::error(codes::KEYWORD_AS_NAME, token.span, message).label("a keyword cannot be a name");
                self.report(diagnostic);
                Err(Failed)
            }
            None => self.unexpected("a name"),
        }
    }

    fn ident(&self, token: Token) -> Ident {
        Ident { name: self.names.text(token.symbol).clone(), span: token.span }
    }

    /// Parses a new name and declares it in the current scope.
    fn declared_name(&mut self, meaning: Meaning) -> Parsed<Ident> {
        let symbol = self.peek().symbol;
        let name = self.name()?;
        self.scopes.declare(symbol, meaning);
        Ok(name)
    }

    /// Runs a rule one level deeper, or reports that the program is nested too deeply.
    fn nested<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= NESTING_MAX {
            return self.too_deep(self.peek().span);
        }
        // A rule that fails may leave a different depth.
        let depth = self.depth;
        self.depth += 1;
        let result = rule(self);
        self.depth = depth;
        result
    }

    fn too_deep<T>(&mut self, span: Span) -> Parsed<T> {
        let message = format!("this is nested more than {NESTING_MAX} deep");
        self.report(Diagnostic::error(codes::NESTING_LIMIT, span, message));
        Err(Failed)
    }

    /// A node that is one higher than the highest of its parts.
    fn with_height<T>(&mut self, node: T, span: Span, part_height: u32) -> Parsed<WithHeight<T>> {
        if part_height >= NESTING_MAX { self.too_deep(span) } else { Ok(WithHeight { node, height: part_height + 1 }) }
    }

    /// Runs a rule in a new scope.
    fn scoped<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.scopes.open();
        let result = rule(self);
        self.scopes.close();
        result
    }
}

// Recovery.
impl Parser<'_> {
    /// Whether a declaration begins that may only occur outside all braces, while the program lacks a closing brace. If
    /// so, the open braces are not closed.
    fn at_outer_declaration(&self) -> bool {
        !self.braces_balance && self.at_outer_keyword() && self.peek().is_first_on_line
    }

    /// Whether the next token is a keyword that only begins declarations of the outermost scope.
    fn at_outer_keyword(&self) -> bool {
        matches!(
            self.peek().keyword(),
            Some(
                Keyword::Control
                    | Keyword::Enum
                    | Keyword::Extern
                    | Keyword::Header
                    | Keyword::HeaderUnion
                    | Keyword::Package
                    | Keyword::Parser
                    | Keyword::Struct
                    | Keyword::Typedef
            )
        )
    }

    /// Reports and skips a declaration of the outermost scope inside braces.
    fn skip_outer_declaration(&mut self) {
        let token = self.peek();
        let message = format!("a declaration with `{}` cannot stand inside of another one", token.text(&self.names));
        let diagnostic = Diagnostic::error(codes::MISPLACED_DECLARATION, token.span, message)
            .label("not at this place")
            .help("move it out of all braces");
        self.report(diagnostic);
        let start = self.next;
        self.bump();
        self.recover(start);
    }

    /// Skips a construct that failed and began at the token `start`: past the next `;`, past the block that began, or
    /// up to the `}` that closes the list.
    fn recover(&mut self, start: usize) {
        let mut open_braces = 0u32;
        for token in &self.tokens[start..self.next] {
            match token.kind {
                TokenKind::LeftBrace => open_braces += 1,
                TokenKind::RightBrace => open_braces = open_braces.saturating_sub(1),
                _ => {}
            }
        }
        loop {
            match self.peek().kind {
                TokenKind::EndOfFile => return,
                TokenKind::Semicolon if open_braces == 0 => {
                    self.bump();
                    return;
                }
                TokenKind::LeftBrace => open_braces += 1,
                TokenKind::RightBrace if open_braces == 0 => return,
                TokenKind::RightBrace => {
                    open_braces -= 1;
                    if open_braces == 0 {
                        self.bump();
                        self.take(TokenKind::Semicolon);
                        return;
                    }
                }
                _ if self.at_outer_declaration() => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// `{ element ... }`: reads elements to the closing brace, recovering after those that fail. Returns them and the
    /// span of the whole list.
    fn braced<T>(&mut self, mut element: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<(Vec<T>, Span)> {
        let open_at = self.next;
        let open = self.expect(TokenKind::LeftBrace)?.span;
        let mut elements = Vec::new();
        while !self.at_list_end(open_at) {
            let start = self.next;
            if self.at_outer_keyword() {
                self.skip_outer_declaration();
                continue;
            }
            match element(self) {
                Ok(element) => elements.push(element),
                Err(Failed) => {
                    self.recover(start);
                    if self.next == start && !self.at(TokenKind::RightBrace) && !self.at_outer_declaration() {
                        self.bump();
                    }
                }
            }
        }
        self.take(TokenKind::RightBrace);
        Ok((elements, self.span_from(open)))
    }

    /// Whether the list whose brace is the token `open` ends here. Reports a missing closing brace.
    fn at_list_end(&mut self, open: usize) -> bool {
        if self.at(TokenKind::RightBrace) {
            return true;
        }
        if !self.at(TokenKind::EndOfFile) && !self.at_outer_declaration() {
            return false;
        }
        self.report_unclosed_brace(open);
        true
    }

    /// Elements separated by commas up to `close`, which is not consumed. A comma may follow the last one if
    /// `may_trail`.
    fn separated<T>(
        &mut self,
        close: TokenKind,
        may_trail: bool,
        mut element: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut elements = Vec::new();
        if self.at(close) {
            return Ok(elements);
        }
        loop {
            elements.push(element(self)?);
            if !self.take(TokenKind::Comma) || (may_trail && self.at(close)) {
                return Ok(elements);
            }
        }
    }
}
