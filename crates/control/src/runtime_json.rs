//! The `sN-runtime.json` form of the P4 tutorials: P4Runtime's entries, written as JSON.
//!
//! ```text
//! {
//!   "target": "bmv2", "p4info": "...", "bmv2_json": "...",
//!   "table_entries": [
//!     { "table": "MyIngress.ipv4_lpm", "match": { "hdr.ipv4.dstAddr": ["10.0.1.1", 32] },
//!       "action_name": "MyIngress.ipv4_forward", "action_params": { "dstAddr": "08:00:00:00:01:11", "port": 1 } },
//!     { "table": "MyIngress.ipv4_lpm", "default_action": true, "action_name": "MyIngress.drop", "action_params": {} }
//!   ],
//!   "multicast_group_entries": [
//!     { "multicast_group_id": 1, "replicas": [ { "egress_port": 1, "instance": 1 } ] }
//!   ],
//!   "clone_session_entries": [
//!     { "clone_session_id": 5, "replicas": [ { "egress_port": 3, "instance": 1 } ] }
//!   ]
//! }
//! ```
//!
//! An exact or optional key is a value, a longest-prefix key `[value, length]`, a ternary key `[value, mask]`, a range
//! `[low, high]`; a key that is not exact may be left out. The greater priority wins. Fields whose name begins with `_`
//! or is `comment` are for people.

use crate::api::entity::{Call, CloneSession, EntryAction, EntryName, Multicast, Replica, TableEntry};
use crate::api::{Entity, UpdateKind};
use crate::cli_text::{
    SESSION_MAX, check_changeable, check_default_changeable, has_priority, put, set_default, table_action, write,
};
use crate::command::Command;
use crate::entries::Collected;
use crate::json_lines::element_lines;
use crate::names;
use crate::problem::{FilePlace, Origin, Problem};
use base::{Bits, FieldMatch, MatchKind};
use ir::{ActionId, Key, Program, TableId};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::Arc;
use tables::Attributes;
use values::ValueTarget;

type Object = Map<String, Value>;
type Entry = fn(&Object, &Program) -> Result<Command, Problem>;

/// The lists of the file and how an element of each is read.
const LISTS: [(&str, Entry); 3] = [
    ("table_entries", table_entry),
    ("multicast_group_entries", multicast_group),
    ("clone_session_entries", clone_session),
];

/// Reads the file.
pub(crate) fn read(file: &Arc<str>, text: &str, program: &Program, collected: &mut Collected) {
    let origin = |place| Origin { file: file.clone(), place };
    let file = match serde_json::from_str(text) {
        Ok(Value::Object(file)) => file,
        Ok(_) => return collected.take(origin(FilePlace::File), Err(Problem::new("the file is not a JSON object"))),
        Err(error) => {
            let problem = Problem::new(format!("the file is not valid JSON: {error}"));
            return collected.take(origin(FilePlace::Line(error.line() as u32)), Err(problem));
        }
    };
    collected.take(origin(FilePlace::File), header(&file).map(|()| None));
    let lines = element_lines(text);
    for (list, entry) in LISTS {
        match file.get(list) {
            None | Some(Value::Null) => {}
            Some(Value::Array(elements)) => {
                for (index, element) in elements.iter().enumerate() {
                    let line = lines.get(list).and_then(|lines| lines.get(index)).copied().unwrap_or(1);
                    let result = object(element, "it").and_then(|element| entry(element, program));
                    collected.take(origin(FilePlace::Element { line, list, index }), result.map(Some));
                }
            }
            Some(_) => collected.take(origin(FilePlace::File), Err(Problem::new(format!("{list} is not a list")))),
        }
    }
}

/// Checks everything in the file but the lists.
fn header(file: &Object) -> Result<(), Problem> {
    let known = ["target", "p4info", "bmv2_json", LISTS[0].0, LISTS[1].0, LISTS[2].0];
    check_fields(file, &known)?;
    match file.get("target") {
        None => Ok(()),
        Some(Value::String(target)) if target == "bmv2" => Ok(()),
        Some(target) => Err(Problem::new(format!("the target is {target}")).with_help("only \"bmv2\" is known")),
    }
}

