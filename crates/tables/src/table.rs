//! The authoritative store of one table's entries, which the engines follow.
//!
//! What enters: operations of the control plane. What leaves: rejections, and the `Change`s that bring a
//! [`crate::Snapshot`] up to date. Every step can be undone, so that a batch over several tables is all or nothing.

use crate::canonical::{self, PackedMatch};
use crate::cells;
use crate::error::{Problem, TableError};
use crate::flat;
use crate::hash_index::{HashIndex, hash_words};
use crate::layout::{ActionLayout, KeyLayout};
use crate::profile::ProfileChange;
use crate::set::{Operation, Outcome};
use crate::slots::Slots;
use crate::spec::{
    ActionCall, ActionSpec, Attributes, Entry, EntrySpec, Handle, InitialEntry, ProfileUse, TableKind, TableSpec,
    Target,
};
use crate::words;
use base::limits::TABLE_ENTRIES_MAX;
use base::{Bits, FieldMatch, MatchKind, OrderedMap, OrderedSet};

/// The number of slots below which snapshots do not return memory of deleted entries.
const SHRINK_SLOTS_MIN: usize = 4096;

/// A table with its entries.
#[derive(Clone, Debug)]
pub struct Table {
    spec: TableSpec,
    kind: TableKind,
    layout: KeyLayout,
    action_layouts: Vec<ActionLayout>,
    store: Store,
    default_action: Option<ActionCall>,
    next_sequence: u64,
}

/// The entries, by handle.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    slots: Slots,
    entries: usize,
    /// The most slots since the last [`Change::Shrink`].
    most_slots: usize,
    /// Free handles below `slots.len()`.
    free: OrderedSet<u32>,
    /// Handle + 1 of each entry, by the hash of its match and priority.
    identities: HashIndex,
    const_entries: usize,
    /// The number of entries that refer to each member and group.
    uses: OrderedMap<Target, usize>,
}

/// A change of a table, for snapshots.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Reserve {
        entries: usize,
    },
    Insert {
        handle: Handle,
        packed: PackedMatch,
        action: u32,
        data: Box<[u64]>,
    },
    Remove {
        handle: Handle,
    },
    /// No entry has this handle or a greater one.
    Shrink {
        handles: u32,
    },
    Modify {
        handle: Handle,
        action: u32,
        data: Box<[u64]>,
    },
    Clear,
    SetDefault {
        action: u32,
        data: Box<[u64]>,
    },
    SetMember {
        member: Handle,
        action: u32,
        data: Box<[u64]>,
    },
    SetGroup {
        group: Handle,
        choices: Vec<Handle>,
    },
}

/// A valid entry, ready to be inserted.
struct Prepared {
    spec: EntrySpec,
    packed: PackedMatch,
    identity: u32,
}

/// Entries of a batch that are prepared before the first of them is inserted.
const PREPARED_AT_ONCE: usize = 16;

/// How to undo a step.
#[derive(Debug)]
pub(crate) enum Undo {
    Insert(Handle),
    Delete(Box<Entry>),
    Modify { handle: Handle, action: usize, args: Vec<Bits> },
    Clear(Box<Store>),
    SetDefault(Option<ActionCall>),
    SetAttributes { handle: Handle, attributes: Option<Box<Attributes>> },
}

/// The record of one operation.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    pub changes: Vec<Change>,
    pub undos: Vec<Undo>,
}

impl Store {
    fn new() -> Store {
        Store {
            slots: Slots::default(),
            entries: 0,
            most_slots: 0,
            free: OrderedSet::new(),
            identities: HashIndex::new(),
            const_entries: 0,
            uses: OrderedMap::new(),
        }
    }

    /// A copy of the entries, for reading: it cannot be searched by match.
    fn frozen(&self) -> Store {
        Store { slots: self.slots.clone(), entries: self.entries, const_entries: self.const_entries, ..Store::new() }
    }

    fn entry(&self, handle: Handle) -> Option<&Entry> {
        self.slots.get(handle.0 as usize)
    }

