//! A line as words.
//!
//! Words are divided by white space; `#` begins a comment; quotes, single or double, hold white space together and take
//! from a word whatever meaning it has in the language.

use control::Problem;

/// A word of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Without its quotes.
    pub text: String,
    /// It begins with a quote: it is no keyword.
    pub is_quoted: bool,
    /// Where it begins in the line, in bytes.
    pub start: usize,
}

impl Word {
    /// Whether it is this keyword.
    pub fn is(&self, keyword: &str) -> bool {
        !self.is_quoted && self.text == keyword
    }

    /// The parts of `NAME=VALUE`; none if it is no such word. `=>` is a word of its own.
    pub fn named(&self) -> Option<(&str, &str)> {
        self.text.split_once('=').filter(|(name, value)| !self.is_quoted && !name.is_empty() && *value != ">")
    }
}

/// The words of a line, and what is wrong if its last quote has no end.
fn scan(line: &str) -> (Vec<Word>, Result<(), Problem>) {
    let mut words: Vec<Word> = Vec::new();
    let mut is_open = false;
    let mut quote = None;
    for (at, character) in line.char_indices() {
        match (quote, character) {
            (Some(end), _) if character == end => quote = None,
            (None, '"' | '\'') => {
                if !is_open {
                    words.push(Word { text: String::new(), is_quoted: true, start: at });
                    is_open = true;
                }
                quote = Some(character);
            }
            (None, '#') if !is_open => break,
            (None, _) if character.is_whitespace() => is_open = false,
            _ => {
                if !is_open {
                    words.push(Word { text: String::new(), is_quoted: false, start: at });
                    is_open = true;
                }
                if let Some(word) = words.last_mut() {
                    word.text.push(character);
                }
            }
        }
    }
    let end = match (quote, words.last()) {
        (Some(_), Some(word)) => Err(Problem::new(format!("the quoted word {} has no end", &line[word.start..]))),
        _ => Ok(()),
    };
    (words, end)
}

/// The words of a line.
pub fn split(line: &str) -> Result<Vec<Word>, Problem> {
    let (words, end) = scan(line);
    end.map(|()| words)
}

/// The words of the beginning of a line, the last of which may be unfinished; it is empty after white space.
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
    fn names_and_values() {
        let named = |line| split(line).unwrap()[0].named().map(|(name, value)| format!("{name}: {value}"));
        assert_eq!(named("port=1").as_deref(), Some("port: 1"));
        assert_eq!(named("port==>").as_deref(), Some("port: =>"));
        assert_eq!(named("=>"), None);
        assert_eq!(named("'port=1'"), None);
    }
}
