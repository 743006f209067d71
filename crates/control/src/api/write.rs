//! Carrying out updates.
//!
//! What enters: updates, the state of the control plane, the tables in a transaction, and the switch itself where an
//! update needs more than tables. What leaves: one outcome per update. Each step records how to undo it, so that a
//! refused update changes nothing and a refused batch can be undone as a whole.

use crate::api::arrays::{Array, FreshArrays, sets_all_cells};
use crate::api::entity::{
    Atomicity, Call, Choice, Entity, EntryAction, EntryName, Member, TableEntry, Update, UpdateKind,
};
use crate::api::fault::{Code, Fault};
use crate::api::read::{Which, default_handle};
use crate::api::resources::{self, DirectValues};
use crate::api::state::{ControllerState, GroupContents, OneShot};
use crate::apply::Reply;
use crate::problem::Problem as Message;
use crate::show;
use base::index::Id as _;
use base::{Bits, OrderedMap};
use ir::{ActionId, ActionProfileId, Program, TableId};
use switch::{Switch, profile_actions};
use tables::{
    ActionCall, Attributes, EntrySpec, Handle, Mark, Operation, Outcome, Problem, ProfileOperation, TO_GROUP,
    TO_MEMBER, Target, Transaction,
};

/// How to undo a step.
pub(crate) enum Undo {
    State(Box<dyn FnOnce(&mut ControllerState) + Send>),
    Switch(Box<dyn FnOnce(&mut Switch) + Send>),
    /// An array that another has replaced.
    Array(Array),
}

/// The results, for the thread that requested the updates.
pub(crate) struct Written {
    /// One for each update.
    pub outcomes: Vec<Result<(), Fault>>,
    /// What is no longer needed, to be dropped where no packet waits for it: arrays are large.
    pub left: Vec<Undo>,
}

/// Refuses rates for the meter of an entry whose action never uses it. A meter that runs on every hit, and a counter,
/// do not depend on the action.
fn check_executes(program: &Program, entry: &TableEntry) -> Result<(), Fault> {
    let table = &program.tables[entry.table];
    let (Some(Some(_)), Some((meter, None))) = (entry.meter, &table.direct_meter) else { return Ok(()) };
    let Some(EntryAction::Call(call)) = &entry.action else { return Ok(()) };
    let action = &program.actions[call.action];
    let mut executes = false;
    ir::walk::visit_body(&action.body, &mut |stmt| {
        executes |= matches!(&stmt.kind, ir::StmtKind::ExecuteDirectMeter { meter: it, .. } if it == meter);
    });
    match executes {
        true => Ok(()),
        false => Err(Fault::invalid(format!(
            "table {}: action {} does not execute the direct meter {}: leave its rates out",
            table.name, action.name, program.direct_meters[*meter].name
        ))),
    }
}

/// Carries updates out, one after the other.
pub(crate) struct Writer<'a, 't> {
    pub(super) program: &'a Program,
    pub(super) state: &'a mut ControllerState,
    pub(super) batch: Transaction<'t>,
    pub(super) switch: Option<&'a mut Switch>,
    undos: Vec<Undo>,
    /// The handle of the last entry, member or group that was inserted.
    inserted: Option<Handle>,
    /// Whether messages name entries, members and groups by their handles, as BMv2's tools do.
    is_for_tools: bool,
    /// Whether entries of tables with an action profile may run actions of their own, as in files and packet tests.
    has_own_actions: bool,
    direct: Vec<Direct>,
    /// Whether some of these are for all entries of a table.
    all_set: bool,
    /// Arrays for the updates that set all cells of one, by position.
    fresh: FreshArrays,
    /// What is dropped elsewhere.
    left: Vec<Undo>,
}

/// Values for the direct counters and meter of an entry or default action. They are written when packets see the
/// entry, because at that moment the cells of a new entry are cleared.
struct Direct {
    table: TableId,
    owner: Owner,
    values: DirectValues,
}

/// Who has direct counters and meters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// An entry: its handle, and which of the entries that have had this handle.
    Entry(Handle, u64),
    /// The default action.
    Default,
    /// All entries.
    All,
}

/// How the tables of a selector are filled.
#[derive(Clone, Copy)]
enum Style {
    /// Members, and groups of them.
    Members,
    /// Groups that belong to one entry each.
    OneShot,
}

/// How far a writer has come, so that it can be rolled back to this point.
#[derive(Clone, Copy)]
pub(super) struct Point {
    mark: Mark,
    undos: usize,
    direct: usize,
}