    fn find(&self, identity: u32, key: &[FieldMatch], priority: i32) -> Option<Handle> {
        let same = |entry: &Entry| entry.spec.priority == priority && entry.spec.key == key;
        let number = self.identities.find(identity, |number| self.entry(Handle(number - 1)).is_some_and(same))?;
        Some(Handle(number - 1))
    }

    fn next_handle(&self) -> Handle {
        Handle(self.free.first().copied().unwrap_or(self.slots.len() as u32))
    }

    fn put(&mut self, identity: u32, entry: Entry) {
        let handle = entry.handle;
        self.const_entries += usize::from(entry.is_const);
        if !self.free.remove(&handle.0) {
            debug_assert_eq!(handle.0 as usize, self.slots.len(), "a new handle is the next one");
            self.slots.push_free();
        }
        self.identities.insert(identity, handle.0 + 1);
        self.count_use(entry.spec.action, &entry.spec.args);
        self.slots.put(handle.0 as usize, entry);
        self.entries += 1;
        self.most_slots = self.most_slots.max(self.slots.len());
    }

    /// The new number of slots, if there are far fewer than before.
    fn shrunk(&mut self) -> Option<u32> {
        let is_far_less = self.most_slots >= SHRINK_SLOTS_MIN && self.slots.len() <= self.most_slots / 4;
        is_far_less.then(|| {
            self.most_slots = self.slots.len();
            self.slots.len() as u32
        })
    }

    /// Counts a reference of an entry to this.
    fn count_use(&mut self, action: usize, args: &[Bits]) {
        if let Some(target) = Target::of(action, args) {
            *self.uses.entry(target).or_default() += 1;
        }
    }

    /// Removes a reference of an entry to this.
    fn discount_use(&mut self, action: usize, args: &[Bits]) {
        if let Some(target) = Target::of(action, args)
            && let Some(count) = self.uses.get_mut(&target)
        {
            *count -= 1;
            if *count == 0 {
                self.uses.remove(&target);
            }
        }
    }

    /// Changes the action and the arguments of an entry. Returns the former ones.
    fn replace_call(&mut self, handle: Handle, action: usize, args: Vec<Bits>) -> Option<(usize, Vec<Bits>)> {
        self.entry(handle)?;
        self.count_use(action, &args);
        let spec = &mut self.slots.get_mut(handle.0 as usize)?.spec;
        let (action, args) = (std::mem::replace(&mut spec.action, action), std::mem::replace(&mut spec.args, args));
        self.discount_use(action, &args);
        Some((action, args))
    }

    fn take(&mut self, identity: u32, handle: Handle) -> Option<Entry> {
        let entry = self.slots.take(handle.0 as usize)?;
        self.entries -= 1;
        self.const_entries -= usize::from(entry.is_const);
        self.discount_use(entry.spec.action, &entry.spec.args);
        self.identities.remove(identity, handle.0 + 1);
        self.free.insert(handle.0);
        // Free handles at the end are dropped, so that the slots stay dense for scans.
        while self.slots.ends_free() {
            self.slots.pop();
            self.free.remove(&(self.slots.len() as u32));
        }
        Some(entry)
    }
}

/// The hash of an entry's match and priority, which are unique in a table.
fn identity(packed: &PackedMatch) -> u32 {
    hash_words(0, packed.rows.iter().copied().chain([packed.priority as u64]))
}

impl Table {
    /// A table with its initial entries.
    pub fn new(mut spec: TableSpec) -> Result<Table, TableError> {
        let kind = TableKind::of(&spec.key);
        let name = spec.name.clone();
        let lpm_fields: Vec<String> =
            spec.key.iter().filter(|field| field.kind == MatchKind::Lpm).map(|field| field.name.clone()).collect();
        if kind == TableKind::Lpm && lpm_fields.len() > 1 {
            return Err(Problem::SeveralLpmFields { fields: lpm_fields }.of(&name));
        }
        let initial_entries = std::mem::take(&mut spec.initial_entries);
        spec.size = spec.size.max(initial_entries.len());
        if spec.size > TABLE_ENTRIES_MAX {
            return Err(Problem::SizeTooLarge { size: spec.size, most: TABLE_ENTRIES_MAX }.of(&name));
        }
        let default_action = spec.default_action.take().map(|call| canonical::default_call(&spec, call));
        let default_action = default_action.transpose().map_err(|problem| problem.of(&name))?;
        spec.default_action.clone_from(&default_action);
        let mut table = Table {
            kind,
            layout: KeyLayout::new(&spec.key),
            action_layouts: spec.actions.iter().map(ActionSpec::layout).collect(),
            store: Store::new(),
            default_action,
            next_sequence: 0,
            spec,
        };
        let mut journal = Journal::default();
        for InitialEntry { entry, is_const } in initial_entries {
            let is_const = is_const || table.spec.const_entries;
            table.insert_entry(entry, is_const, &mut journal).map_err(|problem| problem.of(&name))?;
        }
        Ok(table)
    }

