//! Commands about the cells of registers, counters and meters. Those of a table's entries are named by handles.

use crate::api::entity::{Cell, Direct, Entity, MeterValue};
use crate::api::resolve::{table_of_counter, table_of_meter};
use crate::api::{Query, UpdateKind, Which};
use crate::cli_text::{Arguments, write};
use crate::command::{Ask, Change, Command, CounterRef, MeterRef};
use crate::names;
use crate::problem::Problem;
use base::Bits;
use ir::{DirectCounterId, DirectMeterId, Type};
use switch::MeterConfig;
use switch::externs::CounterCell;
use values::ValueTarget;

type Read = Result<Command, Problem>;

fn modify(entity: Entity) -> Command {
    write(UpdateKind::Modify, entity)
}

fn query(query: Query) -> Command {
    Command::Ask(Ask::Query(query))
}

pub(crate) fn register_read(it: &Arguments<'_>) -> Read {
    let register = names::register(it.program, it.word(0))?;
    let array = &it.program.registers[register];
    let index = it.from(1).first().map(|text| cell(text, &array.name, array.size)).transpose()?;
    Ok(query(Query::Registers { array: Some(register), index }))
}

pub(crate) fn register_write(it: &Arguments<'_>) -> Read {
    let register = names::register(it.program, it.word(0))?;
    let array = &it.program.registers[register];
    let index = cell(it.word(1), &array.name, array.size)?;
    let ty = if array.value_bits() == 0 { Type::Bit(0) } else { array.ty };
    let value = values::value(it.word(2), &ValueTarget { role: "register", name: &array.name, ty })?;
    let value = value.resize(array.ty.width());
    Ok(modify(Entity::Register(Cell { array: register, index: Some(index), value })))
}

pub(crate) fn register_reset(it: &Arguments<'_>) -> Read {
    let register = names::register(it.program, it.word(0))?;
    let value = Bits::zero(it.program.registers[register].ty.width());
    Ok(modify(Entity::Register(Cell { array: register, index: None, value })))
}

pub(crate) fn counter_read(it: &Arguments<'_>) -> Read {
    Ok(match names::counter(it.program, it.word(0))? {
        CounterRef::Array(array) => {
            query(Query::Counters { array: Some(array), index: Some(counter_cell(it, array)?) })
        }
        CounterRef::Direct(counter) => Command::Ask(Ask::DirectCounter(counter, it.entry(1)?)),
    })
}

pub(crate) fn counter_write(it: &Arguments<'_>) -> Read {
    let packets = it.number(2, u64::MAX, "number of packets")?;
    let bytes = it.number(3, u64::MAX, "number of bytes")?;
    let value = CounterCell { packets, bytes };
    Ok(match names::counter(it.program, it.word(0))? {
        CounterRef::Array(array) => {
            modify(Entity::Counter(Cell { array, index: Some(counter_cell(it, array)?), value }))
        }
        CounterRef::Direct(counter) => of_entry(it, direct_counter(it, counter, value)?)?,
    })
}

pub(crate) fn counter_reset(it: &Arguments<'_>) -> Read {
    let value = CounterCell::default();
    Ok(modify(match names::counter(it.program, it.word(0))? {
        CounterRef::Array(array) => Entity::Counter(Cell { array, index: None, value }),
        CounterRef::Direct(counter) => direct_counter(it, counter, value)?,
    }))
}

pub(crate) fn meter_set_rates(it: &Arguments<'_>) -> Read {
    let value = with_rates(rates(it, 2)?);
    Ok(match names::meter(it.program, it.word(0))? {
        MeterRef::Array(array) => modify(Entity::Meter(Cell { array, index: Some(meter_cell(it, array)?), value })),
        MeterRef::Direct(meter) => of_entry(it, direct_meter(it, meter, value)?)?,
    })
}

pub(crate) fn meter_array_set_rates(it: &Arguments<'_>) -> Read {
    let value = with_rates(rates(it, 1)?);
    Ok(modify(match names::meter(it.program, it.word(0))? {
        MeterRef::Array(array) => Entity::Meter(Cell { array, index: None, value }),
        MeterRef::Direct(meter) => direct_meter(it, meter, value)?,
    }))
}

