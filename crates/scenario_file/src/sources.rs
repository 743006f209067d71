//! The texts of a scenario, and errors with their places in them.

use std::fmt;
use std::ops::Range;

/// An error in a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioFault {
    /// Where it is.
    pub place: Place,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// A place in a scenario.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In the file as a whole.
    File,
    /// Line and column, both from 1.
    Line(u32, u32),
    /// In a value that the caller has set.
    Set(String),
    /// In an argument of the caller, with the argument.
    Argument(String),
    /// In a file that the scenario names, which the message says.
    Elsewhere,
}

impl fmt::Display for ScenarioFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::File | Place::Elsewhere => write!(f, "{}", self.message),
            Place::Line(line, column) => write!(f, "{line}:{column}: {}", self.message),
            Place::Set(text) => write!(f, "--set {text}: {}", self.message),
            Place::Argument(text) => write!(f, "{text}: {}", self.message),
        }
    }
}

impl std::error::Error for ScenarioFault {}

impl From<String> for ScenarioFault {
    fn from(message: String) -> ScenarioFault {
        ScenarioFault { place: Place::Elsewhere, message }
    }
}

/// The texts that a scenario is made of: the file, and values that are set, as if they followed it.
#[derive(Clone, Debug)]
pub struct Sources {
    pub(crate) text: String,
    pub(crate) sets: Vec<String>,
}

impl Sources {
    /// A file and `KEY=VALUE` texts.
    pub fn new(text: &str, sets: &[String]) -> Sources {
        Sources { text: text.to_owned(), sets: sets.to_vec() }
    }

    /// Where the text of a set value begins.
    pub(crate) fn set_offset(&self, index: usize) -> usize {
        self.text.len() + 1 + self.sets[..index].iter().map(|set| set.len() + 16).sum::<usize>()
    }

    /// The place of bytes.
    pub fn place(&self, span: Option<Range<usize>>) -> Place {
        let Some(at) = span.map(|span| span.start) else { return Place::File };
        if at > self.text.len() {
            let index = (0..self.sets.len()).rev().find(|&index| self.set_offset(index) <= at);
            return index.map_or(Place::File, |index| Place::Set(self.sets[index].clone()));
        }
        let before = self.text.get(..at).unwrap_or_default();
        let line = before.matches('\n').count() as u32 + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() as u32 + 1;
        Place::Line(line, column)
    }

    /// A fault at bytes.
    pub fn fault(&self, span: Option<Range<usize>>, message: impl Into<String>) -> ScenarioFault {
        ScenarioFault { place: self.place(span), message: message.into() }
    }
}
