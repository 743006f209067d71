//! All tables of a program: updates of the control plane on one side, consistent views for packets on the other.

use crate::abi::LookupHandle;
use crate::arrivals::Arrivals;
use crate::error::{Problem, TableError};
use crate::left_right::{Entered, LeftRight, Registration};
use crate::memory::prefer_system_memory;
use crate::profile::{Profile, ProfileOperation, ProfileSpec, ProfileUndo};
use crate::snapshot::Snapshot;
use crate::spec::{ActionCall, Attributes, EntrySpec, Handle, TableSpec, Target};
use crate::table::{Change, Journal, Table};
use crate::transaction::Transaction;
use base::{Bits, Rng};
use std::fmt;

/// An operation on a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Insert an entry. Returns [`Outcome::Inserted`].
    Insert(EntrySpec),
    /// Insert all these entries. Returns [`Outcome::InsertedMany`].
    InsertMany(Vec<EntrySpec>),
    /// Change the action or the arguments of an entry.
    Modify {
        /// The entry.
        handle: Handle,
        /// Position of the action in the table's actions.
        action: usize,
        /// One value for each of its parameters.
        args: Vec<Bits>,
    },
    /// Delete an entry.
    Delete {
        /// The entry.
        handle: Handle,
    },
    /// Delete all entries that are not const.
    Clear,
    /// Set the default action.
    SetDefault(ActionCall),
    /// Set the default action back to the one that the program declares.
    ResetDefault,
    /// Attach data to an entry. Packets do not use them.
    SetAttributes {
        /// The entry.
        handle: Handle,
        /// The new data.
        attributes: Attributes,
    },
}

/// An operation and the table it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// Position of the table in the set.
    pub table: usize,
    /// The operation.
    pub operation: Operation,
}

/// The outcome of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing beyond success.
    Done,
    /// The handle of the new entry.
    Inserted(Handle),
    /// The handles of the new entries, in their order.
    InsertedMany(Vec<Handle>),
}

/// A batch that was rejected as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplyError {
    /// The position of the faulty update.
    pub update: usize,
    /// Its error.
    pub error: TableError,
}

impl std::error::Error for ApplyError {}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

/// The tables of a program with their entries, and the two copies that packets look up in.
///
/// A batch of updates is checked and stored, applied to the copy that packets do not use, and then published to all
/// workers at once: a burst sees all of a batch or none of it. The other copy follows as soon as the bursts that began
/// on it have ended; [`TableSet::apply`] waits for that only if bursts still use the copy from before the previous
/// batch.
#[derive(Debug)]
pub struct TableSet {
    tables: Vec<Table>,
    profiles: Vec<Profile>,
    copies: LeftRight<Copy>,
    /// The changes that the active copy has and the hidden one has not.
    pending: Changes,
    /// One for each worker with cells.
    arrivals: Vec<Arrivals>,
    /// The number of the state that last brought arrivals.
    version: u64,
    /// The result of [`TableSet::lookup_bytes`] if there are no copies.
    frozen_bytes: Option<Vec<usize>>,
    /// For each table, the number of the state that last changed it.
    revisions: Vec<u64>,
    /// The number of the present state.
    revision: u64,
}

/// Changes for snapshots, each run of them with the position of its table.
pub(crate) type Changes = Vec<(usize, Vec<Change>)>;

/// Bytes of a table that are copied in the time of one change.
const COPIED_BYTES: usize = 2 << 10;

/// Changes below which no table is copied.
const COPIED_CHANGES_MIN: usize = 64;

/// One copy: a snapshot for each table, and how to call it.
#[derive(Debug)]
struct Copy {
    // The lookup handles point at them, so their number never changes.
    snapshots: Vec<Snapshot>,
    handles: Vec<LookupHandle>,
    version: u64,
    revisions: Vec<u64>,
    revision: u64,
}

impl Copy {
    fn of(tables: &[Table], seed: u64) -> Copy {
        // Each table has a seed of its own; both copies have the same, so that their slots are equal.
        let mut rng = Rng::new(seed);
        let snapshots: Vec<_> = tables.iter().map(|table| Snapshot::new(table, rng.next_u64())).collect();
        let revisions = vec![0; snapshots.len()];
        let mut copy = Copy { snapshots, handles: Vec::new(), version: 0, revisions, revision: 0 };
        copy.commit();
        copy
    }

    /// An equal copy.
    fn twin(&self) -> Copy {
        let (snapshots, revisions) = (self.snapshots.clone(), self.revisions.clone());
        let mut twin = Copy { snapshots, handles: Vec::new(), revisions, ..*self };
        twin.commit();
        twin
    }

