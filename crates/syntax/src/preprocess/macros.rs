//! Definition and expansion of macros.
//!
//! Expansion follows C: arguments are expanded before they are substituted, except beside `#` and `##`; the result is
//! scanned again together with what follows; a macro's own name is not expanded inside its expansion.

use super::{LimitExceeded, Preprocessor, TOKENS_MAX};
use crate::codes;
use crate::diag::Diagnostic;
use crate::lexer::Lexer;
use crate::literal;
use crate::source::BodyToken;
use crate::token::{Names, Symbol, Token, TokenKind};
use base::{Origin, Span};
use std::rc::Rc;
use std::sync::Arc;

/// The maximum nesting of macro uses in macro arguments.
const ARGUMENT_DEPTH_MAX: usize = 64;

/// The maximum nesting of macro expansions.
const EXPANSION_DEPTH_MAX: usize = 1000;

/// The maximum length of a token that `#` or `##` creates.
const MADE_TOKEN_BYTES_MAX: usize = 64 << 10;

/// A macro.
pub(super) struct Macro {
    /// `None` for a macro without parentheses.
    parameters: Option<Vec<Symbol>>,
    /// Whether the last parameter takes all remaining arguments.
    is_variadic: bool,
    body: Rc<[Token]>,
    /// The same for the source map.
    body_tokens: Arc<[BodyToken]>,
    /// The location of its definition.
    span: Span,
}

impl Macro {
    /// The parameter with the token's name.
    fn parameter(&self, token: &Token) -> Option<usize> {
        let parameters = self.parameters.as_ref()?;
        parameters.iter().position(|&name| token.kind == TokenKind::Word && token.symbol == name)
    }
}

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

/// The macros that are defined.
pub(super) struct Macros {
    /// Indexed by symbol.
    by_symbol: Vec<Option<Rc<Macro>>>,
    /// `__LINE__` and `__FILE__`, whose values depend on their location.
    line: Symbol,
    file: Symbol,
    /// `__DATE__` and `__TIME__`. The same program must always compile to the same result, so they have the values that
    /// a C preprocessor uses when the time is unknown.
    date: Symbol,
    time: Symbol,
    /// `__has_include`, which only conditions evaluate.
    has_include: Symbol,
}

impl Macros {
    pub fn new(names: &mut Names) -> Macros {
        Macros {
            by_symbol: Vec::new(),
            line: names.intern("__LINE__"),
            file: names.intern("__FILE__"),
            date: names.intern("__DATE__"),
            time: names.intern("__TIME__"),
            has_include: names.intern("__has_include"),
        }
    }

    /// Whether the name is a predefined macro.
    pub fn is_predefined(&self, symbol: Symbol) -> bool {
        [self.line, self.file, self.date, self.time].contains(&symbol)
    }

    /// Whether the name is a defined macro.
    pub fn is_defined(&self, symbol: Symbol) -> bool {
        self.get(symbol).is_some() || self.is_predefined(symbol) || symbol == self.has_include
    }

    pub fn get(&self, symbol: Symbol) -> Option<&Rc<Macro>> {
        self.by_symbol.get(symbol.index())?.as_ref()
    }

    fn set(&mut self, symbol: Symbol, definition: Option<Rc<Macro>>) {
        if self.by_symbol.len() <= symbol.index() {
            self.by_symbol.resize(symbol.index() + 1, None);
        }
        self.by_symbol[symbol.index()] = definition;
    }
}

/// Tokens that are read before the rest of the file.
struct Frame {
    tokens: Vec<Token>,
    next: usize,
    /// The macro that this is the expansion of; its name is not expanded inside.
    expansion_of: Option<Symbol>,
}

/// The arguments of a macro use.
struct Arguments {
    written: Vec<Vec<Token>>,
    /// Computed on first use, which is at this index of the body.
    expanded: Vec<Option<(usize, Vec<Token>)>>,
}