/// Whether an update needs more than the tables: it must be carried out in the thread that owns the switch.
pub(crate) fn needs_switch(update: &Update) -> bool {
    match &update.entity {
        Entity::TableEntry(entry) => DirectValues::of(entry).is_some(),
        Entity::AllEntries(_) | Entity::Member(_) | Entity::Group(_) | Entity::Digest { .. } => false,
        _ => true,
    }
}

impl Point {
    /// Before the first update.
    const START: Point = Point { mark: Mark::START, undos: 0, direct: 0 };
}

impl<'a, 't> Writer<'a, 't> {
    /// `switch` may be none if no update [needs it](needs_switch).
    pub fn new(
        program: &'a Program,
        state: &'a mut ControllerState,
        batch: Transaction<'t>,
        switch: Option<&'a mut Switch>,
    ) -> Writer<'a, 't> {
        let (undos, direct, left, fresh) = Default::default();
        let (inserted, is_for_tools, has_own_actions, all_set) = Default::default();
        Writer {
            program,
            state,
            batch,
            switch,
            undos,
            inserted,
            is_for_tools,
            has_own_actions,
            direct,
            all_set,
            fresh,
            left,
        }
    }

    /// With messages for BMv2's tools.
    pub fn for_tools(self) -> Writer<'a, 't> {
        Writer { is_for_tools: true, ..self }
    }

    /// A writer for files and packet tests, whose entries may run actions of their own beside an action profile.
    pub fn with_own_actions(self) -> Writer<'a, 't> {
        Writer { has_own_actions: true, ..self }
    }

    /// With arrays that were prepared for the updates.
    pub fn with_arrays(self, fresh: FreshArrays) -> Writer<'a, 't> {
        Writer { fresh, ..self }
    }

    /// Carries out all updates and publishes them to packets.
    pub fn write(mut self, updates: &[Update], atomicity: Atomicity) -> Written {
        let mut outcomes: Vec<Result<(), Fault>> = Vec::with_capacity(updates.len());
        for (position, update) in updates.iter().enumerate() {
            let fresh = self.fresh.take(position);
            let outcome = self.carry_out(update, fresh);
            let refused = outcome.is_err();
            outcomes.push(outcome);
            if refused && atomicity != Atomicity::ContinueOnError {
                self.roll_back(Point::START);
                let outcomes = aborted(outcomes, position, updates.len());
                self.left.extend(self.fresh.rest().map(Undo::Array));
                return Written { outcomes, left: self.left };
            }
        }
        Written { outcomes, left: self.finish() }
    }

    /// Carries out the next update. Packets see it after [`Self::finish`].
    pub fn step(&mut self, update: &Update) -> Result<Reply, Message> {
        let fresh = sets_all_cells(update).then(|| {
            let made = || FreshArrays::of(self.program, std::slice::from_ref(update)).take(0);
            self.fresh.take(0).or_else(made)
        });
        self.inserted = None;
        self.carry_out(update, fresh.flatten()).map_err(|fault| Message::new(fault.message))?;
        Ok(self.inserted.map_or(Reply::Done, |handle| Reply::Handle(handle.0)))
    }

    /// Undoes everything.
    pub fn give_up(mut self) {
        self.roll_back(Point::START);
    }

    /// Publishes the changes to packets. Returns what is no longer needed.
    pub fn finish(mut self) -> Vec<Undo> {
        let tables = self.batch.tables();
        self.direct.retain(|direct| match direct.owner {
            Owner::Entry(handle, sequence) => {
                tables[direct.table.index()].get(handle).is_some_and(|entry| entry.sequence == sequence)
            }
            Owner::Default | Owner::All => true,
        });
        self.batch.commit();
        if let Some(switch) = self.switch {
            for Direct { table, owner, values } in self.direct {
                let default = default_handle(&self.program.tables[table]).0 as usize;
                let cells = match owner {
                    Owner::Entry(handle, _) => handle.0 as usize..handle.0 as usize + 1,
                    Owner::Default => default..default + 1,
                    Owner::All => 0..default,
                };
                resources::set_direct(self.program, switch, table, cells, values);
            }
        }
        self.left.append(&mut self.undos);
        self.left
    }

    fn carry_out(&mut self, update: &Update, fresh: Option<Option<Array>>) -> Result<(), Fault> {
        let point = self.point();
        self.dispatch(update, fresh).inspect_err(|_| self.roll_back(point))
    }

    pub(super) fn point(&self) -> Point {
        Point { mark: self.batch.mark(), undos: self.undos.len(), direct: self.direct.len() }
    }

