//! Splits a line into words.
//!
//! Words are separated by white space, and `#` begins a comment. Quotes, single or double, may contain white space,
//! and a quoted word is never a keyword. `$'...'` is a quoted word with escapes for characters that a line cannot
//! show: `\n`, `\t`, `\r`, `\\`, `\'` and, by code point, `\u{1b}`.

use control::Problem;

/// A word of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The text without its quotes.
    pub text: String,
    /// Whether it begins with a quote; it is then not a keyword.
    pub is_quoted: bool,
    /// The offset of its first byte in the line.
    pub start: usize,
}

impl Word {
    /// Whether it is this keyword.
    pub fn is(&self, keyword: &str) -> bool {
        !self.is_quoted && self.text == keyword
    }

    /// The parts of `NAME=VALUE`; `None` if the word does not have this form. `=>` is a word of its own.
    pub fn named(&self) -> Option<(&str, &str)> {
        self.text.split_once('=').filter(|(name, value)| !self.is_quoted && !name.is_empty() && *value != ">")
    }
}

/// The kind of an open quote.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    /// Everything up to this character.
    Plain(char),
    /// `$'...'`, with escapes.
    Escaping,
}

/// The words of a line, and an error if its last quote is not closed or an escape is invalid.
fn scan(line: &str) -> (Vec<Word>, Result<(), Problem>) {
    let mut words: Vec<Word> = Vec::new();
    let mut is_open = false;
    let mut quote = None;
    let mut fault = Ok(());
    let mut characters = line.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let text = match (quote, character) {
            (Some(Quote::Plain(end)), _) if character == end => {
                quote = None;
                continue;
            }
            (Some(Quote::Escaping), '\'') => {
                quote = None;
                continue;
            }
            (Some(Quote::Escaping), '\\') => escaped(&mut characters).unwrap_or_else(|problem| {
                fault = Err(problem);
                character
            }),
            (None, '"' | '\'') => {
                open(&mut words, &mut is_open, true, at);
                quote = Some(Quote::Plain(character));
                continue;
            }
            (None, '$') if characters.peek().is_some_and(|(_, next)| *next == '\'') => {
                characters.next();
                open(&mut words, &mut is_open, true, at);
                quote = Some(Quote::Escaping);
                continue;
            }
            (None, '#') if !is_open => break,
            (None, _) if character.is_whitespace() => {
                is_open = false;
                continue;
            }
            _ => {
                open(&mut words, &mut is_open, false, at);
                character
            }
        };
        if let Some(word) = words.last_mut() {
            word.text.push(text);
        }
    }
    let end = match (quote, words.last()) {
        (Some(_), Some(word)) => Err(Problem::new(format!("the quoted word {} has no end", &line[word.start..]))),
        _ => fault,
    };
    (words, end)
}

/// Begins a word, unless one is open already.
fn open(words: &mut Vec<Word>, is_open: &mut bool, is_quoted: bool, start: usize) {
    if !*is_open {
        words.push(Word { text: String::new(), is_quoted, start });
        *is_open = true;
    }
}

/// The character of the escape after a backslash.
fn escaped(characters: &mut std::iter::Peekable<std::str::CharIndices<'_>>) -> Result<char, Problem> {
    let help = "an escape is a backslash and n, t, r, a backslash, a quote, or a code point as u{1b}";
    match characters.next() {
        Some((_, 'n')) => Ok('\n'),
        Some((_, 't')) => Ok('\t'),
        Some((_, 'r')) => Ok('\r'),
        Some((_, same @ ('\\' | '\'' | '"'))) => Ok(same),
        Some((_, 'u')) => {
            let number: String = characters.by_ref().map(|(_, it)| it).take_while(|it| *it != '}').collect();
            let digits = number.strip_prefix('{').unwrap_or_default();
            let character = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
            character.ok_or_else(|| Problem::new(format!("\\u{number} is not a character")).with_help(help))
        }
        Some((_, other)) => Err(Problem::new(format!("\\{other} is not an escape")).with_help(help)),
        None => Ok('\\'),
    }
}

/// Quotes text as one word of a line if necessary, and escapes characters that would move a terminal's cursor.
pub fn quoted(text: &str) -> String {
    if text.contains(char::is_control) {
        return format!("$'{}'", escape(text, &['\\', '\'']));
    }
    let needs = |it: char| it.is_whitespace() || matches!(it, '#' | '\'' | '"' | '=' | '$');
    match text.is_empty() || text.contains(needs) {
        // Quotes within quotes are of the other kind; adjacent words without white space are one word.
        true if text.contains('"') => {
            text.split('\'').map(|part| format!("'{part}'")).collect::<Vec<_>>().join("\"'\"")
        }
        true => format!("\"{text}\""),
        false => text.to_owned(),
    }
}

