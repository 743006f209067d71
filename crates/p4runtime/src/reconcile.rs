//! What a new program takes over from the one that runs.
//!
//! What enters: the control planes of both. What leaves: in the new one, everything that both can have. Things are
//! the same if they have the same name and the same form: tables the same keys, actions the same parameters, arrays
//! cells of the same width. What a packet changes while it is copied (counters, registers) is copied last, between
//! the bursts of the two programs.

use control::Api;
use control::api::entity::{Call, Cell, Choice, Direct, EntryAction, Group, Member, Multicast, TableEntry};
use control::api::{Atomicity, Code, Entity, Fault, Query, TableQuery, Update, UpdateKind, Which};
use ir::{ActionId, ActionProfileId, DigestId, Program, TableId, ValueSetId};
use std::collections::BTreeMap;
use switch::Switch;
use switch::externs::CounterCell;

/// Updates that are written at once.
const PIECE: usize = 4096;

/// How much was taken over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TakenOver {
    /// Entities that were taken over.
    pub kept: usize,
    /// Entities that were not.
    pub lost: usize,
}

/// Writes everything of the one control plane to the other that both can have, but for what [`carry`] carries.
pub(crate) fn take_over(from: &Api, to: &Api) -> Result<TakenOver, Fault> {
    let (old, new) = (from.program(), to.program());
    let names = Names::new(&old, &new);
    let table_entries = |which| {
        let query = TableQuery { which, with_counter: true, with_meter: true, ..TableQuery::default() };
        Query::TableEntries(query)
    };
    // Members before groups, and groups before the entries that name them.
    let queries = [
        Query::Members { profile: None, id: None },
        Query::Groups { profile: None, id: None },
        Query::Multicast(None),
        Query::CloneSessions(None),
        Query::ValueSets(None),
        Query::Digests(None),
        table_entries(Which::All),
        table_entries(Which::Default),
        Query::DirectCounters { table: None, which: Which::Default },
        Query::DirectMeters { table: None, which: Which::Default },
    ];
    let mut summary = TakenOver::default();
    leave_out_declared(&names, to)?;
    for query in queries {
        from.read(&query, &mut |entities| {
            for piece in entities.chunks(PIECE) {
                write_piece(&names, to, piece, &mut summary);
            }
            true
        })?;
    }
    Ok(summary)
}

/// Takes out of the new tables what the old program declares too: it is there again if it still was in the old tables.
fn leave_out_declared(names: &Names<'_>, to: &Api) -> Result<(), Fault> {
    let mut declared = Vec::new();
    let query = TableQuery { which: Which::All, ..TableQuery::default() };
    to.read(&Query::TableEntries(query), &mut |entities| {
        declared.extend(entities.iter().filter(|entity| names.is_declared_by_both(entity)).cloned());
        true
    })?;
    let delete = |entity| Update { kind: UpdateKind::Delete, entity };
    for outcome in to.write(declared.into_iter().map(delete).collect(), Atomicity::ContinueOnError) {
        outcome?;
    }
    Ok(())
}

fn write_piece(names: &Names<'_>, to: &Api, entities: &[Entity], summary: &mut TakenOver) {
    let mut updates = Vec::with_capacity(entities.len());
    for entity in entities {
        match names.entity(entity) {
            Taken::As(entity) => updates.push(*entity),
            Taken::Already => {}
            Taken::Not => summary.lost += 1,
        }
    }
    let count = updates.len();
    let insert = |entity: &Entity| Update { kind: first_kind(entity), entity: entity.clone() };
    let outcomes = to.write(updates.iter().map(insert).collect(), Atomicity::ContinueOnError);
    // What the new program declares itself is there already.
    let exists = |(entity, outcome): (Entity, Result<(), Fault>)| match outcome {
        Err(Fault { code: Code::AlreadyExists, .. }) => Some(Ok(entity)),
        Err(_) => Some(Err(())),
        Ok(()) => None,
    };
    let rest: Vec<Result<Entity, ()>> = updates.into_iter().zip(outcomes).filter_map(exists).collect();
    let mut lost = rest.iter().filter(|it| it.is_err()).count();
    let again: Vec<Update> =
        rest.into_iter().flatten().map(|entity| Update { kind: UpdateKind::Modify, entity }).collect();
    if !again.is_empty() {
        let outcomes = to.write(again, Atomicity::ContinueOnError);
        lost += outcomes.iter().filter(|outcome| outcome.is_err()).count();
    }
    summary.lost += lost;
    summary.kept += count - lost;
}

fn first_kind(entity: &Entity) -> UpdateKind {
    match entity {
        Entity::TableEntry(TableEntry { name: None, .. }) | Entity::ValueSet { .. } => UpdateKind::Modify,
        Entity::DirectCounter(_) | Entity::DirectMeter(_) => UpdateKind::Modify,
        _ => UpdateKind::Insert,
    }
}

