//! Counters, meters and registers.

use super::Arguments;
use super::tables::{asked, one_entry};
use crate::data;
use crate::plan::{Change, ChangeKind, Filter, Plan, Read, entity, update};
use crate::schema::{CounterLike, MeterLike, id, name};
use crate::words::Word;
use control::Problem;
use p4runtime_proto::p4::config::v1::Table;
use p4runtime_proto::p4::v1::entity::Entity as Kind;
use p4runtime_proto::p4::v1::update::Type::Modify;
use p4runtime_proto::p4::v1::{
    CounterData, CounterEntry, DirectCounterEntry, DirectMeterEntry, Index, MeterConfig, MeterEntry, RegisterEntry,
    TableEntry,
};

fn read(kind: Kind) -> Plan {
    Plan::Read(Read { entities: vec![entity(kind)], filter: Filter::default() })
}

fn write(kind: Kind) -> Plan {
    Plan::Write(vec![update(Modify, kind)])
}

/// The words before `set`, `reset` or `=`, that word, and the words after it.
fn around_verb(words: &[Word]) -> (&[Word], &str, &[Word]) {
    match words.iter().position(|word| ["set", "reset", "="].iter().any(|verb| word.is(verb))) {
        Some(position) => (&words[..position], &words[position].text, &words[position + 1..]),
        None => (words, "", &[]),
    }
}

/// The index of a cell; `None` means all cells.
fn index(it: &Arguments<'_>, words: &[Word], owner: &str, size: i64) -> Result<Option<Index>, Problem> {
    match words {
        [] => Ok(None),
        [word] => {
            let index = values::unsigned(&word.text, i64::MAX as u64, "index")? as i64;
            if size > 0 && index >= size {
                let message = format!("index {index} is out of range, {owner} has {size} cells (0 to {})", size - 1);
                return Err(Problem::new(message));
            }
            Ok(Some(Index { index }))
        }
        [_, more, ..] => Err(it.misuse(format!("{} is one word too many", more.text))),
    }
}

fn count(word: &Word, what: &str) -> Result<i64, Problem> {
    values::unsigned(&word.text, i64::MAX as u64, what).map(|number| number as i64)
}

pub(super) fn counters(it: &Arguments<'_>) -> Result<Plan, Problem> {
    let Some(first) = it.words.first() else { return Ok(read(Kind::CounterEntry(CounterEntry::default()))) };
    let (cell, verb, values) = around_verb(it.from(1));
    let data = match (verb, values) {
        ("", _) => None,
        ("reset", []) => Some(CounterData::default()),
        ("set", [packets, bytes]) => Some(CounterData {
            packet_count: count(packets, "number of packets")?,
            byte_count: count(bytes, "number of bytes")?,
        }),
        _ => return Err(it.misuse("a counter is set to PACKETS BYTES, or reset")),
    };
    match it.schema.counter_like(&first.text)? {
        CounterLike::Array(counter) => {
            let index = index(it, cell, name(&counter.preamble), counter.size)?;
            let entry = CounterEntry { counter_id: id(&counter.preamble), index, data };
            Ok(if data.is_some() { write(Kind::CounterEntry(entry)) } else { read(Kind::CounterEntry(entry)) })
        }
        CounterLike::Direct(table) => match data {
            None => {
                let (table_entry, filter) = direct(it, table, cell)?;
                let entry = DirectCounterEntry { table_entry: Some(table_entry), data: None };
                Ok(Plan::Read(Read { entities: vec![entity(Kind::DirectCounterEntry(entry))], filter }))
            }
            Some(_) if cell.is_empty() && verb == "reset" => {
                let table_entry = Some(TableEntry { table_id: id(&table.preamble), ..TableEntry::default() });
                let all = entity(Kind::DirectCounterEntry(DirectCounterEntry { table_entry, data: None }));
                Ok(Plan::Change(Change { entities: vec![all], kind: ChangeKind::ResetDirect }))
            }
            Some(_) => {
                let table_entry = Some(one_row(it, table, cell)?);
                Ok(write(Kind::DirectCounterEntry(DirectCounterEntry { table_entry, data })))
            }
        },
    }
}

/// The entries whose counters or meters are read.
fn direct(it: &Arguments<'_>, table: &Table, words: &[Word]) -> Result<(TableEntry, Filter), Problem> {
    if let Some(default) = default_row(table, words) {
        return Ok((default, Filter::default()));
    }
    let all = TableEntry { table_id: id(&table.preamble), ..TableEntry::default() };
    asked(it.schema, table, words, all)
}

