//! Transfers the state that packets change, between the last burst of one program and the first burst of the next.
//!
//! What enters: both switches, and a map from the entries of one to those of the other. What leaves: in the new
//! switch, the cells of all arrays that both programs have, those of entries, multicast groups, their nodes and clone
//! sessions; or a refusal, if the new program cannot hold a register or a meter's rate, and then the old switch
//! continues. Mere counts may be lost with their counter: this is reported.
//!
//! Packets wait meanwhile, so arrays of the same form are moved as a whole, whatever their size, also into arrays
//! with more cells. The cells of a register whose type or size changes are copied before ([`prepare`]), while packets
//! write them; what was written since has marks, and is copied between the bursts. Old arrays are freed, and searched
//! for what was lost, afterwards ([`Carried::into_gone`]).

use base::index::IndexMap;
use base::{Bits, OrderedMap};
use control::Api;
use control::api::Fault;
use ir::{DirectCounterId, DirectMeterId, Program, Register, RegisterId, TableId, Type};
use std::sync::Arc;
use switch::Switch;
use switch::externs::{CounterCell, NoPlace, RegisterArray};
use switch::meter::ColorCounts;
use tables::Handle;

/// The end of a refusal.
const REFUSED: &str = "Nothing has changed; VERIFY_AND_COMMIT starts with empty state";

/// The cells of one table's entries in both programs.
#[derive(Debug, Default)]
pub(crate) struct SameEntries {
    counters: Vec<(DirectCounterId, DirectCounterId)>,
    meters: Option<(DirectMeterId, DirectMeterId)>,
    handles: Vec<(Handle, Handle)>,
}

