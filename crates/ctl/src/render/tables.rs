//! Entities as text.

use super::{action_text, call_text, hex, known_name, port_number, replicas_text};
use crate::data;
use crate::grid::grid;
use crate::key;
use crate::language::duration_text;
use crate::schema::{Schema, name};
use p4runtime_proto::p4::config::v1::{MatchField, Table};
use p4runtime_proto::p4::v1::action_profile_group::member::WatchKind;
use p4runtime_proto::p4::v1::entity::Entity as Kind;
use p4runtime_proto::p4::v1::packet_replication_engine_entry::Type;
use p4runtime_proto::p4::v1::{
    ActionProfileGroup, CounterData, Entity, Index, MeterConfig, P4Data, PacketReplicationEngineEntry, TableEntry,
    ValueSetEntry, ValueSetMember,
};

/// A row: pairs of a heading and a cell. Columns without any content are left out.
type Row = Vec<(String, String)>;

/// Entities that belong under one heading.
#[derive(Default)]
struct Section {
    title: String,
    /// What the rows are: `entries`, ...
    things: &'static str,
    rows: Vec<Row>,
    /// The positions of rows in which all values are zero.
    zeros: Vec<usize>,
    /// The default action, which is shown last.
    default: Option<Row>,
}

/// All entities, with a heading for each kind, table and array. If there are no entities, the text is `nothing`.
pub fn entities_text(schema: &Schema, entities: &[Entity]) -> String {
    let mut sections: Vec<Section> = Vec::new();
    for entity in entities {
        let Some(kind) = &entity.entity else { continue };
        let (title, things) = heading(schema, kind);
        let position = sections.iter().rposition(|it| it.title == title && it.things == things);
        let position = position.unwrap_or_else(|| {
            sections.push(Section { title, things, ..Section::default() });
            sections.len() - 1
        });
        add(schema, kind, &mut sections[position]);
    }
    sections.iter().map(Section::text).collect::<Vec<_>>().join("\n\n")
}

/// The action of a table on a miss, from its default entry.
pub fn default_text(schema: &Schema, entity: &Entity) -> String {
    let Some(Kind::TableEntry(entry)) = &entity.entity else { return String::new() };
    let table = schema.table_by_id(entry.table_id);
    let owner = known_name(table.map(|it| name(&it.preamble)), entry.table_id);
    let constancy = if table.is_some_and(|it| it.const_default_action_id != 0) { " (const)" } else { "" };
    format!("{owner}: the default action is {}{constancy}", action_or_nothing(schema, entry))
}

fn action_or_nothing(schema: &Schema, entry: &TableEntry) -> String {
    let action = entry.action.as_ref().map(|action| action_text(schema, action));
    action.filter(|it| !it.is_empty()).unwrap_or_else(|| "nothing".to_owned())
}

impl Section {
    fn text(&self) -> String {
        // A single row is shown even if it is zero, because it was requested explicitly.
        let hidden: &[usize] = if self.rows.len() > 1 { &self.zeros } else { &[] };
        let rows = self.rows.iter().enumerate().filter(|(position, _)| hidden.binary_search(position).is_err());
        let rows: Vec<&Row> = rows.map(|(_, row)| row).chain(&self.default).collect();
        let (count, things) = (self.rows.len(), self.things);
        let things = if count == 1 { singular(things) } else { things };
        let count = match hidden.len() {
            0 => format!("{count} {things}"),
            zeros => format!("{count} {things}, {zeros} of them 0"),
        };
        let title = if self.title.is_empty() { count } else { format!("{}: {count}", self.title) };
        match rows.is_empty() {
            true => title,
            false => format!("{title}\n{}", columns(&rows)),
        }
    }
}

