//! Carries commands out on a switch.
//!
//! What enters: commands and the switch they are for. What leaves: replies, or what the switch refused and why. Names
//! and widths were settled when the commands were read; what can still fail is what only the switch knows: handles,
//! duplicates, full tables, const entries.

use crate::command::{Burst, Command, CounterRef, MeterRef, Replica};
use crate::problem::{EntryError, Origin, Problem};
use crate::show;
use base::index::Id as _;
use ir::{ActionCall, EntryKey, TableId};
use switch::externs::{CounterCell, MeterArray};
use switch::{CloneTarget, MeterConfig, Switch, match_value};
use tables::{EntrySpec, Handle, MatchValue, Operation, Outcome, Update};

/// What a command gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Nothing beyond success.
    Done,
    /// The handle of a new entry or multicast node.
    Handle(u32),
    /// What was asked for, in lines for people.
    Text(String),
}

/// Errors after which the rest of a batch is not tried any more.
const ERRORS_MAX: usize = 20;

/// Carries out the commands of an entries file in order. Neighbouring insertions become one atomic batch. Every refused
/// command is reported, up to a bound; the others take effect.
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

/// Inserts as one batch; entries that are refused are reported and left out.
fn insert_batch(
    switch: &mut Switch,
    commands: &[(Command, Origin)],
    replies: &mut Vec<Reply>,
    errors: &mut Vec<EntryError>,
) {
    let mut batch: Vec<(Update, &Origin)> = commands
        .iter()
        .filter_map(|(command, origin)| match command {
            Command::TableAdd { table, key, priority, call } => {
                let operation = Operation::Insert(entry_spec(key, *priority, call));
                Some((Update { table: table.index(), operation }, origin))
            }
            _ => None,
        })
        .collect();
    while !batch.is_empty() && errors.len() < ERRORS_MAX {
        let updates = batch.iter().map(|(update, _)| update.clone()).collect();
        match switch.tables_mut().apply(updates) {
            Ok(outcomes) => {
                replies.extend(outcomes.iter().map(reply));
                return;
            }
            Err(refused) => {
                let (_, origin) = batch.remove(refused.update);
                let problem = Problem::new(refused.error.to_string());
                errors.push(EntryError { origin: origin.clone(), problem });
            }
        }
    }
}

fn entry_spec(key: &[EntryKey], priority: i32, call: &ActionCall) -> EntrySpec {
    EntrySpec {
        key: key.iter().map(match_value).collect(),
        priority,
        action: call.action as usize,
        args: call.args.clone(),
    }
}

fn reply(outcome: &Outcome) -> Reply {
    match outcome {
        Outcome::Inserted(handle) => Reply::Handle(handle.0),
        Outcome::Done | Outcome::InsertedMany(_) => Reply::Done,
    }
}