/// What becomes of an entity.
enum Taken {
    /// It is this one in the new program.
    As(Box<Entity>),
    /// It is the program's own, and so is that of the new program.
    Already,
    /// There is no place for it.
    Not,
}

/// The things of the new program that are the same as those of the old one.
struct Names<'p> {
    old: &'p Program,
    new: &'p Program,
    tables: BTreeMap<TableId, TableId>,
    profiles: BTreeMap<ActionProfileId, ActionProfileId>,
    value_sets: BTreeMap<ValueSetId, ValueSetId>,
    digests: BTreeMap<DigestId, DigestId>,
}

impl<'p> Names<'p> {
    fn new(old: &'p Program, new: &'p Program) -> Names<'p> {
        let tables = old.tables.iter_enumerated().filter_map(|(id, table)| {
            let same = new.tables.iter_enumerated().find(|(_, it)| it.name == table.name && has_same_keys(it, table));
            Some((id, same?.0))
        });
        let profiles = old.action_profiles.iter_enumerated().filter_map(|(id, profile)| {
            let is_same =
                |it: &ir::ActionProfile| it.name == profile.name && it.selector.is_some() == profile.selector.is_some();
            Some((id, new.action_profiles.iter_enumerated().find(|(_, it)| is_same(it))?.0))
        });
        let value_sets = old.value_sets.iter_enumerated().filter_map(|(id, set)| {
            let same = new.value_sets.iter_enumerated().find(|(_, it)| it.name == set.name && it.keys == set.keys);
            Some((id, same?.0))
        });
        let digests = old
            .digests
            .iter_enumerated()
            .filter_map(|(id, digest)| Some((id, new.digests.iter_enumerated().find(|(_, it)| *it == digest)?.0)));
        Names {
            old,
            new,
            tables: tables.collect(),
            profiles: profiles.collect(),
            value_sets: value_sets.collect(),
            digests: digests.collect(),
        }
    }

    /// Whether this is an entry that the new program declares, and the old one too, which controllers may change.
    fn is_declared_by_both(&self, entity: &Entity) -> bool {
        let Entity::TableEntry(TableEntry { table, name: Some(name), is_const: false, .. }) = entity else {
            return false;
        };
        let old = self.tables.iter().find(|(_, new)| *new == table).map(|(&old, _)| &self.old.tables[old]);
        old.is_some_and(|old| {
            let is_same = |it: &ir::Entry| it.key == name.key && (it.priority == name.priority || name.priority == 0);
            old.entries.iter().any(is_same)
        })
    }

    fn entity(&self, entity: &Entity) -> Taken {
        let taken = match entity {
            Entity::TableEntry(entry) => return self.table_entry(entry),
            Entity::Member(member) => self.member(member).map(Entity::Member),
            Entity::Group(group) => {
                let profile = self.profiles.get(&group.profile).copied();
                profile.map(|profile| Entity::Group(Group { profile, ..group.clone() }))
            }
            Entity::Multicast(group) => Some(Entity::Multicast(Multicast { ..group.clone() })),
            Entity::CloneSession(session) => Some(Entity::CloneSession(session.clone())),
            Entity::ValueSet { members, .. } if members.is_empty() => return Taken::Already,
            Entity::ValueSet { set, members } => {
                let set = self.value_sets.get(set).copied();
                set.map(|set| Entity::ValueSet { set, members: members.clone() })
            }
            Entity::Digest { digest, config } => {
                let digest = self.digests.get(digest).copied();
                digest.map(|digest| Entity::Digest { digest, config: *config })
            }
            // Those of default actions; what entries have is read with them.
            Entity::DirectCounter(direct) if direct.value == CounterCell::default() => return Taken::Already,
            Entity::DirectCounter(direct) => {
                let table = self.table_with(direct.table, |it| !it.direct_counters.is_empty());
                table.map(|table| Entity::DirectCounter(Direct { table, ..direct.clone() }))
            }
            Entity::DirectMeter(direct) if direct.value.config.is_none() => return Taken::Already,
            Entity::DirectMeter(direct) => {
                let table = self.table_with(direct.table, |it| it.direct_meter.is_some());
                table.map(|table| Entity::DirectMeter(Direct { table, ..direct.clone() }))
            }
            // Carried between the bursts.
            Entity::Counter(Cell { .. }) | Entity::Meter(Cell { .. }) | Entity::Register(Cell { .. }) => {
                return Taken::Already;
            }
        };
        taken.map_or(Taken::Not, |entity| Taken::As(Box::new(entity)))
    }

    /// What a table is in the new program, if it has this there.
    fn table_with(&self, table: TableId, has: impl Fn(&ir::Table) -> bool) -> Option<TableId> {
        self.tables.get(&table).copied().filter(|&table| has(&self.new.tables[table]))
    }

    fn table_entry(&self, entry: &TableEntry) -> Taken {
        if entry.is_const || (entry.name.is_none() && self.is_own_default(entry)) {
            return Taken::Already;
        }
        let Some(&table) = self.tables.get(&entry.table) else { return Taken::Not };
        let action = match &entry.action {
            None => None,
            Some(action) => match self.action(action) {
                Some(action) => Some(action),
                None => return Taken::Not,
            },
        };
        let declared = &self.new.tables[table];
        let mut taken = TableEntry { table, action, idle_ns: None, ..entry.clone() };
        let is_default = entry.name.is_none();
        if is_default || declared.direct_counters.is_empty() {
            taken.counter = None;
        }
        if is_default || declared.direct_meter.is_none() {
            (taken.meter, taken.meter_counts) = (None, None);
        }
        if !declared.support_timeout {
            taken.attributes.idle_timeout_ns = 0;
        }
        Taken::As(Box::new(Entity::TableEntry(taken)))
    }

    /// Whether a default action is the one that the old program declares, with nothing beside it.
    fn is_own_default(&self, entry: &TableEntry) -> bool {
        let table = &self.old.tables[entry.table];
        let own = &table.default_action;
        match &entry.action {
            Some(EntryAction::Call(call)) => {
                let listed = table.actions.get(own.action as usize).map(|it| it.action);
                listed == Some(call.action) && own.args == call.args && entry.attributes == Default::default()
            }
            Some(_) => false,
            None => true,
        }
    }

    fn action(&self, action: &EntryAction) -> Option<EntryAction> {
        Some(match action {
            EntryAction::Call(call) => EntryAction::Call(self.call(call)?),
            EntryAction::Member(id) => EntryAction::Member(*id),
            EntryAction::Group(id) => EntryAction::Group(*id),
            EntryAction::OneShot(choices) => {
                let choice = |it: &Choice| Some(Choice { call: self.call(&it.call)?, ..it.clone() });
                EntryAction::OneShot(choices.iter().map(choice).collect::<Option<_>>()?)
            }
        })
    }

    fn call(&self, call: &Call) -> Option<Call> {
        let old = &self.old.actions[call.action];
        let is_same = |(_, it): &(ActionId, &ir::Action)| {
            it.name == old.name && param_widths(self.new, it) == param_widths(self.old, old)
        };
        let (action, _) = self.new.actions.iter_enumerated().find(is_same)?;
        Some(Call { action, args: call.args.clone() })
    }

    fn member(&self, member: &Member) -> Option<Member> {
        let profile = *self.profiles.get(&member.profile)?;
        let call = match &member.call {
            Some(call) => Some(self.call(call)?),
            None => None,
        };
        Some(Member { profile, id: member.id, call })
    }
}

