//! Entities as the commands that write them.

use super::tables::group_member_text;
use super::{action_text, call_text, hex, replicas_text};
use crate::language::duration_text;
use crate::schema::{Schema, name};
use crate::words::quoted;
use crate::{data, key};
use p4runtime_proto::p4::config::v1::{ActionProfile, Preamble, Table};
use p4runtime_proto::p4::v1::entity::Entity as Kind;
use p4runtime_proto::p4::v1::packet_replication_engine_entry::Type;
use p4runtime_proto::p4::v1::table_action::Type as ActionType;
use p4runtime_proto::p4::v1::{
    CounterData, CounterEntry, DigestEntry, DirectCounterEntry, DirectMeterEntry, Entity, MeterConfig, RegisterEntry,
    TableEntry,
};
use values::canonical;

/// A line for each entity that can be written, in the given order. Constant entries are left out, as is the state
/// that exists after earlier writes are undone: the program's default actions, and counters and registers that are 0.
pub fn commands(schema: &Schema, entities: &[Entity]) -> Vec<String> {
    let kinds = || entities.iter().filter_map(|entity| entity.entity.as_ref());
    let numbers = kinds().filter_map(|kind| match kind {
        Kind::ActionProfileMember(it) => Some(it.member_id),
        _ => None,
    });
    let mut next_member = numbers.max().unwrap_or(0).saturating_add(1);
    kinds().flat_map(|kind| lines(schema, kind, &mut next_member)).collect()
}