    pub(super) fn roll_back(&mut self, point: Point) {
        self.batch.roll_back_to(point.mark);
        self.direct.truncate(point.direct);
        for undo in self.undos.drain(point.undos..).rev() {
            match (undo, &mut self.switch) {
                (Undo::State(undo), _) => undo(self.state),
                (Undo::Switch(undo), Some(switch)) => undo(switch),
                (Undo::Array(mut array), Some(switch)) => {
                    array.swap(switch);
                    self.left.push(Undo::Array(array));
                }
                (Undo::Switch(_) | Undo::Array(_), None) => unreachable!("what was not changed is not taken back"),
            }
        }
    }

    fn dispatch(&mut self, update: &Update, fresh: Option<Option<Array>>) -> Result<(), Fault> {
        match (&update.entity, update.kind) {
            (Entity::TableEntry(entry), kind) => self.table_entry(entry, kind),
            (Entity::AllEntries(table), UpdateKind::Delete) => self.clear(*table),
            (Entity::AllEntries(table), _) => {
                let name = &self.program.tables[*table].name;
                Err(Fault::invalid(format!("the entries of table {name} can be deleted together, not written")))
            }
            (Entity::Member(member), kind) => self.member(member, kind),
            (Entity::Group(group), kind) => self.group(group, kind),
            (Entity::Digest { digest, config }, kind) => self.digest(*digest, *config, kind),
            (Entity::DirectCounter(direct), UpdateKind::Modify) => {
                let values = DirectValues { counter: Some(direct.value), ..DirectValues::default() };
                self.direct(direct.table, &direct.which, values)
            }
            (Entity::DirectMeter(direct), UpdateKind::Modify) => {
                let (meter, meter_counts) = (Some(direct.value.config), direct.value.counts);
                self.direct(direct.table, &direct.which, DirectValues { counter: None, meter, meter_counts })
            }
            (entity, kind) => {
                let Some(switch) = self.switch.as_deref_mut() else {
                    unreachable!("updates that need the switch are carried out where it is")
                };
                if let Some(fresh) = fresh {
                    if let Some(mut array) = fresh {
                        array.swap(switch);
                        self.undos.push(Undo::Array(array));
                    }
                    return Ok(());
                }
                resources::write(self.program, self.state, switch, &mut self.undos, entity, kind)
            }
        }
    }

    // ------------------------------------------------------------------------------------------------- tables

    fn table_entry(&mut self, entry: &TableEntry, kind: UpdateKind) -> Result<(), Fault> {
        let Some(name) = &entry.name else { return self.default_entry(entry, kind) };
        match kind {
            UpdateKind::Insert => self.insert(entry, name),
            UpdateKind::Modify => self.modify(entry, name),
            UpdateKind::Delete => {
                let handle = self.changeable(entry.table, name)?;
                let old = self.one_shot_of_entry(entry.table, handle);
                self.batch.perform(entry.table.index(), Operation::Delete { handle })?;
                self.release(old)
            }
        }
    }

    fn clear(&mut self, table: TableId) -> Result<(), Fault> {
        let profile = self.program.tables[table].implementation.as_ref().map(|used| used.profile);
        let names = |writer: &Self, group| writer.batch.tables()[table.index()].names(Target::Group(group));
        let own = profile.into_iter().flat_map(|profile| self.state.one_shots_of(profile).map(move |it| (profile, it)));
        let mut own: Vec<_> = own.map(|(profile, (group, _))| (profile, group)).collect();
        own.retain(|&(_, group)| names(self, group));
        self.batch.perform(table.index(), Operation::Clear)?;
        // The default action may have one, too.
        own.retain(|&(_, group)| !names(self, group));
        own.into_iter().try_for_each(|group| self.release(Some(group)))
    }

    fn default_entry(&mut self, entry: &TableEntry, kind: UpdateKind) -> Result<(), Fault> {
        let table = &self.program.tables[entry.table];
        if kind != UpdateKind::Modify {
            let message = format!("table {}: the default action can be modified, not inserted or deleted", table.name);
            return Err(Fault::invalid(message));
        }
        check_executes(self.program, entry)?;
        let old = self.batch.tables()[entry.table.index()].default_action();
        let old = old.and_then(|call| self.one_shot_of(entry.table, call.action, &call.args));
        let operation = match &entry.action {
            Some(action) => {
                let (action, args) = self.action(entry.table, action)?;
                Operation::SetDefault(ActionCall { action, args })
            }
            None => Operation::ResetDefault,
        };
        self.batch.perform(entry.table.index(), operation)?;
        self.set_default_attributes(entry);
        self.set_direct(entry.table, Owner::Default, DirectValues::of(entry))?;
        self.release(old)
    }

