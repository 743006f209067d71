//! Text to tokens.
//!
//! The preprocessor pulls tokens one at a time, because what follows may have to be skipped (`#if`) or read as plain
//! text (`#error`, `#include <...>`). Errors become tokens of their own kinds; the preprocessor reports them unless a
//! conditional excludes their text.

use crate::token::{Names, Symbol, Token, TokenKind};
use base::Span;
use std::borrow::Cow;
use std::sync::Arc;

/// A position in a text to which the lexer can return.
#[derive(Clone, Copy)]
pub(crate) struct Checkpoint {
    position: usize,
    is_line_start: bool,
}

/// Reads the tokens of one file.
pub(crate) struct Lexer {
    text: Arc<str>,
    /// The position of the text in the source map.
    base: u32,
    position: usize,
    /// Whether this line contains only white space and comments so far.
    is_line_start: bool,
    /// An unterminated string was found. From then on strings end with their line, so that no text is searched twice.
    strings_end_with_line: bool,
    /// Whether `'a'` is one token, as in the lines of directives. P4 has no such literals.
    pub has_characters: bool,
}

/// The operators and brackets. If one is a prefix of another, the longer comes first. The parser forms `>>` and `>>=`.
const OPERATORS: &[(&[u8], TokenKind)] = &[
    (b"&&&", TokenKind::Mask),
    (b"&&", TokenKind::AndAnd),
    (b"&=", TokenKind::AndEqual),
    (b"&", TokenKind::And),
    (b"|+|=", TokenKind::SaturatingPlusEqual),
    (b"|-|=", TokenKind::SaturatingMinusEqual),
    (b"|+|", TokenKind::SaturatingPlus),
    (b"|-|", TokenKind::SaturatingMinus),
    (b"||", TokenKind::OrOr),
    (b"|=", TokenKind::OrEqual),
    (b"|", TokenKind::Or),
    (b"<<=", TokenKind::ShiftLeftEqual),
    (b"<<", TokenKind::ShiftLeft),
    (b"<=", TokenKind::LessEqual),
    (b"<", TokenKind::Less),
    (b">=", TokenKind::GreaterEqual),
    (b">", TokenKind::Greater),
    (b"==", TokenKind::EqualEqual),
    (b"=", TokenKind::Equal),
    (b"!=", TokenKind::NotEqual),
    (b"!", TokenKind::Not),
    (b"++", TokenKind::PlusPlus),
    (b"+=", TokenKind::PlusEqual),
    (b"+:", TokenKind::PlusColon),
    (b"+", TokenKind::Plus),
    (b"-=", TokenKind::MinusEqual),
    (b"-", TokenKind::Minus),
    (b"*=", TokenKind::StarEqual),
    (b"*", TokenKind::Star),
    (b"/=", TokenKind::SlashEqual),
    (b"/", TokenKind::Slash),
    (b"%=", TokenKind::PercentEqual),
    (b"%", TokenKind::Percent),
    (b"^=", TokenKind::CaretEqual),
    (b"^", TokenKind::Caret),
    (b"...", TokenKind::Dots),
    (b"..", TokenKind::DotDot),
    (b".", TokenKind::Dot),
    (b"##", TokenKind::HashHash),
    (b"#", TokenKind::Hash),
    (b"(", TokenKind::LeftParen),
    (b")", TokenKind::RightParen),
    (b"[", TokenKind::LeftBracket),
    (b"]", TokenKind::RightBracket),
    (b"{", TokenKind::LeftBrace),
    (b"}", TokenKind::RightBrace),
    (b"~", TokenKind::Tilde),
    (b"?", TokenKind::Question),
    (b":", TokenKind::Colon),
    (b";", TokenKind::Semicolon),
    (b",", TokenKind::Comma),
    (b"@", TokenKind::At),
];

/// For each first byte the first operator that begins with it, as an index into [`OPERATORS`].
const FIRST_OPERATOR: [u8; 256] = {
    let mut table = [u8::MAX; 256];
    let mut index = OPERATORS.len();
    while index > 0 {
        index -= 1;
        table[OPERATORS[index].0[0] as usize] = index as u8;
    }
    table
};

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The length of the blanks up to the end of the line, including its line break; `None` if something else follows. A C
/// preprocessor ignores blanks between a backslash and the end of the line.
fn line_end(text: &[u8]) -> Option<usize> {
    let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)).count();
    (text.get(blanks) == Some(&b'\n')).then_some(blanks + 1)
}