/// Escapes characters that would move a terminal's cursor.
pub fn visible(text: &str) -> String {
    escape(text, &[])
}

/// Escapes control characters and the given characters with a backslash.
fn escape(text: &str, others: &[char]) -> String {
    let escaped = |it: char| match it {
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        '\r' => "\\r".to_owned(),
        it if others.contains(&it) => format!("\\{it}"),
        it if it.is_control() => format!("\\u{{{:x}}}", u32::from(it)),
        it => it.to_string(),
    };
    text.chars().map(escaped).collect()
}

/// The words of a line.
pub fn split(line: &str) -> Result<Vec<Word>, Problem> {
    let (words, end) = scan(line);
    end.map(|()| words)
}

/// The words of the beginning of a line. The last one may be unfinished; it is empty after white space.
pub fn split_unfinished(line: &str) -> Vec<Word> {
    let (mut words, end) = scan(line);
    if end.is_ok() && (line.is_empty() || line.ends_with(char::is_whitespace)) {
        words.push(Word { text: String::new(), is_quoted: false, start: line.len() });
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(line: &str, expected: Expect) {
        let shown = match split(line) {
            Ok(words) => {
                let word = |word: &Word| format!("{}{}", if word.is_quoted { "quoted " } else { "" }, word.text);
                words.iter().map(word).collect::<Vec<_>>().join(" | ")
            }
            Err(problem) => problem.to_string(),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn white_space_divides() {
        check("  add t\t1  => x ", expect!["add | t | 1 | => | x"]);
        check("", expect![""]);
        check("a # b", expect!["a"]);
        check("a#b", expect!["a#b"]);
    }

    #[test]
    fn quotes_hold_together() {
        check("a 'b c' d=\"e f\"", expect!["a | quoted b c | d=e f"]);
        check("''", expect!["quoted "]);
        check("a 'b c", expect!["the quoted word 'b c has no end"]);
    }

    #[test]
    fn control_characters_are_escaped() {
        check(r"a $'b\tc' '\n' $'\u{1b}[2J\\\''x", expect![["a | quoted b\tc | quoted \\n | quoted \u{1b}[2J\\'x"]]);
        check("$'a'", expect!["quoted a"]);
        check("$a $", expect!["$a | $"]);
        check(
            r"$'\q'",
            expect![[r#"
            \q is not an escape
              help: an escape is a backslash and n, t, r, a backslash, a quote, or a code point as u{1b}"#]],
        );
        check(
            r"$'\u{110000}'",
            expect![[r#"
            \u{110000 is not a character
              help: an escape is a backslash and n, t, r, a backslash, a quote, or a code point as u{1b}"#]],
        );
        check(r"$'\u12'", expect![[r#"the quoted word $'\u12' has no end"#]]);
        check(r"$'\", expect![[r#"the quoted word $'\ has no end"#]]);
    }

    #[test]
    fn text_that_would_not_be_one_word_is_quoted() {
        assert_eq!(quoted("eth0"), "eth0");
        assert_eq!(quoted("a b"), "\"a b\"");
        assert_eq!(quoted("a\"b"), "'a\"b'");
        assert_eq!(quoted("a\"b'c"), "'a\"b'\"'\"'c'");
        assert_eq!(quoted("\u{1b}[2J"), r"$'\u{1b}[2J'");
    }

    #[test]
    fn any_quoted_text_parses_to_itself() {
        for text in ["", "$'a", "a'b\"c\nd", "\u{1b}", "\\", "'", "\\n", "\u{85} x", "a\u{0}b=#", "\u{2028}", "\t'\\"] {
            let words = split(&quoted(text)).unwrap();
            assert_eq!(words.iter().map(|word| &word.text[..]).collect::<Vec<_>>(), [text]);
        }
    }

    #[test]
    fn names_and_values() {
        let named = |line| split(line).unwrap()[0].named().map(|(name, value)| format!("{name}: {value}"));
        assert_eq!(named("port=1").as_deref(), Some("port: 1"));
        assert_eq!(named("port==>").as_deref(), Some("port: =>"));
        assert_eq!(named("=>"), None);
        assert_eq!(named("'port=1'"), None);
    }
}
