//! `dump`: what it reads, and the commands that precede the dumped entities.
//!
//! A dump is a list of commands that brings any switch with the same program to the same state, whatever was written
//! to it before. It therefore begins by undoing earlier writes. The program's initial entries are dumped like all
//! others, since they may have been deleted; only constant entries are left out.

use super::Arguments;
use crate::plan::{Dump, Plan, entity};
use crate::schema::{Schema, id, name};
use crate::words::quoted;
use control::Problem;
use p4runtime_proto::p4::config::v1::{Preamble, Table};
use p4runtime_proto::p4::v1::entity::Entity as Kind;
use p4runtime_proto::p4::v1::packet_replication_engine_entry::Type;
use p4runtime_proto::p4::v1::{
    ActionProfileGroup, ActionProfileMember, CloneSessionEntry, CounterEntry, DigestEntry, DirectCounterEntry,
    DirectMeterEntry, MeterEntry, MulticastGroupEntry, PacketReplicationEngineEntry, RegisterEntry, TableEntry,
    ValueSetEntry,
};

pub(super) fn dump(it: &Arguments<'_>) -> Result<Plan, Problem> {
    let with_data = it.words.first().is_some_and(|word| word.is("with-data"));
    let names = it.from(usize::from(with_data));
    if names.is_empty() {
        return Ok(Plan::Dump(everything(it.schema, with_data)));
    }
    let mut found = Dump::default();
    for word in names {
        let table = it.schema.table(&word.text)?;
        before_table(table, &mut found.before);
        add_table(it.schema, table, with_data, &mut found);
    }
    Ok(Plan::Dump(found))
}

/// Everything that can be written.
fn everything(schema: &Schema, with_data: bool) -> Dump {
    let info = schema.info();
    let mut found = Dump::default();
    let Dump { before, entities } = &mut found;
    // Entries refer to groups, and groups to members.
    info.tables.iter().for_each(|table| before_table(table, before));
    if !info.action_profiles.is_empty() {
        before.extend(["groups clear".to_owned(), "members clear".to_owned()]);
        entities.push(entity(Kind::ActionProfileMember(ActionProfileMember::default())));
        entities.push(entity(Kind::ActionProfileGroup(ActionProfileGroup::default())));
    }
    info.tables.iter().for_each(|table| add_table(schema, table, with_data, &mut found));
    let Dump { before, entities } = &mut found;
    before.extend(info.meters.iter().map(|it| format!("meters {} reset", shown(&it.preamble))));
    if !info.meters.is_empty() {
        entities.push(entity(Kind::MeterEntry(MeterEntry::default())));
    }
    before.extend(info.value_sets.iter().map(|it| format!("value-sets clear {}", shown(&it.preamble))));
    if !info.value_sets.is_empty() {
        entities.push(entity(Kind::ValueSetEntry(ValueSetEntry::default())));
    }
    before.extend(["multicast clear".to_owned(), "mirror clear".to_owned()]);
    let engine =
        |entry| entity(Kind::PacketReplicationEngineEntry(PacketReplicationEngineEntry { r#type: Some(entry) }));
    entities.push(engine(Type::MulticastGroupEntry(MulticastGroupEntry::default())));
    entities.push(engine(Type::CloneSessionEntry(CloneSessionEntry::default())));
    if !info.digests.is_empty() {
        before.push("digests clear".to_owned());
        entities.push(entity(Kind::DigestEntry(DigestEntry::default())));
    }
    if with_data {
        before.extend(info.counters.iter().map(|it| format!("counters {} reset", shown(&it.preamble))));
        before.extend(info.registers.iter().map(|it| format!("registers {} reset", shown(&it.preamble))));
        if !info.counters.is_empty() {
            entities.push(entity(Kind::CounterEntry(CounterEntry::default())));
        }
        if !info.registers.is_empty() {
            entities.push(entity(Kind::RegisterEntry(RegisterEntry::default())));
        }
    }
    found
}

fn shown(preamble: &Option<Preamble>) -> String {
    quoted(name(preamble))
}

/// Undoes what was written to a table.
fn before_table(table: &Table, before: &mut Vec<String>) {
    let table_name = shown(&table.preamble);
    if !table.is_const_table && !table.match_fields.is_empty() {
        before.push(format!("clear {table_name}"));
    }
    if table.const_default_action_id == 0 {
        before.push(format!("default {table_name} reset"));
    }
}

fn add_table(schema: &Schema, table: &Table, with_data: bool, found: &mut Dump) {
    let table_id = id(&table.preamble);
    let entries = TableEntry { table_id, ..TableEntry::default() };
    let default = TableEntry { is_default_action: true, ..entries.clone() };
    found.entities.extend([default.clone(), entries.clone()].map(|it| entity(Kind::TableEntry(it))));
    if let Some(meter) = schema.direct_meter_of(table) {
        // The meters of constant entries, which stay.
        let meter = shown(&meter.preamble);
        found.before.extend([format!("meters {meter} reset"), format!("meters {meter} default reset")]);
        for row in [&default, &entries] {
            let meters = DirectMeterEntry { table_entry: Some(row.clone()), ..DirectMeterEntry::default() };
            found.entities.push(entity(Kind::DirectMeterEntry(meters)));
        }
    }
    if let (Some(counter), true) = (schema.direct_counter_of(table), with_data) {
        let counter = shown(&counter.preamble);
        found.before.extend([format!("counters {counter} reset"), format!("counters {counter} default reset")]);
        for row in [default, entries] {
            let counters = DirectCounterEntry { table_entry: Some(row), data: None };
            found.entities.push(entity(Kind::DirectCounterEntry(counters)));
        }
    }
}
