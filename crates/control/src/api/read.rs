//! Reading state as entities.
//!
//! What enters: a query, in which an omitted part means all. What leaves: entities, some at a time, so that neither a
//! large table nor a large array blocks the switch or fills the memory: tables are read under their lock in parts,
//! cells by jobs of bounded size.

use crate::api::entity::{
    Call, Cell, CloneSession, Direct, Entity, EntryAction, EntryName, Group, Member, MeterValue, Multicast, TableEntry,
};
use crate::api::fault::Fault;
use crate::api::state::{ControllerState, GroupContents};
use crate::api::{Pipeline, ProgramQueue};
use base::Bits;
use base::index::Id as _;
use ir::{ActionProfileId, CounterId, DigestId, MeterId, RegisterId, TableId, ValueSetId};
use switch::{CloneTarget, Destination, Switch, profile_actions};
use tables::{Entry, Handle, Target};

/// Entries that are read under one lock, and cells that one job reads.
const PIECE: usize = 512;

/// A query. An absent index, number or name means all.
#[derive(Clone, Debug, PartialEq)]
pub enum Query {
    /// Entries of tables.
    TableEntries(TableQuery),
    /// Direct counters.
    DirectCounters {
        /// Of this table.
        table: Option<TableId>,
        /// Of which entries.
        which: Which,
    },
    /// Direct meters.
    DirectMeters {
        /// Of this table.
        table: Option<TableId>,
        /// Of which entries.
        which: Which,
    },
    /// Members of action profiles.
    Members {
        /// Of this profile.
        profile: Option<ActionProfileId>,
        /// The one of this number.
        id: Option<u32>,
    },
    /// Groups of action profiles.
    Groups {
        /// Of this profile.
        profile: Option<ActionProfileId>,
        /// The one of this number.
        id: Option<u32>,
    },
    /// Cells of counter arrays.
    Counters {
        /// Of this array.
        array: Option<CounterId>,
        /// This cell.
        index: Option<u64>,
    },
    /// Cells of meter arrays.
    Meters {
        /// Of this array.
        array: Option<MeterId>,
        /// This cell.
        index: Option<u64>,
    },
    /// Cells of register arrays.
    Registers {
        /// Of this array.
        array: Option<RegisterId>,
        /// This cell.
        index: Option<u64>,
    },
    /// Multicast groups.
    Multicast(Option<u64>),
    /// Clone sessions.
    CloneSessions(Option<u32>),
    /// Parser value sets.
    ValueSets(Option<ValueSetId>),
    /// Digests that are configured.
    Digests(Option<DigestId>),
}

/// Which entries of tables, and which of their parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableQuery {
    /// Of this table.
    pub table: Option<TableId>,
    /// Which entries.
    pub which: Which,
    /// With their direct counters.
    pub with_counter: bool,
    /// With their direct meters.
    pub with_meter: bool,
    /// With the time since their last hit.
    pub with_idle: bool,
}

/// Which entries of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Which {
    /// All, without the default action.
    #[default]
    All,
    /// This one.
    Named(EntryName),
    /// The default action.
    Default,
}

impl Query {
    /// Whether it selects what a [`crate::api::Copied`] has: all entries, members or groups, without what only the
    /// switch knows of them.
    pub fn is_of_copies(&self) -> bool {
        match self {
            Query::TableEntries(TableQuery { which: Which::All, with_counter, with_meter, with_idle, .. }) => {
                !with_counter && !with_meter && !with_idle
            }
            Query::Members { id, .. } | Query::Groups { id, .. } => id.is_none(),
            _ => false,
        }
    }
}

impl Query {
    /// Whether it selects all cells of arrays, which writes to tables do not change.
    pub fn is_of_arrays(&self) -> bool {
        use Query::{Counters, Meters, Registers};
        matches!(self, Counters { index: None, .. } | Meters { index: None, .. } | Registers { index: None, .. })
    }
}

/// Receives entities; returns false to stop the reading.
pub type Sink<'a> = &'a mut dyn FnMut(Vec<Entity>) -> bool;

/// An entry from the tables, before the values that only the switch knows are added.
pub(super) type Found = (Handle, TableEntry);

