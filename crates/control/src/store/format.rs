//! Updates as JSON, by the names of the program: what is written survives a program that is compiled anew.
//!
//! What enters: an update and the program that it speaks of, or JSON that was written for this or another program. What
//! leaves: JSON, or an update; or why there is none: the program has no such thing any more, or it has other widths.
//! Values are hexadecimal digits in a string. What has its default is left out.

use crate::api::entity::{
    Call, Cell, Choice, CloneSession, DigestConfig, Direct, EntryAction, EntryName, Group, GroupMember, Member,
    Multicast, TableEntry,
};
use crate::api::{Entity, Update, UpdateKind};
use base::Bits;
use base::index::Id;
use ir::{EntryKey, MatchKind, Program, TableId};
use serde_json::{Map, Value, json};
use switch::externs::CounterCell;
use switch::{MeterConfig, Replica};
use tables::Attributes;

/// Why stored JSON is no update of the program.
pub(crate) type Mismatch = String;

// ------------------------------------------------------------------------------------------------------ writing

/// Updates as a record; none if there are none. Cells of an array that lie side by side become one piece.
pub(crate) fn record(program: &Program, updates: &mut dyn Iterator<Item = &Update>) -> Option<String> {
    let mut text = String::from(r#"{"write":["#);
    let mut updates = updates.peekable();
    updates.peek()?;
    while let Some(update) = updates.next() {
        let mut value = to_json(program, update);
        if let Some((array, mut index)) = cell(update) {
            let mut values = vec![value["modify"]["value"].take()];
            while let Some(next) = updates.next_if(|next| cell(next) == index.checked_add(1).map(|it| (array, it))) {
                values.push(to_json(program, next)["modify"]["value"].take());
                index += 1;
            }
            value["modify"]["value"] = if values.len() == 1 { values.remove(0) } else { json!({ "cells": values }) };
        }
        text += &value.to_string();
        text.push(if updates.peek().is_some() { ',' } else { ']' });
    }
    text.push('}');
    Some(text)
}

/// The kind and number of the array and the index, if the update sets one cell that packets change, too.
fn cell(update: &Update) -> Option<((u8, usize), u64)> {
    match &update.entity {
        Entity::Register(cell) => Some(((0, cell.array.index()), cell.index?)),
        Entity::Counter(cell) => Some(((1, cell.array.index()), cell.index?)),
        _ => None,
    }
}

/// The update as JSON.
pub(crate) fn to_json(program: &Program, update: &Update) -> Value {
    let kind = match update.kind {
        UpdateKind::Insert => "insert",
        UpdateKind::Modify => "modify",
        UpdateKind::Delete => "delete",
    };
    json!({ kind: entity(program, &update.entity) })
}

fn entity(program: &Program, entity: &Entity) -> Value {
    match entity {
        Entity::TableEntry(entry) => table_entry(program, entry),
        Entity::DirectCounter(direct) => {
            json!({"direct_counter": named(program, direct.table, &direct.name), "value": counter(direct.value)})
        }
        Entity::DirectMeter(direct) => {
            json!({"direct_meter": named(program, direct.table, &direct.name), "value": direct.value.map(rates)})
        }
        Entity::Member(it) => {
            let call = it.call.as_ref().map(|it| call(program, it));
            json!({"member": it.id, "of": program.action_profiles[it.profile].name, "call": call})
        }
        Entity::Group(it) => {
            let member = |it: &GroupMember| json!([it.member, it.weight, it.watch_port]);
            let members: Vec<Value> = it.members.iter().map(member).collect();
            let of = &program.action_profiles[it.profile].name;
            json!({"group": it.id, "of": of, "members": members, "size_max": it.size_max})
        }
        Entity::Counter(cell) => {
            let array = &program.counters[cell.array].name;
            json!({"counter": array, "index": cell.index, "value": counter(cell.value)})
        }
        Entity::Meter(cell) => {
            let array = &program.meters[cell.array].name;
            json!({"meter": array, "index": cell.index, "value": cell.value.map(rates)})
        }
        Entity::Register(cell) => {
            let array = &program.registers[cell.array].name;
            json!({"register": array, "index": cell.index, "value": hex(&cell.value)})
        }
        Entity::Multicast(it) => {
            json!({"multicast": it.group, "replicas": replicas(&it.replicas), "metadata": bytes(&it.metadata)})
        }
        Entity::CloneSession(it) => json!({
            "clone_session": it.session, "replicas": replicas(&it.replicas), "class": it.class_of_service,
            "length_max": it.length_bytes_max,
        }),
        Entity::ValueSet { set, members } => {
            let members: Vec<Vec<Value>> = members.iter().map(|it| it.iter().map(key).collect()).collect();
            json!({"value_set": program.value_sets[*set].name, "members": members})
        }
        Entity::Digest { digest, config } => json!({
            "digest": program.digests[*digest].name,
            "config": [config.timeout_max_ns, u64::from(config.list_size_max), config.ack_timeout_ns],
        }),
    }
}

fn table_entry(program: &Program, entry: &TableEntry) -> Value {
    let mut object = Map::new();
    let target = match &entry.name {
        Some(name) => named(program, entry.table, name),
        None => json!({"table": program.tables[entry.table].name}),
    };
    object.insert(if entry.name.is_some() { "entry" } else { "default" }.to_owned(), target);
    if let Some(action) = &entry.action {
        let action = match action {
            EntryAction::Call(it) => call(program, it),
            EntryAction::Member(id) => json!({"member": id}),
            EntryAction::Group(id) => json!({"group": id}),
            EntryAction::OneShot(choices) => {
                let choice = |it: &Choice| json!([call(program, &it.call), it.weight, it.watch_port]);
                json!({"choices": choices.iter().map(choice).collect::<Vec<_>>()})
            }
        };
        object.insert("action".to_owned(), action);
    }
    let attributes = &entry.attributes;
    if *attributes != Attributes::default() {
        let metadata = bytes(&attributes.metadata);
        object.insert(
            "attributes".to_owned(),
            json!([metadata, attributes.controller_metadata, attributes.idle_timeout_ns]),
        );
    }
    if let Some(value) = entry.counter {
        object.insert("counted".to_owned(), counter(value));
    }
    if let Some(value) = entry.meter {
        object.insert("rates".to_owned(), json!(value.map(rates)));
    }
    Value::Object(object)
}

fn named(program: &Program, table: TableId, name: &EntryName) -> Value {
    let keys: Vec<Value> = name.key.iter().map(key).collect();
    json!({"table": program.tables[table].name, "key": keys, "priority": name.priority})
}

fn key(key: &EntryKey) -> Value {
    match key {
        EntryKey::Exact(value) => json!(hex(value)),
        EntryKey::Lpm { value, prefix_len } => json!({"prefix": hex(value), "length": prefix_len}),
        EntryKey::Ternary { value, mask } => json!({"value": hex(value), "mask": hex(mask)}),
        EntryKey::Range { low, high } => json!({"low": hex(low), "high": hex(high)}),
        EntryKey::Optional(value) => json!({"optional": value.as_ref().map(hex)}),
    }
}

fn call(program: &Program, call: &Call) -> Value {
    let args: Vec<String> = call.args.iter().map(hex).collect();
    json!({"run": program.actions[call.action].name, "args": args})
}

fn counter(value: CounterCell) -> Value {
    json!([value.packets, value.bytes])
}

fn rates(value: MeterConfig) -> Value {
    json!([
        value.committed_rate_milliunits_per_s,
        value.committed_burst,
        value.peak_rate_milliunits_per_s,
        value.peak_burst
    ])
}

fn replicas(replicas: &[Replica]) -> Vec<Value> {
    replicas.iter().map(|it| json!([it.port, it.rid])).collect()
}

fn hex(value: &Bits) -> String {
    bytes(&value.to_be_bytes())
}

fn bytes(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

// ------------------------------------------------------------------------------------------------------ reading

/// Adds the updates that the JSON says, in the words of this program.
pub(crate) fn from_json(program: &Program, value: &Value, updates: &mut Vec<Update>) -> Result<(), Mismatch> {
    let object = value.as_object().ok_or("an update is an object")?;
    let kinds = [("insert", UpdateKind::Insert), ("modify", UpdateKind::Modify), ("delete", UpdateKind::Delete)];
    let (kind, value) = kinds
        .into_iter()
        .find_map(|(name, kind)| Some((kind, object.get(name)?)))
        .ok_or("an update inserts, modifies or deletes")?;
    let reader = Reader { program };
    let Some(cells) = value["value"]["cells"].as_array() else {
        updates.push(Update { kind, entity: reader.entity(value)? });
        return Ok(());
    };
    let first = number(&value["index"])?;
    let mut one = value.clone();
    for (offset, cell) in cells.iter().enumerate() {
        let index = first.checked_add(offset as u64).ok_or("an index of more than 64 bits")?;
        (one["index"], one["value"]) = (json!(index), cell.clone());
        updates.push(Update { kind, entity: reader.entity(&one)? });
    }
    Ok(())
}

struct Reader<'a> {
    program: &'a Program,
}

impl Reader<'_> {
    fn entity(&self, value: &Value) -> Result<Entity, Mismatch> {
        let object = value.as_object().ok_or("an entity is an object")?;
        let kind = object.keys().find(|name| KINDS.contains(&name.as_str())).ok_or("an entity of no known kind")?;
        let named = &object[kind];
        Ok(match kind.as_str() {
            "entry" => Entity::TableEntry(self.table_entry(value, self.entry_name(named)?)?),
            "default" => {
                let table = self.table(named)?;
                Entity::TableEntry(TableEntry::new(table, None, self.action(table, &value["action"])?))
            }
            "direct_counter" => {
                let (table, name) = self.entry_name(named)?;
                Entity::DirectCounter(Direct { table, name, value: counter_from(&value["value"])? })
            }
            "direct_meter" => {
                let (table, name) = self.entry_name(named)?;
                Entity::DirectMeter(Direct { table, name, value: rates_from(&value["value"])? })
            }
            "member" => {
                let profile =
                    self.find("action profile", self.program.action_profiles.iter().map(|it| &it.name), &value["of"])?;
                let call = if value["call"].is_null() { None } else { Some(self.call(&value["call"])?) };
                Entity::Member(Member { profile, id: number32(named)?, call })
            }
            "group" => self.group(value, number32(named)?)?,
            "counter" => {
                let array = self.find("counter", self.program.counters.iter().map(|it| &it.name), named)?;
                Entity::Counter(Cell { array, index: index(&value["index"])?, value: counter_from(&value["value"])? })
            }
            "meter" => {
                let array = self.find("meter", self.program.meters.iter().map(|it| &it.name), named)?;
                Entity::Meter(Cell { array, index: index(&value["index"])?, value: rates_from(&value["value"])? })
            }
            "register" => {
                let array = self.find("register", self.program.registers.iter().map(|it| &it.name), named)?;
                let width = self.program.registers[array].ty.width();
                let value_of_cell = bits(&value["value"], width)?;
                Entity::Register(Cell { array, index: index(&value["index"])?, value: value_of_cell })
            }
            "multicast" => Entity::Multicast(Multicast {
                group: number(named)?,
                replicas: replicas_from(&value["replicas"])?,
                metadata: bytes_from(&value["metadata"])?,
            }),
            "clone_session" => Entity::CloneSession(CloneSession {
                session: number32(named)?,
                replicas: replicas_from(&value["replicas"])?,
                class_of_service: number32(&value["class"])?,
                length_bytes_max: number32(&value["length_max"])?,
            }),
            "value_set" => self.value_set(value, named)?,
            _ => {
                let digest = self.find("digest", self.program.digests.iter().map(|it| &it.name), named)?;
                let [timeout_max_ns, list_size_max, ack_timeout_ns] = numbers(&value["config"])?;
                let list_size_max = u32::try_from(list_size_max).map_err(|_| "a list of more than 32 bits")?;
                Entity::Digest { digest, config: DigestConfig { timeout_max_ns, list_size_max, ack_timeout_ns } }
            }
        })
    }

    /// The index of what has this name.
    fn find<'n, I: Id>(
        &self,
        what: &str,
        mut names: impl Iterator<Item = &'n String>,
        value: &Value,
    ) -> Result<I, Mismatch> {
        let name = value.as_str().ok_or_else(|| format!("a {what} has a name"))?;
        let position = names.position(|it| it == name);
        position.map(I::from_index).ok_or_else(|| format!("the program has no {what} {name}"))
    }

    fn table(&self, value: &Value) -> Result<TableId, Mismatch> {
        self.find("table", self.program.tables.iter().map(|it| &it.name), &value["table"])
    }

    fn entry_name(&self, value: &Value) -> Result<(TableId, EntryName), Mismatch> {
        let id = self.table(value)?;
        let table = &self.program.tables[id];
        let keys = value["key"].as_array().ok_or("a key is a list")?;
        if keys.len() != table.keys.len() {
            return Err(format!("table {} has {} keys, not {}", table.name, table.keys.len(), keys.len()));
        }
        let key = keys.iter().zip(&table.keys).map(|(value, key)| {
            key_from(value, key.expr.ty.width(), key.kind)
                .map_err(|problem| format!("table {}, key {}: {problem}", table.name, key.name))
        });
        let key = key.collect::<Result<Vec<_>, _>>()?;
        let priority = value["priority"].as_i64().and_then(|it| i32::try_from(it).ok());
        Ok((id, EntryName { key, priority: priority.ok_or("a priority is a number")? }))
    }

    fn table_entry(&self, value: &Value, (table, name): (TableId, EntryName)) -> Result<TableEntry, Mismatch> {
        let mut entry = TableEntry::new(table, Some(name), self.action(table, &value["action"])?);
        if let Some(list) = value["attributes"].as_array() {
            let [metadata, controller_metadata, idle_timeout_ns] = list.as_slice() else {
                return Err("attributes are three".to_owned());
            };
            entry.attributes = Attributes {
                metadata: bytes_from(metadata)?,
                controller_metadata: number(controller_metadata)?,
                idle_timeout_ns: number(idle_timeout_ns)?,
            };
        }
        entry.counter = value.get("counted").map(counter_from).transpose()?;
        entry.meter = value.get("rates").map(rates_from).transpose()?;
        Ok(entry)
    }

    fn action(&self, table: TableId, value: &Value) -> Result<Option<EntryAction>, Mismatch> {
        if value.is_null() {
            return Ok(None);
        }
        if let Some(id) = value.get("member") {
            return Ok(Some(EntryAction::Member(number32(id)?)));
        }
        if let Some(id) = value.get("group") {
            return Ok(Some(EntryAction::Group(number32(id)?)));
        }
        if let Some(choices) = value["choices"].as_array() {
            let choice = |value: &Value| -> Result<Choice, Mismatch> {
                let (call, weight, watch_port) = (self.call(&value[0])?, number32(&value[1])?, port(&value[2])?);
                Ok(Choice { call, weight, watch_port })
            };
            return Ok(Some(EntryAction::OneShot(choices.iter().map(choice).collect::<Result<_, _>>()?)));
        }
        let mut call = self.call(value)?;
        // The same action in several controls is several in the program: the table's own is meant.
        let name = &self.program.actions[call.action].name;
        let own = self.program.tables[table].actions.iter().map(|listed| listed.action);
        if let Some(action) = own.into_iter().find(|&action| self.program.actions[action].name == *name) {
            call.action = action;
        }
        Ok(Some(EntryAction::Call(call)))
    }

    fn call(&self, value: &Value) -> Result<Call, Mismatch> {
        let id = self.find("action", self.program.actions.iter().map(|it| &it.name), &value["run"])?;
        let action = &self.program.actions[id];
        let args = value["args"].as_array().ok_or("arguments are a list")?;
        if args.len() != action.params.len() {
            return Err(format!("action {} has {} parameters, not {}", action.name, action.params.len(), args.len()));
        }
        let arg = |(value, &param): (&Value, &ir::VarId)| {
            let param = &self.program.vars[param];
            bits(value, param.ty.width()).map_err(|problem| format!("parameter {}: {problem}", param.name))
        };
        Ok(Call { action: id, args: args.iter().zip(&action.params).map(arg).collect::<Result<_, _>>()? })
    }

    fn group(&self, value: &Value, id: u32) -> Result<Entity, Mismatch> {
        let profiles = self.program.action_profiles.iter().map(|it| &it.name);
        let profile = self.find("action profile", profiles, &value["of"])?;
        let member = |value: &Value| -> Result<GroupMember, Mismatch> {
            let (member, weight, watch_port) = (number32(&value[0])?, number32(&value[1])?, port(&value[2])?);
            Ok(GroupMember { member, weight, watch_port })
        };
        let members = value["members"].as_array().ok_or("members are a list")?;
        let members = members.iter().map(member).collect::<Result<_, _>>()?;
        Ok(Entity::Group(Group { profile, id, members, size_max: number32(&value["size_max"])? }))
    }

    fn value_set(&self, value: &Value, named: &Value) -> Result<Entity, Mismatch> {
        let set = self.find("value set", self.program.value_sets.iter().map(|it| &it.name), named)?;
        let declared = &self.program.value_sets[set];
        let member = |value: &Value| -> Result<Vec<EntryKey>, Mismatch> {
            let keys = value.as_array().filter(|keys| keys.len() == declared.keys.len());
            let keys = keys.ok_or_else(|| format!("value set {} has {} keys", declared.name, declared.keys.len()))?;
            let pairs = keys.iter().zip(&declared.keys);
            pairs.map(|(value, &(_, width, kind))| key_from(value, width, kind)).collect()
        };
        let members = value["members"].as_array().ok_or("members are a list")?;
        Ok(Entity::ValueSet { set, members: members.iter().map(member).collect::<Result<_, _>>()? })
    }
}

