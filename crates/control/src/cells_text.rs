//! Commands about the cells of registers, counters and meters.
//!
//! Cells of arrays become updates of the control model. Those of a table's entries are named by handles.

use crate::api::entity::{Cell, Entity, MeterValue};
use crate::api::{Update, UpdateKind};
use crate::cli_text::Arguments;
use crate::command::{Command, CounterRef, MeterRef};
use crate::names;
use crate::problem::Problem;
use base::Bits;
use switch::MeterConfig;
use switch::externs::CounterCell;
use values::ValueTarget;

type Read = Result<Command, Problem>;

fn modify(entity: Entity) -> Command {
    Command::Write(Box::new(Update { kind: UpdateKind::Modify, entity }))
}

pub(crate) fn register_read(it: &Arguments<'_>) -> Read {
    let register = names::register(it.program, it.word(0))?;
    let array = &it.program.registers[register];
    let index = it.from(1).first().map(|text| cell(text, &array.name, array.size)).transpose()?;
    Ok(Command::RegisterRead { register, index })
}

pub(crate) fn register_write(it: &Arguments<'_>) -> Read {
    let register = names::register(it.program, it.word(0))?;
    let array = &it.program.registers[register];
    let index = cell(it.word(1), &array.name, array.size)?;
    let value = values::value(it.word(2), &ValueTarget { role: "register", name: &array.name, ty: array.ty })?;
    Ok(modify(Entity::Register(Cell { array: register, index: Some(index), value })))
}

pub(crate) fn register_reset(it: &Arguments<'_>) -> Read {
    let register = names::register(it.program, it.word(0))?;
    let value = Bits::zero(it.program.registers[register].ty.width());
    Ok(modify(Entity::Register(Cell { array: register, index: None, value })))
}

pub(crate) fn counter_read(it: &Arguments<'_>) -> Read {
    let (counter, index) = counter_cell(it)?;
    Ok(Command::CounterRead { counter, index })
}

pub(crate) fn counter_write(it: &Arguments<'_>) -> Read {
    let (counter, index) = counter_cell(it)?;
    let packets = it.number(2, u64::MAX, "number of packets")?;
    let bytes = it.number(3, u64::MAX, "number of bytes")?;
    Ok(match counter {
        CounterRef::Array(array) => {
            modify(Entity::Counter(Cell { array, index: Some(index), value: CounterCell { packets, bytes } }))
        }
        CounterRef::Direct(counter) => Command::CounterWrite { counter, index, packets, bytes },
    })
}

pub(crate) fn counter_reset(it: &Arguments<'_>) -> Read {
    Ok(match names::counter(it.program, it.word(0))? {
        CounterRef::Array(array) => modify(Entity::Counter(Cell { array, index: None, value: CounterCell::default() })),
        CounterRef::Direct(counter) => Command::CounterReset { counter },
    })
}

pub(crate) fn meter_set_rates(it: &Arguments<'_>) -> Read {
    let (meter, index) = meter_cell(it)?;
    let rates = rates(it, 2)?;
    Ok(match meter {
        MeterRef::Array(array) => modify(Entity::Meter(Cell { array, index: Some(index), value: with_rates(rates) })),
        MeterRef::Direct(meter) => Command::MeterSetRates { meter, index, rates },
    })
}

pub(crate) fn meter_array_set_rates(it: &Arguments<'_>) -> Read {
    let rates = rates(it, 1)?;
    Ok(match names::meter(it.program, it.word(0))? {
        MeterRef::Array(array) => modify(Entity::Meter(Cell { array, index: None, value: with_rates(rates) })),
        MeterRef::Direct(meter) => Command::MeterArraySetRates { meter, rates },
    })
}

pub(crate) fn meter_get_rates(it: &Arguments<'_>) -> Read {
    let (meter, index) = meter_cell(it)?;
    Ok(Command::MeterGetRates { meter, index })
}

/// A meter's new rates. What it has counted stays.
fn with_rates(rates: MeterConfig) -> MeterValue {
    MeterValue { config: Some(rates), counts: None }
}

/// The counter of the first argument and the index of the second.
fn counter_cell(it: &Arguments<'_>) -> Result<(CounterRef, u64), Problem> {
    let counter = names::counter(it.program, it.word(0))?;
    let index = match counter {
        CounterRef::Array(id) => {
            let counter = &it.program.counters[id];
            cell(it.word(1), &counter.name, counter.size)?
        }
        CounterRef::Direct(_) => u64::from(it.handle(1, "entry handle")?),
    };
    Ok((counter, index))
}

/// The meter of the first argument and the index of the second.
fn meter_cell(it: &Arguments<'_>) -> Result<(MeterRef, u64), Problem> {
    let meter = names::meter(it.program, it.word(0))?;
    let index = match meter {
        MeterRef::Array(id) => cell(it.word(1), &it.program.meters[id].name, it.program.meters[id].size)?,
        MeterRef::Direct(_) => u64::from(it.handle(1, "entry handle")?),
    };
    Ok((meter, index))
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