    /// A copy of the table, for reading its entries while this one changes. They are shared until they change.
    pub(crate) fn frozen(&self) -> Table {
        Table {
            spec: self.spec.clone(),
            kind: self.kind,
            layout: self.layout.clone(),
            action_layouts: self.action_layouts.clone(),
            store: self.store.frozen(),
            default_action: self.default_action.clone(),
            next_sequence: self.next_sequence,
        }
    }

    /// The table's specification, without the initial entries.
    pub fn spec(&self) -> &TableSpec {
        &self.spec
    }

    /// How it finds an entry.
    pub fn kind(&self) -> TableKind {
        self.kind
    }

    /// The layout of the key fields in a row.
    pub fn key_layout(&self) -> &KeyLayout {
        &self.layout
    }

    /// The layout of the parameters of action `action` after an entry's header.
    pub fn action_layout(&self, action: usize) -> Option<&ActionLayout> {
        self.action_layouts.get(action)
    }

    /// Words of action data in every entry.
    pub fn data_words(&self) -> usize {
        let handle_words = usize::from(self.spec.profile.is_some());
        self.action_layouts.iter().map(ActionLayout::words).fold(handle_words, usize::max)
    }

    /// Whether a lookup identifies the matched entry, and not only its action and data.
    pub fn names_entries(&self) -> bool {
        let key = &self.spec.key;
        self.spec.keeps_cells || !(flat::serves(self.kind, key) || words::serves(self.kind, key))
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.store.entries
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entry of this handle.
    pub fn get(&self, handle: Handle) -> Option<&Entry> {
        self.store.entry(handle)
    }

    /// All entries in order of their handles.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.store.slots.iter_from(0)
    }

    /// The entries from a handle on, in order of their handles.
    pub fn entries_from(&self, handle: Handle) -> impl Iterator<Item = &Entry> {
        self.store.slots.iter_from(handle.0 as usize)
    }

    /// Every handle in use is below this.
    pub fn handles_end(&self) -> u32 {
        self.store.slots.len() as u32
    }

    /// The default action now; `None` does nothing.
    pub fn default_action(&self) -> Option<&ActionCall> {
        self.default_action.as_ref()
    }

    /// The entry with exactly this key and priority (which counts in ternary and range tables only). Bits that do not
    /// count may differ, as they may on insertion.
    pub fn find(&self, key: &[FieldMatch], priority: i32) -> Result<Option<Handle>, TableError> {
        let mut entry = EntrySpec { key: key.to_vec(), priority, action: 0, args: Vec::new() };
        canonical::matching(&self.spec, self.kind, &mut entry).map_err(|problem| problem.of(&self.spec.name))?;
        let packed = canonical::pack(self.kind, &self.layout, &entry, 0);
        Ok(self.store.find(identity(&packed), &entry.key, entry.priority))
    }

    /// Inserts an entry.
    pub fn insert(&mut self, entry: EntrySpec) -> Result<Handle, TableError> {
        match self.perform(Operation::Insert(entry))? {
            Outcome::Inserted(handle) => Ok(handle),
            other => unreachable!("an insertion gives a handle, not {other:?}"),
        }
    }

    /// Inserts all these entries, or none.
    pub fn insert_many(&mut self, entries: Vec<EntrySpec>) -> Result<Vec<Handle>, TableError> {
        match self.perform(Operation::InsertMany(entries))? {
            Outcome::InsertedMany(handles) => Ok(handles),
            other => unreachable!("insertions give handles, not {other:?}"),
        }
    }

