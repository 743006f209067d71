//! The macros that are defined, and their definition.

use super::{LimitExceeded, Preprocessor};
use crate::codes;
use crate::diag::Diagnostic;
use crate::source::BodyToken;
use crate::token::{Names, Symbol, Token, TokenKind};
use base::Span;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// A macro.
pub(super) struct Macro {
    /// `None` for a macro without parentheses.
    pub parameters: Option<Vec<Symbol>>,
    /// Whether the last parameter takes all remaining arguments.
    pub is_variadic: bool,
    pub body: Rc<[Token]>,
    /// The ranges of the body in the parentheses of `__VA_OPT__`.
    optionals: Vec<Range<usize>>,
    /// The body for the source map.
    pub body_tokens: Arc<[BodyToken]>,
    /// The location of its definition.
    pub span: Span,
}

impl Macro {
    /// A macro that is 1 and that no text defines.
    fn one(names: &mut Names) -> Macro {
        let one = Token {
            kind: TokenKind::Integer,
            is_first_on_line: false,
            has_space_before: true,
            is_painted: false,
            symbol: names.intern("1"),
            span: Span::NONE,
        };
        Macro {
            body: Rc::from([one]),
            body_tokens: Arc::from([BodyToken { span: Span::NONE, is_parameter: false }]),
            ..Macro::nothing(None)
        }
    }

    /// A macro with these parameters that is nothing and that no text defines.
    fn nothing(parameters: Option<Vec<Symbol>>) -> Macro {
        Macro {
            parameters,
            is_variadic: false,
            body: Rc::from([]),
            optionals: Vec::new(),
            body_tokens: Arc::from([]),
            span: Span::NONE,
        }
    }

    /// The parameter with the token's name.
    pub fn parameter(&self, token: &Token) -> Option<usize> {
        let parameters = self.parameters.as_ref()?;
        parameters.iter().position(|&name| token.kind == TokenKind::Word && token.symbol == name)
    }

    /// Whether the token stands for all remaining arguments.
    pub fn is_rest(&self, token: &Token) -> bool {
        let last = self.parameters.as_ref().and_then(|parameters| parameters.len().checked_sub(1));
        self.is_variadic && last.is_some() && self.parameter(token) == last
    }

    /// What stands between the parentheses if `__VA_OPT__(...)` begins at this index of the body.
    pub fn optional(&self, index: usize) -> Option<Range<usize>> {
        self.optionals.iter().find(|inside| inside.start == index + 2).cloned()
    }
}

/// A macro whose value depends on where or when it is used. The same program must always compile to the same result, so
/// date and time have the values that a C preprocessor uses when it does not know the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Predefined {
    Line,
    File,
    BaseFile,
    IncludeLevel,
    Counter,
    Date,
    Time,
    Timestamp,
}

/// The names of these macros.
const PREDEFINED: [(&str, Predefined); 8] = [
    ("__LINE__", Predefined::Line),
    ("__FILE__", Predefined::File),
    ("__BASE_FILE__", Predefined::BaseFile),
    ("__INCLUDE_LEVEL__", Predefined::IncludeLevel),
    ("__COUNTER__", Predefined::Counter),
    ("__DATE__", Predefined::Date),
    ("__TIME__", Predefined::Time),
    ("__TIMESTAMP__", Predefined::Timestamp),
];

/// Macros that a C preprocessor in assembler mode defines as 1. A program can define them again.
const ONES: [&str; 3] = ["__ASSEMBLER__", "__STDC__", "__STDC_HOSTED__"];

/// The form of `#pragma` that can be the result of a macro. In assembler mode a C preprocessor drops both.
const PRAGMA: &str = "_Pragma";

/// The macros that are defined.
pub(super) struct Macros {
    /// Indexed by symbol.
    by_symbol: Vec<Option<Rc<Macro>>>,
    /// The same: whether the macro's expansion is being read, in which its name stays as it is.
    is_active: Vec<bool>,
    /// The names of [`PREDEFINED`], in its order.
    predefined: Vec<Symbol>,
    /// `__VA_OPT__`, which has a meaning in the body of a macro with `...`.
    optional: Symbol,
    /// `__has_include`, which only conditions evaluate.
    has_include: Symbol,
}

impl Macros {
    pub fn new(names: &mut Names) -> Macros {
        let mut macros = Macros {
            by_symbol: Vec::new(),
            is_active: Vec::new(),
            predefined: PREDEFINED.iter().map(|(name, _)| names.intern(name)).collect(),
            optional: names.intern("__VA_OPT__"),
            has_include: names.intern("__has_include"),
        };
        for name in ONES {
            let symbol = names.intern(name);
            macros.set(symbol, Some(Rc::new(Macro::one(names))));
        }
        let text = names.intern("text");
        macros.set(names.intern(PRAGMA), Some(Rc::new(Macro::nothing(Some(vec![text])))));
        macros
    }

