//! Tokens of a command line.

use crate::script::{Number, Radix, Relation};

/// A token of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// A name, or quoted text.
    Name(String),
    /// A number.
    Number(Number),
    /// `==` and the like.
    Relation(Relation),
    /// `->`: a range from one number to another.
    Arrow,
    /// `&&&`: a mask.
    Mask,
    /// Any other punctuation character.
    Sign(char),
}

impl Token {
    /// The token's description for messages.
    pub fn describe(&self) -> String {
        match self {
            Token::Name(name) => name.clone(),
            Token::Number(number) => number.to_string(),
            Token::Relation(relation) => relation.symbol().to_owned(),
            Token::Arrow => "->".to_owned(),
            Token::Mask => "&&&".to_owned(),
            Token::Sign(sign) => sign.to_string(),
        }
    }
}

/// The line without its comment. A `#` in quotes does not begin a comment.
pub(crate) fn without_comment(line: &str) -> &str {
    let mut in_quotes = false;
    for (position, character) in line.char_indices() {
        match character {
            '"' => in_quotes = !in_quotes,
            '#' if !in_quotes => return &line[..position],
            _ => {}
        }
    }
    line
}

/// The tokens of a line without a comment.
pub(crate) fn tokens(line: &str) -> Result<Vec<Token>, String> {
    let mut rest = line;
    let mut tokens = Vec::new();
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return Ok(tokens) };
        let (token, length) = if first.is_ascii_digit() {
            number(rest)?
        } else if first == '"' {
            quoted(rest)?
        } else if is_name_character(first) {
            let length = rest.find(|it| !is_name_character(it)).unwrap_or(rest.len());
            (Token::Name(rest[..length].to_owned()), length)
        } else if let Some(relation) = Relation::ALL.into_iter().find(|it| rest.starts_with(it.symbol())) {
            (Token::Relation(relation), relation.symbol().len())
        } else if rest.starts_with("->") {
            (Token::Arrow, 2)
        } else if rest.starts_with("&&&") {
            (Token::Mask, 3)
        } else if "()[].:,=/".contains(first) {
            (Token::Sign(first), 1)
        } else {
            return Err(format!("`{}` cannot be in a command of a packet test", first.escape_default()));
        };
        tokens.push(token);
        rest = &rest[length..];
    }
}

fn is_name_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || character == '$'
}

fn quoted(text: &str) -> Result<(Token, usize), String> {
    match text[1..].find('"') {
        Some(length) => Ok((Token::Name(text[1..=length].to_owned()), length + 2)),
        None => Err("the quoted name has no end".to_owned()),
    }
}

/// A number at the start of `text`, and its length.
fn number(text: &str) -> Result<(Token, usize), String> {
    let radix = match text.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => Radix::Hexadecimal,
        Some("0b") => Radix::Binary,
        _ => Radix::Decimal,
    };
    let start = if radix == Radix::Decimal { 0 } else { 2 };
    let is_digit = |it: char| match radix {
        Radix::Decimal => it.is_ascii_digit(),
        Radix::Hexadecimal => it.is_ascii_hexdigit() || it == '*',
        Radix::Binary => matches!(it, '0' | '1' | '*'),
    };
    let end = text[start..].find(|it| !is_digit(it)).map_or(text.len(), |length| start + length);
    let after = text[end..].chars().next();
    let word_end = text.find(|it| !is_name_character(it) && it != '*').unwrap_or(text.len()).max(end);
    if end == start || after.is_some_and(|it| is_name_character(it) || it == '*') {
        let radix = match radix {
            Radix::Decimal => "decimal (only hexadecimal and binary numbers have `*` digits)",
            Radix::Hexadecimal => "hexadecimal",
            Radix::Binary => "binary",
        };
        return Err(format!("{} is not a valid {radix} number", &text[..word_end]));
    }
    let digits = text[start..end].to_ascii_lowercase();
    Ok((Token::Number(Number { radix, digits }), end))
}