    /// Makes these changes.
    fn follow(&mut self, changes: &[(usize, Vec<Change>)]) {
        for (table, changes) in changes {
            changes.iter().for_each(|change| self.snapshots[*table].apply(change));
        }
        self.commit();
    }

    /// Makes the changes that the other copy has, and this one has not. Where they are many compared to the table, it
    /// is copied instead.
    fn catch_up(&mut self, other: &Copy, changes: &[(usize, Vec<Change>)]) {
        if changes.iter().map(|(_, changes)| changes.len()).sum::<usize>() < COPIED_CHANGES_MIN {
            return self.follow(changes);
        }
        let mut counts = vec![0; self.snapshots.len()];
        changes.iter().for_each(|(table, changes)| counts[*table] += changes.len());
        let is_copied = |table: usize| counts[table] * COPIED_BYTES > other.snapshots[table].bytes();
        for (table, changes) in changes.iter().filter(|(table, _)| !is_copied(*table)) {
            changes.iter().for_each(|change| self.snapshots[*table].apply(change));
        }
        for table in (0..counts.len()).filter(|table| counts[*table] > 0 && is_copied(*table)) {
            self.snapshots[table].clone_from(&other.snapshots[table]);
        }
        self.commit();
    }

    /// Completes changes; must follow them.
    fn commit(&mut self) {
        for snapshot in &mut self.snapshots {
            snapshot.commit();
        }
        // Acquired again after the last change, so that nothing was written through another reference since.
        self.handles = self.snapshots.iter().map(Snapshot::lookup_handle).collect();
    }
}

impl TableSet {
    /// The tables with their initial entries. `seed` changes the hashes of the engines; results do not depend on it.
    pub fn new(specs: Vec<TableSpec>, seed: u64) -> Result<TableSet, TableError> {
        TableSet::with_profiles(specs, Vec::new(), seed)
    }

    /// The same, with action profiles that tables may use.
    pub fn with_profiles(specs: Vec<TableSpec>, profiles: Vec<ProfileSpec>, seed: u64) -> Result<TableSet, TableError> {
        prefer_system_memory();
        let tables = specs.into_iter().map(Table::new).collect::<Result<Vec<_>, _>>()?;
        let profiles = profiles.into_iter().map(Profile::new).collect();
        let copy = Copy::of(&tables, seed);
        let copies = LeftRight::new([copy.twin(), copy]);
        Ok(TableSet::of(tables, profiles, copies))
    }

    /// A copy of the present tables and profiles, for reading them while updates continue. Packets and searches by
    /// match cannot use it. Entries are shared until they change.
    pub fn frozen(&self) -> TableSet {
        let copies = LeftRight::new([Copy::of(&[], 0), Copy::of(&[], 0)]);
        let tables = self.tables.iter().map(Table::frozen).collect();
        let frozen_bytes = Some(self.lookup_bytes());
        TableSet { frozen_bytes, ..TableSet::of(tables, self.profiles.clone(), copies) }
    }

    fn of(tables: Vec<Table>, profiles: Vec<Profile>, copies: LeftRight<Copy>) -> TableSet {
        let revisions = vec![0; tables.len()];
        let (pending, arrivals) = (Vec::new(), Vec::new());
        TableSet { tables, profiles, copies, pending, arrivals, version: 0, revisions, revision: 0, frozen_bytes: None }
    }

    /// Bytes of memory for lookups, for each table: its entries with their actions' data, and their index. There are
    /// two copies of this, one for packets and one for changes; the control plane's store of entries is not included.
    pub fn lookup_bytes(&self) -> Vec<usize> {
        let of_copy = || {
            let mut reader = self.reader();
            reader.enter().copy.snapshots.iter().map(Snapshot::bytes).collect()
        };
        self.frozen_bytes.clone().unwrap_or_else(of_copy)
    }

    /// The action profiles, by position.
    pub fn profiles(&self) -> &[Profile] {
        &self.profiles
    }

    /// Resolves the action of an entry or of a default action: if it refers to a member or group, the member's action
    /// and arguments, selected by the hash of the table's selector. None if the group is empty.
    pub fn resolve(&self, table: usize, action: usize, args: &[Bits], hash: u64) -> Option<ActionCall> {
        let Some(target) = Target::of(action, args) else {
            return Some(ActionCall { action, args: args.to_vec() });
        };
        let used = self.tables.get(table)?.spec().profile.as_ref()?;
        let profile = self.profiles.get(used.profile)?;
        let member = match target {
            Target::Member(member) => member,
            Target::Group(group) => profile.pick(group, hash)?,
        };
        let call = profile.member(member)?;
        Some(ActionCall { action: *used.actions.get(call.action)?, args: call.args.clone() })
    }

