//! Entries of tables and default actions.

use super::{Arguments, around_do, call, duration_ns, hex_bytes};
use crate::key::{self, Given};
use crate::plan::{Change, ChangeKind, Filter, Plan, Read, entity, update};
use crate::schema::{Schema, has_priority, has_timeouts, id, name};
use crate::words::Word;
use control::Problem;
use p4runtime_proto::p4::config::v1::Table;
use p4runtime_proto::p4::v1::entity::Entity as Kind;
use p4runtime_proto::p4::v1::table_action::Type as ActionType;
use p4runtime_proto::p4::v1::update::Type as UpdateType;
use p4runtime_proto::p4::v1::{
    ActionProfileAction, ActionProfileActionSet, Entity, TableAction, TableEntry, action_profile_action, table_entry,
};

/// The options after keys and arguments.
#[derive(Debug, Default)]
struct Options {
    priority: Option<i32>,
    timeout_ns: Option<i64>,
    metadata: Option<Vec<u8>>,
    controller_metadata: u64,
}

/// Splits the options off the words.
fn options(words: &[Word], found: &mut Options) -> Result<Vec<Word>, Problem> {
    let (mut rest, mut left) = (words, Vec::new());
    loop {
        rest = match rest {
            [keyword, value, after @ ..] if keyword.is("priority") => {
                found.priority = Some(values::unsigned(&value.text, i32::MAX as u64, "priority")? as i32);
                after
            }
            [keyword, value, after @ ..] if keyword.is("timeout") => {
                found.timeout_ns = Some(duration_ns(&value.text)?);
                after
            }
            [keyword, value, after @ ..] if keyword.is("metadata") => {
                found.metadata = Some(hex_bytes(&value.text, "the metadata")?);
                after
            }
            [keyword, value, after @ ..] if keyword.is("controller-metadata") => {
                found.controller_metadata = values::unsigned(&value.text, u64::MAX, "controller metadata")?;
                after
            }
            [word, after @ ..] => {
                left.push(word.clone());
                after
            }
            [] => return Ok(left),
        };
    }
}

fn owner(table: &Table) -> String {
    format!("table {}", name(&table.preamble))
}

/// Refuses a table whose entries are constant.
fn check_changeable(table: &Table) -> Result<(), Problem> {
    if table.is_const_table {
        return Err(Problem::new(format!("the entries of {} are const and cannot be changed", owner(table))));
    }
    if table.match_fields.is_empty() {
        let message = format!("{} has no key and cannot have entries", owner(table));
        return Err(Problem::new(message).with_help(format!("default {} do ACTION", name(&table.preamble))));
    }
    Ok(())
}