/// Carries one command out.
pub fn apply(switch: &mut Switch, command: &Command) -> Result<Reply, Problem> {
    use Command::*;
    match command {
        TableAdd { table, key, priority, call } => {
            perform(switch, *table, Operation::Insert(entry_spec(key, *priority, call)))
        }
        TableModify { table, handle, call } => {
            let (action, args) = (call.action as usize, call.args.clone());
            perform(switch, *table, Operation::Modify { handle: Handle(*handle), action, args })
        }
        TableDelete { table, handle } => perform(switch, *table, Operation::Delete { handle: Handle(*handle) }),
        TableClear { table } => perform(switch, *table, Operation::Clear),
        TableSetDefault { table, call } => {
            let call = tables::ActionCall { action: call.action as usize, args: call.args.clone() };
            perform(switch, *table, Operation::SetDefault(call))
        }
        TableResetDefault { table } => perform(switch, *table, Operation::ResetDefault),
        TableDump { .. } | TableDumpEntry { .. } | TableDumpEntryFromKey { .. } | TableNumEntries { .. } => {
            read_table(switch, command).map(Reply::Text)
        }
        ValueSetAdd { .. } | ValueSetRemove { .. } | ValueSetClear { .. } => change_value_set(switch, command),
        McGroupCreate { .. }
        | McGroupDestroy { .. }
        | McNodeCreate { .. }
        | McNodeUpdate { .. }
        | McNodeDestroy { .. }
        | McNodeAssociate { .. }
        | McNodeDissociate { .. }
        | McGroupSet { .. }
        | McDump => multicast(switch, command),
        MirroringAdd { .. }
        | MirroringAddMc { .. }
        | CloneSessionSet { .. }
        | MirroringDelete { .. }
        | MirroringGet { .. } => mirroring(switch, command),
        RegisterWrite { .. } | RegisterRead { .. } | RegisterReset { .. } => register(switch, command),
        CounterRead { .. } | CounterWrite { .. } | CounterReset { .. } => counter(switch, command),
        MeterSetRates { .. } | MeterArraySetRates { .. } | MeterGetRates { .. } => meter(switch, command),
        SetQueueDepth { depth_packets, port, priority } => {
            let packets = usize::try_from(*depth_packets).unwrap_or(usize::MAX);
            each_port(*port, |port| switch.set_queue_depth(port, priority.map(u32::from), packets))
        }
        SetQueueRate { rate_pps, port, priority } => {
            each_port(*port, |port| switch.set_queue_rate(port, priority.map(u32::from), *rate_pps))
        }
    }
}

fn perform(switch: &mut Switch, table: TableId, operation: Operation) -> Result<Reply, Problem> {
    let outcome = switch.tables_mut().perform(table.index(), operation);
    outcome.map(|outcome| reply(&outcome)).map_err(|error| Problem::new(error.to_string()))
}

fn read_table(switch: &Switch, command: &Command) -> Result<String, Problem> {
    let stored = |table: &TableId| &switch.tables().tables()[table.index()];
    match command {
        Command::TableDump { table } => Ok(show::table(stored(table))),
        Command::TableDumpEntry { table, handle } => {
            let entry = stored(table).get(Handle(*handle));
            let entry = entry.ok_or_else(|| Problem::new(format!("there is no entry with handle {handle}")))?;
            Ok(show::entry(stored(table), entry))
        }
        Command::TableDumpEntryFromKey { table, key, priority } => {
            let key: Vec<MatchValue> = key.iter().map(match_value).collect();
            let handle = stored(table).find(&key, *priority).map_err(|error| Problem::new(error.to_string()))?;
            let entry = handle.and_then(|handle| stored(table).get(handle));
            let entry = entry.ok_or_else(|| Problem::new("there is no entry with this key"))?;
            Ok(show::entry(stored(table), entry))
        }
        Command::TableNumEntries { table } => Ok(stored(table).len().to_string()),
        _ => unreachable!("only called for reads of tables"),
    }
}

fn change_value_set(switch: &mut Switch, command: &Command) -> Result<Reply, Problem> {
    let sizes: Vec<u64> = switch.program().value_sets.iter().map(|set| set.size).collect();
    let sets = &mut switch.externs_mut().value_sets;
    match command {
        Command::ValueSetAdd { set, member } => {
            let member: Vec<MatchValue> = member.iter().map(match_value).collect();
            if sets[*set].contains(&member) {
                return Err(Problem::new("the value set has this member already"));
            }
            if sets[*set].len() as u64 >= sizes[set.index()] {
                return Err(Problem::new(format!("the value set is full: it holds {} members", sizes[set.index()])));
            }
            sets[*set].push(member);
        }
        Command::ValueSetRemove { set, member } => {
            let member: Vec<MatchValue> = member.iter().map(match_value).collect();
            let position = sets[*set].iter().position(|present| *present == member);
            sets[*set].remove(position.ok_or_else(|| Problem::new("the value set has no such member"))?);
        }
        Command::ValueSetClear { set } => sets[*set].clear(),
        _ => unreachable!("only called for value sets"),
    }
    Ok(Reply::Done)
}

