//! The entries of a program as a request of P4Runtime, for controllers that write them themselves.
//!
//! What enters: a switch as its program starts it, and the program's P4Info. What leaves: the request that inserts
//! the entries, as the reference compiler writes it.

use crate::ports::Ports;
use crate::schema::Schema;
use crate::to_proto::{Asked, Encoder, NumberedPorts};
use control::api::{Entity, LocalApi, Query, TableQuery};
use p4info::v1::P4Info;
use p4runtime_proto::p4::v1;
use std::sync::Arc;
use switch::Switch;

/// The name and the file of [`program_entries`]'s message.
pub const WRITE_REQUEST: (&str, &str) = ("p4.v1.WriteRequest", "p4/v1/p4runtime.proto");

/// The entries of all tables in the order of the program.
pub fn program_entries(info: P4Info, mut switch: Switch) -> Result<v1::WriteRequest, String> {
    let program = Arc::clone(switch.program());
    let schema = Schema::new(info, Arc::clone(&program), Ports::default()).map_err(|error| error.to_string())?;
    let numbered = NumberedPorts::default();
    let encoder =
        Encoder { schema: &schema, numbered: &numbered, asked: Asked { meter_config: false, color_counts: false } };
    let api = LocalApi::of(&switch);
    let mut updates = Vec::new();
    for table in program.tables.ids() {
        let mut sink = |entities: Vec<Entity>| {
            let messages = entities.iter().filter_map(|entity| encoder.entity(entity));
            updates.extend(
                messages.map(|entity| v1::Update { r#type: v1::update::Type::Insert.into(), entity: Some(entity) }),
            );
            true
        };
        let query = Query::TableEntries(TableQuery { table: Some(table), ..TableQuery::default() });
        api.read(&mut switch, &query, &mut sink).map_err(|fault| fault.to_string())?;
    }
    Ok(v1::WriteRequest { updates, ..v1::WriteRequest::default() })
}
