//! Entries that packets add to tables.
//!
//! What enters: the values of an entry's keys, its action and arguments, from the interpreter or from generated code.
//! What leaves: the entries, for [`crate::Switch`] to insert them and publish the tables. That happens before the next
//! packet begins: the core stops behind a packet that has added an entry. How many a packet may add is bounded, and so
//! is the room that its tables have; both are known without a lock, which a packet on its way must not take.

use crate::entry_timers::EntryTimers;
use base::index::Id as _;
use base::limits::ADDED_ENTRIES_MAX;
use base::{Bits, FieldMatch, IndexVec};
use ir::{Program, TableId};
use tables::{Attributes, EntrySpec, Handle, Operation, Outcome, TableSet};

/// Entries that are not published yet.
#[derive(Default)]
pub(crate) struct AddedEntries {
    waiting: Vec<Added>,
    /// For each table, how many entries there is room for.
    room: IndexVec<TableId, usize>,
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
    /// None yet, and no room.
    pub fn new(program: &Program) -> AddedEntries {
        let adds = program.tables.iter_enumerated().filter(|(_, table)| table.adds_on_miss && !table.const_entries);
        AddedEntries {
            waiting: Vec::new(),
            room: program.tables.iter().map(|_| 0).collect(),
            tables: adds.map(|(id, _)| id).collect(),
        }
    }

    /// Whether the program's packets add no entries.
    pub fn is_unused(&self) -> bool {
        self.tables.is_empty()
    }

    /// Whether no entry waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Finds out how much room the tables have.
    pub fn measure(&mut self, set: &TableSet) {
        for &table in &self.tables {
            let stored = &set.tables()[table.index()];
            self.room[table] = stored.spec().size.saturating_sub(stored.len());
        }
    }

    /// Adds an entry; false if there is no room for it, or another with its key.
    pub fn add(&mut self, table: TableId, keys: Vec<Bits>, action: usize, args: Vec<Bits>, profile: u8) -> bool {
        let key: Vec<FieldMatch> = keys.into_iter().map(FieldMatch::Exact).collect();
        let is_known = self.waiting.iter().any(|added| added.table == table && added.entry.key == key);
        if is_known || self.room[table] == 0 || self.waiting.len() >= ADDED_ENTRIES_MAX {
            return false;
        }
        self.room[table] -= 1;
        self.waiting.push(Added { table, entry: EntrySpec { key, priority: 0, action, args }, profile });
        true
    }

    /// Inserts the entries that wait, and publishes them. A controller that has filled a table since its room was
    /// measured is before them.
    pub fn publish(&mut self, program: &Program, set: &mut TableSet, timers: &EntryTimers) -> Vec<Published> {
        let mut transaction = set.begin();
        let mut published = Vec::new();
        for Added { table, entry, profile } in self.waiting.drain(..) {
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
