//! Carries out commands on a switch.
//!
//! What enters: commands and the switch they are for. What leaves: replies, or what the switch refused and why. Names
//! and widths were checked when the commands were read; what can still fail depends on the state of the switch:
//! handles, duplicates, full tables, const entries.

use crate::api::arrays::FreshArrays;
use crate::api::state::ControllerState;
use crate::api::write::Writer;
use crate::api::{self, Atomicity};
use crate::cli_text::turned_priority;
use crate::command::{Command, CounterRef, MeterRef, ProfilePart, Replica};
use crate::problem::{EntryError, Origin, Problem};
use crate::show;
use base::FieldMatch;
use base::index::Id as _;
use ir::{ActionCall, RegisterId, TableId, ValueSetId};
use std::sync::Arc;
use switch::externs::{CounterCell, MeterArray};
use switch::meter::MeterCell;
use switch::{CloneProperties, CloneTarget, MeterConfig, ReplicationError, Switch};
use tables::{EntrySpec, Handle, Operation, Outcome, Profile, Table, TableSet, Target, Update};

/// The result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Nothing beyond success.
    Done,
    /// The handle of a new entry or multicast node.
    Handle(u32),
    /// The requested information, in lines for people.
    Text(String),
}

/// Errors after which the rest of a batch is not tried.
const ERRORS_MAX: usize = 20;

/// Carries out the commands of an entries file in order. Consecutive insertions become one atomic batch. Every
/// refused command is reported, up to a limit; the others take effect.
pub fn apply_all(switch: &mut Switch, commands: &[(Command, Origin)]) -> Result<Vec<Reply>, Vec<EntryError>> {
    let mut replies = Vec::with_capacity(commands.len());
    let mut errors = Vec::new();
    let mut rest = commands;
    while !rest.is_empty() && errors.len() < ERRORS_MAX {
        let insertions = rest.iter().take_while(|(command, _)| matches!(command, Command::TableAdd { .. })).count();
        let taken = insertions.max(1);
        if insertions > 0 {
            insert_batch(switch, &rest[..taken], &mut replies, &mut errors);
        } else {
            let (command, origin) = &rest[0];
            match apply(switch, command) {
                Ok(reply) => replies.push(reply),
                Err(problem) => errors.push(EntryError { origin: origin.clone(), problem }),
            }
        }
        rest = &rest[taken..];
    }
    if errors.is_empty() { Ok(replies) } else { Err(errors) }
}

/// Inserts entries as one batch; entries that are refused are reported and skipped. After `ERRORS_MAX` of them the
/// whole batch is undone.
fn insert_batch(
    switch: &mut Switch,
    commands: &[(Command, Origin)],
    replies: &mut Vec<Reply>,
    errors: &mut Vec<EntryError>,
) {
    let mut tables = switch.tables();
    let mut waiting: Vec<&(Command, Origin)> = Vec::with_capacity(commands.len());
    for command in commands {
        match check_group(&tables, &command.0) {
            Ok(()) => waiting.push(command),
            Err(problem) => errors.push(EntryError { origin: command.1.clone(), problem }),
        }
    }
    let mut batch = tables.begin();
    let mut inserted = Vec::with_capacity(waiting.len());
    for (command, origin) in waiting {
        if errors.len() >= ERRORS_MAX {
            return;
        }
        let Some(Update { table, operation }) = insertion(command) else { continue };
        match batch.perform(table, operation) {
            Ok(outcome) => inserted.push(reply(&outcome)),
            Err(error) => {
                let problem = Problem::new(error.to_string());
                errors.push(EntryError { origin: origin.clone(), problem });
            }
        }
    }
    if errors.len() < ERRORS_MAX {
        batch.commit();
        replies.extend(inserted);
    }
}

