//! Between the last burst of one program and the first of the next: what packets change.
//!
//! What enters: both switches, and which entries of the one are which of the other. What leaves: in the new switch, the
//! cells of all arrays that both programs have, those of entries, multicast groups, their nodes and clone sessions; or
//! a refusal, if a register or a meter's rate has no place, and then the old switch goes on. What packets have merely
//! counted may go with the array that has counted it: that is named.

use control::Api;
use control::api::Fault;
use ir::{DirectCounterId, DirectMeterId, Program, Register, TableId, Type};
use std::collections::BTreeMap;
use std::sync::Arc;
use switch::Switch;
use switch::externs::CounterCell;
use switch::meter::{ColorCounts, MeterCell};
use switch::traffic::port_max;
use tables::Handle;

/// What a refusal ends with.
const REFUSED: &str = "Nothing has changed; VERIFY_AND_COMMIT begins with nothing";

/// The cells of one table's entries in both programs.
#[derive(Debug, Default)]
pub(crate) struct SameEntries {
    counters: Vec<(DirectCounterId, DirectCounterId)>,
    meters: Option<(DirectMeterId, DirectMeterId)>,
    handles: Vec<(Handle, Handle)>,
}

/// Which entries of the one control plane are which of the other, for the tables that have cells for them.
pub(crate) fn same_entries(tables: &BTreeMap<TableId, TableId>, from: &Api, to: &Api) -> Vec<SameEntries> {
    use base::index::Id as _;
    let (old, new) = (from.program(), to.program());
    let (old_tables, new_tables) = (from.tables(), to.tables());
    let (old_tables, new_tables) = (old_tables.lock(), new_tables.lock());
    let same = |(&from, &to): (&TableId, &TableId)| {
        let (source, table) = (&old.tables[from], &new.tables[to]);
        let counters: Vec<_> = source.direct_counters.iter().copied().zip(table.direct_counters.clone()).collect();
        let meters = source.direct_meter.as_ref().zip(table.direct_meter.as_ref()).map(|(from, to)| (from.0, to.0));
        if counters.is_empty() && meters.is_none() {
            return None;
        }
        let (stored, wanted) = (&old_tables.tables()[from.index()], &new_tables.tables()[to.index()]);
        let handle = |entry: &tables::Entry| {
            let there = wanted.find(&entry.spec.key, entry.spec.priority).ok()??;
            Some((entry.handle, there))
        };
        Some(SameEntries { counters, meters, handles: stored.entries().filter_map(handle).collect() })
    };
    tables.iter().filter_map(same).collect()
}

/// Brings everything over. Returns what has gone, in words.
pub(crate) fn carry(old: &mut Switch, new: &mut Switch, entries: &[SameEntries]) -> Result<Vec<String>, Fault> {
    let mut gone = Vec::new();
    replication(old, new)?;
    registers(old, new, &mut gone)?;
    meters(old, new, &mut gone)?;
    counters(old, new, &mut gone);
    entries.iter().for_each(|same| cells_of_entries(same, old, new));
    calculations(old, new);
    Ok(gone)
}

/// The programs of both.
fn programs(old: &Switch, new: &Switch) -> (Arc<Program>, Arc<Program>) {
    (Arc::clone(old.program()), Arc::clone(new.program()))
}

fn calculations(old: &mut Switch, new: &mut Switch) {
    let (source, target) = programs(old, new);
    for (to, calculation) in target.calculations.iter_enumerated() {
        let from = source.calculations.iter_enumerated().find(|(_, it)| *it == calculation);
        if let Some((from, _)) = from {
            let parameters = old.externs_mut().calculations.get(from);
            new.externs_mut().calculations.set(to, parameters);
        }
    }
}

/// As it is, with the handles of nodes, and with sessions that name groups.
fn replication(old: &Switch, new: &mut Switch) -> Result<(), Fault> {
    let most = port_max(new.program().architecture);
    if let Some(port) = old.replication().ports().find(|&port| port > most) {
        let architecture = new.program().architecture.name();
        return Err(Fault::invalid(format!(
            "copies of packets go to port {port}, and ports of {architecture} are at most {most}. {REFUSED}"
        )));
    }
    *new.replication_mut() = old.replication().clone();
    Ok(())
}

fn registers(old: &mut Switch, new: &mut Switch, gone: &mut Vec<String>) -> Result<(), Fault> {
    let (source, target) = programs(old, new);
    for (from, before) in source.registers.iter_enumerated() {
        let values = &old.externs_mut().registers[from];
        let Some((to, after)) = target.registers.iter_enumerated().find(|(_, it)| it.name == before.name) else {
            let count = (0..before.size).filter(|&index| values.read(index).is_some_and(|it| it != before.initial));
            note_gone(gone, "register", &before.name, if before.is_start_number { 0 } else { count.count() });
            continue;
        };
        let cells = &mut new.externs_mut().registers[to];
        for index in 0..before.size {
            let Some(value) = values.read(index) else { continue };
            match converted(&value, before.ty, after.ty).filter(|_| index < after.size) {
                Some(value) if cells.read(index).as_ref() != Some(&value) => drop(cells.write(index, &value)),
                Some(_) => {}
                None if value == before.initial || before.is_start_number => {}
                None => return Err(no_place(before, after, index, &value)),
            }
        }
    }
    Ok(())
}