    /// Applies an operation to an action profile. Bursts that begin later see it.
    pub fn perform_profile(&mut self, profile: usize, operation: ProfileOperation) -> Result<Outcome, TableError> {
        let mut transaction = self.begin();
        let outcome = transaction.perform_profile(profile, operation)?;
        transaction.commit();
        Ok(outcome)
    }

    /// Applies an operation to a profile's store, and returns the changes of the tables that use it.
    pub(crate) fn change_profile(
        &mut self,
        profile: usize,
        operation: ProfileOperation,
    ) -> Result<(Outcome, Changes, ProfileUndo), TableError> {
        let profiles = self.profiles.len();
        let Some(target) = self.profiles.get_mut(profile) else {
            return Err(Problem::UnknownProfile { index: profile, profiles }.of(""));
        };
        let users =
            || self.tables.iter().filter(|table| table.spec().profile.as_ref().is_some_and(|it| it.profile == profile));
        let is_named = |is_group: bool, handle: Handle| {
            let target = if is_group { Target::Group(handle) } else { Target::Member(handle) };
            users().any(|table| table.names(target))
        };
        let (outcome, change, undo) = target.apply(operation, is_named)?;
        let follow = |(index, table): (usize, &Table)| match (&table.spec().profile, &change) {
            (Some(used), Some(change)) if used.profile == profile => {
                Some((index, vec![table.profile_change(used, change)]))
            }
            _ => None,
        };
        let changes = self.tables.iter().enumerate().filter_map(follow).collect();
        Ok((outcome, changes, undo))
    }

    /// Applies an operation to a table's store, and records it in `journal`, also if it fails half-way.
    pub(crate) fn change_table(
        &mut self,
        table: usize,
        operation: Operation,
        journal: &mut Journal,
    ) -> Result<Outcome, TableError> {
        let tables = self.tables.len();
        self.check_targets(table, &operation)?;
        match self.tables.get_mut(table) {
            Some(target) => target.apply(operation, journal),
            None => Err(Problem::UnknownTable { index: table, tables }.of("")),
        }
    }

    pub(crate) fn undo_table(&mut self, table: usize, mut journal: Journal) {
        self.tables.get_mut(table).into_iter().for_each(|table| table.undo_all(&mut journal));
    }

    pub(crate) fn undo_profile(&mut self, profile: usize, undo: ProfileUndo) {
        if let Some(profile) = self.profiles.get_mut(profile) {
            profile.undo(undo);
        }
    }

