//! Stored state as lines for people.

use base::{Bits, FieldMatch};
use std::fmt::Write as _;
use switch::replication::Replication;
use switch::{CloneTarget, MeterConfig, Replica};
use tables::{ActionCall, ActionSpec, Entry, Group, Handle, Profile, Table, Target};

/// All entries of a table and its default action, a line each. Priorities are shown as `priority` has them.
pub fn table(table: &Table, priority: fn(i32) -> i32) -> String {
    let mut text: String = table.entries().map(|it| entry(table, it, priority) + "\n").collect();
    let default = table.default_action().map_or_else(|| "NoAction()".to_owned(), |call| action(table, call));
    let _ = write!(text, "default: {default}");
    text
}

/// What identifies an entry: its keys with their names, and the priority where it matters.
pub fn entry_name(table: &Table, key: &[FieldMatch], priority: i32) -> String {
    let fields = table.spec().key.iter().zip(key);
    let keys: Vec<String> = fields.map(|(field, value)| format!("{} = {}", field.name, match_value(value))).collect();
    let priority = if table.kind().has_priority() { format!(", priority {priority}") } else { String::new() };
    keys.join(", ") + &priority
}

/// An entry: handle, keys with their names, priority where it matters, shown as `priority` has it, action.
pub fn entry(table: &Table, entry: &Entry, priority: fn(i32) -> i32) -> String {
    let fields = table.spec().key.iter().zip(&entry.spec.key);
    let keys: Vec<String> = fields.map(|(field, value)| format!("{}={}", field.name, match_value(value))).collect();
    let priority = match table.kind().has_priority() {
        true => format!(" priority {}", priority(entry.spec.priority)),
        false => String::new(),
    };
    let call = ActionCall { action: entry.spec.action, args: entry.spec.args.clone() };
    format!("{}: {}{priority} -> {}", entry.handle, keys.join(" "), action(table, &call))
}

/// An action with its arguments, or the member or group that is named instead.
pub fn action(table: &Table, call: &ActionCall) -> String {
    match Target::of(call.action, &call.args) {
        Some(Target::Member(handle)) => format!("member {handle}"),
        Some(Target::Group(handle)) => format!("group {handle}"),
        None => action_of(&table.spec().actions, call),
    }
}

fn action_of(actions: &[ActionSpec], call: &ActionCall) -> String {
    let args: Vec<String> = call.args.iter().map(Bits::to_string).collect();
    let name = actions.get(call.action).map_or("?", |action| &action.name);
    format!("{name}({})", args.join(", "))
}

/// The members and groups of an action profile, a line each.
pub fn profile(profile: &Profile) -> String {
    let members = profile.members().map(|(handle, call)| member(profile, handle, call));
    let groups = profile.groups().map(|(handle, members)| group(handle, members));
    members.chain(groups).collect::<Vec<_>>().join("\n")
}

/// A member and what it runs.
pub fn member(profile: &Profile, handle: Handle, call: &ActionCall) -> String {
    format!("member {handle}: {}", action_of(&profile.spec().actions, call))
}

/// A group and its members, with their weights where they differ from 1.
pub fn group(handle: Handle, members: &Group) -> String {
    let member = |(member, &weight): (&Handle, &u32)| match weight {
        1 => member.to_string(),
        _ => format!("{member} (weight {weight})"),
    };
    let members: Vec<String> = members.iter().map(member).collect();
    match members.is_empty() {
        true => format!("group {handle}: empty"),
        false => format!("group {handle}: members {}", members.join(", ")),
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

/// The multicast groups, a line each.
pub fn groups(replication: &Replication) -> String {
    let line = |(group, members): (u64, &[Replica])| format!("group {group}: {}", replicas(members));
    replication.groups().map(line).collect::<Vec<_>>().join("\n")
}

/// Where a clone session sends packets.
pub fn clone_target(target: &CloneTarget) -> String {
    match target {
        CloneTarget::Replicas(members) => replicas(members),
        CloneTarget::Group(group) => format!("multicast group {group}"),
    }
}

fn replicas(members: &[Replica]) -> String {
    let member = |it: &Replica| format!("port {} (rid {})", it.port, it.rid);
    members.iter().map(member).collect::<Vec<_>>().join(", ")
}

/// The rates of a meter's cell.
pub fn meter_config(config: Option<MeterConfig>) -> String {
    let Some(config) = config else { return "not configured: every packet is green".to_owned() };
    let rate = |milliunits: u64| format!("{}.{:03}/s", milliunits / 1000, milliunits % 1000);
    format!(
        "committed {} burst {}, peak {} burst {}",
        rate(config.committed_rate_milliunits_per_s),
        config.committed_burst,
        rate(config.peak_rate_milliunits_per_s),
        config.peak_burst
    )
}