/// The reference switch refuses an entry for a group without members; an entry of a controller may precede the
/// members.
fn check_group(tables: &TableSet, command: &Command) -> Result<(), Problem> {
    let (table, call) = match command {
        Command::TableAdd { table, call, .. }
        | Command::TableAddTimed { table, call, .. }
        | Command::TableModify { table, call, .. }
        | Command::TableSetDefault { table, call } => (*table, call),
        _ => return Ok(()),
    };
    let used = stored(tables, table).spec().profile.as_ref();
    let group = match (used, Target::of(call.action as usize, &call.args)) {
        (Some(used), Some(Target::Group(handle))) => {
            tables.profiles()[used.profile].group(handle).map(|it| (handle, it))
        }
        _ => None,
    };
    match group {
        Some((handle, members)) if members.is_empty() => {
            Err(Problem::new(format!("group {handle} is empty: add members to it first")))
        }
        _ => Ok(()),
    }
}

fn insertion(command: &Command) -> Option<Update> {
    let Command::TableAdd { table, key, priority, call } = command else { return None };
    Some(Update { table: table.index(), operation: Operation::Insert(entry_spec(key, *priority, call)) })
}

fn entry_spec(key: &[FieldMatch], priority: i32, call: &ActionCall) -> EntrySpec {
    EntrySpec { key: key.to_vec(), priority, action: call.action as usize, args: call.args.clone() }
}

fn reply(outcome: &Outcome) -> Reply {
    match outcome {
        Outcome::Inserted(handle) => Reply::Handle(handle.0),
        Outcome::Done | Outcome::InsertedMany(_) => Reply::Done,
    }
}