    /// A default action that is reset has none.
    fn set_default_attributes(&mut self, entry: &TableEntry) {
        let table = entry.table;
        let new = Some(&entry.attributes).filter(|it| entry.action.is_some() && **it != Attributes::default());
        let old = match new {
            Some(new) => self.state.default_attributes.insert(table, new.clone()),
            None => self.state.default_attributes.remove(&table),
        };
        if new.is_some() || old.is_some() {
            self.undos.push(Undo::State(Box::new(move |state| match old {
                Some(old) => drop(state.default_attributes.insert(table, old)),
                None => drop(state.default_attributes.remove(&table)),
            })));
        }
    }

    fn insert(&mut self, entry: &TableEntry, name: &EntryName) -> Result<(), Fault> {
        let table = &self.program.tables[entry.table];
        let Some(action) = &entry.action else {
            return Err(Fault::invalid(format!("table {}: the entry needs an action", table.name)));
        };
        // Before members of a one-shot group are made for an entry that is refused.
        if matches!(action, EntryAction::OneShot(_)) && self.find(entry.table, name)?.is_some() {
            return Err(self.duplicate(entry.table, name));
        }
        check_executes(self.program, entry)?;
        let (action, args) = self.action(entry.table, action)?;
        let spec = EntrySpec { key: name.key.clone(), priority: name.priority, action, args };
        let handle = match self.batch.perform(entry.table.index(), Operation::Insert(spec)) {
            Ok(Outcome::Inserted(handle)) => handle,
            Ok(_) => unreachable!("an insertion gives a handle"),
            Err(error) if matches!(error.problem, Problem::Duplicate { .. }) && !self.is_for_tools => {
                return Err(self.duplicate(entry.table, name));
            }
            Err(error) => return Err(error.into()),
        };
        self.inserted = Some(handle);
        if entry.attributes != Attributes::default() {
            self.set_attributes(entry.table, handle, &entry.attributes)?;
        }
        if self.all_set {
            // What was set for all entries before was not for this one.
            let owner = self.owner(entry.table, handle);
            self.direct.push(Direct { table: entry.table, owner, values: DirectValues::ZERO });
        }
        self.set_entrys(entry, handle)
    }

    fn set_entrys(&mut self, entry: &TableEntry, handle: Handle) -> Result<(), Fault> {
        let values = DirectValues::of(entry);
        if values.is_some() { self.set_direct(entry.table, self.owner(entry.table, handle), values) } else { Ok(()) }
    }

    fn modify(&mut self, entry: &TableEntry, name: &EntryName) -> Result<(), Fault> {
        let handle = match &entry.action {
            Some(_) => self.changeable(entry.table, name)?,
            // Its counter and its meter are not the program's.
            None => self.existing(entry.table, name)?,
        };
        if let Some(action) = &entry.action {
            check_executes(self.program, entry)?;
            let old = self.one_shot_of_entry(entry.table, handle);
            let (action, args) = self.action(entry.table, action)?;
            self.batch.perform(entry.table.index(), Operation::Modify { handle, action, args })?;
            self.release(old)?;
        }
        self.set_attributes(entry.table, handle, &entry.attributes)?;
        self.set_entrys(entry, handle)
    }

    fn find(&self, table: TableId, name: &EntryName) -> Result<Option<Handle>, Fault> {
        Ok(self.batch.tables()[table.index()].find(&name.key, name.priority)?)
    }

    fn existing(&self, table: TableId, name: &EntryName) -> Result<Handle, Fault> {
        self.find(table, name)?.ok_or_else(|| {
            let what = self.named(table, name);
            let message = format!("table {}: there is no entry with {what}", self.program.tables[table].name);
            Fault::new(Code::NotFound, message)
        })
    }

    fn duplicate(&self, table: TableId, name: &EntryName) -> Fault {
        let what = self.named(table, name);
        let table = &self.program.tables[table].name;
        let message = format!("table {table}: there is already an entry with {what}: modify it, or delete it first");
        Fault::new(Code::AlreadyExists, message)
    }

    /// The same as [`Self::existing`], if it may be changed.
    fn changeable(&self, table: TableId, name: &EntryName) -> Result<Handle, Fault> {
        let handle = self.existing(table, name)?;
        let stored = &self.batch.tables()[table.index()];
        if !stored.spec().const_entries && stored.get(handle).is_some_and(|entry| entry.is_const) {
            let what = self.named(table, name);
            return Err(Fault::new(
                Code::PermissionDenied,
                format!(
                    "table {}: the program declares the entry with {what} as const: it cannot be changed",
                    self.program.tables[table].name
                ),
            ));
        }
        Ok(handle)
    }

    /// The identity of an entry, for messages.
    fn named(&self, table: TableId, name: &EntryName) -> String {
        show::entry_name(&self.batch.tables()[table.index()], &name.key, name.priority)
    }

