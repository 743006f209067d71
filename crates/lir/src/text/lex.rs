//! Splits text into tokens, with the line of each.

/// A token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Token {
    /// A word, which may contain hyphens where the text form has them.
    Word(String),
    /// A number of 32 bits.
    Int(u32),
    /// A number of 64 bits.
    Long(u64),
    /// A sign of one or more characters.
    Sign(&'static str),
    /// A comment, up to the end of its line.
    Comment(String),
    /// The end of a line.
    Line,
}

/// All signs, longer ones before their beginnings.
const SIGNS: [&str; 36] = [
    "<<", ">>", "==", "!=", "<=", ">=", "&&", "||", "->", "+=", "-=", "|=", "&=", "^=", "+", "-", "*", "/", "&", "|",
    "^", "<", ">", "=", "!", "~", "%", "?", ":", "(", ")", "[", "]", "{", "}", ",",
];

/// The tokens, each with its line. The error is the line of a character that begins none.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, usize)>, usize> {
    let mut tokens = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let mut rest = line.trim();
        while !rest.is_empty() {
            let (token, length) = token(rest).ok_or(number)?;
            tokens.push((token, number));
            rest = rest[length..].trim_start();
        }
        tokens.push((Token::Line, number));
    }
    Ok(tokens)
}

/// The first token and its length.
fn token(text: &str) -> Option<(Token, usize)> {
    let first = text.chars().next()?;
    if first == '#' {
        return Some((Token::Comment(text[1..].trim().to_owned()), text.len()));
    }
    if first == '.' {
        return Some((Token::Sign("."), 1));
    }
    let length_of = |is_part: fn(char) -> bool| text.find(|c| !is_part(c)).unwrap_or(text.len());
    if first.is_ascii_digit() {
        let length = length_of(|c| c.is_ascii_alphanumeric());
        return Some((number(&text[..length])?, length));
    }
    if first.is_ascii_alphabetic() || first == '_' {
        let length = length_of(|c| c.is_ascii_alphanumeric() || c == '_');
        return Some((Token::Word(text[..length].to_owned()), length));
    }
    let sign = SIGNS.iter().find(|sign| text.starts_with(**sign))?;
    Some((Token::Sign(sign), sign.len()))
}

fn number(text: &str) -> Option<Token> {
    let (digits, is_long) = text.strip_suffix('L').map_or((text, false), |digits| (digits, true));
    let value = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    if is_long { Some(Token::Long(value)) } else { u32::try_from(value).ok().map(Token::Int) }
}