/// `entries` → `entry`, `cells` → `cell`.
fn singular(things: &'static str) -> &'static str {
    if things == "entries" { "entry" } else { things.trim_end_matches('s') }
}

/// Rows under those headings that have content in any row, in the order of the longest row.
fn columns(rows: &[&Row]) -> String {
    let mut titles: Vec<&str> = Vec::new();
    for row in rows {
        for (title, _) in row.iter() {
            if !titles.contains(&title.as_str()) {
                titles.push(title);
            }
        }
    }
    let cell = |row: &Row, title: &str| row.iter().find(|(it, _)| it == title).map_or("", |(_, text)| text).to_owned();
    titles.retain(|title| rows.iter().any(|row| !cell(row, title).is_empty()));
    let head = titles.iter().map(|title| (*title).to_owned()).collect();
    let body = rows.iter().map(|row| titles.iter().map(|title| cell(row, title)).collect());
    grid(std::iter::once(head).chain(body).collect())
}

/// The object that an entity belongs to, and what its rows are.
fn heading(schema: &Schema, kind: &Kind) -> (String, &'static str) {
    let table = |id: u32| known_name(schema.table_by_id(id).map(|it| name(&it.preamble)), id);
    let table_of = |entry: &Option<TableEntry>| table(entry.as_ref().map_or(0, |entry| entry.table_id));
    let profile = |id: u32| known_name(schema.profile_by_id(id).map(|it| name(&it.preamble)), id);
    match kind {
        Kind::TableEntry(it) => (table(it.table_id), "entries"),
        Kind::DirectCounterEntry(it) => (table_of(&it.table_entry), "counters"),
        Kind::DirectMeterEntry(it) => (table_of(&it.table_entry), "meters"),
        Kind::ActionProfileMember(it) => (profile(it.action_profile_id), "members"),
        Kind::ActionProfileGroup(it) => (profile(it.action_profile_id), "groups"),
        Kind::CounterEntry(it) => {
            (known_name(schema.counter_by_id(it.counter_id).map(|it| name(&it.preamble)), it.counter_id), "cells")
        }
        Kind::MeterEntry(it) => {
            (known_name(schema.meter_by_id(it.meter_id).map(|it| name(&it.preamble)), it.meter_id), "cells")
        }
        Kind::RegisterEntry(it) => {
            (known_name(schema.register_by_id(it.register_id).map(|it| name(&it.preamble)), it.register_id), "cells")
        }
        Kind::PacketReplicationEngineEntry(it) => match it.r#type {
            Some(Type::CloneSessionEntry(_)) => (String::new(), "clone sessions"),
            _ => (String::new(), "multicast groups"),
        },
        Kind::ValueSetEntry(it) => {
            let found = schema.value_set_by_id(it.value_set_id).map(|it| name(&it.preamble));
            (known_name(found, it.value_set_id), "members")
        }
        Kind::DigestEntry(_) => (String::new(), "digests"),
        Kind::ExternEntry(_) => (String::new(), "entries of other externs"),
    }
}

fn field(title: &str, text: impl ToString) -> (String, String) {
    (title.to_owned(), text.to_string())
}

fn index(index: &Option<Index>) -> (String, String) {
    field("index", index.as_ref().map_or(0, |it| it.index))
}

fn add(schema: &Schema, kind: &Kind, section: &mut Section) {
    let row = match kind {
        Kind::TableEntry(entry) => {
            let row = entry_row(schema, entry);
            if entry.is_default_action {
                section.default = Some(row);
                return;
            }
            row
        }
        Kind::DirectCounterEntry(it) => {
            let mut row = it.table_entry.as_ref().map(|entry| key_cells(schema, entry)).unwrap_or_default();
            row.extend(counts(&it.data.unwrap_or_default()));
            row
        }
        Kind::DirectMeterEntry(it) => {
            let mut row = it.table_entry.as_ref().map(|entry| key_cells(schema, entry)).unwrap_or_default();
            row.extend(rates(it.config.as_ref()));
            row
        }
        Kind::ActionProfileMember(it) => {
            let call = it.action.as_ref().map(|action| call_text(schema, action)).unwrap_or_default();
            vec![field("member", it.member_id), field("action", call)]
        }
        Kind::ActionProfileGroup(it) => group_row(it),
        Kind::CounterEntry(it) => {
            let data = it.data.unwrap_or_default();
            if data == CounterData::default() {
                section.zeros.push(section.rows.len());
            }
            std::iter::once(index(&it.index)).chain(counts(&data)).collect()
        }
        Kind::MeterEntry(it) => {
            if it.config.is_none() {
                section.zeros.push(section.rows.len());
            }
            std::iter::once(index(&it.index)).chain(rates(it.config.as_ref())).collect()
        }
        Kind::RegisterEntry(it) => {
            let value = register_text(schema, it.register_id, it.data.as_ref());
            if value == "0" {
                section.zeros.push(section.rows.len());
            }
            vec![index(&it.index), field("value", value)]
        }
        Kind::PacketReplicationEngineEntry(it) => match engine_row(it) {
            Some(row) => row,
            None => return,
        },
        Kind::ValueSetEntry(it) => return section.rows.extend(member_rows(schema, it)),
        Kind::DigestEntry(it) => {
            let config = it.config.unwrap_or_default();
            vec![
                field(
                    "digest",
                    known_name(schema.digest_by_id(it.digest_id).map(|it| name(&it.preamble)), it.digest_id),
                ),
                field("timeout", duration_text(config.max_timeout_ns)),
                field("size", config.max_list_size),
                field("ack", duration_text(config.ack_timeout_ns)),
            ]
        }
        Kind::ExternEntry(it) => vec![field("id", it.extern_id)],
    };
    section.rows.push(row);
}

