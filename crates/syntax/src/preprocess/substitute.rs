//! The body of a macro with the arguments of a use: parameters, `#`, `##` and `__VA_OPT__`.

use super::macros::Macro;
use super::{LimitExceeded, Preprocessor};
use crate::codes;
use crate::lexer::Lexer;
use crate::literal;
use crate::token::{Token, TokenKind};
use base::{Origin, Span};
use std::ops::Range;

/// The maximum length of a token that `#` or `##` creates.
const MADE_TOKEN_BYTES_MAX: usize = 64 << 10;

/// A use of a macro that is being expanded.
struct Use<'m> {
    definition: &'m Macro,
    /// The macro's name.
    name: Token,
    /// The number of the token that the body's first one creates.
    first: u32,
    depth: usize,
}

impl Use<'_> {
    /// The origin of what the tokens of the body with these indices create.
    fn origin(&self, first: usize, last: usize) -> Origin {
        Origin { first: self.first + first as u32, last: self.first + last as u32 }
    }

    /// The argument's tokens in place of the parameter at `index`. Those from other macros keep their origin.
    fn substituted(&self, argument: &[Token], index: usize) -> Vec<Token> {
        let mut tokens = argument.to_vec();
        for token in tokens.iter_mut().filter(|token| token.span.origin.is_none()) {
            token.span.origin = self.origin(index, index);
        }
        tokens
    }
}

/// The arguments of a macro use.
#[derive(Default)]
pub(super) struct Arguments {
    pub written: Vec<Vec<Token>>,
    /// Computed on first use, which is at this index of the body.
    pub expanded: Vec<Option<(usize, Vec<Token>)>>,
    /// Whether nothing stands for `...`, not even a comma before it.
    pub is_rest_omitted: bool,
}

