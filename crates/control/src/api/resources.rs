//! Updates of what only the switch has: cells of counters, meters and registers, groups, sessions, value sets.

use crate::api::entity::{Cell, CloneSession, Entity, MeterValue, Multicast, Replica, TableEntry, UpdateKind};
use crate::api::fault::{Code, Fault};
use crate::api::state::{ControllerState, chosen};
use crate::api::write::Undo;
use crate::show;
use base::{Bits, FieldMatch, OrderedSet};
use ir::{CounterId, MeterId, Program, RegisterId, TableId, ValueSetId};
use std::ops::Range;
use switch::externs::{CounterCell, MeterArray};
use switch::meter::{ColorCounts, MeterCell};
use switch::{CloneProperties, CloneTarget, Destination, MeterConfig, Switch};

type Undos = Vec<Undo>;

fn note(undos: &mut Undos, undo: impl FnOnce(&mut Switch) + Send + 'static) {
    undos.push(Undo::Switch(Box::new(undo)));
}

/// Carries out an update of an entity that is not in the tables.
pub(crate) fn write(
    program: &Program,
    state: &mut ControllerState,
    switch: &mut Switch,
    undos: &mut Undos,
    entity: &Entity,
    kind: UpdateKind,
) -> Result<(), Fault> {
    match entity {
        Entity::Multicast(group) => multicast(state, switch, undos, group, kind),
        Entity::CloneSession(session) => clone_session(state, switch, undos, session, kind),
        _ if kind != UpdateKind::Modify => {
            Err(Fault::invalid(format!("{} can be modified, not inserted or deleted", describe(program, entity))))
        }
        Entity::Counter(cell) => counter(program, switch, undos, cell),
        Entity::Meter(cell) => meter(program, switch, undos, cell),
        Entity::Register(cell) => register(program, switch, undos, cell),
        Entity::ValueSet { set, members } => value_set(program, switch, undos, *set, members),
        Entity::DirectCounter(_)
        | Entity::DirectMeter(_)
        | Entity::TableEntry(_)
        | Entity::AllEntries(_)
        | Entity::Member(_)
        | Entity::Group(_)
        | Entity::Digest { .. } => unreachable!("these are of the tables"),
    }
}

fn describe(program: &Program, entity: &Entity) -> String {
    match entity {
        Entity::Counter(cell) => format!("counter {}", program.counters[cell.array].name),
        Entity::Meter(cell) => format!("meter {}", program.meters[cell.array].name),
        Entity::Register(cell) => format!("register {}", program.registers[cell.array].name),
        Entity::ValueSet { set, .. } => format!("value set {}", program.value_sets[*set].name),
        Entity::AllEntries(table) => format!("all entries of table {}", program.tables[*table].name),
        Entity::DirectCounter(direct) => format!("a direct counter of table {}", program.tables[direct.table].name),
        Entity::DirectMeter(direct) => format!("a direct meter of table {}", program.tables[direct.table].name),
        _ => "this".to_owned(),
    }
}

// ------------------------------------------------------------------------------------------------------ arrays

/// The cells that an update selects: one, or all.
fn cells(name: &str, index: Option<u64>, size: u64) -> Result<Range<usize>, Fault> {
    match index {
        None => Ok(0..size as usize),
        Some(index) if index < size => Ok(index as usize..index as usize + 1),
        Some(index) => {
            Err(Fault::new(Code::OutOfRange, format!("{name} has no cell {index}: its cells are 0 to {}", size - 1)))
        }
    }
}

fn counter(
    program: &Program,
    switch: &mut Switch,
    undos: &mut Undos,
    cell: &Cell<CounterId, CounterCell>,
) -> Result<(), Fault> {
    let (array, value) = (cell.array, cell.value);
    let stored = &mut switch.externs_mut().counters[array];
    let name = format!("counter {}", program.counters[array].name);
    let range = cells(&name, cell.index, stored.len() as u64)?;
    let old = stored[range.clone()].to_vec();
    stored[range.clone()].fill(value);
    note(undos, move |switch| switch.externs_mut().counters[array][range].copy_from_slice(&old));
    Ok(())
}

fn meter(
    program: &Program,
    switch: &mut Switch,
    undos: &mut Undos,
    cell: &Cell<MeterId, MeterValue>,
) -> Result<(), Fault> {
    let now_ns = switch.now_ns();
    let array = cell.array;
    let stored = &switch.externs_mut().meters[array];
    let name = format!("meter {}", program.meters[array].name);
    check_rates(&name, cell.value.config)?;
    let range = cells(&name, cell.index, stored.size())?;
    let old = configure(stored, range.clone(), cell.value, now_ns);
    note(undos, move |switch| restore(&switch.externs_mut().meters[array], range, old));
    Ok(())
}

/// Refuses rates that RFC 2698 excludes.
fn check_rates(name: &str, config: Option<MeterConfig>) -> Result<(), Fault> {
    match config {
        Some(it) if it.peak_rate_milliunits_per_s < it.committed_rate_milliunits_per_s => {
            Err(Fault::invalid(format!("{name}: the peak rate is below the committed rate")))
        }
        _ => Ok(()),
    }
}

