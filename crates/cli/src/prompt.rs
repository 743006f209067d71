//! Input lines: from a prompt with history and completion, or from standard input.
//!
//! The terminal is in raw mode while a line is edited. Signals that end the command meanwhile must restore its
//! settings: [`give_back_on_signals`] if nothing else is to be done, else [`give_back`].

use nix::sys::signal::{SigSet, Signal};
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use signal_hook::consts::{SIGHUP, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use std::collections::VecDeque;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};

/// Returns the possible completions of the last of these words. `None`: the name of a file.
pub type Words = Box<dyn Fn(&[&str]) -> Option<Vec<String>>>;

/// The source of lines.
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
    /// Lines that came together with the last one, as from a clipboard.
    waiting: VecDeque<String>,
}

/// The settings of the terminal before the first prompt.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Restores the settings of the terminal before the first prompt. Any thread may do so, at any time.
pub fn give_back() {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(before) = &*before else { return };
    // A background process is stopped by this call, unless that signal is blocked.
    let mut mask = SigSet::empty();
    mask.add(Signal::SIGTTOU);
    let _blocked = mask.thread_block();
    // A terminal that is gone needs no settings.
    let _gone = tcsetattr(io::stdin(), SetArg::TCSADRAIN, before);
    if io::stdout().is_terminal() {
        // Turns off the marking of pasted text.
        let _gone = io::stdout().write_all(b"\x1b[?2004l\r\n").and_then(|()| io::stdout().flush());
    }
}

/// From now on, signals that end the process restore the terminal first.
pub fn give_back_on_signals() -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGHUP, SIGQUIT])?;
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            give_back();
            let _ended = signal_hook::low_level::emulate_default_handler(signal);
            std::process::exit(128 + signal);
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait).map(|_| ())
}

impl Prompt {
    /// A prompt if standard input is a terminal, else its lines.
    pub fn new(prompt: &str, words: Words) -> io::Result<Prompt> {
        if !io::stdin().is_terminal() {
            return Ok(Prompt::Script);
        }
        BEFORE.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(tcgetattr(io::stdin())?);
        let config = Config::builder().completion_type(CompletionType::List).auto_add_history(true).build();
        let mut editor = Editor::with_history(config, MemHistory::new()).map_err(io::Error::other)?;
        editor.set_helper(Some(WordHelper { words, files: FilenameCompleter::new() }));
        Ok(Prompt::Terminal(Box::new(Terminal { editor, prompt: prompt.to_owned(), waiting: VecDeque::new() })))
    }

    /// Whether there is a prompt.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Prompt::Terminal(_))
    }

    /// The next line; `None` at the end.
    pub fn next_line(&mut self) -> io::Result<Option<String>> {
        let Prompt::Terminal(terminal) = self else {
            let mut line = String::new();
            return Ok((io::stdin().read_line(&mut line)? > 0).then_some(line));
        };
        if let Some(line) = terminal.waiting.pop_front() {
            // As it would look if it had been typed.
            println!("{}{line}", terminal.prompt);
            return Ok(Some(line));
        }
        loop {
            match terminal.editor.readline(&terminal.prompt) {
                Ok(text) => {
                    let mut lines = text.split(['\n', '\r']).map(str::to_owned);
                    let first = lines.next().unwrap_or_default();
                    terminal.waiting.extend(lines.filter(|line| !line.trim().is_empty()));
                    return Ok(Some(first));
                }
                // Ctrl-C discards the line, as in a shell.
                Err(ReadlineError::Interrupted) => {}
                Err(ReadlineError::Eof) => return Ok(None),
                Err(ReadlineError::Io(error)) => return Err(error),
                Err(error) => return Err(io::Error::other(error)),
            }
        }
    }
}

/// Completes words, and files where they are expected.
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
        let Some(mut known) = (self.words)(&words) else { return self.files.complete_path(line, position) };
        known.retain(|word| word.starts_with(typed));
        // After `NAME=` the word continues.
        let end = |word: &str| if word.ends_with('=') { "" } else { " " };
        let pair = |word: String| Pair { replacement: format!("{word}{}", end(&word)), display: word };
        Ok((start, known.into_iter().map(pair).collect()))
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
            [_] => Some(["help", "h1", "h2"].map(str::to_owned).to_vec()),
            ["cat", _] => None,
            _ => Some(vec!["h1".to_owned()]),
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
        assert_eq!(complete("h1 Cargo", 8), (3, vec![]), "no file where none is due");
        assert_eq!(complete("cat Cargo", 9), (4, vec!["Cargo.toml".to_owned()]));
    }
}