/// A map from the entries of one control plane to those of the other, for the tables whose entries have cells.
pub(crate) fn same_entries(tables: &IndexMap<TableId, TableId>, from: &Api, to: &Api) -> Vec<SameEntries> {
    use base::index::Id as _;
    let (old, new) = (from.program(), to.program());
    let (old_tables, new_tables) = (from.tables(), to.tables());
    let (old_tables, new_tables) = (old_tables.lock(), new_tables.lock());
    let same = |(from, &to): (TableId, &TableId)| {
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

/// The result of a transfer, and what is left of the old program.
#[derive(Debug, Default)]
pub(crate) struct Carried {
    /// Descriptions of lost meters.
    meters: Vec<String>,
    /// Registers that the new program does not have, with their names and initial values.
    registers: Vec<(String, Bits, RegisterArray)>,
    /// Counters of the old program, with their names, and how many of their cells the new one has.
    counters: Vec<(String, usize, Vec<CounterCell>)>,
    /// Arrays that were replaced.
    replaced: Vec<RegisterArray>,
}

impl Carried {
    /// Frees what is left. Returns descriptions of what was lost.
    pub fn into_gone(self) -> Vec<String> {
        let Carried { meters, registers, counters, replaced } = self;
        drop(replaced);
        let mut gone = Vec::new();
        for (name, initial, cells) in &registers {
            note_gone(&mut gone, "register", name, cells.count_others(initial));
        }
        gone.extend(meters);
        for (name, kept, cells) in &counters {
            let counted = cells[*kept..].iter().filter(|cell| **cell != CounterCell::default());
            note_gone(&mut gone, "counter", name, counted.count());
        }
        gone
    }
}

/// Transfers everything.
pub(crate) fn carry(old: &mut Switch, new: &mut Switch, entries: &[SameEntries]) -> Result<Carried, Fault> {
    let mut carried = Carried::default();
    replication(old, new)?;
    registers(old, new, &mut carried)?;
    meters(old, new, &mut carried.meters)?;
    // Nothing is refused from here on, so that arrays can be moved out of the old switch.
    counters(old, new, &mut carried);
    entries.iter().for_each(|same| cells_of_entries(same, old, new));
    calculations(old, new);
    Ok(carried)
}

/// Copies the present cells of registers, while the old switch forwards. Values that do not fit are ignored: they may
/// fit when it matters.
pub(crate) fn prepare(from: &Api, to: &Api) -> Result<(), Fault> {
    let (source, target) = (from.program(), to.program());
    for (old, new) in same_registers(&source, &target) {
        let (before, after) = (&source.registers[old], &target.registers[new]);
        // The number of this start stays where the old program's has no place.
        if is_signed(before.ty) != is_signed(after.ty) || after.is_start_number {
            continue;
        }
        let array = |command_queue: &dyn switch::CommandQueue, program: Arc<Program>, id: RegisterId| {
            command_queue.ask(move |switch| {
                let is_there = Arc::ptr_eq(switch.program(), &program);
                is_there.then(|| switch.externs_mut().registers[id].shared())
            })
        };
        let (old_cells, new_cells) =
            (array(&**from.command_queue(), source.clone(), old)?, array(&**to.command_queue(), target.clone(), new)?);
        if let (Some(old_cells), Some(new_cells)) = (old_cells, new_cells) {
            if can_move(before, after) && old_cells.grown(after.ty.width(), after.size).is_some() {
                continue;
            }
            take_values(before, &old_cells, after, &new_cells, |cells, from, is_signed, excused| {
                cells.follow(from, is_signed, excused);
            });
        }
    }
    Ok(())
}

/// Copies the values of one register to another of the same signedness by `copy`. An initial value of the old program
/// that does not fit becomes that of the new program.
fn take_values<T>(
    before: &Register,
    values: &RegisterArray,
    after: &Register,
    cells: &RegisterArray,
    copy: impl FnOnce(&RegisterArray, &RegisterArray, bool, (&Bits, &Bits)) -> T,
) -> T {
    let own = if after.is_start_number { cells.read(0) } else { None };
    let own = own.unwrap_or_else(|| after.initial.clone());
    copy(cells, values, is_signed(before.ty), (&before.initial, &own))
}

/// The registers of both programs that have the same name.
fn same_registers(source: &Program, target: &Program) -> Vec<(RegisterId, RegisterId)> {
    let ids: OrderedMap<&str, RegisterId> =
        target.registers.iter_enumerated().map(|(id, it)| (it.name.as_str(), id)).collect();
    let same = source.registers.iter_enumerated().filter_map(|(id, it)| Some((id, *ids.get(it.name.as_str())?)));
    same.collect()
}

fn is_signed(ty: Type) -> bool {
    matches!(ty, Type::Int(_))
}

/// Whether the cells of one register can be moved to the other without inspection, followed by zeros if it has more.
fn can_move(before: &Register, after: &Register) -> bool {
    let (from, to) = (before.ty.width(), after.ty.width());
    let is_same = match is_signed(before.ty) {
        true => before.ty == after.ty,
        false => !is_signed(after.ty) && from <= to && from.div_ceil(64) == to.div_ceil(64),
    };
    let grows = before.size < after.size && after.initial.is_zero() && !after.is_start_number;
    is_same && (before.size == after.size || grows)
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

/// Moved unchanged, with the handles of nodes and with sessions that refer to groups.
fn replication(old: &Switch, new: &mut Switch) -> Result<(), Fault> {
    let most = new.program().architecture.port_max;
    if let Some(port) = old.replication().ports().find(|&port| port > most) {
        let architecture = new.program().architecture.name;
        return Err(Fault::invalid(format!(
            "copies of packets go to port {port}, and ports of {architecture} are at most {most}. {REFUSED}"
        )));
    }
    *new.replication_mut() = old.replication().clone();
    Ok(())
}

fn registers(old: &mut Switch, new: &mut Switch, carried: &mut Carried) -> Result<(), Fault> {
    let (source, target) = programs(old, new);
    let same: IndexMap<RegisterId, RegisterId> = same_registers(&source, &target).into_iter().collect();
    let (old, new) = (old.externs_mut(), new.externs_mut());
    for (from, before) in source.registers.iter_enumerated() {
        let values = &old.registers[from];
        let Some(&to) = same.get(from) else {
            if !before.is_start_number {
                carried.registers.push((before.name.clone(), before.initial.clone(), values.shared()));
            }
            continue;
        };
        let (after, cells) = (&target.registers[to], &mut new.registers[to]);
        if can_move(before, after)
            && let Some(replaced) = cells.replace_cells(values)
        {
            carried.replaced.push(replaced);
            continue;
        }
        if is_signed(before.ty) != is_signed(after.ty) {
            if let Some(cell) = values.first_other(&before.initial).filter(|_| !before.is_start_number) {
                return Err(no_place(before, after, &cell));
            }
            continue;
        }
        let taken = take_values(before, values, after, cells, RegisterArray::take_values);
        // The number of a start is not transferred.
        if let Err(cell) = taken
            && !before.is_start_number
        {
            return Err(no_place(before, after, &cell));
        }
    }
    Ok(())
}

fn no_place(before: &Register, after: &Register, cell: &NoPlace) -> Fault {
    let NoPlace { index, value } = cell;
    let why = match *index < after.size {
        true => format!("which is not a value of {} in the new program", after.ty),
        false => format!("and the new program has {} cells", after.size),
    };
    let (name, value) = (&before.name, value.to_bigint());
    Fault::invalid(format!("register {name}: cell {index} is {value:#x}, {why}. {REFUSED}"))
}

fn meters(old: &mut Switch, new: &mut Switch, gone: &mut Vec<String>) -> Result<(), Fault> {
    let (source, target) = programs(old, new);
    let (old, new) = (old.externs_mut(), new.externs_mut());
    let mut same = Vec::new();
    for (from, before) in source.meters.iter_enumerated() {
        let is_same = |it: &ir::Meter| it.name == before.name && it.unit == before.unit;
        let after = target.meters.iter_enumerated().find(|(_, it)| is_same(it));
        same.extend(after.map(|(to, _)| (from, to)));
        let kept = after.map_or(0, |(_, it)| it.size);
        let mut counted = 0;
        for index in kept..before.size {
            let Some(cell) = old.meters[from].cell(index) else { continue };
            if cell.config().is_some() {
                let name = &before.name;
                return Err(Fault::invalid(format!(
                    "meter {name}: cell {index} has rates, and the new program has no such cell. {REFUSED}"
                )));
            }
            counted += usize::from(cell.counts() != ColorCounts::default());
        }
        note_gone(gone, "meter", &before.name, counted);
    }
    // All of them fit: arrays of the same form are moved.
    for (from, to) in same {
        let (values, cells) = (&mut old.meters[from], &mut new.meters[to]);
        if values.size() == cells.size() {
            std::mem::swap(values, cells);
            continue;
        }
        for index in 0..values.size().min(cells.size()) {
            if let (Some(value), Some(cell)) = (values.cell(index), cells.cell(index)) {
                cell.copy_from(value);
            }
        }
    }
    Ok(())
}

fn counters(old: &mut Switch, new: &mut Switch, carried: &mut Carried) {
    let (source, target) = programs(old, new);
    let (old, new) = (old.externs_mut(), new.externs_mut());
    for (from, before) in source.counters.iter_enumerated() {
        let mut values = std::mem::take(&mut old.counters[from]);
        let mut kept = 0;
        if let Some((to, _)) = target.counters.iter_enumerated().find(|(_, it)| it.name == before.name) {
            let cells = &mut new.counters[to];
            kept = cells.len().min(values.len());
            if cells.len() == values.len() {
                std::mem::swap(cells, &mut values);
            } else {
                cells[..kept].copy_from_slice(&values[..kept]);
            }
        }
        carried.counters.push((before.name.clone(), kept, values));
    }
}

/// Notes that this many cells were lost with their owner.
pub(crate) fn note_gone(gone: &mut Vec<String>, kind: &str, name: &str, cells: usize) {
    match cells {
        0 => {}
        1 => gone.push(format!("{kind} {name}: 1 cell that is not zero")),
        _ => gone.push(format!("{kind} {name}: {cells} cells that are not zero")),
    }
}

/// What the entries' packets were counted and metered as, up to the last one. The cells of default actions follow all
/// others.
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
    let (values, cells) = (&old.externs_mut().direct_meters[from], &new.externs_mut().direct_meters[to]);
    let last = (values.size().saturating_sub(1), cells.size().saturating_sub(1));
    let copy = |from: u64, to: u64| {
        if let (Some(value), Some(cell)) = (values.cell(from), cells.cell(to)) {
            cell.copy_from(value);
        }
    };
    same.handles.iter().for_each(|(from, to)| copy(u64::from(from.0), u64::from(to.0)));
    copy(last.0, last.1);
}
