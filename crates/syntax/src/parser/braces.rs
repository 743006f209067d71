//! Finds the unclosed one of several braces.
//!
//! A missing `}` is only noticed where the outermost list should end, far after the mistake, because each inner list
//! has taken the brace of the next outer one. Indentation shows where that began: at the first `}` that begins a line
//! and is indented less than the line of the `{` that it closes.

use super::Parser;
use crate::codes;
use crate::diag::Diagnostic;
use crate::token::TokenKind;
use base::Span;

/// How many tokens are searched for the beginning of a line, so that long lines with many errors cost little.
const LINE_TOKENS_MAX: usize = 1000;

/// A `{` without its `}` so far.
struct Open {
    span: Span,
    /// The first token of its line.
    line: usize,
}

impl Parser<'_> {
    /// Reports, at the next token, a missing `}`. `open` is the token that begins the list that should end.
    pub(super) fn report_unclosed_brace(&mut self, open: usize) {
        if self.is_speculative || self.last_error_at == Some(self.next) {
            return;
        }
        let place = format!("{} stands here, where `}}` is expected", self.found());
        let next = self.peek().span;
        let error = |span| Diagnostic::error(codes::UNCLOSED_BRACKET, span, "this `{` is not closed");
        let diagnostic = match self.misindented(open) {
            Some((inner, close)) => {
                error(inner).secondary(close, "taken for its end, but indented as that of another `{`")
            }
            None => error(self.token(open).span),
        };
        self.report(diagnostic.secondary(next, place));
    }

    /// The first pair of braces, from the token `open` to the next token, whose `}` is indented less than its `{`.
    fn misindented(&self, open: usize) -> Option<(Span, Span)> {
        let mut line =
            (0..=open).rev().take(LINE_TOKENS_MAX).find(|&index| self.token(index).is_first_on_line).unwrap_or(open);
        let mut opened: Vec<Open> = Vec::new();
        for index in open..self.next {
            let token = self.token(index);
            if token.is_first_on_line {
                line = index;
            }
            match token.kind {
                TokenKind::LeftBrace => opened.push(Open { span: token.span, line }),
                TokenKind::RightBrace => {
                    let pair = opened.pop()?;
                    if line == index && self.column(index) < self.column(pair.line) {
                        return Some((pair.span, token.span));
                    }
                }
                _ => {}
            }
        }
        None
    }

    fn column(&self, index: usize) -> u32 {
        self.sources.location(self.token(index).span.lo).map_or(0, |location| location.column)
    }
}