pub(crate) fn meter_get_rates(it: &Arguments<'_>) -> Read {
    Ok(match names::meter(it.program, it.word(0))? {
        MeterRef::Array(array) => query(Query::Meters { array: Some(array), index: Some(meter_cell(it, array)?) }),
        MeterRef::Direct(meter) => Command::Ask(Ask::DirectMeter(meter, it.entry(1)?)),
    })
}

/// A meter's new rates. What it has counted stays.
fn with_rates(rates: MeterConfig) -> MeterValue {
    MeterValue { config: Some(rates), counts: None }
}

/// The direct counters of all entries.
fn direct_counter(it: &Arguments<'_>, counter: DirectCounterId, value: CounterCell) -> Result<Entity, Problem> {
    let table = table_of_counter(it.program, counter)?;
    Ok(Entity::DirectCounter(Direct { table, which: Which::All, value }))
}

/// The direct meters of all entries.
fn direct_meter(it: &Arguments<'_>, meter: DirectMeterId, value: MeterValue) -> Result<Entity, Problem> {
    let table = table_of_meter(it.program, meter)?;
    Ok(Entity::DirectMeter(Direct { table, which: Which::All, value }))
}

/// Sets the direct resource of the entry whose handle is the second argument.
fn of_entry(it: &Arguments<'_>, entity: Entity) -> Read {
    Ok(Command::change(Change::Direct { handle: it.entry(1)?, entity }))
}

/// The second argument as an index of a counter.
fn counter_cell(it: &Arguments<'_>, array: ir::CounterId) -> Result<u64, Problem> {
    cell(it.word(1), &it.program.counters[array].name, it.program.counters[array].size)
}

/// The second argument as an index of a meter.
fn meter_cell(it: &Arguments<'_>, array: ir::MeterId) -> Result<u64, Problem> {
    cell(it.word(1), &it.program.meters[array].name, it.program.meters[array].size)
}

/// An index of an array.
fn cell(text: &str, name: &str, size: u64) -> Result<u64, Problem> {
    let index = values::unsigned(text, u64::MAX, "index")?;
    match index < size {
        true => Ok(index),
        false => Err(Problem::new(format!(
            "index {index} is out of range, {name} has {size} cells (0 to {})",
            size.saturating_sub(1)
        ))),
    }
}

/// Committed and peak rate from argument `index` on.
fn rates(it: &Arguments<'_>, index: usize) -> Result<MeterConfig, Problem> {
    let (committed_rate_milliunits_per_s, committed_burst) = rate(it.word(index))?;
    let (peak_rate_milliunits_per_s, peak_burst) = rate(it.word(index + 1))?;
    if peak_rate_milliunits_per_s < committed_rate_milliunits_per_s {
        return Err(it.misuse("the peak rate (second) is lower than the committed rate (first)"));
    }
    Ok(MeterConfig { committed_rate_milliunits_per_s, committed_burst, peak_rate_milliunits_per_s, peak_burst })
}

/// `RATE:BURST`, the rate in units per microsecond: as thousandths of a unit per second, and the burst.
fn rate(text: &str) -> Result<(u64, u64), Problem> {
    let broken = || {
        Problem::new(format!("{text} is not a valid rate"))
            .with_help("a rate is RATE:BURST, units per microsecond and units at once, such as 0.001:10")
    };
    let (rate, burst) = text.split_once(':').ok_or_else(broken)?;
    let rate: f64 = rate.parse().map_err(|_| broken())?;
    let burst_units = values::unsigned(burst, u64::from(u32::MAX), "burst").map_err(|_| broken())?;
    // Up to a unit per femtosecond: no link is faster, and the product stays far below 2^53.
    if !(0.0..=1e6).contains(&rate) {
        return Err(broken());
    }
    Ok(((rate * 1e9).round() as u64, burst_units))
}