/// The entry, or the default action, whose counter or meter is written.
fn one_row(it: &Arguments<'_>, table: &Table, words: &[Word]) -> Result<TableEntry, Problem> {
    default_row(table, words).map_or_else(|| one_entry(it.schema, table, words), Ok)
}

/// The default action, if the words denote it.
fn default_row(table: &Table, words: &[Word]) -> Option<TableEntry> {
    let is_default = matches!(words, [only] if only.is("default"));
    is_default.then(|| TableEntry { table_id: id(&table.preamble), is_default_action: true, ..TableEntry::default() })
}

pub(super) fn meters(it: &Arguments<'_>) -> Result<Plan, Problem> {
    let Some(first) = it.words.first() else { return Ok(read(Kind::MeterEntry(MeterEntry::default()))) };
    let (cell, verb, values) = around_verb(it.from(1));
    // No verb means to read. No rates means to reset the meter.
    let config = match (verb, values) {
        ("", _) => None,
        ("reset", []) => Some(None),
        ("set", [cir, cburst, pir, pburst]) => Some(Some(rates([cir, cburst, pir, pburst])?)),
        _ => return Err(it.misuse("a meter is set to CIR CBURST PIR PBURST, or reset")),
    };
    match it.schema.meter_like(&first.text)? {
        MeterLike::Array(meter) => {
            let index = index(it, cell, name(&meter.preamble), meter.size)?;
            let meter_id = id(&meter.preamble);
            let entry = MeterEntry { meter_id, index, config: config.flatten(), counter_data: None };
            Ok(if config.is_some() { write(Kind::MeterEntry(entry)) } else { read(Kind::MeterEntry(entry)) })
        }
        MeterLike::Direct(table) => match config {
            None => {
                let (table_entry, filter) = direct(it, table, cell)?;
                let entry = DirectMeterEntry { table_entry: Some(table_entry), ..DirectMeterEntry::default() };
                Ok(Plan::Read(Read { entities: vec![entity(Kind::DirectMeterEntry(entry))], filter }))
            }
            Some(None) if cell.is_empty() => {
                let table_entry = Some(TableEntry { table_id: id(&table.preamble), ..TableEntry::default() });
                let all = DirectMeterEntry { table_entry, ..DirectMeterEntry::default() };
                let entities = vec![entity(Kind::DirectMeterEntry(all))];
                Ok(Plan::Change(Change { entities, kind: ChangeKind::ResetDirect }))
            }
            Some(config) => {
                let table_entry = Some(one_row(it, table, cell)?);
                let entry = DirectMeterEntry { table_entry, config, counter_data: None };
                Ok(write(Kind::DirectMeterEntry(entry)))
            }
        },
    }
}

fn rates([cir, cburst, pir, pburst]: [&Word; 4]) -> Result<MeterConfig, Problem> {
    let config = MeterConfig {
        cir: count(cir, "committed rate per second")?,
        cburst: count(cburst, "committed burst")?,
        pir: count(pir, "peak rate per second")?,
        pburst: count(pburst, "peak burst")?,
        eburst: 0,
    };
    match config.pir < config.cir {
        true => Err(Problem::new("the peak rate (third) is lower than the committed rate (first)")),
        false => Ok(config),
    }
}

pub(super) fn registers(it: &Arguments<'_>) -> Result<Plan, Problem> {
    let Some(first) = it.words.first() else { return Ok(read(Kind::RegisterEntry(RegisterEntry::default()))) };
    let register = it.schema.register(&first.text)?;
    let full = name(&register.preamble);
    let (cell, verb, words) = around_verb(it.from(1));
    let index = index(it, cell, full, i64::from(register.size))?;
    let register_id = id(&register.preamble);
    match verb {
        "" => Ok(read(Kind::RegisterEntry(RegisterEntry { register_id, index, data: None }))),
        "=" | "set" => {
            let ty = data::data_type(it.schema, register.type_spec.as_ref())?;
            let data = Some(data::read(full, &ty, words)?);
            Ok(write(Kind::RegisterEntry(RegisterEntry { register_id, index, data })))
        }
        _ if words.is_empty() => {
            let ty = data::data_type(it.schema, register.type_spec.as_ref())?;
            Ok(write(Kind::RegisterEntry(RegisterEntry { register_id, index, data: Some(data::zero(&ty)) })))
        }
        _ => Err(it.misuse("a register is set with = VALUE, or reset")),
    }
}