/// Configures cells and returns their previous values.
fn configure(array: &MeterArray, range: Range<usize>, value: MeterValue, now_ns: u64) -> Vec<MeterCell> {
    let set = |index| {
        let cell = array.cell(index as u64)?;
        let (before, fresh) = (cell.clone(), MeterCell::default());
        fresh.set_counts(value.counts.unwrap_or(cell.counts()));
        value.config.into_iter().for_each(|config| fresh.configure(config, now_ns));
        cell.copy_from(&fresh);
        Some(before)
    };
    range.filter_map(set).collect()
}

fn restore(array: &MeterArray, range: Range<usize>, old: Vec<MeterCell>) {
    for (index, old) in range.zip(old) {
        array.cell(index as u64).into_iter().for_each(|cell| cell.copy_from(&old));
    }
}

fn register(
    program: &Program,
    switch: &mut Switch,
    undos: &mut Undos,
    cell: &Cell<RegisterId, Bits>,
) -> Result<(), Fault> {
    let array = cell.array;
    let stored = &mut switch.externs_mut().registers[array];
    let name = format!("register {}", program.registers[array].name);
    let range = cells(&name, cell.index, stored.size)?;
    let old: Vec<Bits> = range.clone().filter_map(|index| stored.read(index as u64)).collect();
    for index in range.clone() {
        stored.write(index as u64, &cell.value);
    }
    note(undos, move |switch| {
        let stored = &mut switch.externs_mut().registers[array];
        for (index, old) in range.zip(old) {
            stored.write(index as u64, &old);
        }
    });
    Ok(())
}

// ------------------------------------------------------------------------------------------------------ direct

/// The values to write to the direct counters and meter of an entry.
#[derive(Clone, Copy, Default)]
pub(crate) struct DirectValues {
    pub counter: Option<CounterCell>,
    pub meter: Option<Option<MeterConfig>>,
    pub meter_counts: Option<ColorCounts>,
}

impl DirectValues {
    /// Those of a new entry.
    pub const ZERO: DirectValues = DirectValues {
        counter: Some(CounterCell { packets: 0, bytes: 0 }),
        meter: Some(None),
        meter_counts: Some([CounterCell { packets: 0, bytes: 0 }; 3]),
    };

    pub fn of(entry: &TableEntry) -> DirectValues {
        DirectValues { counter: entry.counter, meter: entry.meter, meter_counts: entry.meter_counts }
    }

    pub fn is_some(&self) -> bool {
        self.counter.is_some() || self.meter.is_some() || self.meter_counts.is_some()
    }
}

/// Refuses values that entries of the table do not have.
pub(crate) fn check_direct(program: &Program, table: TableId, values: DirectValues) -> Result<(), Fault> {
    let declared = &program.tables[table];
    if values.counter.is_some() && declared.direct_counters.is_empty() {
        return Err(Fault::invalid(format!("table {} has no direct counter", declared.name)));
    }
    if (values.meter.is_some() || values.meter_counts.is_some()) && declared.direct_meter.is_none() {
        return Err(Fault::invalid(format!("table {} has no direct meter", declared.name)));
    }
    check_rates(&format!("table {}", declared.name), values.meter.flatten())
}

/// Writes these direct counters and meters of a table, of entries that packets see.
pub(crate) fn set_direct(
    program: &Program,
    switch: &mut Switch,
    table: TableId,
    cells: Range<usize>,
    values: DirectValues,
) {
    let now_ns = switch.now_ns();
    let (declared, externs) = (&program.tables[table], switch.externs_mut());
    if let Some(value) = values.counter {
        for &id in &declared.direct_counters {
            externs.direct_counters[id].get_mut(cells.clone()).into_iter().for_each(|cells| cells.fill(value));
        }
    }
    let Some((id, _)) = &declared.direct_meter else { return };
    let meters = &mut externs.direct_meters[*id];
    if let Some(config) = values.meter {
        configure(meters, cells, MeterValue { config, counts: values.meter_counts }, now_ns);
    } else if let Some(counts) = values.meter_counts {
        for index in cells {
            meters.cell(index as u64).into_iter().for_each(|cell| cell.set_counts(counts));
        }
    }
}

// ------------------------------------------------------------------------------------------------- replication

/// Stores replicas as they were written, if they depend on links.
fn keep_written(state: &mut ControllerState, undos: &mut Undos, destination: Destination, replicas: &[Replica]) {
    let has_backups = replicas.iter().any(|replica| !replica.backups.is_empty());
    let old = match has_backups {
        true => state.backed_up.insert(destination, replicas.to_vec()),
        false => state.backed_up.remove(&destination),
    };
    if has_backups || old.is_some() {
        undos.push(Undo::State(Box::new(move |state| match old {
            Some(old) => drop(state.backed_up.insert(destination, old)),
            None => drop(state.backed_up.remove(&destination)),
        })));
    }
}