    fn set_attributes(&mut self, table: TableId, handle: Handle, attributes: &Attributes) -> Result<(), Fault> {
        let stored = self.batch.tables()[table.index()].get(handle).and_then(|entry| entry.attributes.as_deref());
        if stored.cloned().unwrap_or_default() == *attributes {
            return Ok(());
        }
        if attributes.idle_timeout_ns > 0 && !self.program.tables[table].support_timeout {
            let name = &self.program.tables[table].name;
            return Err(Fault::invalid(format!(
                "table {name} has no idle timeouts: the program must declare `support_timeout = true` in it"
            )));
        }
        let attributes = attributes.clone();
        self.batch.perform(table.index(), Operation::SetAttributes { handle, attributes })?;
        Ok(())
    }

    fn direct(&mut self, table: TableId, which: &Which, values: DirectValues) -> Result<(), Fault> {
        let owner = match which {
            Which::Named(name) => self.owner(table, self.existing(table, name)?),
            Which::Default => Owner::Default,
            Which::All => Owner::All,
        };
        self.set_direct(table, owner, values)
    }

    fn owner(&self, table: TableId, handle: Handle) -> Owner {
        let entry = self.batch.tables()[table.index()].get(handle);
        Owner::Entry(handle, entry.map_or(0, |entry| entry.sequence))
    }

    /// Records values for these entries, or for the default action.
    fn set_direct(&mut self, table: TableId, owner: Owner, values: DirectValues) -> Result<(), Fault> {
        if !values.is_some() {
            return Ok(());
        }
        resources::check_direct(self.program, table, values)?;
        self.all_set |= owner == Owner::All;
        self.direct.push(Direct { table, owner, values });
        Ok(())
    }

    // ------------------------------------------------------------------------------------------------- actions

    /// Position and arguments of what an entry runs.
    fn action(&mut self, table: TableId, action: &EntryAction) -> Result<(usize, Vec<Bits>), Fault> {
        let declared = &self.program.tables[table];
        let profile = declared.implementation.as_ref().map(|used| used.profile);
        let to = |target: usize, handle: Handle| (target, vec![Bits::from_u64(32, u64::from(handle.0))]);
        match (action, profile) {
            (EntryAction::Call(call), profile) if profile.is_none() || self.has_own_actions => {
                Ok((self.position(table, call)?, call.args.clone()))
            }
            (EntryAction::Call(_), Some(profile)) => Err(Fault::invalid(format!(
                "table {} takes its actions from action profile {}: an entry names a member or a group of it",
                declared.name, self.program.action_profiles[profile].name
            ))),
            (EntryAction::Member(id), Some(profile)) => Ok(to(TO_MEMBER, self.known_member(profile, *id)?)),
            (EntryAction::Group(id), Some(profile)) => Ok(to(TO_GROUP, self.known_group(profile, *id)?)),
            (EntryAction::OneShot(choices), Some(profile)) => Ok(to(TO_GROUP, self.make_one_shot(profile, choices)?)),
            (_, None) => {
                Err(Fault::invalid(format!("table {} has no action profile: an entry names an action", declared.name)))
            }
        }
    }

    /// The position of an action in its table's list. An action that several controls use is several actions of the
    /// program and is identified by its name.
    fn position(&self, table: TableId, call: &Call) -> Result<usize, Fault> {
        let table = &self.program.tables[table];
        let listed = table.actions.iter().map(|listed| listed.action);
        self.position_among(listed, call.action, || format!("table {}", table.name))
    }

    fn position_among(
        &self,
        mut listed: impl Iterator<Item = ActionId> + Clone,
        action: ActionId,
        owner: impl Fn() -> String,
    ) -> Result<usize, Fault> {
        let name = |action: ActionId| self.program.actions[action].name.as_str();
        let same = listed.clone().position(|it| it == action);
        let same = same.or_else(|| listed.clone().position(|it| name(it) == name(action)));
        same.ok_or_else(|| {
            let names: Vec<&str> = listed.by_ref().map(name).collect();
            let (name, owner) = (name(action), owner());
            Fault::invalid(format!("action {name} is not one of the actions of {owner}: it has {}", names.join(", ")))
        })
    }

    fn member_call(&self, profile: ActionProfileId, call: &Call) -> Result<ActionCall, Fault> {
        let listed = profile_actions(self.program, profile);
        let owner = || format!("action profile {}", self.program.action_profiles[profile].name);
        let action = self.position_among(listed.iter().map(|listed| listed.action), call.action, owner)?;
        Ok(ActionCall { action, args: call.args.clone() })
    }

    // ------------------------------------------------------------------------------------------------ profiles

    fn profile_name(&self, profile: ActionProfileId) -> &str {
        &self.program.action_profiles[profile].name
    }