fn lines(schema: &Schema, kind: &Kind, next_member: &mut u32) -> Vec<String> {
    match kind {
        Kind::TableEntry(it) => match action_of_indirect(schema, it) {
            Some((profile, call)) => through_profile(schema, it, profile, &call, next_member),
            None => entry(schema, it, None).into_iter().collect(),
        },
        Kind::ActionProfileMember(it) => {
            let Some(profile) = schema.profile_by_id(it.action_profile_id) else { return vec![] };
            let call = it.action.as_ref().map(|action| call_text(schema, action)).unwrap_or_default();
            vec![format!("members add {} {} do {call}", shown(&profile.preamble), it.member_id)]
        }
        Kind::ActionProfileGroup(it) => {
            let Some(profile) = schema.profile_by_id(it.action_profile_id) else { return vec![] };
            let members: String = it.members.iter().map(|it| format!(" {}", group_member_text(it))).collect();
            let max = if it.max_size == 0 { String::new() } else { format!(" max {}", it.max_size) };
            vec![format!("groups add {} {}{members}{max}", shown(&profile.preamble), it.group_id)]
        }
        Kind::MeterEntry(it) => {
            let (Some(meter), Some(rates)) = (schema.meter_by_id(it.meter_id), &it.config) else { return vec![] };
            let index = it.index.as_ref().map_or(0, |it| it.index);
            vec![format!("meters {} {index} {}", shown(&meter.preamble), set(rates))]
        }
        Kind::DirectMeterEntry(it) => direct_meter(schema, it).into_iter().collect(),
        Kind::ValueSetEntry(it) => {
            let Some(set) = schema.value_set_by_id(it.value_set_id) else { return vec![] };
            let member = |member: &p4runtime_proto::p4::v1::ValueSetMember| {
                let keys = key::show_all(schema, &set.r#match, &member.r#match).join(" ");
                format!("value-sets add {} {keys}", shown(&set.preamble))
            };
            it.members.iter().map(member).collect()
        }
        Kind::PacketReplicationEngineEntry(it) => match &it.r#type {
            Some(Type::MulticastGroupEntry(it)) => {
                let mut line = format!("multicast add {} {}", it.multicast_group_id, replicas_text(&it.replicas));
                if !it.metadata.is_empty() {
                    line += &format!(" metadata {}", hex(&it.metadata));
                }
                vec![line.trim_end().to_owned()]
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
        Kind::DigestEntry(it) => digest(schema, it).into_iter().collect(),
        Kind::CounterEntry(it) => counter(schema, it).into_iter().collect(),
        Kind::DirectCounterEntry(it) => direct_counter(schema, it).into_iter().collect(),
        Kind::RegisterEntry(it) => register(schema, it).into_iter().collect(),
        Kind::ExternEntry(_) => vec![],
    }
}

fn set(rates: &MeterConfig) -> String {
    format!("set {} {} {} {}", rates.cir, rates.cburst, rates.pir, rates.pburst)
}

fn direct_meter(schema: &Schema, it: &DirectMeterEntry) -> Option<String> {
    let (entry, rates) = (it.table_entry.as_ref()?, it.config.as_ref()?);
    let table = schema.table_by_id(entry.table_id)?;
    let meter = schema.direct_meter_of(table)?;
    Some(format!("meters {}{} {}", shown(&meter.preamble), entry_name(schema, table, entry), set(rates)))
}

fn digest(schema: &Schema, it: &DigestEntry) -> Option<String> {
    let (digest, config) = (schema.digest_by_id(it.digest_id)?, it.config.as_ref()?);
    let (timeout, ack) = (duration_text(config.max_timeout_ns), duration_text(config.ack_timeout_ns));
    Some(format!("digests {} on timeout {timeout} size {} ack {ack}", shown(&digest.preamble), config.max_list_size))
}

/// Cells are reset first, so those that are 0 are left out.
fn counter(schema: &Schema, it: &CounterEntry) -> Option<String> {
    let data = it.data.filter(|data| *data != CounterData::default())?;
    let (counter, index) = (schema.counter_by_id(it.counter_id)?, it.index.as_ref()?.index);
    Some(format!("counters {} {index} set {} {}", shown(&counter.preamble), data.packet_count, data.byte_count))
}

fn direct_counter(schema: &Schema, it: &DirectCounterEntry) -> Option<String> {
    let data = it.data.filter(|data| *data != CounterData::default())?;
    let entry = it.table_entry.as_ref()?;
    let table = schema.table_by_id(entry.table_id)?;
    let (counter, keys) = (schema.direct_counter_of(table)?, entry_name(schema, table, entry));
    Some(format!("counters {}{keys} set {} {}", shown(&counter.preamble), data.packet_count, data.byte_count))
}

fn register(schema: &Schema, it: &RegisterEntry) -> Option<String> {
    let (register, sent) = (schema.register_by_id(it.register_id)?, it.data.as_ref()?);
    let full = name(&register.preamble);
    let (ty, index) = (data::data_type(schema, register.type_spec.as_ref()).ok()?, it.index.as_ref()?.index);
    let words = data::words(full, &ty, sent);
    (words != data::words(full, &ty, &data::zero(&ty))).then(|| format!("registers {} {index} = {words}", quoted(full)))
}

fn shown(preamble: &Option<Preamble>) -> String {
    quoted(name(preamble))
}

/// The keys of an entry, each behind a space, and its priority.
pub fn entry_name(schema: &Schema, table: &Table, entry: &TableEntry) -> String {
    if entry.is_default_action {
        return " default".to_owned();
    }
    let keys = key::show_all(schema, &table.match_fields, &entry.r#match);
    let keys: String = keys.iter().map(|it| format!(" {it}")).collect();
    match entry.priority {
        0 => keys,
        priority => format!("{keys} priority {priority}"),
    }
}

/// The action of an entry of the program in a table that finds its actions in a profile. Such entries have their action
/// themselves, which controllers cannot write.
fn action_of_indirect<'s>(schema: &'s Schema, entry: &TableEntry) -> Option<(&'s ActionProfile, String)> {
    let table = schema.table_by_id(entry.table_id).filter(|_| !entry.is_const && !entry.is_default_action)?;
    let profile = schema.profile_by_id(table.implementation_id)?;
    match entry.action.as_ref()?.r#type.as_ref()? {
        ActionType::Action(action) => Some((profile, call_text(schema, action))),
        _ => None,
    }
}

/// An entry with an action, as a controller can write it: by a set of one action, or by a member of its own if the
/// profile has no selector.
fn through_profile(
    schema: &Schema,
    it: &TableEntry,
    profile: &ActionProfile,
    call: &str,
    next_member: &mut u32,
) -> Vec<String> {
    if profile.with_selector {
        return entry(schema, it, Some(&format!("one-of {call}"))).into_iter().collect();
    }
    let member = *next_member;
    *next_member = member.saturating_add(1);
    let lines = [
        Some(format!("members add {} {member} do {call}", shown(&profile.preamble))),
        entry(schema, it, Some(&format!("member {member}"))),
    ];
    lines.into_iter().flatten().collect()
}

/// The command that writes an entry, with this action instead of its own if one is given.
fn entry(schema: &Schema, entry: &TableEntry, instead: Option<&str>) -> Option<String> {
    let table = schema.table_by_id(entry.table_id)?;
    if entry.is_const {
        return None;
    }
    let action = match instead {
        Some(action) => action.to_owned(),
        None => action_text(schema, entry.action.as_ref()?),
    };
    let full = shown(&table.preamble);
    if entry.is_default_action {
        let is_fixed = table.const_default_action_id != 0 || action.is_empty();
        let left = metadata(entry);
        let is_there = left.is_empty() && is_initial(table, entry);
        return (!is_fixed && !is_there).then(|| format!("default {full} do {action}{left}"));
    }
    let mut line = format!("add {full}{} do {action}", entry_name(schema, table, entry));
    if entry.idle_timeout_ns != 0 {
        line += &format!(" timeout {}", duration_text(entry.idle_timeout_ns));
    }
    Some(line + &metadata(entry))
}

/// The value that its controller has attached to an entry.
#[allow(deprecated, reason = "older controllers leave a number with their entries")]
fn metadata(entry: &TableEntry) -> String {
    let mut text = String::new();
    if !entry.metadata.is_empty() {
        text += &format!(" metadata {}", hex(&entry.metadata));
    }
    if entry.controller_metadata != 0 {
        text += &format!(" controller-metadata {}", entry.controller_metadata);
    }
    text
}

/// Whether a default action is the initial one.
fn is_initial(table: &Table, entry: &TableEntry) -> bool {
    let Some(ActionType::Action(action)) = entry.action.as_ref().and_then(|it| it.r#type.as_ref()) else {
        return false;
    };
    let Some(initial) = &table.initial_default_action else { return false };
    let argument = |id: u32| initial.arguments.iter().find(|it| it.param_id == id);
    initial.action_id == action.action_id
        && action
            .params
            .iter()
            .all(|it| argument(it.param_id).is_none_or(|initial| canonical(&initial.value) == it.value))
}
