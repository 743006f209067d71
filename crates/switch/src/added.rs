//! Entries that packets add to tables.
//!
//! What enters: the values of an entry's keys, its action and arguments, from the interpreter or from generated code.
//! What leaves: the entries, for [`crate::Switch`] to insert them and publish the tables. That happens before the next
//! packet begins: the core stops behind a packet that has added an entry. How many a packet may add is bounded, and so
//! is the number of free entries of its tables; both are known without a lock, which packet processing must not take.

use crate::entry_timers::EntryTimers;
use base::index::Id as _;
use base::limits::ADDED_ENTRIES_MAX;
use base::{Bits, FieldMatch, IndexVec};
use ir::{Program, TableId};
use tables::{Attributes, EntrySpec, Handle, Operation, Outcome, TableSet};

/// Entries that are not published yet.
#[derive(Default)]
pub(crate) struct AddedEntries {
    unpublished: Vec<Added>,
    /// For each table, how many more entries fit.
    free: IndexVec<TableId, usize>,
    /// The tables that packets add to.
    tables: Vec<TableId>,
}

/// An entry that a packet has added.
struct Added {
    table: TableId,
    entry: EntrySpec,
    profile: u8,
}

/// An entry that has been published, and the profile of its timer.
pub(crate) struct Published {
    pub table: TableId,
    pub handle: Handle,
    pub profile: u8,
}

impl AddedEntries {
    /// No entries yet, and no space for any.
    pub fn new(program: &Program) -> AddedEntries {
        let adds = program.tables.iter_enumerated().filter(|(_, table)| table.adds_on_miss && !table.const_entries);
        AddedEntries {
            unpublished: Vec::new(),
            free: program.tables.iter().map(|_| 0).collect(),
            tables: adds.map(|(id, _)| id).collect(),
        }
    }

    /// Whether the program's packets add no entries.
    pub fn is_unused(&self) -> bool {
        self.tables.is_empty()
    }

    /// Whether all entries have been published.
    pub fn is_empty(&self) -> bool {
        self.unpublished.is_empty()
    }

    /// Finds out how many more entries the tables can hold.
    pub fn measure(&mut self, set: &TableSet) {
        for &table in &self.tables {
            let stored = &set.tables()[table.index()];
            self.free[table] = stored.spec().size.saturating_sub(stored.len());
        }
    }

    /// Adds an entry; false if its table is full or has another entry with its key.
    pub fn add(&mut self, table: TableId, keys: Vec<Bits>, action: usize, args: Vec<Bits>, profile: u8) -> bool {
        let key: Vec<FieldMatch> = keys.into_iter().map(FieldMatch::Exact).collect();
        let is_known = self.unpublished.iter().any(|added| added.table == table && added.entry.key == key);
        if is_known || self.free[table] == 0 || self.unpublished.len() >= ADDED_ENTRIES_MAX {
            return false;
        }
        self.free[table] -= 1;
        self.unpublished.push(Added { table, entry: EntrySpec { key, priority: 0, action, args }, profile });
        true
    }

    /// Inserts the new entries and publishes them. If a controller has filled a table since its free entries were
    /// counted, the controller's entries stay.
    pub fn publish(&mut self, program: &Program, set: &mut TableSet, timers: &EntryTimers) -> Vec<Published> {
        let mut transaction = set.begin();
        let mut published = Vec::new();
        for Added { table, entry, profile } in self.unpublished.drain(..) {
            let Ok(Outcome::Inserted(handle)) = transaction.perform(table.index(), Operation::Insert(entry)) else {
                continue;
            };
            if program.tables[table].support_timeout {
                let attributes =
                    Attributes { idle_timeout_ns: timers.profile_time_ns(profile), ..Attributes::default() };
                // The entry is there, and anything may be attached to it.
                let _ = transaction.perform(table.index(), Operation::SetAttributes { handle, attributes });
            }
            published.push(Published { table, handle, profile });
        }
        transaction.commit();
        published
    }
}