    fn known_member(&self, profile: ActionProfileId, id: u32) -> Result<Handle, Fault> {
        self.state.members.handle(profile, id).ok_or_else(|| {
            let message = format!("action profile {} has no member {id}", self.profile_name(profile));
            Fault::new(Code::NotFound, message)
        })
    }

    fn known_group(&self, profile: ActionProfileId, id: u32) -> Result<Handle, Fault> {
        self.state.groups.handle(profile, id).ok_or_else(|| {
            let message = format!("action profile {} has no group {id}", self.profile_name(profile));
            Fault::new(Code::NotFound, message)
        })
    }

    fn profile_operation(&mut self, profile: ActionProfileId, operation: ProfileOperation) -> Result<Handle, Fault> {
        let done = self.batch.perform_profile(profile.index(), operation);
        match done.map_err(|error| self.with_numbers(profile, error))? {
            Outcome::Inserted(handle) => Ok(handle),
            // No handle is asked of such an operation.
            Outcome::Done | Outcome::InsertedMany(_) => Ok(Handle(0)),
        }
    }

    /// A profile uses handles; controllers use their own numbers.
    fn with_numbers(&mut self, profile: ActionProfileId, error: tables::TableError) -> Fault {
        if self.is_for_tools {
            return error.into();
        }
        let (member_of, group_of) = (&mut self.state.members, &mut self.state.groups);
        let problem = match error.problem {
            Problem::MemberInUse { member } => {
                Problem::MemberInUse { member: Handle(member_of.number(profile, member)) }
            }
            Problem::GroupInUse { group } => Problem::GroupInUse { group: Handle(group_of.number(profile, group)) },
            Problem::MemberInGroup { member, group } => Problem::MemberInGroup {
                member: Handle(member_of.number(profile, member)),
                group: Handle(group_of.number(profile, group)),
            },
            other => other,
        };
        tables::TableError { problem, ..error }.into()
    }

    fn note(&mut self, undo: impl FnOnce(&mut ControllerState) + Send + 'static) {
        self.undos.push(Undo::State(Box::new(undo)));
    }

    pub(super) fn note_in_switch(&mut self, undo: impl FnOnce(&mut Switch) + Send + 'static) {
        self.undos.push(Undo::Switch(Box::new(undo)));
    }

    fn member(&mut self, member: &Member, kind: UpdateKind) -> Result<(), Fault> {
        let (profile, id) = (member.profile, member.id);
        if kind == UpdateKind::Delete {
            let handle = self.known_member(profile, id)?;
            self.profile_operation(profile, ProfileOperation::DeleteMember { member: handle })?;
            self.state.members.remove(profile, id);
            self.note(move |state| state.members.set(profile, id, handle));
            return Ok(());
        }
        let Some(call) = &member.call else {
            let name = self.profile_name(profile);
            return Err(Fault::invalid(format!("action profile {name}: member {id} needs an action")));
        };
        let call = self.member_call(profile, call)?;
        if kind == UpdateKind::Modify {
            let handle = self.known_member(profile, id)?;
            self.profile_operation(profile, ProfileOperation::ModifyMember { member: handle, call })?;
            return Ok(());
        }
        if self.state.members.handle(profile, id).is_some() {
            let message = format!("action profile {} has member {id} already", self.profile_name(profile));
            return Err(Fault::new(Code::AlreadyExists, message));
        }
        self.check_style(profile, Style::Members)?;
        let handle = self.profile_operation(profile, ProfileOperation::CreateMember(call))?;
        self.inserted = Some(handle);
        self.state.members.set(profile, id, handle);
        self.note(move |state| state.members.remove(profile, id));
        Ok(())
    }

