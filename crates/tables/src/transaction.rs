//! A batch of changes to tables and action profiles: packets see all of it or none.
//!
//! What enters: operations, one after the other; each takes effect in the store at once, so that the next finds its
//! result. What leaves: outcomes and rejections. A rejected operation has no effect, and the batch may continue, be
//! undone to any point, or be committed. Only then do packets see it. A transaction that is dropped is undone.

use crate::error::TableError;
use crate::profile::{Profile, ProfileOperation, ProfileUndo};
use crate::set::{Changes, Operation, Outcome, TableSet};
use crate::table::{Journal, Table};

/// A batch that is being made.
#[derive(Debug)]
pub struct Transaction<'a> {
    set: &'a mut TableSet,
    steps: Vec<Step>,
}

/// An operation that was applied, and how to undo it.
#[derive(Debug)]
enum Step {
    Table { table: usize, journal: Journal },
    Profile { profile: usize, changes: Changes, undo: ProfileUndo },
}

/// A point of a transaction.
#[derive(Clone, Copy, Debug)]
pub struct Mark(usize);

impl Mark {
    /// Where every transaction starts.
    pub const START: Mark = Mark(0);
}

impl<'a> Transaction<'a> {
    pub(crate) fn new(set: &'a mut TableSet) -> Transaction<'a> {
        Transaction { set, steps: Vec::new() }
    }

    /// The tables after the operations so far.
    pub fn tables(&self) -> &[Table] {
        self.set.tables()
    }

    /// The action profiles after the operations so far.
    pub fn profiles(&self) -> &[Profile] {
        self.set.profiles()
    }

    /// Applies an operation to a table.
    pub fn perform(&mut self, table: usize, operation: Operation) -> Result<Outcome, TableError> {
        let mut journal = Journal::default();
        match self.set.change_table(table, operation, &mut journal) {
            Ok(outcome) => {
                self.steps.push(Step::Table { table, journal });
                Ok(outcome)
            }
            Err(error) => {
                self.set.undo_table(table, journal);
                Err(error)
            }
        }
    }

    /// Applies an operation to an action profile.
    pub fn perform_profile(&mut self, profile: usize, operation: ProfileOperation) -> Result<Outcome, TableError> {
        let (outcome, changes, undo) = self.set.change_profile(profile, operation)?;
        self.steps.push(Step::Profile { profile, changes, undo });
        Ok(outcome)
    }

    /// The present point of the transaction.
    pub fn mark(&self) -> Mark {
        Mark(self.steps.len())
    }

    /// Undoes all operations since `mark`.
    pub fn roll_back_to(&mut self, mark: Mark) {
        for step in self.steps.drain(mark.0.min(self.steps.len())..).rev() {
            match step {
                Step::Table { table, journal } => self.set.undo_table(table, journal),
                Step::Profile { profile, undo, .. } => self.set.undo_profile(profile, undo),
            }
        }
    }

    /// Publishes the changes: each burst that begins later sees all of them.
    ///
    /// Must not be called by a thread that holds a [`crate::Guard`] from before the last call: it would wait for
    /// itself.
    pub fn commit(mut self) {
        let mut all = Changes::new();
        for step in std::mem::take(&mut self.steps) {
            match step {
                Step::Table { journal, .. } if journal.changes.is_empty() => {}
                Step::Table { table, journal } => all.push((table, journal.changes)),
                Step::Profile { changes, .. } => all.extend(changes),
            }
        }
        self.set.publish(all);
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        self.roll_back_to(Mark::START);
    }
}
