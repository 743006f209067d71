//! Splits a text into tokens and joins them again. Comments are dropped; a preprocessor directive is one token.

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    String,
    /// An operator or bracket.
    Mark,
    /// A preprocessor line.
    Directive,
}

/// The white space before a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    Nothing,
    Space,
    NewLine,
}

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: Kind,
    pub text: String,
    pub before: Before,
}

impl Token {
    pub fn is(&self, text: &str) -> bool {
        self.text == text
    }
}

/// Operators of several characters, the longest first.
const MARKS: [&str; 38] = [
    "|+|=", "|-|=", "&&&", "<<=", ">>=", "...", "|+|", "|-|", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "&&",
    "||", "==", "!=", "<=", ">=", "<<", ">>", "++", "..", "+:", "->", "=>", "::", "{#", "#}", "\\\n", "@[", "(", ")",
    "{", "}",
];

/// The tokens of a text.
pub(super) fn tokens_of(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut before = Before::NewLine;
    while let Some(first) = rest.chars().next() {
        if first.is_whitespace() {
            before = if first == '\n' || before == Before::NewLine { Before::NewLine } else { Before::Space };
            rest = &rest[first.len_utf8()..];
            continue;
        }
        if let Some(length) = comment(rest) {
            rest = &rest[length..];
            before = if before == Before::NewLine { before } else { Before::Space };
            continue;
        }
        let (kind, length) = token(rest, first, before);
        tokens.push(Token { kind, text: rest[..length].to_owned(), before });
        rest = &rest[length..];
        before = Before::Nothing;
    }
    tokens
}

/// The length of the comment at the beginning of the text.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    let inside = text.strip_prefix("/*")?;
    Some(inside.find("*/").map_or(text.len(), |end| end + 4))
}

/// The kind and the length of the token at the beginning of the text.
fn token(text: &str, first: char, before: Before) -> (Kind, usize) {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let while_part = || text.find(|c| !is_part(c)).unwrap_or(text.len());
    match first {
        '#' if before == Before::NewLine => (Kind::Directive, directive(text)),
        '"' => (Kind::String, string(text)),
        '0'..='9' => (Kind::Number, while_part()),
        _ if is_part(first) => (Kind::Word, while_part()),
        _ => {
            let mark = MARKS.iter().find(|mark| text.starts_with(**mark));
            (Kind::Mark, mark.map_or(first.len_utf8(), |mark| mark.len()))
        }
    }
}

/// The length of a directive, including its continuation lines.
fn directive(text: &str) -> usize {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        end += line.len();
        if !line.trim_end().ends_with('\\') {
            break;
        }
    }
    text[..end].trim_end().len()
}

fn string(text: &str) -> usize {
    let mut is_escaped = false;
    for (index, character) in text.char_indices().skip(1) {
        match character {
            '"' if !is_escaped => return index + 1,
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    text.len()
}

/// The text of tokens.
pub(super) fn text_of(tokens: &[Token]) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut text = String::new();
    let mut after_directive = false;
    for token in tokens {
        let would_join = text.ends_with(is_part) && token.text.starts_with(is_part);
        match token.before {
            _ if token.kind == Kind::Directive || after_directive => text.push('\n'),
            Before::NewLine => text.push('\n'),
            Before::Space => text.push(' '),
            Before::Nothing if would_join => text.push(' '),
            Before::Nothing => {}
        }
        text += &token.text;
        after_directive = token.kind == Kind::Directive;
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_taken_apart_and_put_together() {
        let text = "#define A(x) \\\n  x\nbit<8> a = 8w0xFF >> 2; // why\n@name(\"a \\\" b\") x[3:0] |+|= {#};\n";
        let tokens = tokens_of(text);
        let shown: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
        let expected = "bit < 8 > a = 8w0xFF >> 2 ; @ name ( \"a \\\" b\" ) x [ 3 : 0 ] |+|= {# } ;";
        assert_eq!(shown[0], "#define A(x) \\\n  x");
        assert_eq!(shown[1..].join(" "), expected);
        assert_eq!(tokens_of(&text_of(&tokens)), tokens);
    }

    #[test]
    fn any_text_has_tokens() {
        for text in ["", "\"", "/*", "//", "#", "é\u{202e}\"\\", "\0", "0x", "@", "#define \\\n"] {
            let tokens = tokens_of(text);
            tokens_of(&text_of(&tokens));
        }
    }
}