/// The length of the backslashes at ends of lines that `text` begins with, and their line breaks.
fn splices_length(text: &[u8]) -> usize {
    let mut length = 0;
    while let Some(end) = text[length..].strip_prefix(b"\\").and_then(line_end) {
        length += 1 + end;
    }
    length
}

/// The length of `text` up to the end of a `/* */` comment, which a line's end with a backslash may split.
fn comment_end(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += 1 + text[at..].iter().position(|&byte| byte == b'*')?;
        let splices = splices_length(&text[at..]);
        if text.get(at + splices) == Some(&b'/') {
            return Some(at + splices + 1);
        }
    }
}

/// The length of a word, which may continue behind a backslash at the end of a line.
fn word_length(text: &[u8]) -> usize {
    let mut length = 0;
    loop {
        length += text[length..].iter().position(|&byte| !is_word_byte(byte)).unwrap_or(text.len() - length);
        let Some(rest) = text[length..].strip_prefix(b"\\") else { return length };
        match line_end(rest) {
            Some(end) if rest.get(end).is_some_and(|&byte| is_word_byte(byte)) => length += 1 + end,
            _ => return length,
        }
    }
}

/// A token's text without the backslashes at the end of lines, and their line breaks.
fn spliced(text: &str) -> Cow<'_, str> {
    if !text.contains('\n') || !text.contains('\\') {
        return text.into();
    }
    let mut joined = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, behind) = (&rest[..at], &rest[at + 1..]);
        joined.push_str(before);
        match line_end(behind.as_bytes()) {
            Some(end) => rest = &behind[end..],
            None => {
                // An escape: the next character does not begin another.
                let escaped = behind.chars().next().map_or(0, char::len_utf8);
                joined.push('\\');
                joined.push_str(&behind[..escaped]);
                rest = &behind[escaped..];
            }
        }
    }
    joined.push_str(rest);
    joined.into()
}

/// The length of a character constant with its quotation marks, or of one such mark if there is no other on the line.
fn character_length(text: &[u8]) -> usize {
    let mut at = 1;
    loop {
        match text.get(at) {
            Some(b'\'') => return at + 1,
            Some(b'\\') if text.get(at + 1).is_some_and(|&byte| byte != b'\n') => at += 2,
            None | Some(b'\n' | b'\\') => return 1,
            Some(_) => at += 1,
        }
    }
}

