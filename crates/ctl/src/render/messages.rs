//! The messages of the switch on a stream, as lines.

use super::json::entry_name;
use super::{hex, known_name};
use crate::data;
use crate::language::field_types;
use crate::schema::{Schema, name};
use crate::words::visible;
use p4runtime_proto::p4::v1::stream_message_response::Update as StreamUpdate;
use p4runtime_proto::p4::v1::{MasterArbitrationUpdate, P4Data, PacketMetadata};
use serde_json::{Map, Value as Json, json};

/// The election id of the primary controller.
pub(crate) fn election_id(update: &MasterArbitrationUpdate) -> Option<u128> {
    update.election_id.as_ref().map(|it| u128::from(it.high) << 64 | u128::from(it.low))
}

/// A message as an object.
pub fn message_json(schema: &Schema, update: &StreamUpdate) -> Json {
    match update {
        StreamUpdate::Arbitration(it) => {
            const NOT_FOUND: i32 = 5;
            let code = it.status.as_ref().map_or(0, |status| status.code);
            json!({
                "event": "mastership",
                "has_primary": code != NOT_FOUND,
                "election_id": election_id(it).map(|id| id.to_string()),
                "role": it.role.as_ref().map(|role| role.name.clone()),
            })
        }
        StreamUpdate::Packet(it) => json!({
            "event": "packet",
            "fields": packet_fields(schema, &it.metadata),
            "bytes": it.payload.len(),
            "payload": hex(&it.payload),
        }),
        StreamUpdate::Digest(it) => {
            let digest = schema.digest_by_id(it.digest_id);
            let full = known_name(digest.map(|it| name(&it.preamble)), it.digest_id);
            let ty = digest.and_then(|it| data::data_type(schema, it.type_spec.as_ref()).ok());
            let one = |sent: &P4Data| ty.as_ref().map_or(Json::Null, |ty| data::to_json(&full, ty, sent));
            let values: Vec<Json> = it.data.iter().map(one).collect();
            json!({
                "event": "digest", "digest": full, "list": it.list_id, "timestamp_ns": it.timestamp, "data": values,
            })
        }
        StreamUpdate::IdleTimeoutNotification(it) => {
            let entries: Vec<Json> = it.table_entry.iter().map(|entry| entry_name(schema, entry)).collect();
            json!({"event": "timeout", "timestamp_ns": it.timestamp, "entries": entries})
        }
        StreamUpdate::Error(it) => json!({"event": "error", "code": it.canonical_code, "message": it.message}),
        StreamUpdate::Other(it) => json!({"event": "other", "type": it.type_url}),
    }
}

fn packet_fields(schema: &Schema, metadata: &[PacketMetadata]) -> Json {
    let Some(header) = schema.controller_header("packet_in") else { return json!({}) };
    let types = field_types(schema, header);
    let field = |(id, ty): &(u32, crate::value::ValueType<'_>)| {
        let sent = metadata.iter().find(|it| it.metadata_id == *id)?;
        Some((ty.name.to_owned(), Json::String(ty.show(&sent.value))))
    };
    Json::Object(types.iter().filter_map(field).collect::<Map<_, _>>())
}

/// A message as lines for people.
pub fn message_text(schema: &Schema, update: &StreamUpdate) -> Vec<String> {
    let json = message_json(schema, update);
    let fields = |json: &Json| -> String {
        let Some(fields) = json.as_object() else { return data::text_of(json) };
        fields.iter().map(|(name, value)| format!("{name}={}", data::text_of(value))).collect::<Vec<_>>().join(" ")
    };
    match update {
        StreamUpdate::Arbitration(_) => {
            let id = json["election_id"]
                .as_str()
                .map_or_else(|| "no election id".to_owned(), |id| format!("election id {id}"));
            let role = json["role"].as_str().map_or_else(String::new, |role| format!(" of role {}", visible(role)));
            vec![match json["has_primary"].as_bool() {
                Some(true) => format!("mastership: the controller with {id} is primary{role}"),
                _ => format!("mastership: no controller is primary{role}; the highest so far had {id}"),
            }]
        }
        StreamUpdate::Packet(it) => {
            vec![format!("packet: {} bytes {} {}", it.payload.len(), fields(&json["fields"]), hex(&it.payload))]
        }
        StreamUpdate::Digest(_) => {
            let full = json["digest"].as_str().unwrap_or_default();
            let values = json["data"].as_array().map_or(&[][..], Vec::as_slice);
            values.iter().map(|value| format!("digest {full}: {}", fields(value))).collect()
        }
        StreamUpdate::IdleTimeoutNotification(_) => {
            let entries = json["entries"].as_array().map_or(&[][..], Vec::as_slice);
            let line = |entry: &Json| {
                let priority = entry["priority"].as_i64().map_or_else(String::new, |it| format!(" priority {it}"));
                format!(
                    "timeout {}: {}{priority}",
                    entry["table"].as_str().unwrap_or_default(),
                    fields(&entry["match"])
                )
            };
            entries.iter().map(line).collect()
        }
        StreamUpdate::Error(it) => vec![format!("error: {}", visible(&it.message))],
        StreamUpdate::Other(it) => vec![format!("other: {}", it.type_url)],
    }
}