impl Pipeline {
    /// Passes all entities that the query selects to `sink`.
    pub(crate) fn read(&self, command_queue: ProgramQueue<'_>, query: &Query, sink: Sink<'_>) -> Result<(), Fault> {
        match query {
            Query::TableEntries(query) => self.table_entries(command_queue, query, sink),
            Query::DirectCounters { table, which } => self.direct(command_queue, *table, which, true, sink),
            Query::DirectMeters { table, which } => self.direct(command_queue, *table, which, false, sink),
            Query::Members { profile, id } => self.members(*profile, *id, sink),
            Query::Groups { profile, id } => self.groups(*profile, *id, sink),
            Query::Counters { array, index } => {
                let arrays = self.program.counters.iter_enumerated().map(|(id, it)| (id, it.name.as_str(), it.size));
                let read = |switch: &mut Switch, array: CounterId, index: u64| {
                    let value = *switch.externs_mut().counters[array].get(index as usize)?;
                    Some(Entity::Counter(Cell { array, index: Some(index), value }))
                };
                cells(command_queue, arrays, ("counter", *array, *index), read, sink)
            }
            Query::Meters { array, index } => {
                let arrays = self.program.meters.iter_enumerated().map(|(id, it)| (id, it.name.as_str(), it.size));
                let read = |switch: &mut Switch, array: MeterId, index: u64| {
                    let cell = switch.externs_mut().meters[array].cell(index)?;
                    let value = MeterValue { config: cell.config(), counts: Some(cell.counts()) };
                    Some(Entity::Meter(Cell { array, index: Some(index), value }))
                };
                cells(command_queue, arrays, ("meter", *array, *index), read, sink)
            }
            Query::Registers { array, index } => {
                let arrays = self.program.registers.iter_enumerated().map(|(id, it)| (id, it.name.as_str(), it.size));
                let read = |switch: &mut Switch, array: RegisterId, index: u64| {
                    let value = switch.externs_mut().registers[array].read(index)?;
                    Some(Entity::Register(Cell { array, index: Some(index), value }))
                };
                cells(command_queue, arrays, ("register", *array, *index), read, sink)
            }
            Query::Multicast(group) => self.multicast(command_queue, *group, sink),
            Query::CloneSessions(session) => self.clone_sessions(command_queue, *session, sink),
            Query::ValueSets(set) => self.value_sets(command_queue, *set, sink),
            Query::Digests(digest) => {
                let digests = self.state().digests.clone();
                let wanted = digests.into_iter().filter(|(id, _)| digest.is_none_or(|it| it == *id));
                sink(wanted.map(|(digest, config)| Entity::Digest { digest, config }).collect());
                Ok(())
            }
        }
    }

    /// How many entities the query selects at most.
    pub(crate) fn size_of(&self, query: &Query) -> u64 {
        let entries = |table: &Option<TableId>, which: &Which| {
            let set = self.tables.lock();
            let ids = self.program.tables.ids().filter(|&id| table.is_none_or(|it| it == id));
            match which {
                Which::All => ids.map(|id| set.tables()[id.index()].len() as u64).sum(),
                Which::Default => ids.count() as u64,
                Which::Named(_) => 1,
            }
        };
        match query {
            Query::TableEntries(query) => entries(&query.table, &query.which),
            Query::DirectCounters { table, which } | Query::DirectMeters { table, which } => entries(table, which),
            Query::Members { .. } => {
                let set = self.tables.lock();
                set.profiles().iter().map(|it| it.members().count() as u64).sum()
            }
            Query::Groups { .. } => {
                let set = self.tables.lock();
                set.profiles().iter().map(|it| it.groups().count() as u64).sum()
            }
            Query::Counters { index: Some(_), .. }
            | Query::Meters { index: Some(_), .. }
            | Query::Registers { index: Some(_), .. } => 1,
            Query::Counters { array, .. } => {
                let arrays = self.program.counters.iter_enumerated().filter(|(id, _)| array.is_none_or(|it| it == *id));
                arrays.map(|(_, it)| it.size).sum()
            }
            Query::Meters { array, .. } => {
                let arrays = self.program.meters.iter_enumerated().filter(|(id, _)| array.is_none_or(|it| it == *id));
                arrays.map(|(_, it)| it.size).sum()
            }
            Query::Registers { array, .. } => {
                let arrays =
                    self.program.registers.iter_enumerated().filter(|(id, _)| array.is_none_or(|it| it == *id));
                arrays.map(|(_, it)| it.size).sum()
            }
            Query::Multicast(_) | Query::CloneSessions(_) | Query::ValueSets(_) | Query::Digests(_) => 1,
        }
    }