/// Carries out one command.
pub fn apply(switch: &mut Switch, command: &Command) -> Result<Reply, Problem> {
    use Command::*;
    check_group(&switch.tables(), command)?;
    match command {
        Write(update) => write(switch, update),
        TableAdd { table, key, priority, call } => {
            perform(switch, *table, Operation::Insert(entry_spec(key, *priority, call)))
        }
        TableAddTimed { table, key, priority, call, timeout_ns } => {
            let reply = perform(switch, *table, Operation::Insert(entry_spec(key, *priority, call)))?;
            let Reply::Handle(handle) = reply else { return Ok(reply) };
            let attributes = tables::Attributes { idle_timeout_ns: *timeout_ns, ..tables::Attributes::default() };
            perform(switch, *table, Operation::SetAttributes { handle: Handle(handle), attributes })?;
            Ok(Reply::Handle(handle))
        }
        TableModify { table, handle, call } => {
            let (action, args) = (call.action as usize, call.args.clone());
            perform(switch, *table, Operation::Modify { handle: Handle(*handle), action, args })
        }
        TableSetTimeout { table, handle, timeout_ms } => table_set_timeout(switch, *table, *handle, *timeout_ms),
        TableDelete { table, handle } => perform(switch, *table, Operation::Delete { handle: Handle(*handle) }),
        TableClear { table } => perform(switch, *table, Operation::Clear),
        TableSetDefault { table, call } => {
            let call = tables::ActionCall { action: call.action as usize, args: call.args.clone() };
            perform(switch, *table, Operation::SetDefault(call))
        }
        TableResetDefault { table } => perform(switch, *table, Operation::ResetDefault),
        TableDump { table } => Ok(Reply::Text(show::table(stored(&switch.tables(), *table), turned_priority))),
        TableDumpEntry { table, handle } => table_dump_entry(stored(&switch.tables(), *table), *handle),
        TableDumpEntryFromKey { table, key, priority } => {
            table_dump_entry_from_key(stored(&switch.tables(), *table), key, *priority)
        }
        TableNumEntries { table } => Ok(Reply::Text(stored(&switch.tables(), *table).len().to_string())),

        ValueSetAdd { set, member } => value_set_add(switch, *set, member),
        ValueSetRemove { set, member } => value_set_remove(switch, *set, member),
        ValueSetClear { set } => {
            switch.externs_mut().value_sets[*set].clear();
            Ok(Reply::Done)
        }

        ValueSetDump { set } => Ok(Reply::Text(show::value_set(&switch.externs_mut().value_sets[*set]))),

        ProfileChange { profile, operation } => {
            let outcome = switch.tables().perform_profile(profile.index(), operation.clone());
            outcome.map(|outcome| reply(&outcome)).map_err(|error| Problem::new(error.to_string()))
        }
        ProfileDump { profile, part } => profile_dump(&switch.tables().profiles()[profile.index()], *part),

        CrcSet { calculation, parameters } => {
            switch.externs_mut().calculations.set(*calculation, *parameters);
            Ok(Reply::Done)
        }

        McGroupCreate { group } => done(switch.replication_mut().create_group(u64::from(*group))),
        McGroupDestroy { group } => done(switch.replication_mut().destroy_group(u64::from(*group))),
        McNodeCreate { rid, ports } => {
            let handle = switch.replication_mut().create_node(u64::from(*rid), ports);
            handle.map(Reply::Handle).map_err(|error| Problem::new(error.to_string()))
        }
        McNodeUpdate { node, ports } => done(switch.replication_mut().update_node(*node, ports)),
        McNodeDestroy { node } => done(switch.replication_mut().destroy_node(*node)),
        McNodeAssociate { group, node } => done(switch.replication_mut().associate_node(u64::from(*group), *node)),
        McNodeDissociate { group, node } => done(switch.replication_mut().dissociate_node(u64::from(*group), *node)),
        McGroupSet { group, replicas } => done(switch.replication_mut().set_group(u64::from(*group), copies(replicas))),
        McDump => Ok(Reply::Text(show::groups(switch.replication()))),

        MirroringAdd { session, port } => {
            let replica = Replica { port: *port, instance: 0 };
            set_session(switch, *session, CloneTarget::Replicas(copies(&[replica])))
        }
        MirroringAddMc { session, group } => set_session(switch, *session, CloneTarget::Group(u64::from(*group))),
        CloneSessionSet { session, replicas, class_of_service, packet_length_bytes } => {
            let properties = CloneProperties {
                class_of_service: u32::from(*class_of_service),
                length_bytes_max: (*packet_length_bytes != 0).then_some(*packet_length_bytes),
            };
            let target = CloneTarget::Replicas(copies(replicas));
            done(switch.replication_mut().set_session_with(u32::from(*session), target, properties))
        }
        MirroringDelete { session } => done(switch.replication_mut().delete_session(u32::from(*session))),
        MirroringGet { session } => {
            let target = switch.replication().session(u32::from(*session));
            let target = target.ok_or_else(|| Problem::new(format!("there is no clone session {session}")))?;
            Ok(Reply::Text(show::clone_target(target)))
        }

        RegisterRead { register, index } => register_read(switch, *register, *index),
        CounterRead { counter, index } => {
            let CounterCell { packets, bytes } = *counter_cell(switch, *counter, *index)?;
            Ok(Reply::Text(format!("packets={packets}, bytes={bytes}")))
        }
        CounterWrite { counter, index, packets, bytes } => {
            *counter_cell(switch, CounterRef::Direct(*counter), *index)? =
                CounterCell { packets: *packets, bytes: *bytes };
            Ok(Reply::Done)
        }
        CounterReset { counter } => {
            counter_cells(switch, CounterRef::Direct(*counter)).fill(CounterCell::default());
            Ok(Reply::Done)
        }
        MeterSetRates { meter, index, rates } => {
            let now_ns = switch.now_ns();
            meter_cell(switch, MeterRef::Direct(*meter), *index)?.configure(*rates, now_ns);
            Ok(Reply::Done)
        }
        MeterArraySetRates { meter, rates } => {
            meter_array_set_rates(switch, MeterRef::Direct(*meter), *rates);
            Ok(Reply::Done)
        }
        MeterGetRates { meter, index } => {
            Ok(Reply::Text(show::meter_config(meter_cell(switch, *meter, *index)?.config())))
        }

        SetExpireTime { profile, time_ns } => {
            if !switch.program().tables.iter().any(|table| table.expires || table.adds_on_miss) {
                let message = "the program has no table whose entries have timers";
                return Err(Problem::new(message.to_owned()));
            }
            switch.externs_mut().timers.set_profile_time_ns(*profile, *time_ns);
            Ok(Reply::Done)
        }
        SetQueueDepth { depth_packets, port, priority } => {
            let packets = usize::try_from(*depth_packets).unwrap_or(usize::MAX);
            queues(switch.set_queues(*port, priority.map(u32::from), |queue| queue.capacity_packets = packets))
        }
        SetQueueRate { rate_pps, port, priority } => {
            queues(switch.set_queues(*port, priority.map(u32::from), |queue| queue.packets_per_s = *rate_pps))
        }
    }
}