    /// Changes the action or the arguments of an entry.
    pub fn modify(&mut self, handle: Handle, action: usize, args: Vec<Bits>) -> Result<(), TableError> {
        self.perform(Operation::Modify { handle, action, args }).map(drop)
    }

    /// Deletes an entry.
    pub fn delete(&mut self, handle: Handle) -> Result<(), TableError> {
        self.perform(Operation::Delete { handle }).map(drop)
    }

    /// Deletes all entries that are not const.
    pub fn clear(&mut self) -> Result<(), TableError> {
        self.perform(Operation::Clear).map(drop)
    }

    /// Sets the default action.
    pub fn set_default(&mut self, call: ActionCall) -> Result<(), TableError> {
        self.perform(Operation::SetDefault(call)).map(drop)
    }

    /// Sets the default action back to the one that the program declares.
    pub fn reset_default(&mut self) -> Result<(), TableError> {
        self.perform(Operation::ResetDefault).map(drop)
    }

    fn perform(&mut self, operation: Operation) -> Result<Outcome, TableError> {
        let mut journal = Journal::default();
        self.apply(operation, &mut journal).inspect_err(|_| self.undo_all(&mut journal))
    }

    /// Applies `operation` and records it in `journal`, even if it fails half-way: the caller then undoes it.
    pub(crate) fn apply(&mut self, operation: Operation, journal: &mut Journal) -> Result<Outcome, TableError> {
        let result = match operation {
            Operation::Insert(entry) => self.insert_checked(entry, journal).map(Outcome::Inserted),
            Operation::InsertMany(entries) => {
                journal.changes.push(Change::Reserve { entries: entries.len().min(self.spec.size) });
                self.store.identities.reserve(entries.len().min(self.spec.size));
                self.insert_many_checked(entries, journal).map(Outcome::InsertedMany)
            }
            Operation::Modify { handle, action, args } => self.modify_entry(handle, action, args, journal),
            Operation::Delete { handle } => self.delete_entry(handle, journal),
            Operation::Clear => self.clear_entries(journal),
            Operation::SetDefault(call) => self.change_default(Some(call), journal),
            Operation::ResetDefault => self.change_default(self.spec.default_action.clone(), journal),
            Operation::SetAttributes { handle, attributes } => self.set_attributes(handle, attributes, journal),
        };
        result.map_err(|problem| problem.of(&self.spec.name))
    }

    pub(crate) fn undo_all(&mut self, journal: &mut Journal) {
        journal.changes.clear();
        while let Some(undo) = journal.undos.pop() {
            self.undo(undo);
        }
    }

    pub(crate) fn undo(&mut self, undo: Undo) {
        match undo {
            Undo::Insert(handle) => {
                if let Some(packed) = self.packed(handle) {
                    self.store.take(identity(&packed), handle);
                }
            }
            Undo::Delete(entry) => {
                let packed = canonical::pack(self.kind, &self.layout, &entry.spec, entry.sequence);
                // Free handles at the end were dropped; those before this one are free again.
                for handle in self.store.slots.len() as u32..entry.handle.0 {
                    self.store.slots.push_free();
                    self.store.free.insert(handle);
                }
                self.store.put(identity(&packed), *entry);
            }
            Undo::Modify { handle, action, args } => drop(self.store.replace_call(handle, action, args)),
            Undo::Clear(store) => self.store = *store,
            Undo::SetDefault(call) => self.default_action = call,
            Undo::SetAttributes { handle, attributes } => {
                if let Some(entry) = self.store.slots.get_mut(handle.0 as usize) {
                    entry.attributes = attributes;
                }
            }
        }
    }

    /// The changes that make an empty snapshot equal to this table.
    pub(crate) fn all_changes(&self) -> impl Iterator<Item = Change> {
        let start = [Change::Clear, self.default_change(), Change::Reserve { entries: self.len() }];
        start.into_iter().chain(self.entries().map(|entry| {
            let packed = canonical::pack(self.kind, &self.layout, &entry.spec, entry.sequence);
            self.insert_change(entry, packed)
        }))
    }

