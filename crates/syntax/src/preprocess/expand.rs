//! Expansion of macros, as in C.
//!
//! Arguments are expanded before they are substituted, except beside `#` and `##`; the result is scanned again together
//! with what follows. While a macro's expansion is being read, also inside arguments of other macros, its name is
//! painted: it is never expanded, not even later.

use super::macros::{Macro, Predefined};
use super::substitute::Arguments;
use super::{LimitExceeded, Preprocessor, TOKENS_MAX};
use crate::codes;
use crate::diag::Diagnostic;
use crate::literal;
use crate::token::{Symbol, Token, TokenKind};
use base::Span;

/// The maximum nesting of macro uses in macro arguments.
const ARGUMENT_DEPTH_MAX: usize = 64;

/// The maximum nesting of macro expansions.
const EXPANSION_DEPTH_MAX: usize = 1000;

/// Tokens that are read before the rest of the file.
struct Frame {
    tokens: Vec<Token>,
    next: usize,
    /// The macro that this is the expansion of; its name is not expanded inside.
    expansion_of: Option<Symbol>,
}

impl Preprocessor<'_> {
    /// Expands a macro use in the file and emits the result.
    pub(super) fn expand_in_file(&mut self, token: Token) -> Result<(), LimitExceeded> {
        let errors_before = self.diagnostics.iter().len();
        let expanded = self.expand(vec![token], true, 0)?;
        let is_wrong = self.diagnostics.iter().len() > errors_before;
        if expanded.is_empty() {
            self.empty_expansions.insert(self.tokens.len(), token.symbol);
        }
        for token in expanded {
            self.emit(token)?;
        }
        if is_wrong {
            self.behind_errors.insert(self.tokens.len());
        }
        Ok(())
    }

    /// Expands the macros in a directive's tokens.
    pub(super) fn expand_line(&mut self, line: Vec<Token>) -> Result<Vec<Token>, LimitExceeded> {
        self.expand(line, false, 0)
    }

    /// Counts steps, and stops when the limit is exceeded.
    pub(super) fn count_steps(&mut self, steps: usize, span: Span) -> Result<(), LimitExceeded> {
        self.steps += steps;
        if self.steps <= TOKENS_MAX {
            return Ok(());
        }
        self.error(codes::MACRO_LIMIT, span, "the macro expansions of this program are too large");
        Err(LimitExceeded)
    }

    fn check_depth(&mut self, depth: usize, limit: usize, span: Span) -> Result<(), LimitExceeded> {
        if depth <= limit {
            return Ok(());
        }
        self.error(codes::MACRO_LIMIT, span, "the macros of this program are nested too deeply");
        Err(LimitExceeded)
    }

    /// Expands all macros in `tokens`. If `reads_on`, the arguments of the last macro may continue in the file.
    pub(super) fn expand(
        &mut self,
        tokens: Vec<Token>,
        reads_on: bool,
        depth: usize,
    ) -> Result<Vec<Token>, LimitExceeded> {
        let Some(first) = tokens.first().copied() else { return Ok(tokens) };
        self.check_depth(depth, ARGUMENT_DEPTH_MAX, first.span)?;
        let mut output = Vec::new();
        let mut frames = vec![Frame { tokens, next: 0, expansion_of: None }];
        while let Some(token) = self.next_token(&mut frames) {
            self.count_steps(1, token.span)?;
            let definition = match self.macros.get(token.symbol) {
                Some(definition)
                    if token.kind == TokenKind::Word && !token.is_painted && !self.is_asked_for(&output) =>
                {
                    definition.clone()
                }
                _ => {
                    output.push(self.predefined(token));
                    continue;
                }
            };
            let mut arguments = Arguments::default();
            if definition.parameters.is_some() {
                if !self.is_call(&mut frames, reads_on) {
                    output.push(token);
                    continue;
                }
                match self.arguments(&definition, token, &mut frames, reads_on)? {
                    Some(found) => arguments = found,
                    None => continue,
                }
            }
            let tokens = self.substitute(&definition, token, arguments, depth)?;
            frames.push(Frame { tokens, next: 0, expansion_of: Some(token.symbol) });
            self.macros.set_active(token.symbol, true);
            self.check_depth(frames.len(), EXPANSION_DEPTH_MAX, token.span)?;
        }
        Ok(output)
    }

    /// Whether the next token of a condition is the operand of `defined`.
    fn is_asked_for(&self, before: &[Token]) -> bool {
        let is_defined = |token: &Token| token.kind == TokenKind::Word && &**self.names.text(token.symbol) == "defined";
        self.is_in_condition
            && match before {
                [.., word, open] if open.kind == TokenKind::LeftParen => is_defined(word),
                [.., word] => is_defined(word),
                [] => false,
            }
    }

    /// The next token of the innermost frame that has one.
    fn next_token(&mut self, frames: &mut Vec<Frame>) -> Option<Token> {
        loop {
            let frame = frames.last_mut()?;
            if let Some(&token) = frame.tokens.get(frame.next) {
                frame.next += 1;
                return Some(Token { is_painted: token.is_painted || self.macros.is_active(&token), ..token });
            }
            self.pop_frame(frames);
        }
    }

    /// Removes the innermost frame. Whoever reads on is behind the macro's expansion, where its name has its meaning.
    fn pop_frame(&mut self, frames: &mut Vec<Frame>) {
        if let Some(symbol) = frames.pop().and_then(|frame| frame.expansion_of) {
            self.macros.set_active(symbol, false);
        }
    }

    /// A predefined macro as an integer or a string; any other token unchanged.
    fn predefined(&mut self, mut token: Token) -> Token {
        if token.kind != TokenKind::Word {
            return token;
        }
        let Some(predefined) = self.macros.predefined(token.symbol) else { return token };
        let Some(place) = self.sources.location(token.span.lo) else { return token };
        let (kind, text) = match predefined {
            Predefined::Line => (TokenKind::Integer, place.line.to_string()),
            Predefined::IncludeLevel => (TokenKind::Integer, self.files.len().saturating_sub(1).to_string()),
            Predefined::Counter => {
                self.counter += 1;
                (TokenKind::Integer, (self.counter - 1).to_string())
            }
            Predefined::File => (TokenKind::String, literal::escape(&place.file)),
            Predefined::BaseFile => (TokenKind::String, literal::escape(&self.base_file)),
            Predefined::Date => (TokenKind::String, literal::escape("??? ?? ????")),
            Predefined::Time => (TokenKind::String, literal::escape("??:??:??")),
            Predefined::Timestamp => (TokenKind::String, literal::escape("??? ??? ?? ??:??:?? ????")),
        };
        token.kind = kind;
        token.symbol = self.names.intern(&text);
        token
    }

    /// Consumes the next token if it is an opening parenthesis, and returns whether it was.
    fn is_call(&mut self, frames: &mut Vec<Frame>, reads_on: bool) -> bool {
        while frames.last().is_some_and(|frame| frame.next == frame.tokens.len()) {
            self.pop_frame(frames);
        }
        if let Some(frame) = frames.last_mut() {
            let is_call = frame.tokens[frame.next].kind == TokenKind::LeftParen;
            frame.next += usize::from(is_call);
            return is_call;
        }
        let Some(file) = self.files.last_mut().filter(|_| reads_on) else { return false };
        let checkpoint = file.lexer.checkpoint();
        let is_call = file.lexer.next(&mut self.names).kind == TokenKind::LeftParen;
        if !is_call {
            file.lexer.restore(checkpoint);
        }
        is_call
    }

    /// Reads the arguments after the opening parenthesis; `None` if they are invalid, which is reported.
    fn arguments(
        &mut self,
        definition: &Macro,
        name: Token,
        frames: &mut Vec<Frame>,
        reads_on: bool,
    ) -> Result<Option<Arguments>, LimitExceeded> {
        let parameter_count = definition.parameters.as_ref().map_or(0, Vec::len);
        let mut written = vec![Vec::new()];
        let mut open_brackets = 0usize;
        loop {
            let token = match self.next_token(frames) {
                None if reads_on => self.next_in_file()?,
                token => token,
            };
            let Some(token) = token else {
                let text = self.names.text(name.symbol);
                let message = format!("the arguments of macro `{text}` have no closing parenthesis");
                self.error(codes::MACRO_ARGUMENTS, name.span, message);
                return Ok(None);
            };
            self.count_steps(1, token.span)?;
            match token.kind {
                TokenKind::RightParen if open_brackets == 0 => break,
                TokenKind::RightParen => open_brackets -= 1,
                TokenKind::LeftParen => open_brackets += 1,
                TokenKind::Comma if open_brackets == 0 => {
                    let takes_rest = definition.is_variadic && written.len() == parameter_count;
                    if !takes_rest {
                        written.push(Vec::new());
                        continue;
                    }
                }
                _ => {}
            }
            if let Some(argument) = written.last_mut() {
                argument.push(token);
            }
        }
        if parameter_count == 0 && written.len() == 1 && written[0].is_empty() {
            written.clear();
        }
        let is_rest_omitted = written.len() < parameter_count || parameter_count == 1 && written[0].is_empty();
        if definition.is_variadic && written.len() + 1 == parameter_count {
            written.push(Vec::new());
        }
        if written.len() != parameter_count {
            self.wrong_argument_count(definition, name, parameter_count, written.len());
            return Ok(None);
        }
        let expanded = written.iter().map(|_| None).collect();
        Ok(Some(Arguments { written, expanded, is_rest_omitted }))
    }

    fn wrong_argument_count(&mut self, definition: &Macro, name: Token, expected: usize, found: usize) {
        let text = self.names.text(name.symbol);
        let plural = if expected == 1 { "" } else { "s" };
        let message = format!("macro `{text}` takes {expected} argument{plural}, but gets {found}");
        let diagnostic =
            Diagnostic::error(codes::MACRO_ARGUMENTS, name.span, message).secondary(definition.span, "defined here");
        self.diagnostics.push(diagnostic);
    }
}