    /// The predefined macro of this name.
    pub fn predefined(&self, symbol: Symbol) -> Option<Predefined> {
        let position = self.predefined.iter().position(|&name| name == symbol)?;
        Some(PREDEFINED[position].1)
    }

    /// Whether the name is a defined macro.
    pub fn is_defined(&self, symbol: Symbol) -> bool {
        self.get(symbol).is_some() || self.predefined(symbol).is_some() || symbol == self.has_include
    }

    pub fn get(&self, symbol: Symbol) -> Option<&Rc<Macro>> {
        self.by_symbol.get(symbol.index())?.as_ref()
    }

    /// Whether the token is the name of a macro whose expansion is being read.
    pub fn is_active(&self, token: &Token) -> bool {
        token.kind == TokenKind::Word && self.is_active.get(token.symbol.index()) == Some(&true)
    }

    /// Begins or ends the reading of a macro's expansion.
    pub fn set_active(&mut self, symbol: Symbol, is_active: bool) {
        if let Some(is) = self.is_active.get_mut(symbol.index()) {
            *is = is_active;
        }
    }

    fn set(&mut self, symbol: Symbol, definition: Option<Rc<Macro>>) {
        if self.by_symbol.len() <= symbol.index() {
            self.by_symbol.resize(symbol.index() + 1, None);
            self.is_active.resize(symbol.index() + 1, false);
        }
        self.by_symbol[symbol.index()] = definition;
    }
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
        if self.macros.predefined(name.symbol).is_some() || &**self.names.text(name.symbol) == "defined" {
            let message = format!("`{}` cannot be defined", self.names.text(name.symbol));
            self.error(codes::INVALID_MACRO, name.span, message);
            return Ok(());
        }
        let mut definition = Macro {
            parameters: None,
            is_variadic: false,
            body: Rc::from([]),
            optionals: Vec::new(),
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
        if !self.is_joinable(body) {
            return Ok(());
        }
        if definition.is_variadic {
            let Some(optionals) = self.optionals(body) else { return Ok(()) };
            definition.optionals = optionals;
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

    /// Whether each `##` has a token on either side; if not, that is reported.
    fn is_joinable(&mut self, body: &[Token]) -> bool {
        let edge = body.first().into_iter().chain(body.last()).find(|token| token.kind == TokenKind::HashHash);
        if let Some(edge) = edge {
            self.error(codes::INVALID_MACRO, edge.span, "`##` needs a token on either side");
        }
        edge.is_none()
    }

    /// What stands in the parentheses of each `__VA_OPT__` of a body, or reports an error.
    fn optionals(&mut self, body: &[Token]) -> Option<Vec<Range<usize>>> {
        let mut found = Vec::new();
        let mut index = 0;
        while let Some(token) = body.get(index) {
            index += 1;
            if token.kind != TokenKind::Word || token.symbol != self.macros.optional {
                continue;
            }
            let Some(length) = parenthesised(&body[index..]) else {
                self.error(codes::INVALID_MACRO, token.span, "`__VA_OPT__` needs tokens in parentheses");
                return None;
            };
            let inside = index + 1..index + 1 + length;
            let is_nested = |token: &&Token| token.kind == TokenKind::Word && token.symbol == self.macros.optional;
            if let Some(nested) = body[inside.clone()].iter().find(is_nested) {
                self.error(codes::INVALID_MACRO, nested.span, "`__VA_OPT__` cannot stand inside another");
                return None;
            }
            if !self.is_joinable(&body[inside.clone()]) {
                return None;
            }
            index = inside.end + 1;
            found.push(inside);
        }
        Some(found)
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
            let mut diagnostic =
                Diagnostic::warning(codes::MACRO_REDEFINED, name.span, message).help("`#undef` it first");
            if old.span != Span::NONE {
                diagnostic = diagnostic.secondary(old.span, "first defined here");
            }
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
}

fn is_parameter(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Word | TokenKind::Dots)
}

/// The number of tokens in the parentheses with which `tokens` begins.
fn parenthesised(tokens: &[Token]) -> Option<usize> {
    let mut open = 0usize;
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::LeftParen => open += 1,
            TokenKind::RightParen => open = open.saturating_sub(1),
            _ => {}
        }
        if open == 0 {
            return index.checked_sub(1);
        }
    }
    None
}
