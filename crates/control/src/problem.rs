//! What is wrong with a command, and where it stands.

use std::fmt;
use std::sync::Arc;

/// What was asked and is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub message: String,
    /// What exists or would be right.
    pub help: Option<String>,
}

impl Problem {
    /// A problem that explains itself.
    pub fn new(message: impl Into<String>) -> Problem {
        Problem { message: message.into(), help: None }
    }

    /// The same with what would be right.
    pub fn with_help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }
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

/// Where a command was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file, as the user named it.
    pub file: Arc<str>,
    /// The place in it.
    pub place: Place,
}

/// A place in an entries file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    File,
    /// A line, counted from 1.
    Line(u32),
    /// An element of a JSON file's list.
    Element {
        /// The line where it begins, counted from 1.
        line: u32,
        /// The list's name.
        list: &'static str,
        /// Its position, counted from 0.
        index: usize,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::File => write!(f, "{}", self.file),
            Place::Line(line) => write!(f, "{}:{line}", self.file),
            Place::Element { line, list, index } => write!(f, "{}:{line}: {list}[{index}]", self.file),
        }
    }
}

/// A problem at a place of an entries file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryError {
    /// Where.
    pub origin: Origin,
    /// What.
    pub problem: Problem,
}

impl fmt::Display for EntryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin, self.problem)
    }
}

impl std::error::Error for EntryError {}
