//! Words, numbers, strings and signs of the text form.

use super::ParseError;

/// A token and where it starts.
#[derive(Clone, Debug)]
pub(super) struct Token<'t> {
    pub kind: TokenKind<'t>,
    pub line: u32,
    pub column: u32,
}

/// What a token is.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum TokenKind<'t> {
    /// Starts with a letter.
    Word(&'t str),
    /// Starts with a digit.
    Number(&'t str),
    /// Without quotes and escapes.
    Text(String),
    /// One of [`SIGNS`].
    Sign(&'static str),
    /// After the last.
    End,
}

/// Longer ones before those they start with.
const SIGNS: [&str; 40] = [
    "|+|", "|-|", "&&&", "->", "..", "<<", ">>", "==", "!=", "<=", ">=", "&&", "||", "&>", "&<", "++", "+", "-", "*",
    "/", "%", "&", "|", "^", "<", ">", "=", "!", "~", "?", ":", ".", ",", "(", ")", "[", "]", "{", "}", "@",
];

/// The tokens of a text, the last one [`TokenKind::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, ParseError> {
    let mut lexer = Lexer { rest: text, line: 1, column: 1 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blank();
        let (line, column) = (lexer.line, lexer.column);
        let kind = lexer.next_kind()?;
        let is_end = kind == TokenKind::End;
        tokens.push(Token { kind, line, column });
        if is_end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'t> {
    rest: &'t str,
    line: u32,
    column: u32,
}

impl<'t> Lexer<'t> {
    fn error<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError { line: self.line, column: self.column, message: message.into() })
    }

    /// Takes the next `bytes` bytes, which end at a character.
    fn take(&mut self, bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(bytes);
        for character in taken.chars() {
            if character == '\n' {
                self.line += 1;
                self.column = 1;
            } else {
                self.column += 1;
            }
        }
        self.rest = rest;
        taken
    }

    fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'t str {
        self.take(self.rest.find(|character| !belongs(character)).unwrap_or(self.rest.len()))
    }

    fn skip_blank(&mut self) {
        loop {
            self.take_while(char::is_whitespace);
            if !self.rest.starts_with('#') {
                return;
            }
            self.take_while(|character| character != '\n');
        }
    }

    fn next_kind(&mut self) -> Result<TokenKind<'t>, ParseError> {
        let Some(first) = self.rest.chars().next() else { return Ok(TokenKind::End) };
        let in_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
        if first.is_ascii_digit() {
            Ok(TokenKind::Number(self.take_while(in_word)))
        } else if in_word(first) {
            Ok(TokenKind::Word(self.take_while(in_word)))
        } else if first == '"' {
            self.text().map(TokenKind::Text)
        } else if let Some(sign) = SIGNS.iter().find(|sign| self.rest.starts_with(**sign)) {
            self.take(sign.len());
            Ok(TokenKind::Sign(sign))
        } else {
            self.error(format!("unexpected character {first:?}"))
        }
    }

    fn text(&mut self) -> Result<String, ParseError> {
        self.take(1);
        let mut text = String::new();
        loop {
            text.push_str(self.take_while(|character| !matches!(character, '"' | '\\' | '\n')));
            if self.rest.starts_with('"') {
                self.take(1);
                return Ok(text);
            }
            if !self.rest.starts_with('\\') {
                return self.error("a text without its closing quote");
            }
            text.push(self.escape()?);
        }
    }

    /// `\"`, `\\`, `\n` or `\u{hexadecimal}`.
    fn escape(&mut self) -> Result<char, ParseError> {
        for (escape, character) in [("\\\"", '"'), ("\\\\", '\\'), ("\\n", '\n')] {
            if self.rest.starts_with(escape) {
                self.take(escape.len());
                return Ok(character);
            }
        }
        let code = self.rest.strip_prefix("\\u{").and_then(|rest| rest.split_once('}')).map(|(code, _)| code);
        match code.and_then(|code| Some((code, char::from_u32(u32::from_str_radix(code, 16).ok()?)?))) {
            Some((code, character)) => {
                self.take(code.len() + 4);
                Ok(character)
            }
            None => self.error("an unknown escape: only \\\" \\\\ \\n \\u{...} are"),
        }
    }
}