    fn packed(&self, handle: Handle) -> Option<PackedMatch> {
        let entry = self.get(handle)?;
        Some(canonical::pack(self.kind, &self.layout, &entry.spec, entry.sequence))
    }

    /// The words of data behind an entry.
    fn data(&self, action: usize, args: &[Bits]) -> Box<[u64]> {
        match Target::of(action, args) {
            Some(Target::Member(handle) | Target::Group(handle)) => Box::new([u64::from(handle.0)]),
            None => self.action_layouts[action].pack(args).into_boxed_slice(),
        }
    }

    /// The changes for snapshots after a change of the table's profile.
    pub(crate) fn profile_change(&self, used: &ProfileUse, change: &ProfileChange) -> Change {
        match change {
            ProfileChange::Member { member, call } => {
                let action = used.actions[call.action];
                let data = self.data(action, &call.args);
                Change::SetMember { member: *member, action: action as u32, data }
            }
            ProfileChange::Group { group, choices } => Change::SetGroup { group: *group, choices: choices.clone() },
        }
    }

    /// Whether an entry or the default action refers to this member or group.
    pub fn names(&self, target: Target) -> bool {
        let default = self.default_action.as_ref().and_then(|call| Target::of(call.action, &call.args));
        default == Some(target) || self.store.uses.contains_key(&target)
    }

    fn insert_change(&self, entry: &Entry, packed: PackedMatch) -> Change {
        let data = self.data(entry.spec.action, &entry.spec.args);
        Change::Insert { handle: entry.handle, packed, action: entry.spec.action as u32, data }
    }

    fn default_change(&self) -> Change {
        match &self.default_action {
            Some(call) => Change::SetDefault { action: call.action as u32, data: self.data(call.action, &call.args) },
            None => Change::SetDefault { action: crate::NO_ACTION, data: Box::new([]) },
        }
    }

    fn insert_checked(&mut self, entry: EntrySpec, journal: &mut Journal) -> Result<Handle, Problem> {
        if self.spec.const_entries {
            return Err(Problem::ConstEntries);
        }
        self.insert_entry(entry, false, journal)
    }

    /// Inserts entries in their order, up to the first that is refused. The places where they belong in memory are
    /// requested some entries ahead.
    fn insert_many_checked(&mut self, entries: Vec<EntrySpec>, journal: &mut Journal) -> Result<Vec<Handle>, Problem> {
        if self.spec.const_entries && !entries.is_empty() {
            return Err(Problem::ConstEntries);
        }
        let mut handles = Vec::with_capacity(entries.len());
        journal.changes.reserve(entries.len());
        journal.undos.reserve(entries.len());
        let mut entries = entries.into_iter();
        let mut prepared = Vec::with_capacity(PREPARED_AT_ONCE);
        loop {
            prepared.extend(entries.by_ref().take(PREPARED_AT_ONCE).map(|entry| self.prepared(entry)));
            if prepared.is_empty() {
                return Ok(handles);
            }
            for entry in prepared.drain(..) {
                handles.push(self.insert_prepared(entry?, false, journal)?);
            }
        }
    }

    fn insert_entry(&mut self, entry: EntrySpec, is_const: bool, journal: &mut Journal) -> Result<Handle, Problem> {
        let prepared = self.prepared(entry)?;
        self.insert_prepared(prepared, is_const, journal)
    }

    fn prepared(&self, entry: EntrySpec) -> Result<Prepared, Problem> {
        let spec = canonical::entry(&self.spec, self.kind, entry)?;
        let packed = canonical::pack(self.kind, &self.layout, &spec, 0);
        let identity = identity(&packed);
        cells::prefetch(self.store.identities.home(identity));
        Ok(Prepared { spec, packed, identity })
    }