impl Lexer {
    /// A lexer at the beginning of `text`, whose position in the source map is `base`.
    pub fn new(text: Arc<str>, base: u32) -> Lexer {
        Lexer { text, base, position: 0, is_line_start: true, strings_end_with_line: false, has_characters: false }
    }

    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint { position: self.position, is_line_start: self.is_line_start }
    }

    pub fn restore(&mut self, checkpoint: Checkpoint) {
        self.position = checkpoint.position;
        self.is_line_start = checkpoint.is_line_start;
    }

    /// The next token. After the last one, it always returns [`TokenKind::EndOfFile`].
    pub fn next(&mut self, names: &mut Names) -> Token {
        let before = self.position;
        let comment_fault = self.skip_blanks();
        let start = self.position;
        let is_first_on_line = std::mem::replace(&mut self.is_line_start, false);
        let kind = match comment_fault {
            Some(at) => {
                let symbol = names.intern("/*");
                let span = Span::new(self.base + at as u32, self.base + at as u32 + 2);
                let kind = TokenKind::UnterminatedComment;
                return Token { kind, is_first_on_line, has_space_before: true, is_painted: false, symbol, span };
            }
            None => self.scan(),
        };
        let text = &*spliced(&self.text[start..self.position]);
        let symbol = match kind {
            TokenKind::Word | TokenKind::Integer | TokenKind::InvalidCharacter => names.intern(text),
            TokenKind::String => names.intern(&text[1..text.len() - 1]),
            TokenKind::UnterminatedString => names.intern(text[1..].trim_end_matches(['\r', '\n'])),
            _ => Symbol::NONE,
        };
        let span = Span::new(self.base + start as u32, self.base + self.position as u32);
        Token { kind, is_first_on_line, has_space_before: start > before, is_painted: false, symbol, span }
    }

    /// Moves over one token and returns its kind.
    fn scan(&mut self) -> TokenKind {
        let bytes = &self.text.as_bytes()[self.position..];
        let Some(&first) = bytes.first() else { return TokenKind::EndOfFile };
        if is_word_byte(first) {
            self.position += word_length(bytes);
            if !first.is_ascii_digit() {
                return TokenKind::Word;
            }
            self.skip_digits_behind_width();
            return TokenKind::Integer;
        }
        if first == b'"' {
            return self.scan_string();
        }
        if first == b'\'' && self.has_characters {
            self.position += character_length(bytes);
            return TokenKind::InvalidCharacter;
        }
        let candidates = OPERATORS.get(FIRST_OPERATOR[first as usize] as usize..).unwrap_or(&[]);
        for (text, kind) in candidates.iter().take_while(|(text, _)| text[0] == first) {
            if bytes.starts_with(text) {
                self.position += text.len();
                return *kind;
            }
        }
        self.position += self.text[self.position..].chars().next().map_or(1, char::len_utf8);
        TokenKind::InvalidCharacter
    }

    /// P4_14 writes a literal's width before an apostrophe: `8'0xff`, `8'-1`. In P4_16 such a literal is an error.
    fn skip_digits_behind_width(&mut self) {
        let rest = &self.text.as_bytes()[self.position..];
        let Some(rest) = rest.strip_prefix(b"'") else { return };
        let digits = rest.strip_prefix(b"-").unwrap_or(rest);
        let length = digits.iter().position(|&byte| !is_word_byte(byte)).unwrap_or(digits.len());
        if length > 0 && digits[0].is_ascii_digit() {
            self.position += 1 + (rest.len() - digits.len()) + length;
        }
    }

    /// A string may extend over several lines; an unterminated one is treated as ending with its first line.
    fn scan_string(&mut self) -> TokenKind {
        let bytes = self.text.as_bytes();
        let mut at = self.position + 1;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    self.position = at + 1;
                    return TokenKind::String;
                }
                b'\n' if self.strings_end_with_line => break,
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        self.strings_end_with_line = true;
        let line = bytes[self.position..].iter().position(|&byte| byte == b'\n');
        self.position = line.map_or(bytes.len(), |length| self.position + length);
        TokenKind::UnterminatedString
    }

    /// Moves over white space and comments. Returns the position of an unterminated comment.
    fn skip_blanks(&mut self) -> Option<usize> {
        let text = self.text.clone();
        let bytes = text.as_bytes();
        loop {
            match &bytes[self.position..] {
                [b'\n', ..] => {
                    self.position += 1;
                    self.is_line_start = true;
                }
                [b' ' | b'\t' | b'\r' | 0x0b | 0x0c, ..] => self.position += 1,
                [b'\\', rest @ ..] => match line_end(rest) {
                    Some(length) => self.position += 1 + length,
                    None => return None,
                },
                // A byte order mark.
                [0xef, 0xbb, 0xbf, ..] if self.position == 0 => self.position += 3,
                [b'/', rest @ ..] => {
                    let length = 2 + splices_length(rest);
                    match bytes[self.position..].get(length - 1) {
                        Some(b'/') => self.skip_line_comment(),
                        Some(b'*') => match comment_end(&bytes[self.position + length..]) {
                            Some(end) => self.position += length + end,
                            None => return Some(std::mem::replace(&mut self.position, bytes.len())),
                        },
                        _ => return None,
                    }
                }
                _ => return None,
            }
        }
    }

    /// Moves to the line break that ends a `//` comment. A backslash at the end of a line continues the comment.
    fn skip_line_comment(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(length) = bytes[self.position..].iter().position(|&byte| byte == b'\n') {
            self.position += length;
            let line = &bytes[..self.position];
            if !line.trim_ascii_end().ends_with(b"\\") {
                return;
            }
            self.position += 1;
        }
        self.position = bytes.len();
    }

    /// The rest of the line as text, without surrounding blanks, and its source range. Moves to the line break.
    pub fn rest_of_line(&mut self) -> (String, Span) {
        let rest = &self.text[self.position..];
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        let lo = self.position + (line.len() - line.trim_start().len());
        let hi = (self.position + line.trim_end().len()).max(lo);
        let text = self.text[lo..hi].to_string();
        self.position += line.len();
        (text, Span::new(self.base + lo as u32, self.base + hi as u32))
    }

    /// Reads `<path>` or `"path"` after `#include`: the path, whether it is in quotes, and its source range. Does not
    /// move if neither follows.
    pub fn include_path(&mut self) -> Option<(String, bool, Span)> {
        let rest = &self.text[self.position..];
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        let path = line.trim_start();
        let lo = self.position + (line.len() - path.len());
        let close = match path.as_bytes().first()? {
            b'"' => '"',
            b'<' => '>',
            _ => return None,
        };
        let length = path[1..].find(close)?;
        let hi = lo + length + 2;
        self.position = hi;
        let span = Span::new(self.base + lo as u32, self.base + hi as u32);
        Some((path[1..=length].to_string(), close == '"', span))
    }

    /// Skips text that a conditional excludes: moves past the next `#` that is first on its line and returns its span,
    /// or moves to the end. Inside the text only comments are recognised; a quotation mark is an ordinary character.
    pub fn skip_to_directive(&mut self) -> Option<Span> {
        loop {
            if self.skip_blanks().is_some() {
                return None;
            }
            let byte = *self.text.as_bytes().get(self.position)?;
            let at = self.position;
            self.position += 1;
            if byte == b'#' && self.is_line_start {
                self.is_line_start = false;
                return Some(Span::new(self.base + at as u32, self.base + at as u32 + 1));
            }
            self.is_line_start = false;
        }
    }

    /// The position after the last byte.
    pub fn end(&self) -> Span {
        let end = self.base + self.text.len() as u32;
        Span::new(end, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expected: Expect) {
        let mut names = Names::new();
        let mut lexer = Lexer::new(text.into(), 1);
        let mut lines = String::new();
        loop {
            let token = lexer.next(&mut names);
            if token.kind == TokenKind::EndOfFile {
                break;
            }
            let mark = if token.is_first_on_line { "|" } else { "" };
            let line = format!("{mark}{:?} {}", token.kind, token.text(&names));
            lines.push_str(line.trim_end());
            lines.push('\n');
        }
        expected.assert_eq(&lines);
    }

    #[test]
    fn longest_operator_wins_except_for_shifts_to_the_right() {
        check(
            "a>>=b|+|c |-|= &&&d...e",
            expect![[r#"
                |Word a
                Greater >
                GreaterEqual >=
                Word b
                SaturatingPlus |+|
                Word c
                SaturatingMinusEqual |-|=
                Mask &&&
                Word d
                Dots ...
                Word e
            "#]],
        );
    }

    #[test]
    fn words_and_strings_continue_behind_a_backslash_at_the_end_of_a_line() {
        check(
            "lo\\\nng 0x1\\  \n2 a\\\n+b \"x\\\ny\\\\\nz\" c",
            expect![[r#"
                |Word long
                Integer 0x12
                Word a
                Plus +
                Word b
                String "xy\\
                z"
                Word c
            "#]],
        );
    }

    #[test]
    fn every_operator_is_its_own_text() {
        for (text, kind) in OPERATORS {
            assert_eq!(text, &kind.as_str().as_bytes());
            let mut lexer = Lexer::new(kind.as_str().into(), 1);
            assert_eq!(lexer.next(&mut Names::new()).kind, *kind);
        }
    }

    #[test]
    fn integers_take_letters_and_ranges_keep_their_dots() {
        check(
            "8'0xFF 8'-1 8' 8w0xFF 1..2 4s_7 12abc",
            expect![[r#"
                |Integer 8'0xFF
                Integer 8'-1
                Integer 8
                InvalidCharacter '
                Integer 8w0xFF
                Integer 1
                DotDot ..
                Integer 2
                Integer 4s_7
                Integer 12abc
            "#]],
        );
    }

    #[test]
    fn comments_and_continuations_are_blanks() {
        check(
            "a /* \n */ b \\\n c // \\ \t\r\n d\ne \\  \n f",
            expect![[r#"
                |Word a
                Word b
                Word c
                |Word e
                Word f
            "#]],
        );
        check(
            "/\\\n* c *\\ \n\\\n/ a /\\\n/ line\n/ b",
            expect![[r#"
                |Word a
                |Slash /
                Word b
            "#]],
        );
    }

    #[test]
    fn faults_are_tokens() {
        check(
            "$ é \"no end\nx /* no end",
            expect![[r#"
                |InvalidCharacter $
                InvalidCharacter é
                UnterminatedString "no end"
                |Word x
                UnterminatedComment
            "#]],
        );
    }
}