    fn group(&mut self, group: &crate::api::entity::Group, kind: UpdateKind) -> Result<(), Fault> {
        let (profile, id) = (group.profile, group.id);
        let handle = match (kind, self.state.groups.handle(profile, id)) {
            (UpdateKind::Insert, Some(_)) => {
                let message = format!("action profile {} has group {id} already", self.profile_name(profile));
                return Err(Fault::new(Code::AlreadyExists, message));
            }
            (UpdateKind::Insert, None) => {
                self.check_style(profile, Style::Members)?;
                let handle = self.profile_operation(profile, ProfileOperation::CreateGroup)?;
                self.inserted = Some(handle);
                self.state.groups.set(profile, id, handle);
                self.note(move |state| state.groups.remove(profile, id));
                handle
            }
            (_, Some(handle)) => handle,
            (_, None) => self.known_group(profile, id)?,
        };
        let key = (profile.index(), handle);
        if kind == UpdateKind::Delete {
            self.profile_operation(profile, ProfileOperation::DeleteGroup { group: handle })?;
            self.state.groups.remove(profile, id);
            self.note(move |state| state.groups.set(profile, id, handle));
            let old = self.state.group_contents.remove(&key);
            self.note(move |state| state.group_contents.extend(old.map(|old| (key, old))));
            return Ok(());
        }
        let contents = GroupContents::of(group);
        self.check_size(group)?;
        let written = self.state.group_contents.get(&key).filter(|_| kind == UpdateKind::Modify);
        if let Some(written) = written.filter(|written| written.size_max != contents.size_max) {
            let name = self.profile_name(profile);
            return Err(Fault::invalid(format!(
                "action profile {name}: the max_size of group {id} is {} since it was inserted, and cannot become {}",
                written.size_max, contents.size_max
            )));
        }
        let members = self.chosen_members(profile, &contents)?;
        self.profile_operation(profile, ProfileOperation::SetGroup { group: handle, members })?;
        let old = self.state.group_contents.insert(key, contents);
        self.note(move |state| match old {
            Some(old) => drop(state.group_contents.insert(key, old)),
            None => drop(state.group_contents.remove(&key)),
        });
        Ok(())
    }

    fn check_size(&self, group: &crate::api::entity::Group) -> Result<(), Fault> {
        let count = group.members.len();
        if group.size_max > 0 && count > group.size_max as usize {
            let name = self.profile_name(group.profile);
            return Err(Fault::new(
                Code::ResourceExhausted,
                format!(
                    "action profile {name}: group {} has {count} members, more than its {}",
                    group.id, group.size_max
                ),
            ));
        }
        Ok(())
    }

    /// Refuses to mix the two ways to fill the tables of a selector: with members and groups, or with groups that
    /// belong to one entry each.
    fn check_style(&self, profile: ActionProfileId, style: Style) -> Result<(), Fault> {
        let name = self.profile_name(profile);
        let has_one_shots = self.state.one_shots_of(profile).next().is_some();
        match style {
            Style::Members if has_one_shots => Err(Fault::invalid(format!(
                "action profile {name}: entries of its tables have action sets of their own; members and groups cannot \
                 be used beside them: delete those entries first"
            ))),
            Style::OneShot if !has_one_shots && !self.batch.profiles()[profile.index()].is_empty() => {
                Err(Fault::invalid(format!(
                    "action profile {name} has members or groups; entries with action sets of their own cannot be used \
                     beside them: delete the members and groups first"
                )))
            }
            _ => Ok(()),
        }
    }

    /// The members of a group that can be chosen now, with their weights.
    fn chosen_members(&self, profile: ActionProfileId, contents: &GroupContents) -> Result<tables::Group, Fault> {
        let mut members = OrderedMap::new();
        for member in &contents.members {
            let handle = self.known_member(profile, member.member)?;
            if member.weight == 0 {
                let name = self.profile_name(profile);
                let message = format!("action profile {name}: the weight of member {} is 0", member.member);
                return Err(Fault::invalid(message));
            }
            let is_up = member.watch_port.is_none_or(|port| !self.state.ports_down.contains(&port));
            if members.insert(handle, if is_up { member.weight } else { 0 }).is_some() {
                let name = self.profile_name(profile);
                let message = format!("action profile {name}: member {} is given twice", member.member);
                return Err(Fault::invalid(message));
            }
        }
        Ok(members)
    }

    /// Creates a group for one entry, with a member for each choice.
    fn make_one_shot(&mut self, profile: ActionProfileId, choices: &[Choice]) -> Result<Handle, Fault> {
        if let Some(choice) = choices.iter().find(|choice| choice.weight == 0) {
            let action = &self.program.actions[choice.call.action].name;
            return Err(Fault::invalid(format!("the weight of action {action} is 0: it must be 1 at least")));
        }
        self.check_style(profile, Style::OneShot)?;
        let mut members = Vec::with_capacity(choices.len());
        let mut weights = OrderedMap::new();
        for choice in choices {
            let call = self.member_call(profile, &choice.call)?;
            let member = self.profile_operation(profile, ProfileOperation::CreateMember(call))?;
            let is_up = choice.watch_port.is_none_or(|port| !self.state.ports_down.contains(&port));
            weights.insert(member, if is_up { choice.weight } else { 0 });
            members.push(member);
        }
        let group = self.profile_operation(profile, ProfileOperation::CreateGroup)?;
        self.profile_operation(profile, ProfileOperation::SetGroup { group, members: weights })?;
        let key = (profile.index(), group);
        self.state.one_shots.insert(key, OneShot { choices: choices.to_vec(), members });
        self.note(move |state| drop(state.one_shots.remove(&key)));
        Ok(group)
    }