fn table_entry(entry: &Object, program: &Program) -> Result<Command, Problem> {
    let known = ["table", "match", "action_name", "action_params", "default_action", "priority", "idle_timeout_ns"];
    check_fields(entry, &known)?;
    let table = names::table(program, string(entry, "table")?)?;
    let is_default = match entry.get("default_action") {
        None | Some(Value::Bool(false)) => false,
        Some(Value::Bool(true)) => true,
        Some(other) => return Err(Problem::new(format!("default_action is {other}")).with_help("it is true or false")),
    };
    match is_default {
        true => check_default_changeable(program, table)?,
        false => check_changeable(program, table)?,
    }
    let action = table_action(program, table, string(entry, "action_name")?, is_default)?;
    let empty = Object::new();
    let params = entry.get("action_params").map_or(Ok(&empty), |params| object(params, "action_params"))?;
    let action = EntryAction::Call(Call { action, args: arguments(program, action, params)? });
    let matches = entry.get("match").filter(|matches| !matches.is_null());
    let matches = matches.map_or(Ok(&empty), |matches| object(matches, "match"))?;
    if is_default {
        return match matches.is_empty() {
            true => Ok(set_default(table, Some(action))),
            false => Err(Problem::new("an entry with default_action has no match: it runs when no other matches")),
        };
    }
    let key = key(program, table, matches)?;
    let priority = priority(entry, program, table)?;
    let attributes = Attributes { idle_timeout_ns: idle_timeout_ns(entry, program, table)?, ..Attributes::default() };
    let entry = TableEntry { attributes, ..TableEntry::new(table, Some(EntryName { key, priority }), Some(action)) };
    Ok(write(UpdateKind::Insert, Entity::TableEntry(entry)))
}

/// The idle timeout of the entry; 0 for never.
fn idle_timeout_ns(entry: &Object, program: &Program, table: TableId) -> Result<u64, Problem> {
    let Some(given) = entry.get("idle_timeout_ns") else { return Ok(0) };
    let timeout_ns = number(given, "idle_timeout_ns", i64::MAX as u64)?;
    if timeout_ns > 0 && !program.tables[table].support_timeout {
        let message = format!("table {} has no idle timeouts", program.tables[table].name);
        return Err(Problem::new(message).with_help("the program must declare `support_timeout = true` in it"));
    }
    Ok(timeout_ns)
}

/// The priority, which an entry has if keys may overlap.
fn priority(entry: &Object, program: &Program, table: TableId) -> Result<i32, Problem> {
    let given = entry.get("priority").map(|value| number(value, "priority", i32::MAX as u64)).transpose()?;
    match (has_priority(program, table), given) {
        (false, _) => Ok(0),
        (true, Some(priority)) if priority > 0 => Ok(priority as i32),
        (true, _) => {
            let message = format!("an entry of table {} needs a priority", program.tables[table].name);
            Err(Problem::new(message).with_help("\"priority\" is a number from 1, the greater wins"))
        }
    }
}

/// The arguments of the action by the names of its parameters.
fn arguments(program: &Program, action: ActionId, given: &Object) -> Result<Vec<Bits>, Problem> {
    let definition = &program.actions[action];
    let mut args = vec![None; definition.params.len()];
    for (name, value) in given.iter().filter(|(name, _)| !is_comment(name)) {
        if let Some(param) = definition.empty_params.iter().find(|param| param.name == **name) {
            names::check_empty(&param.name, &bits(value, &names::empty_target(&param.name))?)?;
            continue;
        }
        let position = names::param(program, action, name)?;
        let var = &program.vars[definition.params[position]];
        let target = ValueTarget { role: "parameter", name: names::last_part(&var.name), ty: var.ty };
        if args[position].replace(bits(value, &target)?).is_some() {
            return Err(Problem::new(format!("{target} is given twice")));
        }
    }
    let missing = |position: usize| {
        let name = names::last_part(&program.vars[definition.params[position]].name);
        Problem::new(format!("parameter {name} of action {} is missing", definition.name))
    };
    args.into_iter().enumerate().map(|(position, value)| value.ok_or_else(|| missing(position))).collect()
}

