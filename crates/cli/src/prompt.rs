//! Lines that a user types: at a prompt with history and completion, or from whatever standard input is.

use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use std::io::{self, IsTerminal as _};

/// Says which words may follow those that are there; the last of them is being typed.
pub type Words = Box<dyn Fn(&[&str]) -> Vec<String>>;

/// Where lines come from.
pub enum Prompt {
    /// Somebody types them.
    Terminal(Box<Terminal>),
    /// They come from a file or a pipe.
    Script,
}

/// The prompt on a terminal.
pub struct Terminal {
    editor: Editor<WordHelper, MemHistory>,
    prompt: String,
}

impl Prompt {
    /// A prompt if standard input is a terminal, else its lines.
    pub fn new(prompt: &str, words: Words) -> io::Result<Prompt> {
        if !io::stdin().is_terminal() {
            return Ok(Prompt::Script);
        }
        let config = Config::builder().completion_type(CompletionType::List).auto_add_history(true).build();
        let mut editor = Editor::with_history(config, MemHistory::new()).map_err(io::Error::other)?;
        editor.set_helper(Some(WordHelper { words, files: FilenameCompleter::new() }));
        Ok(Prompt::Terminal(Box::new(Terminal { editor, prompt: prompt.to_owned() })))
    }

    /// Whether somebody types.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Prompt::Terminal(_))
    }

    /// The next line; none at the end.
    pub fn next_line(&mut self) -> io::Result<Option<String>> {
        let Prompt::Terminal(terminal) = self else {
            let mut line = String::new();
            return Ok((io::stdin().read_line(&mut line)? > 0).then_some(line));
        };
        loop {
            match terminal.editor.readline(&terminal.prompt) {
                Ok(line) => return Ok(Some(line)),
                // Ctrl-C gives up the line, as in a shell.
                Err(ReadlineError::Interrupted) => {}
                Err(ReadlineError::Eof) => return Ok(None),
                Err(ReadlineError::Io(error)) => return Err(error),
                Err(error) => return Err(io::Error::other(error)),
            }
        }
    }
}

/// Completes words that are known, and files.
struct WordHelper {
    words: Words,
    files: FilenameCompleter,
}

impl Completer for WordHelper {
    type Candidate = Pair;

    fn complete(&self, line: &str, position: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = &line[..position];
        let start = before.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let mut words: Vec<&str> = before[..start].split_whitespace().collect();
        let typed = &before[start..];
        words.push(typed);
        let mut known: Vec<String> = (self.words)(&words);
        known.retain(|word| word.starts_with(typed));
        // After `NAME=` the word goes on.
        let end = |word: &str| if word.ends_with('=') { "" } else { " " };
        let pair = |word: String| Pair { replacement: format!("{word}{}", end(&word)), display: word };
        let pairs: Vec<Pair> = known.into_iter().map(pair).collect();
        if pairs.is_empty() && words.len() > 1 {
            return self.files.complete_path(line, position);
        }
        Ok((start, pairs))
    }
}

impl Hinter for WordHelper {
    type Hint = String;
}
impl Highlighter for WordHelper {}
impl Validator for WordHelper {}
impl Helper for WordHelper {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_completed_where_the_cursor_is() {
        let words = |words: &[&str]| match words {
            [_] => ["help", "h1", "h2"].map(str::to_owned).to_vec(),
            _ => vec!["h1".to_owned()],
        };
        let helper = WordHelper { words: Box::new(words), files: FilenameCompleter::new() };
        let history = MemHistory::new();
        let complete = |line: &str, position: usize| {
            let (start, pairs) = helper.complete(line, position, &Context::new(&history)).unwrap();
            (start, pairs.into_iter().map(|pair| pair.display).collect::<Vec<_>>())
        };
        assert_eq!(complete("h", 1), (0, vec!["help".to_owned(), "h1".to_owned(), "h2".to_owned()]));
        assert_eq!(complete("hel ping", 2), (0, vec!["help".to_owned()]));
        assert_eq!(complete("h2 ping h", 9), (8, vec!["h1".to_owned()]));
        assert_eq!(complete("x", 1), (0, vec![]));
    }
}
