//! Stored state as lines for people.

use base::{Bits, FieldMatch};
use tables::{ActionCall, Table, Target};

/// What identifies an entry: its keys with their names, and the priority where it matters.
pub fn entry_name(table: &Table, key: &[FieldMatch], priority: i32) -> String {
    let fields = table.spec().key.iter().zip(key);
    let keys: Vec<String> = fields.map(|(field, value)| format!("{} = {}", field.name, match_value(value))).collect();
    let priority = if table.kind().has_priority() { format!(", priority {priority}") } else { String::new() };
    keys.join(", ") + &priority
}

/// An action with its arguments, or the member or group that is named instead.
pub fn action(table: &Table, call: &ActionCall) -> String {
    match Target::of(call.action, &call.args) {
        Some(Target::Member(handle)) => format!("member {handle}"),
        Some(Target::Group(handle)) => format!("group {handle}"),
        None => {
            let args: Vec<String> = call.args.iter().map(Bits::to_string).collect();
            let name = table.spec().actions.get(call.action).map_or("?", |action| &action.name);
            format!("{name}({})", args.join(", "))
        }
    }
}

/// The members of a value set, a line each.
pub fn value_set(members: &[Vec<FieldMatch>]) -> String {
    let line = |member: &Vec<FieldMatch>| member.iter().map(match_value).collect::<Vec<_>>().join(" ");
    members.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// What an entry matches in a key.
pub fn match_value(value: &FieldMatch) -> String {
    values::Style::Hexadecimal.show_match(value)
}
