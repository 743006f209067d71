//! The state that a new program takes over from the running one.
//!
//! What enters: the control planes of both. What leaves: in the new one, everything that controllers have written; or
//! a refusal that names what cannot be kept, as the specification requires. Objects are the same if they have the
//! same name and the same form: tables the same keys, actions the same parameters. State that packets change while it
//! is copied is copied last, between the bursts of the two programs (`carry`).

use crate::carry::{SameEntries, note_gone, same_entries};
use base::OrderedMap;
use base::index::IndexMap;
use control::Api;
use control::api::entity::{Call, Choice, Direct, EntryAction, EntryName, Group, Member, TableEntry};
use control::api::{Atomicity, Code, Entity, Fault, Query, TableQuery, Update, UpdateKind, Which};
use ir::{ActionId, ActionProfileId, DigestId, Program, TableId, ValueSetId};
use switch::externs::CounterCell;

/// Updates in one write.
const PIECE: usize = 4096;

/// The most kinds of objects that a refusal names.
const NAMED_MAX: usize = 3;

/// The state that was taken over.
#[derive(Debug, Default)]
pub(crate) struct TakenOver {
    /// How many entities.
    pub kept: usize,
    /// Entries of both whose cells are not copied yet.
    pub entries: Vec<SameEntries>,
    /// Descriptions of lost counters.
    pub gone: Vec<String>,
}

/// Written state that cannot be kept, by its owner: how many items, and why the first one cannot.
#[derive(Debug, Default)]
struct Lost(OrderedMap<String, (usize, String)>);

impl Lost {
    fn add(&mut self, what: String, why: impl Into<String>) {
        self.0.entry(what).or_insert_with(|| (0, why.into())).0 += 1;
    }

    fn into_result(self) -> Result<(), Fault> {
        if self.0.is_empty() {
            return Ok(());
        }
        let more = self.0.len().saturating_sub(NAMED_MAX);
        let named = self.0.into_iter().take(NAMED_MAX);
        let mut named: Vec<String> = named.map(|(what, (count, why))| format!("{what} ({count}): {why}")).collect();
        if more > 0 {
            named.push(format!("{more} more"));
        }
        Err(Fault::invalid(format!(
            "the new program cannot keep what was written: {}. Nothing has changed: delete it first, or use \
             VERIFY_AND_COMMIT, which starts with empty state",
            named.join("; ")
        )))
    }
}

/// Writes the state of one control plane to the other, except what [`crate::carry::carry`] transfers.
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
    let (mut kept, mut lost, mut uncounted) = (0, Lost::default(), OrderedMap::<String, usize>::new());
    leave_out_declared(&names, to)?;
    for query in queries {
        from.read(&query, &mut |entities| {
            entities.iter().filter_map(|it| names.uncounted(it)).for_each(|it| *uncounted.entry(it).or_default() += 1);
            for piece in entities.chunks(PIECE) {
                kept += write_piece(&names, to, piece, &mut lost);
            }
            true
        })?;
    }
    lost.into_result()?;
    let entries = same_entries(&names.tables, from, to);
    let mut gone = Vec::new();
    uncounted.iter().for_each(|(table, &count)| note_gone(&mut gone, "direct counters of table", table, count));
    Ok(TakenOver { kept, entries, gone })
}

/// Deletes entries from the new tables that the old program declares too: they are written again if they still were
/// in the old tables.
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

/// Writes updates; returns how many entities exist now.
fn write_piece(names: &Names<'_>, to: &Api, entities: &[Entity], lost: &mut Lost) -> usize {
    let mut updates = Vec::with_capacity(entities.len());
    for entity in entities {
        match names.entity(entity) {
            Taken::As(taken) => updates.push((entity, *taken)),
            Taken::Already => {}
            Taken::Not(why) => lost.add(names.owner(entity), why),
        }
    }
    let count = updates.len();
    let insert = |(_, taken): &(&Entity, Entity)| Update { kind: first_kind(taken), entity: taken.clone() };
    let outcomes = to.write(updates.iter().map(insert).collect(), Atomicity::ContinueOnError);
    let (mut again, mut refused) = (Vec::new(), Vec::new());
    for ((entity, taken), outcome) in updates.into_iter().zip(outcomes) {
        match outcome {
            // Entries that the new program declares itself exist already.
            Err(Fault { code: Code::AlreadyExists, .. }) => again.push((entity, taken)),
            Err(fault) => refused.push((entity, fault)),
            Ok(()) => {}
        }
    }
    if !again.is_empty() {
        let (entities, taken): (Vec<_>, Vec<_>) = again.into_iter().unzip();
        let modify = |entity| Update { kind: UpdateKind::Modify, entity };
        let outcomes = to.write(taken.into_iter().map(modify).collect(), Atomicity::ContinueOnError);
        let failed = |(entity, outcome): (_, Result<(), Fault>)| Some((entity, outcome.err()?));
        refused.extend(entities.into_iter().zip(outcomes).filter_map(failed));
    }
    let failed = refused.len();
    refused.into_iter().for_each(|(entity, fault)| lost.add(names.owner(entity), fault.message));
    count - failed
}

