//! What a switch reports, by the names of its program.
//!
//! What enters: P4Runtime messages and entities, and the P4Info. What leaves: [`Fields`] and [`Entry`]. What the P4Info
//! does not describe is left out.

use crate::logic::{Entry, EntryName, Fields};
use base::OrderedMap;
use ctl::{Schema, data, schema};
use p4info::Data;
use p4runtime_proto::p4::v1::field_match::FieldMatchType;
use p4runtime_proto::p4::v1::p4_data::Data as Sent;
use p4runtime_proto::p4::v1::{FieldMatch, P4Data, PacketIn, PacketMetadata, TableEntry, table_action};
use std::sync::Arc;
use std::time::Duration;

/// The number of these bytes, if it has no more than 128 bits.
fn number(bytes: &[u8]) -> Option<u128> {
    let first = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
    let bytes = &bytes[first..];
    (bytes.len() <= 16).then(|| bytes.iter().fold(0, |number, byte| number << 8 | u128::from(*byte)))
}

/// The leaves of a digest's data.
pub fn digest(schema: &Schema, digest_id: u32, sent: &P4Data) -> Option<(String, Fields)> {
    let digest = schema.digest_by_id(digest_id)?;
    let data = data::data_type(schema, digest.type_spec.as_ref()).ok()?;
    let mut fields = Vec::new();
    leaves(String::new(), &data, sent, &mut fields);
    Some((schema::name(&digest.preamble).to_owned(), Fields::new(fields)))
}

fn leaves(path: String, data: &Data, sent: &P4Data, fields: &mut Vec<(String, u128)>) {
    let join = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match (data, sent.data.as_ref()) {
        (Data::Struct(members), Some(Sent::Struct(values))) => {
            for ((name, member), value) in members.iter().zip(&values.members) {
                leaves(join(name), member, value, fields);
            }
        }
        (Data::Tuple(items), Some(Sent::Tuple(values))) => {
            for (index, (item, value)) in items.iter().zip(&values.members).enumerate() {
                leaves(join(&index.to_string()), item, value, fields);
            }
        }
        (Data::Header(members), Some(Sent::Header(values))) if values.is_valid => {
            for ((name, _), value) in members.iter().zip(&values.bitstrings) {
                fields.extend(number(value).map(|value| (join(name), value)));
            }
        }
        (_, Some(Sent::Bitstring(bytes) | Sent::EnumValue(bytes))) => {
            fields.extend(number(bytes).map(|value| (path, value)));
        }
        (_, Some(Sent::Bool(value))) => fields.push((path, u128::from(*value))),
        _ => {}
    }
}

/// The fields of `packet_in`.
pub fn packet_in(schema: &Schema, packet: &PacketIn) -> Fields {
    let header = schema.controller_header("packet_in");
    let name = |sent: &PacketMetadata| {
        let described = header?.metadata.iter().find(|it| it.id == sent.metadata_id)?;
        Some((described.name.clone(), number(&sent.value)?))
    };
    Fields::new(packet.metadata.iter().filter_map(name))
}

/// Names of which there is one copy each: a hundred thousand entries share them.
#[derive(Debug, Default)]
pub struct Names(OrderedMap<String, Arc<str>>);

impl Names {
    fn get(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.0.get(name) {
            return Arc::clone(known);
        }
        let shared: Arc<str> = name.into();
        self.0.insert(name.to_owned(), Arc::clone(&shared));
        shared
    }
}

/// An entry of a table.
pub fn entry(schema: &Arc<Schema>, names: &mut Names, sent: TableEntry) -> Option<Entry> {
    let table = schema.table_by_id(sent.table_id)?;
    let mut key = |sent: &FieldMatch| {
        let field = table.match_fields.iter().find(|it| it.id == sent.field_id)?;
        let value = match sent.field_match_type.as_ref()? {
            FieldMatchType::Exact(it) => &it.value,
            FieldMatchType::Lpm(it) => &it.value,
            FieldMatchType::Ternary(it) => &it.value,
            FieldMatchType::Optional(it) => &it.value,
            FieldMatchType::Range(it) => &it.low,
            _ => return None,
        };
        Some((names.get(&field.name), number(value)?))
    };
    let keys = Fields::new(sent.r#match.iter().filter_map(&mut key));
    let mut entry = Entry {
        table: schema::name(&table.preamble).to_owned(),
        keys,
        has_timeout: sent.idle_timeout_ns > 0,
        idle: sent
            .time_since_last_hit
            .as_ref()
            .and_then(|it| u64::try_from(it.elapsed_ns).ok())
            .map(Duration::from_nanos),
        metadata: sent.metadata.clone(),
        ..Entry::default()
    };
    if let Some(table_action::Type::Action(call)) = sent.action.as_ref().and_then(|it| it.r#type.as_ref())
        && let Some(action) = schema.action_by_id(call.action_id)
    {
        schema::name(&action.preamble).clone_into(&mut entry.action);
        let mut name = |id: u32| action.params.iter().find(|it| it.id == id).map(|it| names.get(&it.name));
        let arguments = call.params.iter().filter_map(|it| Some((name(it.param_id)?, number(&it.value)?)));
        entry.arguments = Fields::new(arguments);
    }
    entry.name = EntryName::of(schema, sent);
    Some(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_more_than_128_bits_are_left_out() {
        assert_eq!(number(&[]), Some(0));
        assert_eq!(number(&[0, 1, 2]), Some(258));
        assert_eq!(number(&[0xFF; 16]), Some(u128::MAX));
        assert_eq!(number(&[1; 17]), None);
        assert!(number(&[&[0][..], &[1; 16]].concat()).is_some());
    }
}