fn multicast(switch: &mut Switch, command: &Command) -> Result<Reply, Problem> {
    let wide = |ports: &[u16]| ports.iter().map(|&port| u32::from(port)).collect::<Vec<u32>>();
    let replication = switch.replication_mut();
    let result = match command {
        Command::McGroupCreate { group } => replication.create_group(u64::from(*group)),
        Command::McGroupDestroy { group } => replication.destroy_group(u64::from(*group)),
        Command::McNodeCreate { rid, ports } => {
            let handle = replication.create_node(u64::from(*rid), &wide(ports));
            return handle.map(Reply::Handle).map_err(|error| Problem::new(error.to_string()));
        }
        Command::McNodeUpdate { node, ports } => replication.update_node(*node, &wide(ports)),
        Command::McNodeDestroy { node } => replication.destroy_node(*node),
        Command::McNodeAssociate { group, node } => replication.associate_node(u64::from(*group), *node),
        Command::McNodeDissociate { group, node } => replication.dissociate_node(u64::from(*group), *node),
        Command::McGroupSet { group, replicas } => replication.set_group(u64::from(*group), copies(replicas)),
        Command::McDump => return Ok(Reply::Text(show::groups(replication))),
        _ => unreachable!("only called for multicast"),
    };
    result.map(|()| Reply::Done).map_err(|error| Problem::new(error.to_string()))
}

fn copies(replicas: &[Replica]) -> Vec<switch::Replica> {
    let copy = |it: &Replica| switch::Replica { rid: u64::from(it.instance), port: u32::from(it.port) };
    replicas.iter().map(copy).collect()
}

fn mirroring(switch: &mut Switch, command: &Command) -> Result<Reply, Problem> {
    let replication = switch.replication_mut();
    let result = match command {
        Command::MirroringAdd { session, port } => {
            let target = CloneTarget::Replicas(copies(&[Replica { port: *port, instance: 0 }]));
            replication.set_session(u32::from(*session), target)
        }
        Command::MirroringAddMc { session, group } => {
            replication.set_session(u32::from(*session), CloneTarget::Group(u64::from(*group)))
        }
        Command::CloneSessionSet { session, replicas } => {
            replication.set_session(u32::from(*session), CloneTarget::Replicas(copies(replicas)))
        }
        Command::MirroringDelete { session } => replication.delete_session(u32::from(*session)),
        Command::MirroringGet { session } => {
            let target = replication.session(u32::from(*session));
            let target = target.ok_or_else(|| Problem::new(format!("there is no clone session {session}")))?;
            return Ok(Reply::Text(show::clone_target(target)));
        }
        _ => unreachable!("only called for clone sessions"),
    };
    result.map(|()| Reply::Done).map_err(|error| Problem::new(error.to_string()))
}

fn register(switch: &mut Switch, command: &Command) -> Result<Reply, Problem> {
    let registers = &mut switch.externs_mut().registers;
    match command {
        Command::RegisterWrite { register, index, value } => {
            if !registers[*register].write(*index, value) {
                return Err(no_cell(*index, registers[*register].size));
            }
            Ok(Reply::Done)
        }
        Command::RegisterRead { register, index: Some(index) } => {
            let array = &registers[*register];
            let value = array.read(*index).ok_or_else(|| no_cell(*index, array.size))?;
            Ok(Reply::Text(value.to_bigint().to_string()))
        }
        Command::RegisterRead { register, index: None } => {
            let array = &registers[*register];
            let cells = (0..array.size).filter_map(|index| array.read(index));
            Ok(Reply::Text(cells.map(|cell| cell.to_bigint().to_string()).collect::<Vec<_>>().join(", ")))
        }
        Command::RegisterReset { register } => {
            registers[*register].reset();
            Ok(Reply::Done)
        }
        _ => unreachable!("only called for registers"),
    }
}

