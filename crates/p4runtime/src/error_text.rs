//! Rewrites refusals with the names that controllers use.
//!
//! What enters: why the control plane refused an update, and the update as it was sent. What leaves: the same reason,
//! in which the names of translated values replace their numbers in the switch. The control plane only knows the
//! numbers, but a client that sends a name must read that name.

use crate::ports::Ports;
use crate::schema::Schema;
use crate::to_proto::NumberedPorts;
use crate::translator::Unknown;
use crate::{kept, matches};
use base::{Bits, FieldMatch};
use control::api::{Fault, Notes};
use control::show;
use ir::Program;
use p4info::{MatchField, Table, Translation};
use p4runtime_proto::p4::config::v1::P4Info;
use p4runtime_proto::p4::v1::{self, entity::Entity};
use p4runtime_proto::wire::Wire as _;
use prost::bytes::Bytes;
use std::sync::Arc;

/// The names of an earlier run, from stored notes.
pub struct ErrorText(Schema);

impl ErrorText {
    /// The names for this program; `None` if it has no translated values.
    pub fn of(info: &P4Info, program: &Arc<Program>, notes: &Notes) -> Option<ErrorText> {
        let schema = Schema::new(info.clone(), Arc::clone(program), Ports::default()).ok()?;
        are_needed(&schema).then(|| {
            kept::read_notes(notes, &schema.translator, &mut NumberedPorts::default());
            ErrorText(schema)
        })
    }

    /// A message about a stored entry, with names instead of numbers.
    pub fn with_names(&self, message: &str) -> String {
        let ErrorText(schema) = self;
        let is_of = |table: &&Table| message.starts_with(&format!("table {}: ", table.name));
        let Some(table) = schema.model.tables().find(is_of) else { return message.to_owned() };
        table.keys.iter().filter(|field| is_text(field)).fold(message.to_owned(), |message, field| {
            let begin = format!(" {} = 0x", field.name);
            let Some((before, rest)) = message.split_once(&begin) else { return message };
            let end = rest.find(|digit: char| !digit.is_ascii_hexdigit()).unwrap_or(rest.len());
            let Ok(number) = u64::from_str_radix(&rest[..end], 16) else { return message };
            let name = schema.translator.write(&field.value, &Bits::from_u64(field.value.width_bits, number));
            format!("{before} {} = `{}`{}", field.name, String::from_utf8_lossy(&name), &rest[end..])
        })
    }
}

/// Whether values of keys are translated.
pub(crate) fn are_needed(schema: &Schema) -> bool {
    schema.model.tables().any(|table| table.keys.iter().any(is_text))
}

fn is_text(field: &MatchField) -> bool {
    matches!(&field.value.translation, Some(Translation { width_bits: None, .. }))
}

/// A reason with the names of the client that sent the update.
pub(crate) fn in_those_of(schema: &Schema, fault: Fault, sent: &[u8]) -> Fault {
    let Ok(update) = v1::Update::from_bytes(Bytes::copy_from_slice(sent)) else { return fault };
    let entry = match update.entity.and_then(|it| it.entity) {
        Some(Entity::TableEntry(entry)) => Some(entry),
        Some(Entity::DirectCounterEntry(direct)) => direct.table_entry,
        Some(Entity::DirectMeterEntry(direct)) => direct.table_entry,
        _ => None,
    };
    let Some(entry) = entry else { return fault };
    let Some(table) = schema.model.table(entry.table_id) else { return fault };
    // All its names have numbers by now.
    let Ok(key) = matches::read(schema, format_args!(""), &table.keys, &entry.r#match, Unknown::Refused) else {
        return fault;
    };
    let mut message = fault.message;
    for (field, key) in table.keys.iter().zip(&key).filter(|(field, _)| is_text(field)) {
        let (FieldMatch::Exact(value) | FieldMatch::Optional(Some(value))) = key else { continue };
        let number = show::match_value(key);
        let name = String::from_utf8_lossy(&schema.translator.write(&field.value, value)).into_owned();
        message = message.replace(&format!("{} = {number}", field.name), &format!("{} = `{name}`", field.name));
    }
    Fault { message, ..fault }
}