/// A multicast group or a clone session.
fn engine_row(it: &PacketReplicationEngineEntry) -> Option<Row> {
    let unless_zero = |number: u64| if number == 0 { String::new() } else { number.to_string() };
    match it.r#type.as_ref()? {
        Type::MulticastGroupEntry(it) => {
            Some(vec![field("group", it.multicast_group_id), field("copies", replicas_text(&it.replicas))])
        }
        Type::CloneSessionEntry(it) => Some(vec![
            field("session", it.session_id),
            field("copies", replicas_text(&it.replicas)),
            field("class", unless_zero(u64::from(it.class_of_service))),
            field("bytes", unless_zero(u64::try_from(it.packet_length_bytes).unwrap_or(0))),
        ]),
    }
}

/// The members of a value set.
fn member_rows(schema: &Schema, it: &ValueSetEntry) -> Vec<Row> {
    let Some(set) = schema.value_set_by_id(it.value_set_id) else { return Vec::new() };
    let title = |field: &MatchField| if field.name.is_empty() { "value".to_owned() } else { field.name.clone() };
    let row = |member: &ValueSetMember| {
        let keys = key::show_all(schema, &set.r#match, &member.r#match);
        set.r#match.iter().map(title).zip(keys).collect()
    };
    it.members.iter().map(row).collect()
}

fn counts(data: &CounterData) -> [(String, String); 2] {
    [field("packets", data.packet_count), field("bytes", data.byte_count)]
}

fn rates(config: Option<&MeterConfig>) -> Vec<(String, String)> {
    match config {
        None => vec![field("rates", "none: all green")],
        Some(it) => {
            vec![field("cir", it.cir), field("cburst", it.cburst), field("pir", it.pir), field("pburst", it.pburst)]
        }
    }
}

fn register_text(schema: &Schema, id: u32, sent: Option<&P4Data>) -> String {
    let Some(sent) = sent else { return String::new() };
    let register = schema.register_by_id(id);
    let ty = register.and_then(|it| data::data_type(schema, it.type_spec.as_ref()).ok());
    match (register, ty) {
        (Some(register), Some(ty)) => data::show(name(&register.preamble), &ty, sent),
        _ => "?".to_owned(),
    }
}

fn group_row(it: &ActionProfileGroup) -> Row {
    let members = it.members.iter().map(group_member_text).collect::<Vec<_>>().join(" ");
    let max = if it.max_size == 0 { String::new() } else { it.max_size.to_string() };
    vec![field("group", it.group_id), field("members", members), field("max", max)]
}

/// `MEMBER[*WEIGHT][@PORT]`
#[allow(deprecated, reason = "older controllers write ports as numbers")]
pub(super) fn group_member_text(it: &p4runtime_proto::p4::v1::action_profile_group::Member) -> String {
    let weight = if it.weight == 1 { String::new() } else { format!("*{}", it.weight) };
    let watch = match &it.watch_kind {
        None => String::new(),
        Some(WatchKind::Watch(port)) => format!("@{port}"),
        Some(WatchKind::WatchPort(port)) => format!("@{}", port_number(port)),
    };
    format!("{}{weight}{watch}", it.member_id)
}

/// What identifies an entry: its keys and its priority.
fn key_cells(schema: &Schema, entry: &TableEntry) -> Row {
    let Some(table) = schema.table_by_id(entry.table_id) else { return Row::new() };
    let mut row: Row = keys_of(schema, table, entry);
    if entry.priority != 0 {
        row.push(field("priority", entry.priority));
    }
    row
}

fn keys_of(schema: &Schema, table: &Table, entry: &TableEntry) -> Row {
    let texts = key::show_all(schema, &table.match_fields, &entry.r#match);
    table.match_fields.iter().zip(texts).map(|(field, text)| (field.name.clone(), text)).collect()
}

fn entry_row(schema: &Schema, entry: &TableEntry) -> Row {
    let mut row = match (entry.is_default_action, schema.table_by_id(entry.table_id)) {
        (true, Some(table)) => {
            let first = table.match_fields.first().map_or("", |field| &field.name);
            vec![(first.to_owned(), "default".to_owned())]
        }
        _ => key_cells(schema, entry),
    };
    row.push(field("action", action_or_nothing(schema, entry)));
    if let Some(data) = &entry.counter_data {
        row.extend(counts(data));
    }
    if let Some(config) = &entry.meter_config {
        row.extend(rates(Some(config)));
    }
    if entry.idle_timeout_ns != 0 {
        row.push(field("timeout", duration_text(entry.idle_timeout_ns)));
        if let Some(since) = &entry.time_since_last_hit {
            row.push(field("idle", format!("{:.1}s", since.elapsed_ns as f64 / 1e9)));
        }
    }
    row.push(field("metadata", hex(&entry.metadata)));
    row.push(field("", if entry.is_const { "const" } else { "" }));
    row
}