/// A value as one of another type; none if it is not one of it.
fn converted(value: &base::Bits, from: Type, to: Type) -> Option<base::Bits> {
    let resized = match (from, to) {
        (Type::Int(_), Type::Int(width)) => {
            let resized = value.sign_resize(width);
            return (resized.sign_resize(value.width()) == *value).then_some(resized);
        }
        (Type::Bit(_) | Type::Bool, Type::Bit(_) | Type::Bool) => value.resize(to.width()),
        _ => return None,
    };
    (resized.resize(value.width()) == *value).then_some(resized)
}

fn no_place(before: &Register, after: &Register, index: u64, value: &base::Bits) -> Fault {
    let why = match index < after.size {
        true => format!("which is no {} of the new program", after.ty),
        false => format!("and the new program has {} cells", after.size),
    };
    let (name, value) = (&before.name, value.to_bigint());
    Fault::invalid(format!("register {name}: cell {index} is {value:#x}, {why}. {REFUSED}"))
}

fn meters(old: &mut Switch, new: &mut Switch, gone: &mut Vec<String>) -> Result<(), Fault> {
    let (source, target) = programs(old, new);
    for (from, before) in source.meters.iter_enumerated() {
        let is_same = |it: &ir::Meter| it.name == before.name && it.unit == before.unit;
        let after = target.meters.iter_enumerated().find(|(_, it)| is_same(it));
        let cells = &mut old.externs_mut().meters[from];
        let mut places = after.map(|(to, _)| &mut new.externs_mut().meters[to]);
        let mut counted = 0;
        for index in 0..before.size {
            let Some(cell) = cells.cell_mut(index) else { continue };
            let there = places.as_mut().and_then(|places| places.cell_mut(index));
            match there {
                Some(there) => there.clone_from(cell),
                None if cell.config().is_some() => {
                    let name = &before.name;
                    return Err(Fault::invalid(format!(
                        "meter {name}: cell {index} has rates, and the new program has no such cell. {REFUSED}"
                    )));
                }
                None => counted += usize::from(cell.counts() != ColorCounts::default()),
            }
        }
        note_gone(gone, "meter", &before.name, counted);
    }
    Ok(())
}

fn counters(old: &mut Switch, new: &mut Switch, gone: &mut Vec<String>) {
    let (source, target) = programs(old, new);
    for (from, before) in source.counters.iter_enumerated() {
        let values = &old.externs_mut().counters[from];
        let mut kept = 0;
        if let Some((to, _)) = target.counters.iter_enumerated().find(|(_, it)| it.name == before.name) {
            let cells = &mut new.externs_mut().counters[to];
            kept = cells.len().min(values.len());
            cells[..kept].copy_from_slice(&values[..kept]);
        }
        let counted = values[kept..].iter().filter(|cell| **cell != CounterCell::default());
        note_gone(gone, "counter", &before.name, counted.count());
    }
}

/// Notes that this many cells went with what they were of.
pub(crate) fn note_gone(gone: &mut Vec<String>, kind: &str, name: &str, cells: usize) {
    match cells {
        0 => {}
        1 => gone.push(format!("{kind} {name}: 1 cell that is not zero")),
        _ => gone.push(format!("{kind} {name}: {cells} cells that are not zero")),
    }
}

/// What the entries' packets were counted as and measured by, up to the last one. Those of default actions lie behind
/// all others.
fn cells_of_entries(same: &SameEntries, old: &mut Switch, new: &mut Switch) {
    for &(from, to) in &same.counters {
        let (values, cells) = (&old.externs_mut().direct_counters[from], &mut new.externs_mut().direct_counters[to]);
        for (from, to) in &same.handles {
            if let (Some(value), Some(cell)) = (values.get(from.0 as usize), cells.get_mut(to.0 as usize)) {
                *cell = *value;
            }
        }
        if let (Some(value), Some(cell)) = (values.last(), cells.last_mut()) {
            *cell = *value;
        }
    }
    let Some((from, to)) = same.meters else { return };
    let (values, cells) = (&mut old.externs_mut().direct_meters[from], &mut new.externs_mut().direct_meters[to]);
    let last = (values.size().saturating_sub(1), cells.size().saturating_sub(1));
    let mut copy = |from: u64, to: u64| {
        let value: Option<MeterCell> = values.cell_mut(from).cloned();
        if let (Some(value), Some(cell)) = (value, cells.cell_mut(to)) {
            *cell = value;
        }
    };
    same.handles.iter().for_each(|(from, to)| copy(u64::from(from.0), u64::from(to.0)));
    copy(last.0, last.1);
}
