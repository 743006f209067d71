//! Entities as the commands that write them.

use super::tables::group_member_text;
use super::{action_text, call_text, hex, replicas_text};
use crate::key;
use crate::language::duration_text;
use crate::schema::{Schema, name};
use p4runtime_proto::p4::config::v1::Table;
use p4runtime_proto::p4::v1::entity::Entity as Kind;
use p4runtime_proto::p4::v1::packet_replication_engine_entry::Type;
use p4runtime_proto::p4::v1::{DirectMeterEntry, Entity, MeterConfig, TableEntry};

/// A line for each entity that was written by someone, in the order in which they come: what the program itself says is
/// left out.
pub fn commands(schema: &Schema, entities: &[Entity]) -> Vec<String> {
    entities.iter().filter_map(|entity| entity.entity.as_ref()).flat_map(|kind| lines(schema, kind)).collect()
}

fn lines(schema: &Schema, kind: &Kind) -> Vec<String> {
    match kind {
        Kind::TableEntry(it) => entry(schema, it).into_iter().collect(),
        Kind::ActionProfileMember(it) => {
            let Some(profile) = schema.profile_by_id(it.action_profile_id) else { return vec![] };
            let call = it.action.as_ref().map(|action| call_text(schema, action)).unwrap_or_default();
            vec![format!("members add {} {} do {call}", name(&profile.preamble), it.member_id)]
        }
        Kind::ActionProfileGroup(it) => {
            let Some(profile) = schema.profile_by_id(it.action_profile_id) else { return vec![] };
            let members: String = it.members.iter().map(|it| format!(" {}", group_member_text(it))).collect();
            let max = if it.max_size == 0 { String::new() } else { format!(" max {}", it.max_size) };
            vec![format!("groups add {} {}{members}{max}", name(&profile.preamble), it.group_id)]
        }
        Kind::MeterEntry(it) => {
            let (Some(meter), Some(rates)) = (schema.meter_by_id(it.meter_id), &it.config) else { return vec![] };
            let index = it.index.as_ref().map_or(0, |it| it.index);
            vec![format!("meters {} {index} {}", name(&meter.preamble), set(rates))]
        }
        Kind::DirectMeterEntry(it) => direct_meter(schema, it).into_iter().collect(),
        Kind::ValueSetEntry(it) => {
            let Some(set) = schema.value_set_by_id(it.value_set_id) else { return vec![] };
            let member = |member: &p4runtime_proto::p4::v1::ValueSetMember| {
                let keys = key::show_all(schema, &set.r#match, &member.r#match).join(" ");
                format!("value-sets add {} {keys}", name(&set.preamble))
            };
            it.members.iter().map(member).collect()
        }
        Kind::PacketReplicationEngineEntry(it) => match &it.r#type {
            Some(Type::MulticastGroupEntry(it)) => {
                vec![
                    format!("multicast add {} {}", it.multicast_group_id, replicas_text(&it.replicas))
                        .trim_end()
                        .to_owned(),
                ]
            }
            Some(Type::CloneSessionEntry(it)) => {
                let mut line =
                    format!("mirror add {} {}", it.session_id, replicas_text(&it.replicas)).trim_end().to_owned();
                if it.class_of_service != 0 {
                    line += &format!(" class {}", it.class_of_service);
                }
                if it.packet_length_bytes != 0 {
                    line += &format!(" bytes {}", it.packet_length_bytes);
                }
                vec![line]
            }
            None => vec![],
        },
        // Counts and contents of registers are the data plane's.
        _ => vec![],
    }
}

fn set(rates: &MeterConfig) -> String {
    format!("set {} {} {} {}", rates.cir, rates.cburst, rates.pir, rates.pburst)
}

fn direct_meter(schema: &Schema, it: &DirectMeterEntry) -> Option<String> {
    let (entry, rates) = (it.table_entry.as_ref()?, it.config.as_ref()?);
    let table = schema.table_by_id(entry.table_id)?;
    let meter = schema.direct_meter_of(table)?;
    Some(format!("meters {}{} {}", name(&meter.preamble), entry_name(schema, table, entry), set(rates)))
}

/// The keys of an entry, and its priority.
fn entry_name(schema: &Schema, table: &Table, entry: &TableEntry) -> String {
    let keys = key::show_all(schema, &table.match_fields, &entry.r#match);
    let keys: String = keys.iter().map(|it| format!(" {it}")).collect();
    match entry.priority {
        0 => keys,
        priority => format!("{keys} priority {priority}"),
    }
}

fn entry(schema: &Schema, entry: &TableEntry) -> Option<String> {
    let table = schema.table_by_id(entry.table_id)?;
    if entry.is_const {
        return None;
    }
    let action = action_text(schema, entry.action.as_ref()?);
    let full = name(&table.preamble);
    if entry.is_default_action {
        let is_fixed = table.const_default_action_id != 0 || action.is_empty();
        return (!is_fixed).then(|| format!("default {full} do {action}"));
    }
    let mut line = format!("add {full}{} do {action}", entry_name(schema, table, entry));
    if entry.idle_timeout_ns != 0 {
        line += &format!(" timeout {}", duration_text(entry.idle_timeout_ns));
    }
    if !entry.metadata.is_empty() {
        line += &format!(" metadata {}", hex(&entry.metadata));
    }
    Some(line)
}