impl Preprocessor<'_> {
    /// The macro's body with its arguments substituted.
    pub(super) fn substitute(
        &mut self,
        definition: &Macro,
        name: Token,
        mut arguments: Arguments,
        depth: usize,
    ) -> Result<Vec<Token>, LimitExceeded> {
        let body = &definition.body;
        self.count_steps(body.len(), name.span)?;
        let first = self.sources.add_expansion(name.span, &definition.body_tokens);
        let used = Use { definition, name, first, depth };
        let mut output = self.substitute_range(&used, &mut arguments, 0..body.len())?;
        if let Some(first) = output.first_mut() {
            first.is_first_on_line = name.is_first_on_line;
            first.has_space_before = name.has_space_before;
        }
        Ok(output)
    }

    /// A range of the macro's body with its arguments substituted.
    fn substitute_range(
        &mut self,
        used: &Use<'_>,
        arguments: &mut Arguments,
        range: Range<usize>,
    ) -> Result<Vec<Token>, LimitExceeded> {
        let body = &used.definition.body[..range.end];
        let mut output: Vec<Token> = Vec::with_capacity(range.len());
        let mut index = range.start;
        while index < body.len() {
            let is_joined = body.get(index + 1).is_some_and(|token| token.kind == TokenKind::HashHash);
            let start = index;
            let (mut operand, mut consumed) = self.operand(used, arguments, index, !is_joined)?;
            index += consumed;
            while body.get(index).is_some_and(|token| token.kind == TokenKind::HashHash) && index + 1 < body.len() {
                let is_rest = arguments.is_rest_omitted && used.definition.is_rest(&body[index + 1]);
                if is_rest && operand.last().is_some_and(|token| token.kind == TokenKind::Comma) {
                    operand.pop();
                }
                let right;
                (right, consumed) = self.operand(used, arguments, index + 1, false)?;
                index += 1 + consumed;
                self.paste(&mut operand, right, used.name.span.with_origin(used.origin(start, index - 1)))?;
            }
            self.count_steps(operand.len(), used.name.span)?;
            output.append(&mut operand);
        }
        Ok(output)
    }

    /// The expansion of what begins at `index` of the body, and the number of body tokens that it consumes.
    fn operand(
        &mut self,
        used: &Use<'_>,
        arguments: &mut Arguments,
        index: usize,
        is_expanded: bool,
    ) -> Result<(Vec<Token>, usize), LimitExceeded> {
        let body = &used.definition.body;
        let mut token = body[index];
        if token.kind == TokenKind::Hash
            && let Some(position) = body.get(index + 1).and_then(|next| used.definition.parameter(next))
        {
            let mut string = self.stringify(&arguments.written[position], used.name)?;
            string.span.origin = used.origin(index, index + 1);
            return Ok((vec![string], 2));
        }
        if let Some(inside) = used.definition.optional(index) {
            let consumed = inside.end + 1 - index;
            return Ok((self.optional(used, arguments, inside)?, consumed));
        }
        if token.kind == TokenKind::Hash
            && let Some(inside) = used.definition.optional(index + 1)
        {
            let consumed = inside.end + 1 - index;
            let tokens = self.optional(used, arguments, inside)?;
            let mut string = self.stringify(&tokens, used.name)?;
            string.span.origin = used.origin(index, index + consumed - 1);
            return Ok((vec![string], consumed));
        }
        let Some(position) = used.definition.parameter(&token) else {
            token.span = used.name.span.with_origin(used.origin(index, index));
            token.is_first_on_line = false;
            return Ok((vec![token], 1));
        };
        if !is_expanded {
            return Ok((used.substituted(&arguments.written[position], index), 1));
        }
        let (first_index, mut tokens) = self.expanded(used, arguments, position, index)?;
        // Each use of the parameter has its own origin.
        let (first, here) = (used.origin(first_index, first_index), used.origin(index, index));
        tokens.iter_mut().filter(|token| token.span.origin == first).for_each(|token| token.span.origin = here);
        if let Some(first) = tokens.first_mut() {
            first.has_space_before = token.has_space_before;
        }
        Ok((tokens, 1))
    }

    /// The argument with its macros expanded, and the index of the body that its origin names.
    fn expanded(
        &mut self,
        used: &Use<'_>,
        arguments: &mut Arguments,
        position: usize,
        index: usize,
    ) -> Result<(usize, Vec<Token>), LimitExceeded> {
        if arguments.expanded[position].is_none() {
            let argument = used.substituted(&arguments.written[position], index);
            arguments.expanded[position] = Some((index, self.expand(argument, false, used.depth + 1)?));
        }
        Ok(arguments.expanded[position].clone().unwrap_or_default())
    }

    /// `__VA_OPT__(inside)`: nothing if nothing is left of the arguments in place of `...` when they are expanded.
    fn optional(
        &mut self,
        used: &Use<'_>,
        arguments: &mut Arguments,
        inside: Range<usize>,
    ) -> Result<Vec<Token>, LimitExceeded> {
        let rest = arguments.written.len().saturating_sub(1);
        let (_, tokens) = self.expanded(used, arguments, rest, inside.start)?;
        if tokens.is_empty() { Ok(Vec::new()) } else { self.substitute_range(used, arguments, inside) }
    }

    /// `#argument`: the argument as a string.
    fn stringify(&mut self, argument: &[Token], used: Token) -> Result<Token, LimitExceeded> {
        let mut text = String::new();
        for token in argument {
            if token.has_space_before && !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&token.text(&self.names));
            self.check_made(text.len(), used.span)?;
        }
        self.count_steps(text.len(), used.span)?;
        let symbol = self.names.intern(&literal::escape(&text));
        Ok(Token { kind: TokenKind::String, is_first_on_line: false, is_painted: false, symbol, ..used })
    }

    fn check_made(&mut self, length: usize, span: Span) -> Result<(), LimitExceeded> {
        if length <= MADE_TOKEN_BYTES_MAX {
            return Ok(());
        }
        let message = format!("a macro makes a token of more than {} KiB", MADE_TOKEN_BYTES_MAX >> 10);
        self.error(codes::MACRO_LIMIT, span, message);
        Err(LimitExceeded)
    }

    /// `left ## right`: joins the last token of `left` and the first of `right`, if the result is one token.
    fn paste(&mut self, left: &mut Vec<Token>, right: Vec<Token>, span: Span) -> Result<(), LimitExceeded> {
        let mut right = right.into_iter();
        let Some(first) = right.next() else { return Ok(()) };
        let Some(last) = left.pop() else {
            left.push(first);
            left.extend(right);
            return Ok(());
        };
        let text = format!("{}{}", last.text(&self.names), first.text(&self.names));
        self.check_made(text.len(), span)?;
        self.count_steps(text.len(), span)?;
        let mut lexer = Lexer::new(text.as_str().into(), 0);
        let joined = lexer.next(&mut self.names);
        let is_one = lexer.next(&mut self.names).kind == TokenKind::EndOfFile
            && !matches!(joined.kind, TokenKind::InvalidCharacter | TokenKind::EndOfFile)
            && !matches!(joined.kind, TokenKind::UnterminatedComment | TokenKind::UnterminatedString);
        if is_one {
            let is_first_on_line = last.is_first_on_line;
            let has_space_before = last.has_space_before;
            left.push(Token { span, is_first_on_line, has_space_before, ..joined });
        } else {
            // They stay two adjacent tokens, as in a C preprocessor's assembler mode.
            left.extend([last, Token { has_space_before: false, ..first }]);
        }
        left.extend(right);
        Ok(())
    }
}