    // ------------------------------------------------------------------------------------------------- tables

    fn table_entries(&self, command_queue: ProgramQueue<'_>, query: &TableQuery, sink: Sink<'_>) -> Result<(), Fault> {
        let tables = self.program.tables.ids().filter(|&id| query.table.is_none_or(|it| it == id));
        for table in tables {
            let more = self.pieces(table, &query.which, &mut |found| {
                let entries = self.with_cells(command_queue, table, found, query)?;
                Ok(sink(entries.into_iter().map(Entity::TableEntry).collect()))
            })?;
            if !more {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Passes on the entries of a table, in parts. False if `sink` has stopped the reading.
    fn pieces(
        &self,
        table: TableId,
        which: &Which,
        take: &mut dyn FnMut(Vec<Found>) -> Result<bool, Fault>,
    ) -> Result<bool, Fault> {
        if let Which::Named(name) = which {
            let found = {
                let (mut state, set) = (self.state(), self.tables.lock());
                let stored = &set.tables()[table.index()];
                let entry = stored.find(&name.key, name.priority)?.and_then(|handle| stored.get(handle));
                entry.map(|entry| (entry.handle, self.entry(&mut state, table, entry)))
            };
            return take(found.into_iter().collect());
        }
        if *which == Which::Default {
            return take(vec![(default_handle(&self.program.tables[table]), self.default_entry(table))]);
        }
        let mut next = Handle(0);
        loop {
            let found: Vec<Found> = {
                let (mut state, set) = (self.state(), self.tables.lock());
                let entries = set.tables()[table.index()].entries_from(next).take(PIECE);
                entries.map(|entry| (entry.handle, self.entry(&mut state, table, entry))).collect()
            };
            let Some((last, _)) = found.last() else { return Ok(true) };
            next = Handle(last.0 + 1);
            if !take(found)? {
                return Ok(false);
            }
        }
    }

    pub(crate) fn entry(&self, state: &mut ControllerState, table: TableId, entry: &Entry) -> TableEntry {
        let name = EntryName { key: entry.spec.key.clone(), priority: entry.spec.priority };
        let action = self.entry_action(state, table, entry.spec.action, &entry.spec.args);
        TableEntry {
            attributes: entry.attributes.as_deref().cloned().unwrap_or_default(),
            is_const: entry.is_const,
            ..TableEntry::new(table, Some(name), action)
        }
    }

    fn default_entry(&self, table: TableId) -> TableEntry {
        let (mut state, set) = (self.state(), self.tables.lock());
        let call = set.tables()[table.index()].default_action();
        let action = call.and_then(|call| self.entry_action(&mut state, table, call.action, &call.args));
        let attributes = state.default_attributes.get(&table).cloned().unwrap_or_default();
        let is_const = self.program.tables[table].const_default;
        TableEntry { attributes, is_const, ..TableEntry::new(table, None, action) }
    }

    fn entry_action(
        &self,
        state: &mut ControllerState,
        table: TableId,
        action: usize,
        args: &[Bits],
    ) -> Option<EntryAction> {
        let declared = &self.program.tables[table];
        let profile = declared.implementation.as_ref().map(|used| used.profile);
        match (Target::of(action, args), profile) {
            (Some(Target::Member(handle)), Some(profile)) => {
                Some(EntryAction::Member(state.members.number(profile, handle)))
            }
            (Some(Target::Group(handle)), Some(profile)) => {
                Some(match state.one_shots.get(&(profile.index(), handle)) {
                    Some(one_shot) => EntryAction::OneShot(one_shot.choices.clone()),
                    None => EntryAction::Group(state.groups.number(profile, handle)),
                })
            }
            _ => {
                let action = declared.actions.get(action)?.action;
                Some(EntryAction::Call(Call { action, args: args.to_vec() }))
            }
        }
    }

    fn direct(
        &self,
        command_queue: ProgramQueue<'_>,
        table: Option<TableId>,
        which: &Which,
        counters: bool,
        sink: Sink<'_>,
    ) -> Result<(), Fault> {
        let has = |table: &ir::Table| match counters {
            true => !table.direct_counters.is_empty(),
            false => table.direct_meter.is_some(),
        };
        if let Some(id) = table
            && !has(&self.program.tables[id])
        {
            let what = if counters { "counter" } else { "meter" };
            let name = &self.program.tables[id].name;
            return Err(Fault::invalid(format!("table {name} has no direct {what}")));
        }
        let query = TableQuery { with_counter: counters, with_meter: !counters, ..TableQuery::default() };
        let tables = self.program.tables.iter_enumerated().filter(|(_, it)| has(it)).map(|(id, _)| id);
        for id in tables.filter(|&id| table.is_none_or(|it| it == id)) {
            let more = self.pieces(id, which, &mut |found| {
                let entries = self.with_cells(command_queue, id, found, &query)?;
                Ok(sink(entries.into_iter().filter_map(direct_entity).collect()))
            })?;
            if !more {
                return Ok(());
            }
        }
        Ok(())
    }

    // ------------------------------------------------------------------------------------------------ profiles

    fn members(&self, profile: Option<ActionProfileId>, id: Option<u32>, sink: Sink<'_>) -> Result<(), Fault> {
        for profile in self.program.action_profiles.ids().filter(|&it| profile.is_none_or(|wanted| wanted == it)) {
            let listed = profile_actions(&self.program, profile);
            let members = {
                let (mut state, set) = (self.state(), self.tables.lock());
                let state = &mut *state;
                let own = owned_members(state, profile);
                let stored = set.profiles()[profile.index()].members().filter(|(handle, _)| !own.contains(handle));
                let member = |(handle, call): (Handle, &tables::ActionCall)| {
                    let call = Call { action: listed[call.action].action, args: call.args.clone() };
                    Member { profile, id: state.members.number(profile, handle), call: Some(call) }
                };
                stored.map(member).collect::<Vec<_>>()
            };
            let wanted = members.into_iter().filter(|member| id.is_none_or(|id| id == member.id));
            if !sink(wanted.map(Entity::Member).collect()) {
                return Ok(());
            }
        }
        Ok(())
    }

    fn groups(&self, profile: Option<ActionProfileId>, id: Option<u32>, sink: Sink<'_>) -> Result<(), Fault> {
        for profile in self.program.action_profiles.ids().filter(|&it| profile.is_none_or(|wanted| wanted == it)) {
            let groups = {
                let (mut state, set) = (self.state(), self.tables.lock());
                let stored = set.profiles()[profile.index()].groups();
                let own = |handle: &Handle| state.one_shots.contains_key(&(profile.index(), *handle));
                let stored: Vec<_> = stored.filter(|(handle, _)| !own(handle)).collect();
                let group = |(handle, members): (Handle, &tables::Group)| group(&mut state, profile, handle, members);
                stored.into_iter().map(group).collect::<Vec<_>>()
            };
            let wanted = groups.into_iter().filter(|group| id.is_none_or(|id| id == group.id));
            if !sink(wanted.map(Entity::Group).collect()) {
                return Ok(());
            }
        }
        Ok(())
    }

    // -------------------------------------------------------------------------------------------------- others

    fn multicast(&self, command_queue: ProgramQueue<'_>, group: Option<u64>, sink: Sink<'_>) -> Result<(), Fault> {
        let groups: Vec<(u64, Vec<switch::Replica>)> = command_queue.ask(move |switch| {
            let groups = switch.replication().groups().filter(|(number, _)| group.is_none_or(|it| it == *number));
            groups.map(|(number, replicas)| (number, replicas.to_vec())).collect()
        })?;
        let state = self.state();
        let entity = |(group, replicas): (u64, Vec<switch::Replica>)| {
            let metadata = state.multicast_metadata.get(&group).cloned().unwrap_or_default();
            let replicas = state.replicas(Destination::Group(group), replicas);
            Entity::Multicast(Multicast { group, replicas, metadata })
        };
        let entities = groups.into_iter().map(entity).collect();
        drop(state);
        sink(entities);
        Ok(())
    }

    /// A session that has the copies of a group comes with those of this moment.
    fn clone_sessions(
        &self,
        command_queue: ProgramQueue<'_>,
        session: Option<u32>,
        sink: Sink<'_>,
    ) -> Result<(), Fault> {
        type Found = (u32, Option<u64>, Vec<switch::Replica>, switch::CloneProperties);
        let sessions: Vec<Found> = command_queue.ask(move |switch| {
            let replication = switch.replication();
            let wanted = replication.sessions().filter(|(number, ..)| session.is_none_or(|it| it == *number));
            let found = |(number, target, properties): (u32, &CloneTarget, _)| {
                let group = if let CloneTarget::Group(group) = target { Some(*group) } else { None };
                (number, group, replication.replicas(Destination::Session(number)).to_vec(), properties)
            };
            wanted.map(found).collect()
        })?;
        let state = self.state();
        let entity = |(session, group, replicas, properties): Found| {
            Entity::CloneSession(CloneSession {
                session,
                group,
                replicas: state.replicas(Destination::Session(session), replicas),
                class_of_service: properties.class_of_service,
                length_bytes_max: properties.length_bytes_max.unwrap_or(0),
            })
        };
        let entities = sessions.into_iter().map(entity).collect();
        drop(state);
        sink(entities);
        Ok(())
    }

    fn value_sets(
        &self,
        command_queue: ProgramQueue<'_>,
        set: Option<ValueSetId>,
        sink: Sink<'_>,
    ) -> Result<(), Fault> {
        for id in self.program.value_sets.ids().filter(|&id| set.is_none_or(|it| it == id)) {
            let members = command_queue.ask(move |switch| switch.externs_mut().value_sets[id].clone())?;
            if !sink(vec![Entity::ValueSet { set: id, members }]) {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Reads the cells of arrays, by jobs of bounded size.
fn cells<'p, Id: Copy + PartialEq + Send + 'static>(
    command_queue: ProgramQueue<'_>,
    arrays: impl Iterator<Item = (Id, &'p str, u64)>,
    (what, array, index): (&str, Option<Id>, Option<u64>),
    read: impl Fn(&mut Switch, Id, u64) -> Option<Entity> + Copy + Send + 'static,
    sink: Sink<'_>,
) -> Result<(), Fault> {
    for (id, name, size) in arrays.filter(|(id, ..)| array.is_none_or(|it| it == *id)) {
        let (mut from, end) = match index {
            Some(index) if index >= size && array.is_some() => {
                return Err(Fault::new(
                    crate::api::fault::Code::OutOfRange,
                    format!("{what} {name} has no cell {index}: its size is {size}"),
                ));
            }
            Some(index) => (index.min(size), (index + 1).min(size)),
            None => (0, size),
        };
        while from < end {
            let piece = from..end.min(from + PIECE as u64);
            from = piece.end;
            let entities = command_queue
                .ask(move |switch| piece.filter_map(|index| read(switch, id, index)).collect::<Vec<_>>())?;
            if !sink(entities) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The members that belong to groups of single entries.
pub(crate) fn owned_members(state: &ControllerState, profile: ActionProfileId) -> Vec<Handle> {
    state.one_shots_of(profile).flat_map(|(_, one_shot)| one_shot.members.iter().copied()).collect()
}

/// A group as the controller wrote it, or as the switch has it if another client of the control plane made it.
pub(crate) fn group(
    state: &mut ControllerState,
    profile: ActionProfileId,
    handle: Handle,
    members: &tables::Group,
) -> Group {
    let written = state.group_contents.get(&(profile.index(), handle)).cloned();
    let contents = written.unwrap_or_else(|| GroupContents {
        members: (members.iter())
            .map(|(&member, &weight)| crate::api::entity::GroupMember {
                member: state.members.number(profile, member),
                weight,
                watch_port: None,
            })
            .collect(),
        size_max: 0,
    });
    let id = state.groups.number(profile, handle);
    Group { profile, id, members: contents.members, size_max: contents.size_max }
}

/// Replaces the handle for the default action, where its direct counter and meter are.
pub(crate) fn default_handle(table: &ir::Table) -> Handle {
    Handle(table.default_cell() as u32)
}

pub(super) fn direct_entity(entry: TableEntry) -> Option<Entity> {
    let TableEntry { table, name, counter, meter, meter_counts: counts, .. } = entry;
    let which = name.map_or(Which::Default, Which::Named);
    match (counter, meter) {
        (Some(value), _) => Some(Entity::DirectCounter(Direct { table, which, value })),
        (_, Some(config)) => Some(Entity::DirectMeter(Direct { table, which, value: MeterValue { config, counts } })),
        _ => None,
    }
}