/// One match per key of the table.
fn key(program: &Program, table: TableId, given: &Object) -> Result<Vec<FieldMatch>, Problem> {
    let definition = &program.tables[table];
    let mut matches = vec![None; definition.keys.len()];
    for (name, value) in given.iter().filter(|(name, _)| !is_comment(name)) {
        let position = names::key(program, table, name)?;
        if matches[position].replace(key_match(value, &definition.keys[position])?).is_some() {
            return Err(Problem::new(format!("key {} is given twice", definition.keys[position].name)));
        }
    }
    let or_any = |(given, key): (Option<FieldMatch>, &Key)| {
        given.or_else(|| FieldMatch::any(key.kind, key.expr.ty.width())).ok_or_else(|| {
            Problem::new(format!("key {} is missing", key.name)).with_help("an exact key must have a value")
        })
    };
    matches.into_iter().zip(&definition.keys).map(or_any).collect()
}

fn key_match(value: &Value, key: &Key) -> Result<FieldMatch, Problem> {
    let target = ValueTarget { role: "key", name: &key.name, ty: key.expr.ty };
    let Some(names) = values::part_names(key.kind) else {
        return values::from_parts(key.kind, &text(value, &target)?, None, &target);
    };
    match value.as_array().map(Vec::as_slice) {
        Some([_, truth @ Value::Bool(_)]) if key.kind == MatchKind::Lpm => {
            Err(Problem::new(format!("{truth} is not a valid prefix length for {target}")))
        }
        Some([first, second]) => {
            values::from_parts(key.kind, &text(first, &target)?, Some(&text(second, &target)?), &target)
        }
        _ => Err(Problem::new(format!("{value} does not match {target}"))
            .with_help(format!("it takes [{}]", names.join(", ")))),
    }
}

fn bits(value: &Value, target: &ValueTarget<'_>) -> Result<Bits, Problem> {
    values::value(&text(value, target)?, target)
}

/// A value in one of the forms of [`values`]: a number, a string, a truth value; also alone in a list.
fn text<'v>(value: &'v Value, target: &ValueTarget<'_>) -> Result<Cow<'v, str>, Problem> {
    match value {
        Value::String(text) => Ok(Cow::Borrowed(text)),
        Value::Number(number) if number.is_f64() => {
            let message = format!("{number} is not a valid value for {target}");
            Err(Problem::new(message).with_help("it takes a whole number; one over 64 bits is written as a string"))
        }
        Value::Number(number) => Ok(Cow::Owned(number.to_string())),
        Value::Bool(truth) => Ok(Cow::Borrowed(if *truth { "1" } else { "0" })),
        Value::Array(list) if list.len() == 1 && !list[0].is_array() => text(&list[0], target),
        other => Err(Problem::new(format!("{} is not a valid value for {target}", excerpt(other)))),
    }
}

fn multicast_group(entry: &Object, program: &Program) -> Result<Command, Problem> {
    check_fields(entry, &["multicast_group_id", "replicas"])?;
    let group = required_number(entry, "multicast_group_id", 1, 65_535)?;
    let replicas = replicas(entry, program, &format!("multicast group {group}"))?;
    Ok(put(Entity::Multicast(Multicast { group, replicas, metadata: Vec::new() })))
}