/// What entities are called. No other part of one is called so.
const KINDS: [&str; 13] = [
    "entry",
    "default",
    "direct_counter",
    "direct_meter",
    "member",
    "group",
    "counter",
    "meter",
    "register",
    "multicast",
    "clone_session",
    "value_set",
    "digest",
];

fn key_from(value: &Value, width: u32, kind: MatchKind) -> Result<EntryKey, Mismatch> {
    let of = |name: &str| bits(&value[name], width);
    Ok(match kind {
        MatchKind::Exact => EntryKey::Exact(bits(value, width)?),
        MatchKind::Lpm => {
            let prefix_len = number32(&value["length"])?;
            if prefix_len > width {
                return Err(format!("a prefix of {prefix_len} bits, where the key has {width}"));
            }
            EntryKey::Lpm { value: of("prefix")?, prefix_len }
        }
        MatchKind::Ternary => EntryKey::Ternary { value: of("value")?, mask: of("mask")? },
        MatchKind::Range => EntryKey::Range { low: of("low")?, high: of("high")? },
        MatchKind::Optional => {
            let value = value.get("optional").ok_or("a key of another kind")?;
            EntryKey::Optional(if value.is_null() { None } else { Some(bits(value, width)?) })
        }
    })
}

fn bits(value: &Value, width: u32) -> Result<Bits, Mismatch> {
    let bytes = bytes_from(value)?;
    if bytes.len() != (width as usize).div_ceil(8) {
        return Err(format!("a value of {} bytes, where {width} bits are wanted", bytes.len()));
    }
    let wide = Bits::from_be_bytes(8 * bytes.len() as u32, &bytes);
    let value = wide.resize(width);
    if value.resize(wide.width()) != wide {
        return Err(format!("a value of more than {width} bits"));
    }
    Ok(value)
}

