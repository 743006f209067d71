//! Scenarios: files that describe a network, what its hosts do, and what is measured.
//!
//! What enters: the text of a scenario, changes of single values, and the topology file that it may name. What leaves:
//! a [`Scenario`] in which everything is decided, or faults with their places and what would be right.
//!
//! * [`file`](mod@file), [`device_file`]: the form of the file. [`values`]: times, rates, probabilities, names in it.
//! * [`resolve`]: from the file to a scenario. [`flows`], `loads`: which host sends what to which.
//!   [`workload`]: flows with random sizes and starts. [`flow_list`], [`trace`]: what is read from other files.
//!   [`faults`]: what fails, and when.
//! * [`controller`], [`controller_file`]: who answers packets and digests of switches.
//! * [`cost`]: what packets cost, if that is measured before the run.
//! * [`build`]: from a scenario to a network that runs. [`results`]: what was measured, as text. [`completion`],
//!   [`ideal`]: how long flows took, and how long they would take alone. [`samples`]: what happened over time.
//!   [`metrics`]: a run as a list of numbers.

pub mod build;
pub mod completion;
pub mod controller;
pub mod controller_file;
pub mod cost;
mod device;
pub mod device_file;
mod device_results;
mod drops;
pub mod faults;
pub mod file;
pub mod flow_list;
pub mod flows;
pub mod ideal;
mod loads;
pub mod metrics;
pub mod resolve;
pub mod results;
pub mod samples;
pub mod trace;
pub mod values;
pub mod workload;

pub use build::{Simulation, SwitchMaker, TooManyPackets};
pub use resolve::{FlowKind, FlowPlan, IncastPlan, Scenario, SwitchKind, SwitchPlan};

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
    text: String,
    sets: Vec<String>,
}

impl Sources {
    /// A file and `KEY=VALUE` texts.
    pub fn new(text: &str, sets: &[String]) -> Sources {
        Sources { text: text.to_owned(), sets: sets.to_vec() }
    }

    /// Where the text of a set value begins.
    fn set_offset(&self, index: usize) -> usize {
        self.text.len() + 1 + self.sets[..index].iter().map(|set| set.len() + 16).sum::<usize>()
    }

    /// The place of bytes.
    fn place(&self, span: Option<Range<usize>>) -> Place {
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
    pub(crate) fn fault(&self, span: Option<Range<usize>>, message: impl Into<String>) -> ScenarioFault {
        ScenarioFault { place: self.place(span), message: message.into() }
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod device_tests;
