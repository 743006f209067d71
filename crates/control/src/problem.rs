//! Where a command is wrong.

use std::fmt;
use std::sync::Arc;

pub use values::Problem;

/// Where a command was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The file, as the user named it.
    pub file: Arc<str>,
    /// The place in it.
    pub place: FilePlace,
}

/// A place in an entries file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilePlace {
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
            FilePlace::File => write!(f, "{}", self.file),
            FilePlace::Line(line) => write!(f, "{}:{line}", self.file),
            FilePlace::Element { line, list, index } => write!(f, "{}:{line}: {list}[{index}]", self.file),
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
