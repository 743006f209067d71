//! The expressions of `#if` and `#elif`: `defined`, `__has_include`, and the operators of C on the integers of
//! [`number`](super::number).

use super::number::Number;
use super::{LimitExceeded, Preprocessor};
use crate::codes;
use crate::diag::Diagnostic;
use crate::token::{Names, Symbol, Token, TokenKind};
use base::Span;

/// The maximum nesting of an expression.
const DEPTH_MAX: u32 = 200;

/// An error in an expression, and its location.
struct Fault {
    span: Span,
    message: String,
}

impl Preprocessor<'_> {
    /// The value of the condition `tokens` of the directive at `span`. An invalid condition is reported and false.
    pub(super) fn evaluate_condition(&mut self, span: Span, tokens: Vec<Token>) -> Result<bool, LimitExceeded> {
        let tokens = self.resolve_defined(tokens);
        let empty = tokens.iter().find(|token| self.is_empty_macro(token)).copied();
        self.is_in_condition = true;
        let expanded = self.expand_line(tokens);
        self.is_in_condition = false;
        // A macro's body may contain `defined`, too.
        let tokens = self.resolve_defined(expanded?);
        let tokens = self.resolve_has_include(tokens);
        let mut evaluator = Evaluator { tokens: &tokens, next: 0, names: &self.names, end: span, depth: 0 };
        let outcome = evaluator.list(true).and_then(|value| match evaluator.peek() {
            Some(extra) => Err(Fault { span: extra.span, message: evaluator.what_is_extra() }),
            None => Ok(value.is_true()),
        });
        Ok(outcome.unwrap_or_else(|fault| {
            let message = "this condition cannot be evaluated";
            let mut diagnostic = Diagnostic::error(codes::INVALID_CONDITION, fault.span, message).label(fault.message);
            if let Some(empty) = empty {
                let name = self.names.text(empty.symbol);
                diagnostic = diagnostic.help(format!(
                    "the macro `{name}` is defined, but empty: give it a value, as in `#define {name} 1` or `-D {name}=1`, \
                     or ask `#ifdef {name}`"
                ));
            }
            self.diagnostics.push(diagnostic);
            false
        }))
    }

    /// Whether a token is the name of a macro without parameters and without a body.
    fn is_empty_macro(&self, token: &Token) -> bool {
        let named = || self.macros.get(token.symbol);
        token.kind == TokenKind::Word && named().is_some_and(|it| it.parameters.is_none() && it.body_tokens.is_empty())
    }

    /// Replaces `defined X` and `defined(X)` with 1 or 0, before macros are expanded.
    fn resolve_defined(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        self.resolve(tokens, "defined", |this, behind| {
            let (name, after) = match behind {
                [open, name, close, after @ ..]
                    if open.kind == TokenKind::LeftParen
                        && name.kind == TokenKind::Word
                        && close.kind == TokenKind::RightParen =>
                {
                    (name, after)
                }
                [name, after @ ..] if name.kind == TokenKind::Word => (name, after),
                _ => return None,
            };
            Some((this.macros.is_defined(name.symbol), after))
        })
    }

    /// Replaces `__has_include("file")` and `__has_include(<file>)` with 1 or 0.
    fn resolve_has_include(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        self.resolve(tokens, "__has_include", |this, behind| {
            let end = behind.iter().position(|token| token.kind == TokenKind::RightParen)?;
            match behind {
                [open, inside @ ..] if open.kind == TokenKind::LeftParen && end > 1 => {
                    let (path, is_quoted) = this.asked_file(&inside[..end - 1])?;
                    Some((this.can_include(&path, is_quoted), &behind[end + 1..]))
                }
                _ => None,
            }
        })
    }

    /// Replaces each query that begins with `word` with 1 or 0. `answer` receives the tokens after the word, and
    /// returns the result and the tokens after the query; none if it is malformed.
    fn resolve(
        &mut self,
        tokens: Vec<Token>,
        word: &str,
        answer: impl for<'t> Fn(&mut Self, &'t [Token]) -> Option<(bool, &'t [Token])>,
    ) -> Vec<Token> {
        let mut output = Vec::with_capacity(tokens.len());
        let mut rest = tokens.as_slice();
        while let Some((&first, behind)) = rest.split_first() {
            let asks = first.kind == TokenKind::Word && &**self.names.text(first.symbol) == word;
            match if asks { answer(self, behind) } else { None } {
                Some((value, after)) => {
                    let symbol: Symbol = self.names.intern(if value { "1" } else { "0" });
                    output.push(Token { kind: TokenKind::Integer, symbol, ..first });
                    rest = after;
                }
                None => {
                    output.push(first);
                    rest = behind;
                }
            }
        }
        output
    }

    /// The path between the parentheses of `__has_include`, and whether it is in quotes.
    fn asked_file(&self, tokens: &[Token]) -> Option<(String, bool)> {
        match tokens {
            [path] if path.kind == TokenKind::String => Some((self.names.text(path.symbol).to_string(), true)),
            [open, path @ .., close] if open.kind == TokenKind::Less && close.kind == TokenKind::Greater => {
                Some((path.iter().map(|token| token.text(&self.names).to_string()).collect(), false))
            }
            _ => None,
        }
    }
}

struct Evaluator<'a> {
    tokens: &'a [Token],
    next: usize,
    names: &'a Names,
    /// The location for an error about something that is missing at the end.
    end: Span,
    depth: u32,
}