fn clone_session(entry: &Object, program: &Program) -> Result<Command, Problem> {
    check_fields(entry, &["clone_session_id", "replicas", "class_of_service", "packet_length_bytes"])?;
    let optional = |name: &str, max: u32| {
        entry.get(name).map_or(Ok(0), |value| number(value, name, u64::from(max))).map(|number| number as u32)
    };
    let (class_of_service, length_bytes_max) =
        (optional("class_of_service", 255)?, optional("packet_length_bytes", u32::MAX)?);
    let session = required_number(entry, "clone_session_id", 0, SESSION_MAX)? as u32;
    let replicas = replicas(entry, program, &format!("clone session {session}"))?;
    let session = CloneSession { replicas, class_of_service, length_bytes_max, ..CloneSession::new(session) };
    Ok(put(Entity::CloneSession(session)))
}

fn replicas(entry: &Object, program: &Program, owner: &str) -> Result<Vec<Replica>, Problem> {
    let list = match entry.get("replicas") {
        Some(Value::Array(list)) => list,
        Some(_) => return Err(Problem::new("replicas is not a list")),
        None => return Err(Problem::new("replicas is missing").with_help("it is a list of egress_port and instance")),
    };
    let mut replicas = Vec::with_capacity(list.len());
    for value in list {
        let fields = object(value, "a replica")?;
        check_fields(fields, &["egress_port", "instance"])?;
        let port = required_number(fields, "egress_port", 0, u64::from(program.architecture.egress_port_max))? as u32;
        let rid = fields.get("instance").map_or(Ok(0), |value| number(value, "instance", 65_535))?;
        replicas.push(switch::Replica { rid, port }.into());
    }
    Replica::check_all(owner, &replicas).map_err(|fault| Problem::new(fault.message))?;
    Ok(replicas)
}

/// Refuses an unknown field: it is probably misspelt.
fn check_fields(object: &Object, known: &[&str]) -> Result<(), Problem> {
    match object.keys().find(|field| !known.contains(&field.as_str()) && !is_comment(field)) {
        None => Ok(()),
        Some(field) => {
            let help = format!("fields are {}", names::listed(field, known));
            Err(Problem::new(format!("there is no field {field}")).with_help(help))
        }
    }
}

fn is_comment(field: &str) -> bool {
    field.starts_with('_') || field == "comment"
}

fn object<'v>(value: &'v Value, what: &str) -> Result<&'v Object, Problem> {
    value.as_object().ok_or_else(|| Problem::new(format!("{what} is {}, not an object {{...}}", excerpt(value))))
}

fn string<'v>(object: &'v Object, field: &str) -> Result<&'v str, Problem> {
    match object.get(field) {
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(Problem::new(format!("{field} is {}, not a string", excerpt(other)))),
        None => Err(Problem::new(format!("{field} is missing"))),
    }
}

fn required_number(object: &Object, field: &str, least: u64, greatest: u64) -> Result<u64, Problem> {
    let value = object.get(field).ok_or_else(|| Problem::new(format!("{field} is missing")))?;
    let number = number(value, field, greatest)?;
    if number < least {
        return Err(Problem::new(format!("{field} is {number}")).with_help(format!("it is a number from {least}")));
    }
    Ok(number)
}

fn number(value: &Value, field: &str, greatest: u64) -> Result<u64, Problem> {
    let text = match value {
        Value::String(text) => text.clone(),
        other => excerpt(other),
    };
    let help = format!("it is a number from 0 to {greatest}");
    values::unsigned(&text, greatest, field).map_err(|_| Problem::new(format!("{field} is {text}")).with_help(help))
}