/// Carries out an update on a switch that has no controllers.
fn write(switch: &mut Switch, update: &api::Update) -> Result<Reply, Problem> {
    let (program, tables) = (Arc::clone(switch.program()), switch.shared_tables());
    let (mut state, mut tables) = (ControllerState::default(), tables.lock());
    let updates = std::slice::from_ref(update);
    let writer = Writer::new(&program, &mut state, tables.begin(), Some(switch));
    let writer = writer.with_arrays(FreshArrays::of(&program, updates));
    let outcome = writer.write(updates, Atomicity::ContinueOnError).outcomes.remove(0);
    outcome.map(|()| Reply::Done).map_err(|fault| Problem::new(fault.message))
}

fn perform(switch: &Switch, table: TableId, operation: Operation) -> Result<Reply, Problem> {
    let outcome = switch.tables().perform(table.index(), operation);
    outcome.map(|outcome| reply(&outcome)).map_err(|error| Problem::new(error.to_string()))
}

fn table_set_timeout(switch: &Switch, table: TableId, handle: u32, timeout_ms: u32) -> Result<Reply, Problem> {
    let handle = Handle(handle);
    let known = stored(&switch.tables(), table).get(handle).map(|entry| entry.attributes.as_deref().cloned());
    let known = known.ok_or_else(|| Problem::new(format!("there is no entry with handle {handle}")))?;
    let idle_timeout_ns = u64::from(timeout_ms) * 1_000_000;
    let attributes = tables::Attributes { idle_timeout_ns, ..known.unwrap_or_default() };
    perform(switch, table, Operation::SetAttributes { handle, attributes }).map(|_| Reply::Done)
}

fn stored(tables: &TableSet, table: TableId) -> &Table {
    &tables.tables()[table.index()]
}

fn profile_dump(profile: &Profile, part: ProfilePart) -> Result<Reply, Problem> {
    let text = match part {
        ProfilePart::All => show::profile(profile),
        ProfilePart::Member(handle) => match profile.member(handle) {
            Some(call) => show::member(profile, handle, call),
            None => return Err(Problem::new(format!("there is no member with handle {handle}"))),
        },
        ProfilePart::Group(handle) => match profile.group(handle) {
            Some(members) => show::group(handle, members),
            None => return Err(Problem::new(format!("there is no group with handle {handle}"))),
        },
    };
    Ok(Reply::Text(text))
}

fn table_dump_entry(table: &Table, handle: u32) -> Result<Reply, Problem> {
    let entry = table.get(Handle(handle));
    let entry = entry.ok_or_else(|| Problem::new(format!("there is no entry with handle {handle}")))?;
    Ok(Reply::Text(show::entry(table, entry, turned_priority)))
}

fn table_dump_entry_from_key(table: &Table, key: &[FieldMatch], priority: i32) -> Result<Reply, Problem> {
    let handle = table.find(key, priority).map_err(|error| Problem::new(error.to_string()))?;
    let entry = handle.and_then(|handle| table.get(handle));
    let entry = entry.ok_or_else(|| Problem::new("there is no entry with this key"))?;
    Ok(Reply::Text(show::entry(table, entry, turned_priority)))
}

fn value_set_add(switch: &mut Switch, set: ValueSetId, member: &[FieldMatch]) -> Result<Reply, Problem> {
    let size = switch.program().value_sets[set].size;
    let members = &mut switch.externs_mut().value_sets[set];
    if members.iter().any(|present| present == member) {
        return Err(Problem::new("the value set has this member already"));
    }
    if members.len() as u64 >= size {
        return Err(Problem::new(format!("the value set is full: it holds {size} members")));
    }
    members.push(member.to_vec());
    Ok(Reply::Done)
}