/// Updates the copies whose choice has changed because a port lost its link or has it again.
pub(crate) fn choose_replicas(state: &ControllerState, switch: &mut Switch, port: u32) {
    let mut before = state.ports_down.clone();
    if !before.remove(&port) {
        before.insert(port);
    }
    for (&destination, written) in &state.backed_up {
        let replication = switch.replication_mut();
        let new = chosen(written, &state.ports_down);
        // What another client of the control plane has changed since is left alone.
        if replication.replicas(destination) != chosen(written, &before) {
            continue;
        }
        // As many or fewer than there were room for when they were written.
        let _done = match destination {
            Destination::Group(group) => replication.set_group(group, new),
            Destination::Session(session) => {
                let properties = replication.clone_properties(session);
                replication.set_session(session, CloneTarget::Replicas(new), properties)
            }
        };
    }
}

fn multicast(
    state: &mut ControllerState,
    switch: &mut Switch,
    undos: &mut Undos,
    group: &Multicast,
    kind: UpdateKind,
) -> Result<(), Fault> {
    let number = group.group;
    let replication = switch.replication_mut();
    let old = replication.group(number).cloned();
    match (kind, &old) {
        (UpdateKind::Insert, Some(_)) => {
            return Err(Fault::new(Code::AlreadyExists, format!("multicast group {number} exists already")));
        }
        (UpdateKind::Modify | UpdateKind::Delete, None) => {
            return Err(Fault::new(Code::NotFound, format!("there is no multicast group {number}; create it first")));
        }
        _ => {}
    }
    let old_metadata = match kind {
        UpdateKind::Delete => {
            replication.destroy_group(number)?;
            state.multicast_metadata.remove(&number)
        }
        _ => {
            replication.set_group(number, chosen(&group.replicas, &state.ports_down))?;
            match group.metadata.is_empty() {
                true => state.multicast_metadata.remove(&number),
                false => state.multicast_metadata.insert(number, group.metadata.clone()),
            }
        }
    };
    note(undos, move |switch| switch.replication_mut().restore_group(number, old));
    undos.push(Undo::State(Box::new(move |state| match old_metadata {
        Some(metadata) => drop(state.multicast_metadata.insert(number, metadata)),
        None => drop(state.multicast_metadata.remove(&number)),
    })));
    keep_written(state, undos, Destination::Group(number), &group.replicas);
    Ok(())
}

fn clone_session(
    state: &mut ControllerState,
    switch: &mut Switch,
    undos: &mut Undos,
    session: &CloneSession,
    kind: UpdateKind,
) -> Result<(), Fault> {
    let number = session.session;
    let replication = switch.replication_mut();
    let old = replication.session(number).cloned().map(|target| (target, replication.clone_properties(number)));
    match (kind, &old) {
        (UpdateKind::Insert, Some(_)) => {
            return Err(Fault::new(Code::AlreadyExists, format!("clone session {number} exists already")));
        }
        (UpdateKind::Modify | UpdateKind::Delete, None) => {
            return Err(Fault::new(Code::NotFound, format!("there is no clone session {number}")));
        }
        _ => {}
    }
    // The copies of a group are the group's.
    let written = if session.group.is_none() { &session.replicas[..] } else { &[] };
    if kind == UpdateKind::Delete {
        replication.delete_session(number)?;
    } else {
        let properties = CloneProperties {
            class_of_service: session.class_of_service,
            length_bytes_max: (session.length_bytes_max != 0).then_some(session.length_bytes_max),
        };
        let target = match session.group {
            Some(group) => CloneTarget::Group(group),
            None => CloneTarget::Replicas(chosen(written, &state.ports_down)),
        };
        replication.set_session(number, target, properties)?;
    }
    note(undos, move |switch| {
        // What was there fits again.
        let _done = match old {
            Some((target, properties)) => switch.replication_mut().set_session(number, target, properties),
            None => switch.replication_mut().delete_session(number),
        };
    });
    keep_written(state, undos, Destination::Session(number), written);
    Ok(())
}

// -------------------------------------------------------------------------------------------------- value sets

fn value_set(
    program: &Program,
    switch: &mut Switch,
    undos: &mut Undos,
    set: ValueSetId,
    members: &[Vec<FieldMatch>],
) -> Result<(), Fault> {
    let declared = &program.value_sets[set];
    if members.len() as u64 > declared.size {
        let message = format!("value set {} holds {} members, not {}", declared.name, declared.size, members.len());
        return Err(Fault::new(Code::ResourceExhausted, message));
    }
    let mut seen = OrderedSet::new();
    if let Some(twice) = members.iter().find(|member| !seen.insert(*member)) {
        let twice = show::value_set(std::slice::from_ref(twice));
        let message = format!("value set {}: the member {twice} is given twice", declared.name);
        return Err(Fault::new(Code::AlreadyExists, message));
    }
    let old = std::mem::replace(&mut switch.externs_mut().value_sets[set], members.to_vec());
    note(undos, move |switch| switch.externs_mut().value_sets[set] = old);
    Ok(())
}