/// A value as JSON, shortened to a readable length.
fn excerpt(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use crate::entries::tests::check;
    use expect_test::{Expect, expect};

    /// The elements of `table_entries`.
    fn check_entries(entries: &str, expected: Expect) {
        check(&format!("{{\"table_entries\": [\n{entries}]}}"), expected);
    }

    #[test]
    fn a_router_of_the_tutorials() {
        check(
            r#"{
              "target": "bmv2", "p4info": "build/basic.p4.p4info.txt", "bmv2_json": "build/basic.json",
              "table_entries": [
                { "table": "MyIngress.ipv4_lpm", "default_action": true,
                  "action_name": "MyIngress.drop", "action_params": { } },
                { "table": "MyIngress.ipv4_lpm", "match": { "hdr.ipv4.dstAddr": ["10.0.1.1", 32] },
                  "action_name": "MyIngress.ipv4_forward",
                  "action_params": { "dstAddr": "08:00:00:00:01:11", "port": 1 } }
              ],
              "multicast_group_entries": [
                { "multicast_group_id": 1, "replicas": [
                    { "egress_port": 1, "instance": 1 }, { "egress_port": 2, "instance": 1 } ] }
              ],
              "clone_session_entries": [
                { "clone_session_id": 5, "replicas": [ { "egress_port": 3, "instance": 1 } ] }
              ]
            }"#,
            expect![[r#"
                entries:4: table_entries[0]: Write(Update { kind: Modify, entity: TableEntry(TableEntry { table: table0, name: None, action: Some(Call(Call { action: action0, args: [] })), attributes: Attributes { metadata: [], controller_metadata: 0, idle_timeout_ns: 0 }, counter: None, meter: None, meter_counts: None, idle_ns: None, is_const: false }) })
                entries:6: table_entries[1]: Write(Update { kind: Insert, entity: TableEntry(TableEntry { table: table0, name: Some(EntryName { key: [Lpm { value: 32w0xa000101, prefix_len: 32 }], priority: 0 }), action: Some(Call(Call { action: action1, args: [48w0x80000000111, 9w0x1] })), attributes: Attributes { metadata: [], controller_metadata: 0, idle_timeout_ns: 0 }, counter: None, meter: None, meter_counts: None, idle_ns: None, is_const: false }) })
                entries:11: multicast_group_entries[0]: Change(Put(Multicast(Multicast { group: 1, replicas: [Replica { primary: Replica { rid: 1, port: 1 }, backups: [] }, Replica { primary: Replica { rid: 1, port: 2 }, backups: [] }], metadata: [] })))
                entries:15: clone_session_entries[0]: Change(Put(CloneSession(CloneSession { session: 5, replicas: [Replica { primary: Replica { rid: 1, port: 3 }, backups: [] }], group: None, class_of_service: 0, length_bytes_max: 0 })))
            "#]],
        );
    }

    #[test]
    fn keys_of_every_match_kind() {
        check_entries(
            r#"{"table": "MyIngress.acl.filter", "priority": 9, "action_name": "drop", "match": {
                 "hdr.ipv4.$valid$": 1, "hdr.ipv4.srcAddr": ["10.0.0.255", "255.255.255.0"],
                 "hdr.tcp.dstPort": [80, "0x5a"], "meta.tag": ["5"]}},
               {"table": "MyEgress.acl.filter", "action_name": "NoAction", "match": {"delta": -3}}"#,
            expect![[r#"
                entries:2: table_entries[0]: Write(Update { kind: Insert, entity: TableEntry(TableEntry { table: table2, name: Some(EntryName { key: [Exact(1w0x1), Ternary { value: 32w0xa000000, mask: 32w0xffffff00 }, Range { low: 16w0x50, high: 16w0x5a }, Optional(Some(12w0x5))], priority: 9 }), action: Some(Call(Call { action: action0, args: [] })), attributes: Attributes { metadata: [], controller_metadata: 0, idle_timeout_ns: 0 }, counter: None, meter: None, meter_counts: None, idle_ns: None, is_const: false }) })
                entries:5: table_entries[1]: Write(Update { kind: Insert, entity: TableEntry(TableEntry { table: table3, name: Some(EntryName { key: [Exact(8w0xfd)], priority: 0 }), action: Some(Call(Call { action: action2, args: [] })), attributes: Attributes { metadata: [], controller_metadata: 0, idle_timeout_ns: 0 }, counter: None, meter: None, meter_counts: None, idle_ns: None, is_const: false }) })
            "#]],
        );
    }

    #[test]
    fn keys_that_are_left_out_match_anything() {
        check_entries(
            r#"{"table": "MyIngress.acl.filter", "priority": 9, "action_name": "drop", "match": {"isValid()": true}},
               {"table": "ipv4_lpm", "action_name": "drop"}"#,
            expect![[r#"
                entries:2: table_entries[0]: Write(Update { kind: Insert, entity: TableEntry(TableEntry { table: table2, name: Some(EntryName { key: [Exact(1w0x1), Ternary { value: 32w0x0, mask: 32w0x0 }, Range { low: 16w0x0, high: 16w0xffff }, Optional(None)], priority: 9 }), action: Some(Call(Call { action: action0, args: [] })), attributes: Attributes { metadata: [], controller_metadata: 0, idle_timeout_ns: 0 }, counter: None, meter: None, meter_counts: None, idle_ns: None, is_const: false }) })
                entries:3: table_entries[1]: Write(Update { kind: Insert, entity: TableEntry(TableEntry { table: table0, name: Some(EntryName { key: [Lpm { value: 32w0x0, prefix_len: 0 }], priority: 0 }), action: Some(Call(Call { action: action0, args: [] })), attributes: Attributes { metadata: [], controller_metadata: 0, idle_timeout_ns: 0 }, counter: None, meter: None, meter_counts: None, idle_ns: None, is_const: false }) })
            "#]],
        );
    }

    #[test]
    fn exact_keys_cannot_be_left_out() {
        check_entries(
            r#"{"table": "MyEgress.acl.filter", "action_name": "NoAction", "match": {}}"#,
            expect![[r#"
            entries:2: table_entries[0]: key meta.delta is missing
              help: an exact key must have a value
        "#]],
        );
    }

    #[test]
    fn parameters_of_no_bits_may_be_given() {
        check_entries(
            r#"{"table": "l2", "action_name": "tunnel", "action_params": {"rest": 0, "source": 1}, "match": {"dstAddr": 1}},
               {"table": "l2", "action_name": "tunnel", "action_params": {"source": 1, "rest": 1}, "match": {"dstAddr": 2}}"#,
            expect![[r#"
                entries:3: table_entries[1]: parameter rest has no bits, so its value is 0
            "#]],
        );
    }

    #[test]
    fn every_bad_entry_is_reported() {
        check_entries(
            r#"{"table": "ipv4_lmp", "action_name": "drop"},
               {"table": "ipv4_lpm", "action_name": "forward"},
               {"table": "ipv4_lpm", "action_name": "ipv4_forward", "action_params": {"port": 1}},
               {"table": "ipv4_lpm", "action_name": "ipv4_forward", "action_params": {"dst": 1}},
               {"table": "ipv4_lpm", "action_name": "drop", "match": {"hdr.ipv4.dstAddr": ["10.0.0.300", 8]}},
               {"table": "ipv4_lpm", "action_name": "drop", "match": {"hdr.ipv4.dstAddr": "10.0.0.0"}},
               {"table": "ipv4_lpm", "action_name": "drop", "match": {"hdr.ipv4.dstAddr": ["10.0.0.0", 33]}},
               {"table": "ipv4_lpm", "action_name": "drop", "match": {"dst": ["10.0.0.0", 8]}},
               {"table": "l2", "action_name": "tunnel", "action_params": {"source": 1},
                  "match": {"dstAddr": 18446744073709551616}},
               {"table": "MyIngress.acl.filter", "action_name": "drop", "match": {"isValid()": 2}},
               {"table": "MyIngress.acl.filter", "action_name": "drop", "match": {"isValid()": 1}},
               {"tabel": "l2"},
               {"action_name": "drop"},
               7"#,
            expect![[r#"
                entries:2: table_entries[0]: there is no table ipv4_lmp
                  help: the program has the tables MyIngress.ipv4_lpm, MyIngress.l2, MyIngress.acl.filter, MyEgress.acl.filter, MyEgress.mark, MyIngress.tiny, MyIngress.balance
                entries:3: table_entries[1]: there is no action forward
                  help: table MyIngress.ipv4_lpm has the actions MyIngress.ipv4_forward, MyIngress.drop, NoAction
                entries:4: table_entries[2]: parameter dstAddr of action MyIngress.ipv4_forward is missing
                entries:5: table_entries[3]: there is no parameter dst
                  help: action MyIngress.ipv4_forward has the parameters port, dstAddr
                entries:6: table_entries[4]: 10.0.0.300 is not an IPv4 address
                entries:7: table_entries[5]: "10.0.0.0" does not match key hdr.ipv4.dstAddr
                  help: it takes [value, prefix length]
                entries:8: table_entries[6]: the prefix length 33 is too long, key hdr.ipv4.dstAddr has 32 bits
                entries:9: table_entries[7]: there is no key dst
                  help: table MyIngress.ipv4_lpm has the keys hdr.ipv4.dstAddr
                entries:10: table_entries[8]: 1.8446744073709552e+19 is not a valid value for key hdr.ethernet.dstAddr
                  help: it takes a whole number; one over 64 bits is written as a string
                entries:12: table_entries[9]: 2 needs 2 bits, key hdr.ipv4.isValid() has 1
                entries:13: table_entries[10]: an entry of table MyIngress.acl.filter needs a priority
                  help: "priority" is a number from 1, the greater wins
                entries:14: table_entries[11]: there is no field tabel
                  help: fields are table, match, priority, action_name, action_params, default_action, idle_timeout_ns
                entries:15: table_entries[12]: table is missing
                entries:16: table_entries[13]: it is 7, not an object {...}
            "#]],
        );
    }

    #[test]
    fn a_truth_value_is_no_prefix_length() {
        check_entries(
            r#"{"table": "ipv4_lpm", "action_name": "drop", "match": {"hdr.ipv4.dstAddr": ["10.0.0.0", true]}}"#,
            expect![[r#"
                entries:2: table_entries[0]: true is not a valid prefix length for key hdr.ipv4.dstAddr
            "#]],
        );
    }

    #[test]
    fn entries_that_time_out() {
        check_entries(
            r#"{"table": "l2", "action_name": "tunnel", "action_params": {"source": 1}, "match": {"dstAddr": 1},
                "idle_timeout_ns": 5000000000},
               {"table": "ipv4_lpm", "action_name": "drop", "match": {"dstAddr": ["10.0.0.1", 32]}, "idle_timeout_ns": 0}"#,
            expect![[r#"
                entries:2: table_entries[0]: Write(Update { kind: Insert, entity: TableEntry(TableEntry { table: table1, name: Some(EntryName { key: [Exact(48w0x1)], priority: 0 }), action: Some(Call(Call { action: action5, args: [128w0x1] })), attributes: Attributes { metadata: [], controller_metadata: 0, idle_timeout_ns: 5000000000 }, counter: None, meter: None, meter_counts: None, idle_ns: None, is_const: false }) })
                entries:4: table_entries[1]: Write(Update { kind: Insert, entity: TableEntry(TableEntry { table: table0, name: Some(EntryName { key: [Lpm { value: 32w0xa000001, prefix_len: 32 }], priority: 0 }), action: Some(Call(Call { action: action0, args: [] })), attributes: Attributes { metadata: [], controller_metadata: 0, idle_timeout_ns: 0 }, counter: None, meter: None, meter_counts: None, idle_ns: None, is_const: false }) })
            "#]],
        );
        check_entries(
            r#"{"table": "l2", "action_name": "tunnel", "action_params": {"source": 1}, "match": {"dstAddr": 1},
                "idle_timeout_ns": -1},
               {"table": "ipv4_lpm", "action_name": "drop", "match": {"dstAddr": ["10.0.0.1", 32]}, "idle_timeout_ns": 7}"#,
            expect![[r#"
                entries:2: table_entries[0]: idle_timeout_ns is -1
                  help: it is a number from 0 to 9223372036854775807
                entries:4: table_entries[1]: table MyIngress.ipv4_lpm has no idle timeouts
                  help: the program must declare `support_timeout = true` in it
            "#]],
        );
    }

    #[test]
    fn what_the_program_forbids() {
        check_entries(
            r#"{"table": "tiny", "action_name": "drop", "match": {"meta.tag": 1}},
               {"table": "tiny", "action_name": "drop", "default_action": true},
               {"table": "l2", "action_name": "drop", "match": {"dstAddr": 1}},
               {"table": "l2", "action_name": "set_port", "action_params": {"port": 1}, "default_action": true},
               {"table": "mark", "action_name": "mark_ecn", "default_action": true, "match": {"x": 1}},
               {"table": "mark", "action_name": "mark_ecn"}"#,
            expect![[r#"
                entries:2: table_entries[0]: the entries of table MyIngress.tiny are const and cannot be changed
                entries:3: table_entries[1]: the default action of table MyIngress.tiny is const and cannot be changed
                entries:4: table_entries[2]: action MyIngress.drop is for the default only (@defaultonly), not for entries
                entries:5: table_entries[3]: action MyIngress.set_port is for entries only (@tableonly), not for the default
                entries:6: table_entries[4]: an entry with default_action has no match: it runs when no other matches
                entries:7: table_entries[5]: table MyEgress.mark has no key and cannot have entries
                  help: set its default action instead
            "#]],
        );
    }

    #[test]
    fn groups_and_sessions() {
        check(
            r#"{"multicast_group_entries": [
                 {"multicast_group_id": 0, "replicas": []},
                 {"multicast_group_id": 1, "replicas": [{"egress_port": 511, "instance": 1}]},
                 {"multicast_group_id": 1, "replicas": [{"egress_port": 1}, {"egress_port": 1, "instance": 0}]},
                 {"multicast_group_id": 70000, "replicas": []},
                 {"multicast_group_id": 1}],
                "clone_session_entries": [
                 {"clone_session_id": 1, "replicas": {}, "packet_length_bytes": 0},
                 {"clone_session_id": 1, "replicas": [], "packet_length_bytes": 64},
                 {"clone_session_id": "x", "replicas": []}]}"#,
            expect![[r#"
                entries:2: multicast_group_entries[0]: multicast_group_id is 0
                  help: it is a number from 1
                entries:3: multicast_group_entries[1]: egress_port is 511
                  help: it is a number from 0 to 510
                entries:4: multicast_group_entries[2]: multicast group 1: the replica of port 1 and instance 0 is given twice
                entries:5: multicast_group_entries[3]: multicast_group_id is 70000
                  help: it is a number from 0 to 65535
                entries:6: multicast_group_entries[4]: replicas is missing
                  help: it is a list of egress_port and instance
                entries:8: clone_session_entries[0]: replicas is not a list
                entries:10: clone_session_entries[2]: clone_session_id is x
                  help: it is a number from 0 to 32767
            "#]],
        );
    }

    #[test]
    fn files_of_another_form() {
        check(
            "{\"table_entries\": [\n{\"table\": }]}",
            expect![[r#"
            entries:2: the file is not valid JSON: expected value at line 2 column 11
        "#]],
        );
        check(
            "{\"table_entry\": []}",
            expect![[r#"
            entries: there is no field table_entry
              help: fields are table_entries, target, p4info, bmv2_json, clone_session_entries, multicast_group_entries
        "#]],
        );
        check(
            "{\"target\": \"tofino\", \"table_entries\": {}}",
            expect![[r#"
            entries: the target is "tofino"
              help: only "bmv2" is known
            entries: table_entries is not a list
        "#]],
        );
        check(
            &format!("{{\"table_entries\": {}", "[".repeat(100_000)),
            expect![[r#"
            entries:1: the file is not valid JSON: recursion limit exceeded at line 1 column 145
        "#]],
        );
    }
}