fn value_set_remove(switch: &mut Switch, set: ValueSetId, member: &[FieldMatch]) -> Result<Reply, Problem> {
    let members = &mut switch.externs_mut().value_sets[set];
    let position = members.iter().position(|present| present == member);
    members.remove(position.ok_or_else(|| Problem::new("the value set has no such member"))?);
    Ok(Reply::Done)
}

fn done(result: Result<(), ReplicationError>) -> Result<Reply, Problem> {
    result.map(|()| Reply::Done).map_err(|error| Problem::new(error.to_string()))
}

fn copies(replicas: &[Replica]) -> Vec<switch::Replica> {
    let copy = |it: &Replica| switch::Replica { rid: u64::from(it.instance), port: it.port };
    replicas.iter().map(copy).collect()
}

fn set_session(switch: &mut Switch, session: u16, target: CloneTarget) -> Result<Reply, Problem> {
    done(switch.replication_mut().set_session(u32::from(session), target))
}

/// One cell, or all of them with commas between.
fn register_read(switch: &mut Switch, register: RegisterId, index: Option<u64>) -> Result<Reply, Problem> {
    let array = &switch.externs_mut().registers[register];
    let text = match index {
        Some(index) => array.read(index).ok_or_else(|| no_cell(index, array.size))?.to_bigint().to_string(),
        None => {
            let cells = (0..array.size).filter_map(|index| array.read(index));
            cells.map(|cell| cell.to_bigint().to_string()).collect::<Vec<_>>().join(", ")
        }
    };
    Ok(Reply::Text(text))
}

fn no_cell(index: u64, size: u64) -> Problem {
    Problem::new(format!("there is no cell {index}; the array has {size}"))
}

/// The cells of a counter. Those of a direct counter are numbered by entries; the default action's is the last.
fn counter_cells(switch: &mut Switch, counter: CounterRef) -> &mut [CounterCell] {
    let externs = switch.externs_mut();
    match counter {
        CounterRef::Array(id) => &mut externs.counters[id],
        CounterRef::Direct(id) => &mut externs.direct_counters[id],
    }
}

fn counter_cell(switch: &mut Switch, counter: CounterRef, index: u64) -> Result<&mut CounterCell, Problem> {
    let cells = counter_cells(switch, counter);
    let of_default = usize::from(matches!(counter, CounterRef::Direct(_)));
    let numbered = cells.len().saturating_sub(of_default);
    let (cells, size) = (&mut cells[..numbered], numbered as u64);
    cells.get_mut(index as usize).ok_or_else(|| no_cell(index, size))
}

fn meter_array(switch: &mut Switch, meter: MeterRef) -> &mut MeterArray {
    let externs = switch.externs_mut();
    match meter {
        MeterRef::Array(id) => &mut externs.meters[id],
        MeterRef::Direct(id) => &mut externs.direct_meters[id],
    }
}

pub(crate) fn meter_cell(switch: &mut Switch, meter: MeterRef, index: u64) -> Result<&mut MeterCell, Problem> {
    let array = meter_array(switch, meter);
    let size = meter_cells(array, meter);
    let cell = if index < size { array.cell_mut(index) } else { None };
    cell.ok_or_else(|| no_cell(index, size))
}

/// How many cells of a meter are numbered: all except the one of a default action, where rates would meter misses,
/// too.
fn meter_cells(array: &MeterArray, meter: MeterRef) -> u64 {
    array.size().saturating_sub(u64::from(matches!(meter, MeterRef::Direct(_))))
}

fn meter_array_set_rates(switch: &mut Switch, meter: MeterRef, config: MeterConfig) {
    let now_ns = switch.now_ns();
    let array = meter_array(switch, meter);
    for index in 0..meter_cells(array, meter) {
        if let Some(cell) = array.cell_mut(index) {
            cell.configure(config, now_ns);
        }
    }
}

/// The reply to a change of queues.
fn queues(changed: Result<(), switch::Refusal>) -> Result<Reply, Problem> {
    changed.map(|()| Reply::Done).map_err(|refusal| {
        Problem::new(match refusal {
            switch::Refusal::NoPort => "there is no such port, or too many have queues of their own",
            switch::Refusal::NoPriority | switch::Refusal::Full => "there is no queue of this priority",
        })
    })
}