impl Preprocessor<'_> {
    /// `#define`
    pub(super) fn define(&mut self, directive: Span) -> Result<(), LimitExceeded> {
        let line = self.line_tokens();
        let Some((name, rest)) = line.split_first().filter(|(name, _)| name.kind == TokenKind::Word) else {
            let span = line.first().map_or(directive, |token| token.span);
            self.error(codes::INVALID_MACRO, span, "`#define` needs a name");
            return Ok(());
        };
        if self.macros.is_predefined(name.symbol) || &**self.names.text(name.symbol) == "defined" {
            let message = format!("`{}` cannot be defined", self.names.text(name.symbol));
            self.error(codes::INVALID_MACRO, name.span, message);
            return Ok(());
        }
        let mut definition = Macro {
            parameters: None,
            is_variadic: false,
            body: Rc::from([]),
            body_tokens: Arc::from([]),
            span: name.span,
        };
        let mut body = rest;
        if let Some((open, after)) = rest.split_first()
            && open.kind == TokenKind::LeftParen
            && !open.has_space_before
        {
            let Some(rest) = self.parameters(&mut definition, open.span, after) else { return Ok(()) };
            body = rest;
        }
        if let Some(edge) = body.first().into_iter().chain(body.last()).find(|token| token.kind == TokenKind::HashHash)
        {
            self.error(codes::INVALID_MACRO, edge.span, "`##` needs a token on either side");
            return Ok(());
        }
        let in_source_map =
            |token: &Token| BodyToken { span: token.span, is_parameter: definition.parameter(token).is_some() };
        definition.body_tokens = body.iter().map(in_source_map).collect();
        definition.body = body.into();
        self.warn_redefinition(*name, &definition);
        self.macros.set(name.symbol, Some(Rc::new(definition)));
        Ok(())
    }

    /// Reads `a, b)` after the opening parenthesis and returns what follows, or reports an error.
    fn parameters<'t>(&mut self, definition: &mut Macro, open: Span, after: &'t [Token]) -> Option<&'t [Token]> {
        let mut parameters: Vec<Symbol> = Vec::new();
        let mut rest = after;
        if let Some((token, behind)) = rest.split_first()
            && token.kind == TokenKind::RightParen
        {
            definition.parameters = Some(parameters);
            return Some(behind);
        }
        loop {
            let fault = match rest {
                [name, ..] if name.kind == TokenKind::Word && parameters.contains(&name.symbol) => name.span,
                // `args...` names what would be `__VA_ARGS__` for a plain `...`.
                [name, dots, close, behind @ ..]
                    if name.kind == TokenKind::Word
                        && dots.kind == TokenKind::Dots
                        && close.kind == TokenKind::RightParen =>
                {
                    definition.is_variadic = true;
                    parameters.push(name.symbol);
                    definition.parameters = Some(parameters);
                    return Some(behind);
                }
                [name, close, behind @ ..] if is_parameter(name) && close.kind == TokenKind::RightParen => {
                    definition.is_variadic = name.kind == TokenKind::Dots;
                    let variadic = definition.is_variadic.then(|| self.names.intern("__VA_ARGS__"));
                    parameters.push(variadic.unwrap_or(name.symbol));
                    definition.parameters = Some(parameters);
                    return Some(behind);
                }
                [name, comma, behind @ ..] if name.kind == TokenKind::Word && comma.kind == TokenKind::Comma => {
                    parameters.push(name.symbol);
                    rest = behind;
                    continue;
                }
                [first, ..] => first.span,
                [] => open,
            };
            let message = "the macro's parameters must be different names, separated by commas, in parentheses";
            self.error(codes::INVALID_MACRO, fault, message);
            return None;
        }
    }

    fn warn_redefinition(&mut self, name: Token, new: &Macro) {
        let Some(old) = self.macros.get(name.symbol) else { return };
        let is_same_token = |(a, b): (&Token, &Token)| a.kind == b.kind && a.symbol == b.symbol;
        let is_same = old.parameters == new.parameters
            && old.is_variadic == new.is_variadic
            && old.body.len() == new.body.len()
            && old.body.iter().zip(new.body.iter()).all(is_same_token);
        if !is_same {
            let message = format!("macro `{}` is defined again with another meaning", self.names.text(name.symbol));
            let diagnostic = Diagnostic::warning(codes::MACRO_REDEFINED, name.span, message)
                .secondary(old.span, "first defined here")
                .help("`#undef` it first");
            self.diagnostics.push(diagnostic);
        }
    }

    /// `#undef`
    pub(super) fn undefine(&mut self, directive: Span) {
        let line = self.line_tokens();
        match line.first() {
            Some(name) if name.kind == TokenKind::Word => self.macros.set(name.symbol, None),
            _ => self.error(codes::INVALID_MACRO, directive, "`#undef` needs a name"),
        }
    }

    /// Expands a macro use in the file and emits the result.
    pub(super) fn expand_in_file(&mut self, token: Token) -> Result<(), LimitExceeded> {
        let expanded = self.expand(vec![token], true, 0)?;
        if expanded.is_empty() {
            self.empty_expansions.insert(self.tokens.len(), token.symbol);
        }
        for token in expanded {
            self.emit(token)?;
        }
        Ok(())
    }

    /// Expands the macros in a directive's tokens.
    pub(super) fn expand_line(&mut self, line: Vec<Token>) -> Result<Vec<Token>, LimitExceeded> {
        self.expand(line, false, 0)
    }

    /// Counts steps, and stops when the limit is exceeded.
    fn count_steps(&mut self, steps: usize, span: Span) -> Result<(), LimitExceeded> {
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
    fn expand(&mut self, tokens: Vec<Token>, reads_on: bool, depth: usize) -> Result<Vec<Token>, LimitExceeded> {
        let Some(first) = tokens.first().copied() else { return Ok(tokens) };
        self.check_depth(depth, ARGUMENT_DEPTH_MAX, first.span)?;
        let mut output = Vec::new();
        let mut frames = vec![Frame { tokens, next: 0, expansion_of: None }];
        while let Some(mut token) = next_token(&mut frames) {
            self.count_steps(1, token.span)?;
            let definition = match self.macros.get(token.symbol) {
                Some(definition) if token.kind == TokenKind::Word && !token.is_painted => definition.clone(),
                _ => {
                    output.push(self.predefined(token));
                    continue;
                }
            };
            if frames.iter().any(|frame| frame.expansion_of == Some(token.symbol)) {
                token.is_painted = true;
                output.push(token);
                continue;
            }
            let mut arguments = Arguments { written: Vec::new(), expanded: Vec::new() };
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
            self.check_depth(frames.len(), EXPANSION_DEPTH_MAX, token.span)?;
        }
        Ok(output)
    }

    /// `__LINE__` as an integer, `__FILE__`, `__DATE__` and `__TIME__` as strings; any other token unchanged.
    fn predefined(&mut self, mut token: Token) -> Token {
        if token.kind != TokenKind::Word || !self.macros.is_predefined(token.symbol) {
            return token;
        }
        let Some(place) = self.sources.location(token.span.lo) else { return token };
        let is_line = token.symbol == self.macros.line;
        let text = match token.symbol {
            _ if is_line => place.line.to_string(),
            symbol if symbol == self.macros.date => literal::escape("??? ?? ????"),
            symbol if symbol == self.macros.time => literal::escape("??:??:??"),
            _ => literal::escape(&place.file),
        };
        token.kind = if is_line { TokenKind::Integer } else { TokenKind::String };
        token.symbol = self.names.intern(&text);
        token
    }

    /// Consumes the next token if it is an opening parenthesis, and returns whether it was.
    fn is_call(&mut self, frames: &mut Vec<Frame>, reads_on: bool) -> bool {
        while frames.last().is_some_and(|frame| frame.next == frame.tokens.len()) {
            frames.pop();
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
            let from_file = |this: &mut Self| {
                let file = this.files.last_mut().filter(|_| reads_on)?;
                let checkpoint = file.lexer.checkpoint();
                let token = file.lexer.next(&mut this.names);
                if token.kind == TokenKind::EndOfFile {
                    file.lexer.restore(checkpoint);
                    return None;
                }
                Some(token)
            };
            let Some(token) = next_token(frames).or_else(|| from_file(self)) else {
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
        if definition.is_variadic && written.len() + 1 == parameter_count {
            written.push(Vec::new());
        }
        if written.len() != parameter_count {
            self.wrong_argument_count(definition, name, parameter_count, written.len());
            return Ok(None);
        }
        let expanded = written.iter().map(|_| None).collect();
        Ok(Some(Arguments { written, expanded }))
    }

    fn wrong_argument_count(&mut self, definition: &Macro, name: Token, expected: usize, found: usize) {
        let text = self.names.text(name.symbol);
        let plural = if expected == 1 { "" } else { "s" };
        let message = format!("macro `{text}` takes {expected} argument{plural}, but gets {found}");
        let diagnostic =
            Diagnostic::error(codes::MACRO_ARGUMENTS, name.span, message).secondary(definition.span, "defined here");
        self.diagnostics.push(diagnostic);
    }

    /// The macro's body with its arguments substituted.
    fn substitute(
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
        let mut output: Vec<Token> = Vec::with_capacity(body.len());
        let mut index = 0;
        while index < body.len() {
            let is_joined = body.get(index + 1).is_some_and(|token| token.kind == TokenKind::HashHash);
            let start = index;
            let (mut operand, mut consumed) = self.operand(&used, &mut arguments, index, !is_joined)?;
            index += consumed;
            while body.get(index).is_some_and(|token| token.kind == TokenKind::HashHash) && index + 1 < body.len() {
                let right;
                (right, consumed) = self.operand(&used, &mut arguments, index + 1, false)?;
                index += 1 + consumed;
                self.paste(&mut operand, right, name.span.with_origin(used.origin(start, index - 1)))?;
            }
            self.count_steps(operand.len(), name.span)?;
            output.append(&mut operand);
        }
        if let Some(first) = output.first_mut() {
            first.is_first_on_line = name.is_first_on_line;
            first.has_space_before = name.has_space_before;
        }
        Ok(output)
    }

    /// The expansion of the body's token at `index`, and the number of body tokens that it consumes.
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
        let Some(position) = used.definition.parameter(&token) else {
            token.span = used.name.span.with_origin(used.origin(index, index));
            token.is_first_on_line = false;
            return Ok((vec![token], 1));
        };
        if !is_expanded {
            return Ok((used.substituted(&arguments.written[position], index), 1));
        }
        if arguments.expanded[position].is_none() {
            let argument = used.substituted(&arguments.written[position], index);
            arguments.expanded[position] = Some((index, self.expand(argument, false, used.depth + 1)?));
        }
        let (first_index, mut tokens) = arguments.expanded[position].clone().unwrap_or_default();
        // Each use of the parameter has its own origin.
        let (first, here) = (used.origin(first_index, first_index), used.origin(index, index));
        tokens.iter_mut().filter(|token| token.span.origin == first).for_each(|token| token.span.origin = here);
        if let Some(first) = tokens.first_mut() {
            first.has_space_before = token.has_space_before;
        }
        Ok((tokens, 1))
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

fn is_parameter(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Word | TokenKind::Dots)
}

/// The next token of the innermost frame that has one.
fn next_token(frames: &mut Vec<Frame>) -> Option<Token> {
    while let Some(frame) = frames.last_mut() {
        if let Some(token) = frame.tokens.get(frame.next) {
            frame.next += 1;
            return Some(*token);
        }
        frames.pop();
    }
    None
}
