//! Entities as text, as JSON, and as the commands that write them.
//!
//! * `tables` of text: a heading for each table, array or kind, and rows with aligned columns.
//! * `json`: an object for each entity, with names instead of ids, and values as the strings that users write.
//! * `commands`: lines of the language.
//! * `messages`: the messages of the switch on a stream.
//! * `workers`: the worker threads of the switch.
//! * `timers`: ports on which the switch generates packets.
//! * `sizes`: the fill levels of its tables.

mod commands;
mod json;
mod messages;
mod sizes;
mod tables;
mod timers;
mod workers;

pub use commands::{commands, entry_name};
pub use json::entity_json;
pub(crate) use messages::election_id;
pub use messages::{message_json, message_text};
pub use sizes::{sizes_json, sizes_text};
pub use tables::{default_text, entities_text};
pub use timers::{timers_json, timers_text};
pub use workers::{workers_json, workers_text};

use crate::language::param_type;
use crate::schema::{Schema, name};
use crate::words::quoted;
use p4runtime_proto::p4::v1::action_profile_action::WatchKind;
use p4runtime_proto::p4::v1::table_action::Type as ActionType;
use p4runtime_proto::p4::v1::{Action, Replica, TableAction, replica};
use std::iter;

/// The number of a port in P4Runtime's bytes.
fn port_number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// `PORT[:INSTANCE][/BACKUP[:INSTANCE]]...`
#[allow(deprecated, reason = "older controllers write ports as numbers")]
fn replica_text(replica: &Replica) -> String {
    let port = match &replica.port_kind {
        Some(replica::PortKind::EgressPort(port)) => u64::from(*port),
        Some(replica::PortKind::Port(bytes)) => port_number(bytes),
        None => 0,
    };
    let backups = replica.backup_replicas.iter().map(|it| (port_number(&it.port), it.instance));
    let copies = iter::once((port, replica.instance)).chain(backups).map(|(port, instance)| match instance {
        0 => port.to_string(),
        instance => format!("{port}:{instance}"),
    });
    copies.collect::<Vec<_>>().join("/")
}

fn replicas_text(replicas: &[Replica]) -> String {
    replicas.iter().map(replica_text).collect::<Vec<_>>().join(" ")
}

/// The name of an action and its arguments with their names, as text that can be parsed again.
fn action_parts(schema: &Schema, action: &Action) -> (String, Vec<(String, String)>) {
    let Some(known) = schema.action_by_id(action.action_id) else {
        return (format!("{:#010x}", action.action_id), vec![]);
    };
    let argument = |param: &p4runtime_proto::p4::config::v1::action::Param| {
        let given = action.params.iter().find(|it| it.param_id == param.id)?;
        Some((param.name.clone(), param_type(schema, param).show(&given.value)))
    };
    let alias = known.preamble.as_ref().map_or("", |preamble| &preamble.alias);
    let shown = if alias.is_empty() { name(&known.preamble) } else { alias };
    (shown.to_owned(), known.params.iter().filter_map(argument).collect())
}

/// `NAME PARAMETER=VALUE...`
fn call_text(schema: &Schema, action: &Action) -> String {
    let (name, arguments) = action_parts(schema, action);
    let arguments: String = arguments.iter().map(|(name, value)| format!(" {name}={value}")).collect();
    name + &arguments
}

/// The action of an entry, as written after `do`.
#[allow(deprecated, reason = "older controllers write ports as numbers")]
fn action_text(schema: &Schema, action: &TableAction) -> String {
    match &action.r#type {
        None => String::new(),
        Some(ActionType::Action(action)) => call_text(schema, action),
        Some(ActionType::ActionProfileMemberId(member)) => format!("member {member}"),
        Some(ActionType::ActionProfileGroupId(group)) => format!("group {group}"),
        Some(ActionType::ActionProfileActionSet(set)) => {
            let choices = set.action_profile_actions.iter().map(|choice| {
                let call = choice.action.as_ref().map(|action| call_text(schema, action)).unwrap_or_default();
                let weight = if choice.weight == 1 { String::new() } else { format!(" weight {}", choice.weight) };
                let watch = match &choice.watch_kind {
                    None => String::new(),
                    Some(WatchKind::Watch(port)) => format!(" watch {port}"),
                    Some(WatchKind::WatchPort(port)) => format!(" watch {}", port_number(port)),
                };
                call + &weight + &watch
            });
            format!("one-of {}", choices.collect::<Vec<_>>().join(" | "))
        }
    }
}

/// Bytes as hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The name of an object of the program; its id if the program does not have the object.
fn known_name(found: Option<&str>, id: u32) -> String {
    found.map_or_else(|| format!("{id:#010x}"), quoted)
}