/// Binary operators with their precedence; a higher number binds tighter.
fn binary_operator(tokens: &[Token]) -> Option<(&'static str, u32, usize)> {
    let first = tokens.first()?;
    // `>>` consists of two tokens.
    if let [first, second, ..] = tokens
        && first.kind == TokenKind::Greater
        && second.kind == TokenKind::Greater
        && !second.has_space_before
    {
        return Some((">>", 8, 2));
    }
    let precedence = match first.kind {
        TokenKind::OrOr => 1,
        TokenKind::AndAnd => 2,
        TokenKind::Or => 3,
        TokenKind::Caret => 4,
        TokenKind::And => 5,
        TokenKind::EqualEqual | TokenKind::NotEqual => 6,
        TokenKind::Less | TokenKind::LessEqual | TokenKind::Greater | TokenKind::GreaterEqual => 7,
        TokenKind::ShiftLeft => 8,
        TokenKind::Plus | TokenKind::Minus => 9,
        TokenKind::Star | TokenKind::Slash | TokenKind::Percent => 10,
        _ => return None,
    };
    Some((first.kind.as_str(), precedence, 1))
}

impl Evaluator<'_> {
    fn peek(&self) -> Option<Token> {
        self.tokens.get(self.next).copied()
    }

    fn take(&mut self, kind: TokenKind) -> bool {
        let is_next = self.peek().is_some_and(|token| token.kind == kind);
        self.next += usize::from(is_next);
        is_next
    }

    fn fault<T>(&self, message: &str) -> Result<T, Fault> {
        let span = self.peek().map_or(self.end, |token| token.span);
        Err(Fault { span, message: message.into() })
    }

    /// Why the next token cannot follow a complete condition.
    fn what_is_extra(&self) -> String {
        let before = self.next.checked_sub(1).and_then(|index| self.tokens.get(index));
        let is_call = self.peek().is_some_and(|token| token.kind == TokenKind::LeftParen);
        let Some(name) = before.filter(|token| is_call && token.kind == TokenKind::Word) else {
            return "nothing more is expected here".into();
        };
        let name = name.text(self.names);
        match self.tokens[self.next..].iter().any(|token| token.kind == TokenKind::RightParen) {
            true => format!("`{name}` is not a macro with parameters"),
            false => format!("the arguments of `{name}` have no closing `)`"),
        }
    }

    fn descend(&mut self) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > DEPTH_MAX { self.fault("the condition is nested too deeply") } else { Ok(()) }
    }

    /// `a, b`, whose value is the last one.
    fn list(&mut self, is_live: bool) -> Result<Number, Fault> {
        loop {
            let value = self.conditional(is_live)?;
            if !self.take(TokenKind::Comma) {
                return Ok(value);
            }
        }
    }

    /// `c ? a : b`. If `is_live` is false, the value is not used and a division by zero is not an error.
    fn conditional(&mut self, is_live: bool) -> Result<Number, Fault> {
        self.descend()?;
        let condition = self.binary(0, is_live)?;
        let mut value = condition;
        if self.take(TokenKind::Question) {
            let then_value = self.list(is_live && condition.is_true())?;
            if !self.take(TokenKind::Colon) {
                return self.fault("`:` is expected here");
            }
            let else_value = self.conditional(is_live && !condition.is_true())?;
            value = if condition.is_true() { then_value.beside(else_value) } else { else_value.beside(then_value) };
        }
        self.depth -= 1;
        Ok(value)
    }

    fn binary(&mut self, precedence_min: u32, is_live: bool) -> Result<Number, Fault> {
        let mut left = self.unary(is_live)?;
        while let Some((operator, precedence, length)) = binary_operator(&self.tokens[self.next..]) {
            if precedence <= precedence_min {
                break;
            }
            let span = self.tokens[self.next].span;
            self.next += length;
            let is_right_live = is_live
                && match operator {
                    "&&" => left.is_true(),
                    "||" => !left.is_true(),
                    _ => true,
                };
            let right = self.binary(precedence, is_right_live)?;
            let is_division_by_zero = !right.is_true() && matches!(operator, "/" | "%");
            if is_division_by_zero && is_right_live {
                return Err(Fault { span, message: "this divides by zero".into() });
            }
            left = left.apply(operator, right);
        }
        Ok(left)
    }

    fn unary(&mut self, is_live: bool) -> Result<Number, Fault> {
        self.descend()?;
        let Some(token) = self.peek() else { return self.fault("a value is missing") };
        self.next += 1;
        let value = match token.kind {
            TokenKind::Not => Number::from(!self.unary(is_live)?.is_true()),
            TokenKind::Minus => self.unary(is_live)?.negated(),
            TokenKind::Plus => self.unary(is_live)?,
            TokenKind::Tilde => self.unary(is_live)?.complement(),
            TokenKind::LeftParen => {
                let value = self.list(is_live)?;
                if !self.take(TokenKind::RightParen) {
                    return self.fault("`)` is expected here");
                }
                value
            }
            TokenKind::Word => Number::from(&**self.names.text(token.symbol) == "true"),
            TokenKind::Integer => self.read(token, Number::of_integer)?,
            TokenKind::InvalidCharacter if self.names.text(token.symbol).starts_with('\'') => {
                self.read(token, Number::of_characters)?
            }
            _ => return Err(Fault { span: token.span, message: "a value is expected here".into() }),
        };
        self.depth -= 1;
        Ok(value)
    }

    /// The number that a token stands for.
    fn read(&self, token: Token, number: fn(&str) -> Result<Number, String>) -> Result<Number, Fault> {
        number(self.names.text(token.symbol)).map_err(|message| Fault { span: token.span, message })
    }
}