    fn insert_prepared(&mut self, entry: Prepared, is_const: bool, journal: &mut Journal) -> Result<Handle, Problem> {
        let Prepared { spec, mut packed, identity } = entry;
        packed.sequence = self.next_sequence;
        if let Some(handle) = self.store.find(identity, &spec.key, spec.priority) {
            let priority = self.kind.has_priority().then_some(spec.priority);
            return Err(Problem::Duplicate { handle, priority });
        }
        if self.store.entries >= self.spec.size {
            return Err(Problem::Full { size: self.spec.size });
        }
        let handle = self.store.next_handle();
        let entry = Entry { handle, spec, sequence: self.next_sequence, is_const, attributes: None };
        self.next_sequence += 1;
        journal.changes.push(self.insert_change(&entry, packed));
        journal.undos.push(Undo::Insert(handle));
        self.store.put(identity, entry);
        Ok(handle)
    }

    fn changeable(&self, handle: Handle) -> Result<&Entry, Problem> {
        let unknown = Problem::UnknownHandle { handle, entries: self.len() };
        let entry = self.get(handle).ok_or(unknown)?;
        match (self.spec.const_entries, entry.is_const) {
            (true, _) => Err(Problem::ConstEntries),
            (_, true) => Err(Problem::ConstEntry { handle }),
            _ => Ok(entry),
        }
    }

    fn modify_entry(
        &mut self,
        handle: Handle,
        action: usize,
        args: Vec<Bits>,
        journal: &mut Journal,
    ) -> Result<Outcome, Problem> {
        let entry = self.changeable(handle)?;
        // The same checks as on insertion; the key passes them again, unchanged.
        let spec = EntrySpec { key: entry.spec.key.clone(), priority: entry.spec.priority, action, args };
        let spec = canonical::entry(&self.spec, self.kind, spec)?;
        let data = self.data(spec.action, &spec.args);
        journal.changes.push(Change::Modify { handle, action: spec.action as u32, data });
        if let Some((action, args)) = self.store.replace_call(handle, spec.action, spec.args) {
            journal.undos.push(Undo::Modify { handle, action, args });
        }
        Ok(Outcome::Done)
    }

    fn delete_entry(&mut self, handle: Handle, journal: &mut Journal) -> Result<Outcome, Problem> {
        self.changeable(handle)?;
        self.remove(handle, journal);
        Ok(Outcome::Done)
    }

    fn remove(&mut self, handle: Handle, journal: &mut Journal) {
        let identity = self.packed(handle).map(|packed| identity(&packed));
        if let Some(entry) = identity.and_then(|identity| self.store.take(identity, handle)) {
            journal.changes.push(Change::Remove { handle });
            journal.undos.push(Undo::Delete(Box::new(entry)));
            journal.changes.extend(self.store.shrunk().map(|handles| Change::Shrink { handles }));
        }
    }

    fn clear_entries(&mut self, journal: &mut Journal) -> Result<Outcome, Problem> {
        if self.spec.const_entries {
            return Err(Problem::ConstEntries);
        }
        if self.store.const_entries == 0 {
            let old = std::mem::replace(&mut self.store, Store::new());
            journal.changes.push(Change::Clear);
            journal.undos.push(Undo::Clear(Box::new(old)));
        } else {
            let handles: Vec<Handle> =
                self.entries().filter(|entry| !entry.is_const).map(|entry| entry.handle).collect();
            handles.into_iter().for_each(|handle| self.remove(handle, journal));
        }
        Ok(Outcome::Done)
    }

    fn set_attributes(
        &mut self,
        handle: Handle,
        attributes: Attributes,
        journal: &mut Journal,
    ) -> Result<Outcome, Problem> {
        self.changeable(handle)?;
        if let Some(entry) = self.store.slots.get_mut(handle.0 as usize) {
            let new = (attributes != Attributes::default()).then(|| Box::new(attributes));
            let old = std::mem::replace(&mut entry.attributes, new);
            journal.undos.push(Undo::SetAttributes { handle, attributes: old });
        }
        Ok(Outcome::Done)
    }

    fn change_default(&mut self, call: Option<ActionCall>, journal: &mut Journal) -> Result<Outcome, Problem> {
        if self.spec.default_const {
            return Err(Problem::ConstDefault);
        }
        let call = call.map(|call| canonical::default_call(&self.spec, call)).transpose()?;
        journal.undos.push(Undo::SetDefault(std::mem::replace(&mut self.default_action, call)));
        journal.changes.push(self.default_change());
        Ok(Outcome::Done)
    }
}
