//! Entities as JSON.

use super::tables::group_member_text;
use super::{action_parts, hex, known_name, port_number, replica_text};
use crate::data;
use crate::key;
use crate::schema::{Schema, name};
use p4runtime_proto::p4::config::v1::MatchField;
use p4runtime_proto::p4::v1::entity::Entity as Kind;
use p4runtime_proto::p4::v1::packet_replication_engine_entry::Type;
use p4runtime_proto::p4::v1::table_action::Type as ActionType;
use p4runtime_proto::p4::v1::{
    Action, CounterData, Entity, FieldMatch, Index, MeterConfig, Replica, TableAction, TableEntry,
};
use serde_json::{Map, Value as Json, json};

/// An entity as an object.
pub fn entity_json(schema: &Schema, entity: &Entity) -> Json {
    let Some(kind) = &entity.entity else { return Json::Null };
    match kind {
        Kind::TableEntry(it) => entry(schema, it),
        Kind::DirectCounterEntry(it) => {
            let mut json = it.table_entry.as_ref().map_or_else(|| json!({}), |entry| entry_name(schema, entry));
            json["counter"] = counts(&it.data.unwrap_or_default());
            json
        }
        Kind::DirectMeterEntry(it) => {
            let mut json = it.table_entry.as_ref().map_or_else(|| json!({}), |entry| entry_name(schema, entry));
            json["meter"] = rates(it.config.as_ref());
            json
        }
        Kind::ActionProfileMember(it) => {
            let mut json = json!({"profile": profile(schema, it.action_profile_id), "member": it.member_id});
            add_call(schema, &mut json, it.action.as_ref());
            json
        }
        Kind::ActionProfileGroup(it) => json!({
            "profile": profile(schema, it.action_profile_id),
            "group": it.group_id,
            "members": it.members.iter().map(group_member_text).collect::<Vec<_>>(),
            "max_size": it.max_size,
        }),
        Kind::CounterEntry(_) | Kind::MeterEntry(_) | Kind::RegisterEntry(_) => cell_json(schema, kind),
        Kind::PacketReplicationEngineEntry(it) => match &it.r#type {
            Some(Type::MulticastGroupEntry(it)) => {
                json!({"multicast_group": it.multicast_group_id, "copies": copies(&it.replicas)})
            }
            Some(Type::CloneSessionEntry(it)) => json!({
                "clone_session": it.session_id,
                "copies": copies(&it.replicas),
                "class_of_service": it.class_of_service,
                "packet_length_bytes": it.packet_length_bytes,
            }),
            None => Json::Null,
        },
        Kind::ValueSetEntry(it) => {
            let set = schema.value_set_by_id(it.value_set_id);
            let fields = set.map_or(&[][..], |set| &set.r#match);
            let members: Vec<Json> = it.members.iter().map(|member| matches(schema, fields, &member.r#match)).collect();
            json!({"value_set": known_name(set.map(|it| name(&it.preamble)), it.value_set_id), "members": members})
        }
        Kind::DigestEntry(it) => {
            let config = it.config.unwrap_or_default();
            let found = schema.digest_by_id(it.digest_id).map(|it| name(&it.preamble));
            json!({
                "digest": known_name(found, it.digest_id),
                "max_timeout_ns": config.max_timeout_ns,
                "max_list_size": config.max_list_size,
                "ack_timeout_ns": config.ack_timeout_ns,
            })
        }
        Kind::ExternEntry(it) => json!({"extern_type": it.extern_type_id, "extern": it.extern_id}),
    }
}

/// A cell of an array.
fn cell_json(schema: &Schema, kind: &Kind) -> Json {
    match kind {
        Kind::CounterEntry(it) => {
            let found = schema.counter_by_id(it.counter_id).map(|it| name(&it.preamble));
            let counted = counts(&it.data.unwrap_or_default());
            cell("counter", known_name(found, it.counter_id), &it.index, counted)
        }
        Kind::MeterEntry(it) => {
            let found = schema.meter_by_id(it.meter_id).map(|it| name(&it.preamble));
            cell("meter", known_name(found, it.meter_id), &it.index, rates(it.config.as_ref()))
        }
        Kind::RegisterEntry(it) => {
            let register = schema.register_by_id(it.register_id);
            let full = known_name(register.map(|it| name(&it.preamble)), it.register_id);
            let ty = register.and_then(|it| data::data_type(schema, it.type_spec.as_ref()).ok());
            let value = match (&ty, &it.data) {
                (Some(ty), Some(sent)) => data::to_json(&full, ty, sent),
                _ => Json::Null,
            };
            cell("register", full, &it.index, value)
        }
        _ => Json::Null,
    }
}

fn profile(schema: &Schema, id: u32) -> String {
    known_name(schema.profile_by_id(id).map(|it| name(&it.preamble)), id)
}

fn cell(kind: &str, name: String, index: &Option<Index>, value: Json) -> Json {
    json!({kind: name, "index": index.as_ref().map_or(0, |it| it.index), "value": value})
}

fn counts(data: &CounterData) -> Json {
    json!({"packets": data.packet_count, "bytes": data.byte_count})
}

/// The rates; null if there are none, in which case every packet is green.
fn rates(config: Option<&MeterConfig>) -> Json {
    config.map_or(Json::Null, |it| json!({"cir": it.cir, "cburst": it.cburst, "pir": it.pir, "pburst": it.pburst}))
}

fn copies(replicas: &[Replica]) -> Vec<String> {
    replicas.iter().map(replica_text).collect()
}

/// The matches by the names of their keys. Keys that match anything are left out.
fn matches(schema: &Schema, fields: &[MatchField], found: &[FieldMatch]) -> Json {
    let texts = key::show_all(schema, fields, found);
    let given = fields.iter().zip(texts).filter(|(field, _)| found.iter().any(|it| it.field_id == field.id));
    Json::Object(given.map(|(field, text)| (field.name.clone(), Json::String(text))).collect())
}

/// What identifies an entry.
pub(super) fn entry_name(schema: &Schema, entry: &TableEntry) -> Json {
    let table = schema.table_by_id(entry.table_id);
    let fields = table.map_or(&[][..], |table| &table.match_fields);
    let mut json = json!({"table": known_name(table.map(|it| name(&it.preamble)), entry.table_id)});
    if entry.is_default_action {
        json["default"] = json!(true);
        return json;
    }
    json["match"] = matches(schema, fields, &entry.r#match);
    if entry.priority != 0 {
        json["priority"] = json!(entry.priority);
    }
    json
}

fn entry(schema: &Schema, entry: &TableEntry) -> Json {
    let mut json = entry_name(schema, entry);
    if let Some(action) = &entry.action {
        add_action(schema, &mut json, action);
    }
    if let Some(data) = &entry.counter_data {
        json["counter"] = counts(data);
    }
    if let Some(config) = &entry.meter_config {
        json["meter"] = rates(Some(config));
    }
    if entry.idle_timeout_ns != 0 {
        json["idle_timeout_ns"] = json!(entry.idle_timeout_ns);
    }
    if let Some(since) = &entry.time_since_last_hit {
        json["idle_ns"] = json!(since.elapsed_ns);
    }
    if !entry.metadata.is_empty() {
        json["metadata"] = json!(hex(&entry.metadata));
    }
    if entry.is_const {
        json["const"] = json!(true);
    }
    json
}

fn add_call(schema: &Schema, json: &mut Json, action: Option<&Action>) {
    let Some(action) = action else { return };
    let (name, arguments) = action_parts(schema, action);
    let arguments: Map<String, Json> = arguments.into_iter().map(|(name, value)| (name, Json::String(value))).collect();
    json["action"] = json!(name);
    json["arguments"] = Json::Object(arguments);
}

#[allow(deprecated, reason = "older controllers write ports as numbers")]
fn add_action(schema: &Schema, json: &mut Json, action: &TableAction) {
    use p4runtime_proto::p4::v1::action_profile_action::WatchKind;
    match &action.r#type {
        None => {}
        Some(ActionType::Action(action)) => add_call(schema, json, Some(action)),
        Some(ActionType::ActionProfileMemberId(member)) => json["member"] = json!(member),
        Some(ActionType::ActionProfileGroupId(group)) => json["group"] = json!(group),
        Some(ActionType::ActionProfileActionSet(set)) => {
            let choices = set.action_profile_actions.iter().map(|choice| {
                let mut json = json!({"weight": choice.weight});
                add_call(schema, &mut json, choice.action.as_ref());
                match &choice.watch_kind {
                    None => {}
                    Some(WatchKind::Watch(port)) => json["watch_port"] = json!(port),
                    Some(WatchKind::WatchPort(port)) => json["watch_port"] = json!(port_number(port)),
                }
                json
            });
            json["one_of"] = choices.collect();
        }
    }
}