fn bytes_from(value: &Value) -> Result<Vec<u8>, Mismatch> {
    let text = value.as_str().ok_or("a value is a string of hexadecimal digits")?;
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(pair).collect();
    bytes.ok_or_else(|| "a value is pairs of hexadecimal digits".to_owned())
}

fn number(value: &Value) -> Result<u64, Mismatch> {
    value.as_u64().ok_or_else(|| "a number is missing".to_owned())
}

fn number32(value: &Value) -> Result<u32, Mismatch> {
    u32::try_from(number(value)?).map_err(|_| "a number of more than 32 bits".to_owned())
}

fn index(value: &Value) -> Result<Option<u64>, Mismatch> {
    if value.is_null() { Ok(None) } else { number(value).map(Some) }
}

fn port(value: &Value) -> Result<Option<u32>, Mismatch> {
    if value.is_null() { Ok(None) } else { number32(value).map(Some) }
}

fn numbers<const N: usize>(value: &Value) -> Result<[u64; N], Mismatch> {
    let list = value.as_array().ok_or("a list of numbers is missing")?;
    let list: Vec<u64> = list.iter().map(number).collect::<Result<_, _>>()?;
    list.try_into().map_err(|_| format!("a list of {N} numbers is wanted"))
}

fn counter_from(value: &Value) -> Result<CounterCell, Mismatch> {
    let [packets, bytes] = numbers(value)?;
    Ok(CounterCell { packets, bytes })
}

fn rates_from(value: &Value) -> Result<Option<MeterConfig>, Mismatch> {
    if value.is_null() {
        return Ok(None);
    }
    let [committed_rate_milliunits_per_s, committed_burst, peak_rate_milliunits_per_s, peak_burst] = numbers(value)?;
    Ok(Some(MeterConfig { committed_rate_milliunits_per_s, committed_burst, peak_rate_milliunits_per_s, peak_burst }))
}

fn replicas_from(value: &Value) -> Result<Vec<Replica>, Mismatch> {
    let replica = |value: &Value| -> Result<Replica, Mismatch> {
        let [port, rid] = numbers(value)?;
        Ok(Replica { rid, port: u32::try_from(port).map_err(|_| "a port of more than 32 bits")? })
    };
    value.as_array().ok_or("replicas are a list")?.iter().map(replica).collect()
}
