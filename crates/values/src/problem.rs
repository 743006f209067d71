//! What is wrong with something that a user wrote.

use std::borrow::Cow;
use std::fmt;

/// The most characters of a word, and of a line, that a problem repeats. The longest value of a program has 514.
const WORD_CHARACTERS_MAX: usize = 600;
const LINE_CHARACTERS_MAX: usize = 8_000;

/// Characters that are left of a longer word or line.
const START_CHARACTERS: usize = 60;

/// A problem: what was requested and is wrong, and what would be valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub message: String,
    /// What exists or would be valid.
    pub help: Option<String>,
}

impl Problem {
    /// A problem without help. Very long parts of the request in the message are shortened.
    pub fn new(message: impl Into<String>) -> Problem {
        let message = message.into();
        match message.len() > WORD_CHARACTERS_MAX {
            true => Problem { message: shortened(&message), help: None },
            false => Problem { message, help: None },
        }
    }

    /// The same with help: what would be valid.
    pub fn with_help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }
}

/// The text, with very long words and lines shortened.
fn shortened(text: &str) -> String {
    let line = |line: &str| {
        let words: String =
            line.split_inclusive(char::is_whitespace).map(|word| start(word, WORD_CHARACTERS_MAX)).collect();
        start(&words, LINE_CHARACTERS_MAX).into_owned()
    };
    text.split_inclusive('\n').map(line).collect()
}

/// All of the text, or its start and its length. White space at its end stays.
fn start(text: &str, characters_max: usize) -> Cow<'_, str> {
    let kept = text.trim_end();
    let count = kept.chars().count();
    if count <= characters_max {
        return Cow::Borrowed(text);
    }
    let start: String = kept.chars().take(START_CHARACTERS).collect();
    Cow::Owned(format!("{start}... ({count} characters){}", &text[kept.len()..]))
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        match &self.help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn repeated_input_is_cut_in_messages() {
        let shown = |asked: &str| Problem::new(format!("there is no table {asked}: add one")).message;
        let value = "7".repeat(514);
        assert_eq!(shown(&value), format!("there is no table {value}: add one"));
        let cut = format!("there is no table {}... (200001 characters) add one", "ä".repeat(60));
        assert_eq!(shown(&"ä".repeat(200_000)), cut);
        expect!["there is no table a a a a a a a a a a a a a a a a a a a a a ... (200027 characters)"]
            .assert_eq(&shown(&"a ".repeat(100_000)));
        assert_eq!(Problem::new("x y \n".repeat(4_000)).message, "x y \n".repeat(4_000));
    }
}