    /// Starts a batch.
    pub fn begin(&mut self) -> Transaction<'_> {
        Transaction::new(self)
    }

    /// Rejects an operation on a table that refers to a member or group that does not exist, or to an empty group.
    fn check_targets(&self, table: usize, operation: &Operation) -> Result<(), TableError> {
        let Some(table) = self.tables.get(table) else { return Ok(()) };
        let Some(profile) = table.spec().profile.as_ref().and_then(|used| self.profiles.get(used.profile)) else {
            return Ok(());
        };
        let check = |action: usize, args: &[Bits]| match Target::of(action, args) {
            None => Ok(()),
            Some(Target::Member(member)) => profile.known_member(member).map(drop),
            Some(Target::Group(group)) => profile.known_group(group).map(drop),
        };
        let result = match operation {
            Operation::Insert(entry) => check(entry.action, &entry.args),
            Operation::InsertMany(entries) => entries.iter().try_for_each(|entry| check(entry.action, &entry.args)),
            Operation::Modify { action, args, .. } => check(*action, args),
            Operation::SetDefault(call) => check(call.action, &call.args),
            Operation::Delete { .. } | Operation::Clear | Operation::ResetDefault | Operation::SetAttributes { .. } => {
                Ok(())
            }
        };
        result.map_err(|problem| problem.of(&table.spec().name))
    }

    /// The stores of the tables, by position.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// The table at this position.
    pub fn table(&self, index: usize) -> Option<&Table> {
        self.tables.get(index)
    }

    /// The position of the table of this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.tables.iter().position(|table| table.spec().name == name)
    }

    /// Applies all these updates in order, or none of them. Bursts that begin later see them all.
    ///
    /// Must not be called by a thread that holds a [`Guard`] from before the last call: it would wait for itself.
    pub fn apply(&mut self, updates: Vec<Update>) -> Result<Vec<Outcome>, ApplyError> {
        let mut transaction = self.begin();
        let mut outcomes = Vec::with_capacity(updates.len());
        for (position, Update { table, operation }) in updates.into_iter().enumerate() {
            let outcome = transaction.perform(table, operation);
            outcomes.push(outcome.map_err(|error| ApplyError { update: position, error })?);
        }
        transaction.commit();
        Ok(outcomes)
    }

    /// Applies one operation.
    pub fn perform(&mut self, table: usize, operation: Operation) -> Result<Outcome, TableError> {
        let outcomes = self.apply(vec![Update { table, operation }]).map_err(|refused| refused.error)?;
        Ok(outcomes.into_iter().next().unwrap_or(Outcome::Done))
    }

    /// Inserts one entry.
    pub fn insert(&mut self, table: usize, entry: EntrySpec) -> Result<Handle, TableError> {
        match self.perform(table, Operation::Insert(entry))? {
            Outcome::Inserted(handle) => Ok(handle),
            other => unreachable!("an insertion gives a handle, not {other:?}"),
        }
    }

    /// Publishes these changes to readers.
    pub(crate) fn publish(&mut self, changes: Changes) {
        if changes.is_empty() {
            return;
        }
        // Before the swap: readers of the new entries must find their arrivals.
        let keeps_cells = |table: usize| self.tables[table].spec().keeps_cells;
        let mut has_arrivals = false;
        for arrivals in &self.arrivals {
            has_arrivals |= arrivals.note(&changes, keeps_cells, self.version + 1);
        }
        self.version += u64::from(has_arrivals);
        self.revision += 1;
        changes.iter().for_each(|(table, _)| self.revisions[*table] = self.revision);
        self.catch_up();
        let hidden = self.copies.hidden();
        hidden.follow(&changes);
        hidden.version = self.version;
        hidden.revision = self.revision;
        hidden.revisions.clone_from(&self.revisions);
        self.copies.swap();
        self.pending = changes;
        // The readers are almost always between bursts or soon will be; the other copy follows now if it can.
        if self.copies.is_free() {
            self.catch_up();
        }
    }

    /// Brings the hidden copy up to the active one.
    fn catch_up(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        if !pending.is_empty() {
            let (hidden, active) = self.copies.both();
            hidden.catch_up(active, &pending);
        }
    }

    /// The entries that are inserted from now on, for an owner of cells by their handles. Each worker has its own,
    /// until it drops them.
    pub fn arrivals(&mut self) -> Arrivals {
        self.arrivals.retain(Arrivals::is_awaited);
        let arrivals = Arrivals::default();
        self.arrivals.push(arrivals.clone());
        arrivals
    }

    /// The number of this state, for [`Arrivals::take`]. It changes with insertions into tables with
    /// [`TableSpec::keeps_cells`].
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The number of this state, which changes with every batch that is visible to packets.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The number of the state that last changed a table visibly to packets.
    pub fn table_revision(&self, index: usize) -> u64 {
        self.revisions.get(index).copied().unwrap_or(0)
    }

    /// A reader, one for each worker.
    pub fn reader(&self) -> Reader {
        Reader { registration: self.copies.register() }
    }
}

/// A worker's access to the tables.
#[derive(Debug)]
pub struct Reader {
    registration: Registration<Copy>,
}

impl Reader {
    /// Enters the present state of the tables. It does not change until the guard is dropped, which must be soon (at
    /// the end of the burst): the control plane's next but one batch waits for it.
    pub fn enter(&mut self) -> Guard<'_> {
        Guard { copy: self.registration.enter() }
    }
}

/// A consistent view of all tables.
#[derive(Debug)]
pub struct Guard<'a> {
    copy: Entered<'a, Copy>,
}

impl Guard<'_> {
    /// How generated code looks up in each table, by position; an array that C may index.
    pub fn handles(&self) -> &[LookupHandle] {
        &self.copy.handles
    }

    /// The number of this state, as [`TableSet::version`].
    pub fn version(&self) -> u64 {
        self.copy.version
    }

    /// The number of this state, as [`TableSet::revision`].
    pub fn revision(&self) -> u64 {
        self.copy.revision
    }

    /// As [`TableSet::table_revision`].
    pub fn table_revision(&self, index: usize) -> u64 {
        self.copy.revisions.get(index).copied().unwrap_or(0)
    }

    /// The table at this position.
    pub fn snapshot(&self, index: usize) -> Option<&Snapshot> {
        self.copy.snapshots.get(index)
    }
}