fn has_same_keys(a: &ir::Table, b: &ir::Table) -> bool {
    let form = |table: &ir::Table| -> Vec<(String, u32, ir::MatchKind)> {
        table.keys.iter().map(|key| (key.name.clone(), key.expr.ty.width(), key.kind)).collect()
    };
    form(a) == form(b)
}

fn param_widths(program: &Program, action: &ir::Action) -> Vec<u32> {
    action.params.iter().map(|&var| program.vars[var].ty.width()).collect()
}

/// Copies the cells of counters, meters and registers that both programs have.
pub(crate) fn carry(old: &mut Switch, new: &mut Switch) {
    let (old_program, new_program) = (old.program().clone(), new.program().clone());
    for (to, array) in new_program.counters.iter_enumerated() {
        let from = old_program.counters.iter_enumerated().find(|(_, it)| it.name == array.name);
        let Some((from, _)) = from else { continue };
        let values = &old.externs_mut().counters[from];
        new.externs_mut().counters[to].iter_mut().zip(values).for_each(|(cell, value)| *cell = *value);
    }
    for (to, array) in new_program.registers.iter_enumerated() {
        let is_same = |it: &ir::Register| it.name == array.name && it.ty == array.ty;
        let from = old_program.registers.iter_enumerated().find(|(_, it)| is_same(it));
        let Some((from, source)) = from else { continue };
        for index in 0..array.size.min(source.size) {
            if let Some(value) = old.externs_mut().registers[from].read(index) {
                new.externs_mut().registers[to].write(index, &value);
            }
        }
    }
    for (to, array) in new_program.meters.iter_enumerated() {
        let is_same = |it: &ir::Meter| it.name == array.name && it.unit == array.unit;
        let from = old_program.meters.iter_enumerated().find(|(_, it)| is_same(it));
        let Some((from, source)) = from else { continue };
        for index in 0..array.size.min(source.size) {
            let value = old.externs_mut().meters[from].cell_mut(index).cloned();
            if let (Some(value), Some(cell)) = (value, new.externs_mut().meters[to].cell_mut(index)) {
                *cell = value;
            }
        }
    }
}