    fn one_shot_of_entry(&self, table: TableId, handle: Handle) -> Option<(ActionProfileId, Handle)> {
        let entry = self.batch.tables()[table.index()].get(handle)?;
        self.one_shot_of(table, entry.spec.action, &entry.spec.args)
    }

    /// The group that belongs to the entry that runs this, if one does.
    fn one_shot_of(&self, table: TableId, action: usize, args: &[Bits]) -> Option<(ActionProfileId, Handle)> {
        let profile = self.program.tables[table].implementation.as_ref()?.profile;
        match Target::of(action, args)? {
            Target::Group(group) if self.state.one_shots.contains_key(&(profile.index(), group)) => {
                Some((profile, group))
            }
            _ => None,
        }
    }

    /// Removes a group that belonged to an entry, with its members.
    fn release(&mut self, one_shot: Option<(ActionProfileId, Handle)>) -> Result<(), Fault> {
        let Some((profile, group)) = one_shot else { return Ok(()) };
        let key = (profile.index(), group);
        let Some(old) = self.state.one_shots.remove(&key) else { return Ok(()) };
        self.profile_operation(profile, ProfileOperation::DeleteGroup { group })?;
        for &member in &old.members {
            self.profile_operation(profile, ProfileOperation::DeleteMember { member })?;
        }
        self.note(move |state| drop(state.one_shots.insert(key, old)));
        Ok(())
    }

    /// Makes the members that watch a port eligible, or not.
    pub fn port_changed(mut self, port: u32, is_up: bool) {
        let changed = if is_up { self.state.ports_down.remove(&port) } else { self.state.ports_down.insert(port) };
        if !changed {
            return;
        }
        let watches = |contents: &GroupContents| contents.members.iter().any(|it| it.watch_port == Some(port));
        let groups: Vec<((usize, Handle), GroupContents)> = self
            .state
            .group_contents
            .iter()
            .filter(|(_, it)| watches(it))
            .map(|(&key, it)| (key, it.clone()))
            .collect();
        for ((profile, group), contents) in groups {
            let profile = ActionProfileId::from_index(profile);
            if let Ok(members) = self.chosen_members(profile, &contents) {
                let _kept = self.profile_operation(profile, ProfileOperation::SetGroup { group, members });
            }
        }
        let is_down = |choice: &Choice| choice.watch_port.is_some_and(|port| self.state.ports_down.contains(&port));
        let weight = |choice: &Choice| if is_down(choice) { 0 } else { choice.weight };
        let one_shots: Vec<((usize, Handle), tables::Group)> = (self.state.one_shots.iter())
            .filter(|(_, it)| it.choices.iter().any(|choice| choice.watch_port == Some(port)))
            .map(|(&key, it)| (key, it.members.iter().copied().zip(it.choices.iter().map(weight)).collect()))
            .collect();
        for ((profile, group), members) in one_shots {
            let profile = ActionProfileId::from_index(profile);
            let _kept = self.profile_operation(profile, ProfileOperation::SetGroup { group, members });
        }
        self.batch.commit();
    }

    // ------------------------------------------------------------------------------------------------- digests

    fn digest(
        &mut self,
        digest: ir::DigestId,
        config: crate::api::entity::DigestConfig,
        kind: UpdateKind,
    ) -> Result<(), Fault> {
        let name = &self.program.digests[digest].name;
        match (kind, self.state.digests.contains_key(&digest)) {
            (UpdateKind::Insert, true) => {
                return Err(Fault::new(Code::AlreadyExists, format!("digest {name} is configured already")));
            }
            (UpdateKind::Modify | UpdateKind::Delete, false) => {
                return Err(Fault::new(Code::NotFound, format!("digest {name} is not configured")));
            }
            _ => {}
        }
        let old = match kind {
            UpdateKind::Delete => self.state.digests.remove(&digest),
            _ => self.state.digests.insert(digest, config),
        };
        self.note(move |state| match old {
            Some(old) => drop(state.digests.insert(digest, old)),
            None => drop(state.digests.remove(&digest)),
        });
        Ok(())
    }
}

/// The outcomes of a batch that was undone because of its update at `position`.
fn aborted(mut outcomes: Vec<Result<(), Fault>>, position: usize, count: usize) -> Vec<Result<(), Fault>> {
    let taken_back = Fault::new(Code::Aborted, format!("taken back: update {position} of the batch was refused"));
    let not_tried = Fault::new(Code::Aborted, format!("not tried: update {position} of the batch was refused"));
    outcomes[..position].fill(Err(taken_back));
    outcomes.resize(count, Err(not_tried));
    outcomes
}
