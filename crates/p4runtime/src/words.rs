//! Refusals in the words of controllers.
//!
//! What enters: why the control plane refused an update, and the update as it was sent. What leaves: the same reason,
//! with the names of translated values that the update has in the place of the numbers that they are in the switch. The
//! control plane knows those numbers alone, and should: who sends a name must read that name.

use crate::matches;
use crate::schema::Schema;
use crate::translator::Unknown;
use control::api::Fault;
use control::show;
use ir::EntryKey;
use p4info::{MatchField, Translation};
use p4runtime_proto::p4::v1::{self, entity::Entity};
use prost::Message as _;

/// Whether controllers know values of keys by names.
pub(crate) fn are_needed(schema: &Schema) -> bool {
    schema.model.tables().any(|table| table.keys.iter().any(is_text))
}

fn is_text(field: &MatchField) -> bool {
    matches!(&field.value.translation, Some(Translation { width_bits: None, .. }))
}

/// A reason in the words of who sent the update.
pub(crate) fn in_those_of(schema: &Schema, fault: Fault, sent: &[u8]) -> Fault {
    let Ok(update) = v1::Update::decode(sent) else { return fault };
    let entry = match update.entity.and_then(|it| it.entity) {
        Some(Entity::TableEntry(entry)) => Some(entry),
        Some(Entity::DirectCounterEntry(direct)) => direct.table_entry,
        Some(Entity::DirectMeterEntry(direct)) => direct.table_entry,
        _ => None,
    };
    let Some(entry) = entry else { return fault };
    let Some(table) = schema.model.table(entry.table_id) else { return fault };
    // All its names have numbers by now.
    let Ok(key) = matches::read(schema, "", &table.keys, &entry.r#match, Unknown::Refused) else { return fault };
    let mut message = fault.message;
    for (field, key) in table.keys.iter().zip(&key).filter(|(field, _)| is_text(field)) {
        let (EntryKey::Exact(value) | EntryKey::Optional(Some(value))) = key else { continue };
        let number = show::match_value(&switch::match_value(key));
        let name = String::from_utf8_lossy(&schema.translator.write(&field.value, value)).into_owned();
        message = message.replace(&format!("{} = {number}", field.name), &format!("{} = `{name}`", field.name));
    }
    Fault { message, ..fault }
}
