//! Colours, progress and messages. Everything that is not the result of a command goes to standard error; colours and
//! moving lines appear on terminals only.

use crate::{Exit, logging};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write as _};
use std::time::Duration;
use tracing::Level;

/// Whether messages are coloured: on a terminal, unless the user's environment has `NO_COLOR`.
pub fn is_coloured() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// `error: ...`
pub fn error(message: impl std::fmt::Display) {
    label("error", "31", Level::ERROR, &message.to_string());
}

/// `warning: ...`
pub fn warning(message: impl std::fmt::Display) {
    label("warning", "33", Level::WARN, &message.to_string());
}

/// `note: ...`
pub fn note(message: impl std::fmt::Display) {
    label("note", "36", Level::INFO, &message.to_string());
}

/// An error of a program, over several lines.
pub fn diagnostics(text: &str) {
    match logging::is_json() {
        true => tracing::error!(target: logging::COMMAND, "{text}"),
        false => to_stderr(format_args!("{text}")),
    }
}

fn label(word: &str, color: &str, level: Level, message: &str) {
    if logging::log(level, message) {
        return;
    }
    if is_coloured() {
        to_stderr(format_args!("\x1b[1;{color}m{word}\x1b[0m\x1b[1m:\x1b[0m {message}"));
    } else {
        to_stderr(format_args!("{word}: {message}"));
    }
}

/// Writes a line to standard error. If the reader has closed the pipe, as in `2>&1 | head`, the line is lost.
fn to_stderr(text: std::fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// A line of a command's result, with a format and its values as for `println!`.
#[macro_export]
macro_rules! say {
    () => { $crate::terminal::line(format_args!("")) };
    ($($text:tt)+) => { $crate::terminal::line(format_args!($($text)+)) };
}
pub use say;

/// Writes a line to standard output. If the reader has closed the pipe, as in `| head`, the command ends quietly.
pub fn line(text: std::fmt::Arguments<'_>) {
    if !is_read(text) {
        std::process::exit(Exit::Success as i32);
    }
}

/// A line of a command whose exit status is a result, too: if the reader has closed the pipe, the command continues
/// without output.
#[macro_export]
macro_rules! say_if_read {
    ($($text:tt)+) => { { $crate::terminal::is_read(format_args!($($text)+)); } };
}
pub use say_if_read;

/// Writes a line to standard output. The result is false if the reader has closed the pipe; if writing fails otherwise,
/// the command ends with a message.
pub fn is_read(text: std::fmt::Arguments<'_>) -> bool {
    match writeln!(std::io::stdout(), "{text}") {
        Ok(()) => true,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => false,
        Err(why) => {
            error(format!("cannot write to standard output: {why}"));
            std::process::exit(Exit::System as i32);
        }
    }
}

/// A spinner with a text, for work that may take a while. It is drawn on terminals only and removed when it is
/// dropped.
pub struct Progress(ProgressBar);

impl Progress {
    /// Starts it.
    pub fn start(text: impl Into<String>) -> Progress {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        bar.set_style(
            ProgressStyle::with_template("{spinner} {msg} ({elapsed})").expect("the template is well formed"),
        );
        bar.set_message(text.into());
        bar.enable_steady_tick(Duration::from_millis(100));
        Progress(bar)
    }

    /// Shows another text.
    pub fn set(&self, text: String) {
        self.0.set_message(text);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A number with spaces between groups of three digits: 1 234 567.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}