fn first_kind(entity: &Entity) -> UpdateKind {
    match entity {
        Entity::TableEntry(TableEntry { name: None, .. }) | Entity::ValueSet { .. } => UpdateKind::Modify,
        Entity::DirectCounter(_) | Entity::DirectMeter(_) => UpdateKind::Modify,
        _ => UpdateKind::Insert,
    }
}

/// The result for an entity.
enum Taken {
    /// This entity of the new program.
    As(Box<Entity>),
    /// It belongs to the program, and the new program has it, too.
    Already,
    /// It cannot be kept, for this reason.
    Not(&'static str),
}

/// Why something cannot be kept.
const NO_TABLE: &str = "there is no table of this name with the same keys";
const NO_ACTION: &str = "there is no action of the same name and parameters";
const NO_METER: &str = "it has no direct meter";
const NO_PROFILE: &str = "there is no action profile of this name and kind";

/// The objects of the new program that are the same as those of the old one.
struct Names<'p> {
    old: &'p Program,
    new: &'p Program,
    tables: IndexMap<TableId, TableId>,
    profiles: IndexMap<ActionProfileId, ActionProfileId>,
    value_sets: IndexMap<ValueSetId, ValueSetId>,
    digests: IndexMap<DigestId, DigestId>,
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
        let old = self.tables.iter().find(|(_, new)| *new == table).map(|(old, _)| &self.old.tables[old]);
        old.is_some_and(|old| old.entries.iter().any(|it| has_name(it, name)))
    }

    fn entity(&self, entity: &Entity) -> Taken {
        let (taken, why) = match entity {
            Entity::TableEntry(entry) => return self.table_entry(entry),
            Entity::Member(member) if self.profiles.get(member.profile).is_none() => return Taken::Not(NO_PROFILE),
            Entity::Member(member) => (self.member(member).map(Entity::Member), NO_ACTION),
            Entity::Group(group) => {
                let profile = self.profiles.get(group.profile).copied();
                (profile.map(|profile| Entity::Group(Group { profile, ..group.clone() })), NO_PROFILE)
            }
            Entity::Multicast(_) | Entity::CloneSession(_) => (Some(entity.clone()), ""),
            Entity::ValueSet { members, .. } if members.is_empty() => return Taken::Already,
            Entity::ValueSet { set, members } => {
                let set = self.value_sets.get(*set).copied();
                let taken = set.map(|set| Entity::ValueSet { set, members: members.clone() });
                (taken, "there is no value set of this name and type")
            }
            Entity::Digest { digest, config } => {
                let digest = self.digests.get(*digest).copied();
                let taken = digest.map(|digest| Entity::Digest { digest, config: *config });
                (taken, "there is no digest of this name and type")
            }
            // Those of default actions; what entries have is read with them.
            Entity::DirectMeter(direct) if direct.value.config.is_some() => {
                let table = self.table_with(direct.table, |it| it.direct_meter.is_some());
                (table.map(|table| Entity::DirectMeter(Direct { table, ..direct.clone() })), NO_METER)
            }
            // Carried between the bursts.
            Entity::DirectCounter(_) | Entity::DirectMeter(_) => return Taken::Already,
            Entity::Counter(_) | Entity::Meter(_) | Entity::Register(_) => return Taken::Already,
            Entity::AllEntries(_) => unreachable!("it is written, not read"),
        };
        taken.map_or(Taken::Not(why), |entity| Taken::As(Box::new(entity)))
    }

    /// The owner of an entity, for messages.
    fn owner(&self, entity: &Entity) -> String {
        let profile = |profile| format!("action profile {}", self.old.action_profiles[profile].name);
        let table = |table| format!("table {}", self.old.tables[table].name);
        match entity {
            Entity::TableEntry(TableEntry { table: of, name: None, .. }) => format!("default action of {}", table(*of)),
            Entity::TableEntry(entry) => table(entry.table),
            Entity::AllEntries(of) => table(*of),
            Entity::Member(member) => profile(member.profile),
            Entity::Group(group) => profile(group.profile),
            Entity::Multicast(group) => format!("multicast group {}", group.group),
            Entity::CloneSession(session) => format!("clone session {}", session.session),
            Entity::ValueSet { set, .. } => format!("value set {}", self.old.value_sets[*set].name),
            Entity::Digest { digest, .. } => format!("digest {}", self.old.digests[*digest].name),
            Entity::DirectCounter(direct) => format!("direct counter of {}", table(direct.table)),
            Entity::DirectMeter(direct) => format!("direct meter of {}", table(direct.table)),
            Entity::Counter(cell) => format!("counter {}", self.old.counters[cell.array].name),
            Entity::Meter(cell) => format!("meter {}", self.old.meters[cell.array].name),
            Entity::Register(cell) => format!("register {}", self.old.registers[cell.array].name),
        }
    }

    /// The table with this direct counter, if the new program does not have the counter.
    fn uncounted(&self, entity: &Entity) -> Option<String> {
        let (table, count) = match entity {
            Entity::TableEntry(TableEntry { name: Some(_), table, counter, .. }) => (*table, (*counter)?),
            Entity::DirectCounter(direct) => (direct.table, direct.value),
            _ => return None,
        };
        let is_gone = self.table_with(table, |it| !it.direct_counters.is_empty()).is_none();
        (is_gone && count != CounterCell::default()).then(|| self.old.tables[table].name.clone())
    }

    /// The table in the new program, if it has the same.
    fn table_with(&self, table: TableId, has: impl Fn(&ir::Table) -> bool) -> Option<TableId> {
        self.tables.get(table).copied().filter(|&table| has(&self.new.tables[table]))
    }

    fn table_entry(&self, entry: &TableEntry) -> Taken {
        if entry.is_const || (entry.name.is_none() && self.is_own_default(entry)) {
            return Taken::Already;
        }
        match self.table_entry_there(entry) {
            Ok(taken) => Taken::As(Box::new(Entity::TableEntry(taken))),
            // Entries that only the old program has declared are dropped.
            Err(_) if self.is_own_entry(entry) => Taken::Already,
            Err(why) => Taken::Not(why),
        }
    }

    fn table_entry_there(&self, entry: &TableEntry) -> Result<TableEntry, &'static str> {
        let table = *self.tables.get(entry.table).ok_or(NO_TABLE)?;
        let action = match &entry.action {
            None => None,
            Some(action) => Some(self.action(action).ok_or(NO_ACTION)?),
        };
        let declared = &self.new.tables[table];
        let mut taken = TableEntry { table, action, idle_ns: None, ..entry.clone() };
        let is_default = entry.name.is_none();
        if is_default || declared.direct_counters.is_empty() {
            taken.counter = None;
        }
        if is_default || declared.direct_meter.is_none() {
            if !is_default && entry.meter.flatten().is_some() {
                return Err(NO_METER);
            }
            (taken.meter, taken.meter_counts) = (None, None);
        }
        if !declared.support_timeout && entry.attributes.idle_timeout_ns != 0 {
            return Err("its entries have no idle timeout");
        }
        Ok(taken)
    }

    /// Whether an entry is unchanged from the old program's declaration, without additional state.
    fn is_own_entry(&self, entry: &TableEntry) -> bool {
        let (Some(name), Some(EntryAction::Call(call))) = (&entry.name, &entry.action) else { return false };
        let table = &self.old.tables[entry.table];
        let is_same = |it: &ir::Entry| {
            let listed = table.actions.get(it.call.action as usize).map(|it| it.action);
            has_name(it, name) && listed == Some(call.action) && it.call.args == call.args
        };
        table.entries.iter().any(is_same) && entry.attributes == Default::default()
    }

    /// Whether a default action is the one that the old program declares, without additional state.
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
        let profile = *self.profiles.get(member.profile)?;
        let call = match &member.call {
            Some(call) => Some(self.call(call)?),
            None => None,
        };
        Some(Member { profile, id: member.id, call })
    }
}

fn has_name(entry: &ir::Entry, name: &EntryName) -> bool {
    entry.key == name.key && (entry.priority == name.priority || name.priority == 0)
}

fn has_same_keys(a: &ir::Table, b: &ir::Table) -> bool {
    let form = |table: &ir::Table| -> Vec<(String, u32, base::MatchKind)> {
        table.keys.iter().map(|key| (key.name.clone(), key.expr.ty.width(), key.kind)).collect()
    };
    form(a) == form(b)
}

fn param_widths(program: &Program, action: &ir::Action) -> Vec<u32> {
    action.params.iter().map(|&var| program.vars[var].ty.width()).collect()
}