fn no_cell(index: u64, size: u64) -> Problem {
    Problem::new(format!("there is no cell {index}; the array has {size}"))
}

fn counter(switch: &mut Switch, command: &Command) -> Result<Reply, Problem> {
    let externs = switch.externs_mut();
    let (Command::CounterRead { counter, .. }
    | Command::CounterWrite { counter, .. }
    | Command::CounterReset { counter }) = command
    else {
        unreachable!("only called for counters")
    };
    let cells: &mut [CounterCell] = match counter {
        CounterRef::Array(id) => &mut externs.counters[*id],
        CounterRef::Direct(id) => &mut externs.direct_counters[*id],
    };
    let size = cells.len() as u64;
    match command {
        Command::CounterRead { index, .. } => {
            let cell = cells.get(*index as usize).ok_or_else(|| no_cell(*index, size))?;
            let CounterCell { packets, bytes } = *cell;
            Ok(Reply::Text(format!("packets={packets}, bytes={bytes}")))
        }
        Command::CounterWrite { index, packets, bytes, .. } => {
            let cell = cells.get_mut(*index as usize).ok_or_else(|| no_cell(*index, size))?;
            *cell = CounterCell { packets: *packets, bytes: *bytes };
            Ok(Reply::Done)
        }
        _ => {
            cells.fill(CounterCell::default());
            Ok(Reply::Done)
        }
    }
}

fn meter(switch: &mut Switch, command: &Command) -> Result<Reply, Problem> {
    let now_ns = switch.now_ns();
    let externs = switch.externs_mut();
    let (Command::MeterSetRates { meter, .. }
    | Command::MeterArraySetRates { meter, .. }
    | Command::MeterGetRates { meter, .. }) = command
    else {
        unreachable!("only called for meters")
    };
    let array: &mut MeterArray = match meter {
        MeterRef::Array(id) => &mut externs.meters[*id],
        MeterRef::Direct(id) => &mut externs.direct_meters[*id],
    };
    let size = array.size();
    match command {
        Command::MeterSetRates { index, committed, peak, .. } => {
            let cell = array.cell_mut(*index).ok_or_else(|| no_cell(*index, size))?;
            cell.configure(meter_config(*committed, *peak), now_ns);
            Ok(Reply::Done)
        }
        Command::MeterArraySetRates { committed, peak, .. } => {
            let config = meter_config(*committed, *peak);
            (0..size).filter_map(|index| array.cell_mut(index).map(|cell| cell.configure(config, now_ns))).count();
            Ok(Reply::Done)
        }
        Command::MeterGetRates { index, .. } => {
            let cell = array.cell_mut(*index).ok_or_else(|| no_cell(*index, size))?;
            Ok(Reply::Text(show::meter_config(cell.config())))
        }
        _ => unreachable!("only called for meters"),
    }
}

fn meter_config(committed: Burst, peak: Burst) -> MeterConfig {
    MeterConfig {
        committed_rate_milliunits_per_s: committed.rate_milliunits_per_s,
        committed_burst: committed.burst_units,
        peak_rate_milliunits_per_s: peak.rate_milliunits_per_s,
        peak_burst: peak.burst_units,
    }
}

/// Does something to the queues of a port, or of all ports.
fn each_port(port: Option<u16>, mut change: impl FnMut(u32) -> Result<(), switch::Refusal>) -> Result<Reply, Problem> {
    let ports = port.map_or(0..switch::traffic::PORT_MAX + 1, |port| u32::from(port)..u32::from(port) + 1);
    for port in ports {
        change(port).map_err(|refusal| {
            Problem::new(match refusal {
                switch::Refusal::NoPort => {
                    format!("port {port} does not exist; the highest is {}", switch::traffic::PORT_MAX)
                }
                switch::Refusal::NoPriority | switch::Refusal::Full => "there is no queue of this priority".to_owned(),
            })
        })?;
    }
    Ok(Reply::Done)
}