/// Identifies an entry: the complete key, and the priority if the table has priorities.
fn entry_name(schema: &Schema, table: &Table, keys: &[Word], options: &Options) -> Result<TableEntry, Problem> {
    let found = key::whole(schema, &owner(table), &table.match_fields, keys)?;
    let priority = match (has_priority(table), options.priority) {
        (true, Some(priority)) if priority > 0 => priority,
        (true, _) => {
            let message = format!("an entry of {} needs a priority above 0 (the greater wins)", owner(table));
            return Err(Problem::new(message).with_help("write priority N at the end"));
        }
        (false, None | Some(0)) => 0,
        (false, Some(_)) => {
            let message = format!("entries of {} have no priority: no key is ternary, range or optional", owner(table));
            return Err(Problem::new(message));
        }
    };
    Ok(TableEntry { table_id: id(&table.preamble), r#match: found, priority, ..TableEntry::default() })
}

/// The action of an entry or of a default.
fn action(schema: &Schema, table: &Table, words: &[Word], is_default: bool) -> Result<TableAction, Problem> {
    let Some((first, rest)) = words.split_first() else {
        return Err(Problem::new("there is no action after do").with_help(actions_help(schema, table)));
    };
    let is_indirect = table.implementation_id != 0;
    let number = |what: &str| match rest {
        [number] => values::unsigned(&number.text, u64::from(u32::MAX), what).map(|number| number as u32),
        _ => Err(Problem::new(format!("exactly one {what} must follow do {}", first.text))),
    };
    let kind = match first.text.as_str() {
        "member" if is_indirect => ActionType::ActionProfileMemberId(number("member")?),
        "group" if is_indirect => ActionType::ActionProfileGroupId(number("group")?),
        "one-of" if is_indirect => ActionType::ActionProfileActionSet(one_of(schema, table, rest)?),
        _ if is_indirect && !is_default => {
            let message = format!("{} finds its actions in an action profile", owner(table));
            return Err(Problem::new(message).with_help(
                "do member N, do group N, or do one-of ACTION ARG... [weight N] [watch PORT] | ACTION ...",
            ));
        }
        given => {
            let action = schema.table_action(table, given.trim_end_matches("()"), is_default)?;
            ActionType::Action(call(schema, action, rest)?)
        }
    };
    Ok(TableAction { r#type: Some(kind) })
}

fn actions_help(schema: &Schema, table: &Table) -> String {
    let listed = schema.actions_of(table);
    let names: Vec<&str> = listed.iter().map(|(action, _)| name(&action.preamble)).collect();
    format!("{} has the actions {}", owner(table), control::names::listed("", &names))
}

/// A one-shot action set: `ACTION ARG... [weight N] [watch PORT] | ...`.
fn one_of(schema: &Schema, table: &Table, words: &[Word]) -> Result<ActionProfileActionSet, Problem> {
    let choice = |words: &[Word]| {
        let (mut weight, mut watch, mut words) = (1, None, words);
        while let [rest @ .., keyword, value] = words {
            if keyword.is("weight") {
                weight = values::unsigned(&value.text, i32::MAX as u64, "weight")? as i32;
            } else if keyword.is("watch") {
                watch = Some(action_profile_action::WatchKind::WatchPort(super::port(&value.text)?));
            } else {
                break;
            }
            words = rest;
        }
        let Some((action, arguments)) = words.split_first() else {
            return Err(Problem::new("there is no action between | and |"));
        };
        let action = schema.table_action(table, action.text.trim_end_matches("()"), false)?;
        let action = Some(call(schema, action, arguments)?);
        Ok(ActionProfileAction { action, weight, watch_kind: watch })
    };
    let choices = words.split(|word| word.is("|")).map(choice).collect::<Result<_, Problem>>()?;
    Ok(ActionProfileActionSet { action_profile_actions: choices, ..ActionProfileActionSet::default() })
}

/// The entry that the words after a table's name describe, with its action if `do` gives one.
#[allow(deprecated, reason = "older controllers leave a number with their entries")]
fn entry(it: &Arguments<'_>, table: &Table) -> Result<TableEntry, Problem> {
    check_changeable(table)?;
    let (keys, action_words) = around_do(it.from(1));
    let mut found = Options::default();
    let keys = options(keys, &mut found)?;
    let action_words = action_words.map(|words| options(words, &mut found)).transpose()?;
    let mut entry = entry_name(it.schema, table, &keys, &found)?;
    entry.action = action_words.map(|words| action(it.schema, table, &words, false)).transpose()?;
    entry.metadata = found.metadata.unwrap_or_default();
    entry.controller_metadata = found.controller_metadata;
    if let Some(timeout_ns) = found.timeout_ns {
        if !has_timeouts(table) && timeout_ns != 0 {
            let message = format!("entries of {} have no timeouts", owner(table));
            return Err(Problem::new(message).with_help("the program allows them with support_timeout = true"));
        }
        entry.idle_timeout_ns = timeout_ns;
    }
    Ok(entry)
}

pub(super) fn add(it: &Arguments<'_>) -> Result<Plan, Problem> {
    let table = it.schema.table(it.word(0, "a table")?)?;
    let entry = entry(it, table)?;
    match entry.action {
        Some(_) => Ok(Plan::Write(vec![update(UpdateType::Insert, Kind::TableEntry(entry))])),
        None => Err(it.misuse("there is no do between the keys and the action")),
    }
}

pub(super) fn modify(it: &Arguments<'_>) -> Result<Plan, Problem> {
    let table = it.schema.table(it.word(0, "a table")?)?;
    Ok(Plan::Write(vec![update(UpdateType::Modify, Kind::TableEntry(entry(it, table)?))]))
}

pub(super) fn delete(it: &Arguments<'_>) -> Result<Plan, Problem> {
    let table = it.schema.table(it.word(0, "a table")?)?;
    check_changeable(table)?;
    let mut found = Options::default();
    let keys = options(it.from(1), &mut found)?;
    let entry = entry_name(it.schema, table, &keys, &found)?;
    Ok(Plan::Write(vec![update(UpdateType::Delete, Kind::TableEntry(entry))]))
}

pub(super) fn clear(it: &Arguments<'_>) -> Result<Plan, Problem> {
    let table = it.schema.table(it.word(0, "a table")?)?;
    it.end(1)?;
    check_changeable(table)?;
    let all = TableEntry { table_id: id(&table.preamble), ..TableEntry::default() };
    Ok(Plan::Change(Change { entities: vec![entity(Kind::TableEntry(all))], kind: ChangeKind::Clear }))
}

/// The entries of a table and their counters and meters, without the default action.
fn entries_of(schema: &Schema, table: &Table) -> TableEntry {
    TableEntry {
        table_id: id(&table.preamble),
        counter_data: schema.direct_counter_of(table).map(|_| Default::default()),
        meter_config: schema.direct_meter_of(table).map(|_| Default::default()),
        time_since_last_hit: has_timeouts(table).then(table_entry::IdleTimeout::default),
        ..TableEntry::default()
    }
}

/// The default action of a table.
fn default_of(table: &Table) -> Entity {
    let default = TableEntry { table_id: id(&table.preamble), is_default_action: true, ..TableEntry::default() };
    entity(Kind::TableEntry(default))
}

pub(super) fn show(it: &Arguments<'_>) -> Result<Plan, Problem> {
    let table = it.schema.table(it.word(0, "a table")?)?;
    let all = entries_of(it.schema, table);
    let (all, filter) = asked(it.schema, table, it.from(1), all)?;
    let mut entities = vec![entity(Kind::TableEntry(all))];
    if it.words.len() == 1 {
        entities.push(default_of(table));
    }
    Ok(Plan::Read(Read { entities, filter }))
}

/// What to read for the entries that the words denote: one entry by its complete key, or all entries to be filtered.
pub(super) fn asked(
    schema: &Schema,
    table: &Table,
    words: &[Word],
    all: TableEntry,
) -> Result<(TableEntry, Filter), Problem> {
    let mut found = Options::default();
    let keys = options(words, &mut found)?;
    if keys.is_empty() && found.priority.is_none() {
        return Ok((all, Filter::default()));
    }
    let given = key::given(schema, &owner(table), &table.match_fields, &keys)?;
    let is_whole = given.iter().all(|given| *given != Given::Absent);
    let priority = found.priority.unwrap_or(0);
    // A match that consists of wildcards only would read all entries.
    let has_match = given.iter().any(|given| matches!(given, Given::Match(_)));
    if is_whole && has_match && (priority != 0 || !has_priority(table)) {
        let r#match = given.into_iter().filter_map(Given::into_match).collect();
        let filter = Filter { keys: vec![], priority };
        return Ok((TableEntry { r#match, priority, ..all }, filter));
    }
    let keys = table.match_fields.iter().map(|field| field.id).zip(given).collect();
    Ok((all, Filter { keys, priority }))
}

/// One entry by its complete key, for a write to its counter or meter.
pub(super) fn one_entry(schema: &Schema, table: &Table, words: &[Word]) -> Result<TableEntry, Problem> {
    let mut found = Options::default();
    let keys = options(words, &mut found)?;
    entry_name(schema, table, &keys, &found)
}

#[allow(deprecated, reason = "older controllers leave a number with their entries")]
pub(super) fn default(it: &Arguments<'_>) -> Result<Plan, Problem> {
    let table = it.schema.table(it.word(0, "a table")?)?;
    let Some(first) = it.words.get(1) else {
        return Ok(Plan::Read(Read { entities: vec![default_of(table)], filter: Filter::default() }));
    };
    let mut found = Options::default();
    let action = if first.is("do") || first.is("=>") {
        let words = options(it.from(2), &mut found)?;
        if found.priority.is_some() || found.timeout_ns.is_some() {
            return Err(it.misuse("a default action has no priority and no timeout"));
        }
        Some(action(it.schema, table, &words, true)?)
    } else if first.is("reset") {
        it.end(2)?;
        None
    } else {
        return Err(it.misuse(format!("{} is neither do nor reset", first.text)));
    };
    if table.const_default_action_id != 0 {
        return Err(Problem::new(format!("the default action of {} is const and cannot be changed", owner(table))));
    }
    let entry = TableEntry {
        table_id: id(&table.preamble),
        is_default_action: true,
        action,
        metadata: found.metadata.unwrap_or_default(),
        controller_metadata: found.controller_metadata,
        ..TableEntry::default()
    };
    Ok(Plan::Write(vec![update(UpdateType::Modify, Kind::TableEntry(entry))]))
}
