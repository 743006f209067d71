//! Completion: which commands, keywords and names of the program may come next in a line.

use crate::language::forms::{self, FORMS};
use crate::language::help::LISTS;
use crate::schema::{Schema, name};
use crate::words::{self, Word};
use p4runtime_proto::p4::config::v1 as config;
use p4runtime_proto::p4::config::v1::Preamble;

/// The start of the line's last word, and its completions.
pub fn complete(schema: Option<&Schema>, line: &str) -> (usize, Vec<String>) {
    let mut words = words::split_unfinished(line);
    let Some(last) = words.pop() else { return (line.len(), Vec::new()) };
    let candidates = match words.split_first() {
        None => FORMS.iter().map(|form| form.name.to_owned()).collect(),
        Some((command, before)) => schema
            .map_or_else(Vec::new, |schema| next(schema, &command.text, before, &last.text))
            .into_iter()
            .chain(keywords(&command.text, before))
            .collect::<Vec<String>>(),
    };
    let mut fitting: Vec<String> = candidates.into_iter().filter(|it| it.starts_with(&last.text)).collect();
    fitting.sort_unstable();
    fitting.dedup();
    (last.start, fitting)
}

/// The names of objects, each in its short and its full form.
fn names_of<'a>(preambles: impl Iterator<Item = &'a Option<Preamble>>) -> Vec<String> {
    let both = |preamble: &Option<Preamble>| {
        let alias = preamble.as_ref().map_or("", |it| &it.alias);
        [alias.to_owned(), name(preamble).to_owned()]
    };
    preambles.flat_map(both).filter(|it| !it.is_empty()).collect()
}

/// Only the short names, unless the user has begun to type a longer one.
fn short_unless(prefix: &str, names: Vec<String>) -> Vec<String> {
    let short: Vec<String> = names.iter().filter(|it| !it.contains('.')).cloned().collect();
    if short.is_empty() || !short.iter().any(|it| it.starts_with(prefix)) { names } else { short }
}

/// Keywords, which do not depend on the program.
fn keywords(command: &str, before: &[Word]) -> Vec<String> {
    let words: &[&str] = match (command, before.len()) {
        ("help", 0) => return FORMS.iter().map(|form| form.name.to_owned()).collect(),
        ("list", 0) => &LISTS,
        ("watch", _) => &["packets", "digests", "timeouts", "mastership"],
        ("load", 1) => &["reconcile", "verify", "save"],
        ("members" | "groups" | "multicast" | "mirror", 0) => &["add", "modify", "delete", "clear"],
        ("digests", 0) => &["clear"],
        ("dump", 0) => &["with-data"],
        ("registers", 1..) => &["=", "reset"],
        ("value-sets", 0) => &["add", "delete", "clear"],
        ("digests", 1) => &["on", "off"],
        ("digests", _) => &["timeout", "size", "ack"],
        ("counters" | "meters", 1..) => &["set", "reset"],
        ("default", 1) => &["do", "reset"],
        _ => &[],
    };
    words.iter().map(|it| (*it).to_owned()).collect()
}

/// Names of the program.
fn next(schema: &Schema, command: &str, before: &[Word], prefix: &str) -> Vec<String> {
    let info = schema.info();
    let tables = || short_unless(prefix, names_of(info.tables.iter().map(|it| &it.preamble)));
    let profiles = || short_unless(prefix, names_of(info.action_profiles.iter().map(|it| &it.preamble)));
    match (forms::find(command).map_or("", |form| form.name), before.len()) {
        ("show" | "add" | "modify" | "delete" | "clear" | "default", 0) | ("dump", _) => tables(),
        ("show" | "delete", _) => keys(schema, before, false),
        ("add" | "modify" | "default", _) => entry(schema, before, command == "default"),
        ("counters", 0) => {
            let direct = info.direct_counters.iter().map(|it| &it.preamble);
            short_unless(prefix, names_of(info.counters.iter().map(|it| &it.preamble).chain(direct)))
        }
        ("meters", 0) => {
            let direct = info.direct_meters.iter().map(|it| &it.preamble);
            short_unless(prefix, names_of(info.meters.iter().map(|it| &it.preamble).chain(direct)))
        }
        ("registers", 0) => short_unless(prefix, names_of(info.registers.iter().map(|it| &it.preamble))),
        ("digests", 0) => short_unless(prefix, names_of(info.digests.iter().map(|it| &it.preamble))),
        ("value-sets", 0 | 1) => short_unless(prefix, names_of(info.value_sets.iter().map(|it| &it.preamble))),
        ("members" | "groups", 0 | 1) => profiles(),
        ("members", _) => member(schema, before),
        ("packet-out", 1..) => match schema.controller_header("packet_out") {
            Some(header) => header.metadata.iter().map(|it| format!("{}=", it.name)).collect(),
            None => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// What may precede `do`: the names of keys that have no value yet.
fn keys(schema: &Schema, before: &[Word], with_do: bool) -> Vec<String> {
    let Some(table) = before.first().and_then(|word| schema.table(&word.text).ok()) else { return Vec::new() };
    let is_given = |name: &str| before.iter().filter_map(Word::named).any(|(given, _)| given == name);
    let keys = table.match_fields.iter().filter(|it| !is_given(&it.name)).map(|it| format!("{}=", it.name));
    let more = if with_do { vec!["do".to_owned()] } else { vec!["priority".to_owned()] };
    keys.chain(more).collect()
}

fn entry(schema: &Schema, before: &[Word], is_default: bool) -> Vec<String> {
    let Some(position) = before.iter().position(|word| word.is("do") || word.is("=>")) else {
        return if is_default { Vec::new() } else { keys(schema, before, true) };
    };
    let Some(table) = before.first().and_then(|word| schema.table(&word.text).ok()) else { return Vec::new() };
    let after = &before[position + 1..];
    let Some(action) = after.first() else {
        if table.implementation_id != 0 && !is_default {
            return ["member", "group", "one-of"].map(str::to_owned).to_vec();
        }
        return names_of(schema.actions_of(table).iter().map(|(action, _)| &action.preamble));
    };
    match schema.table_action(table, &action.text, is_default) {
        Ok(action) if is_default => params(action, after),
        Ok(action) => {
            let more = ["priority", "timeout", "metadata"].map(str::to_owned);
            params(action, after).into_iter().chain(more).collect()
        }
        Err(_) => Vec::new(),
    }
}

fn params(action: &config::Action, after: &[Word]) -> Vec<String> {
    let is_given = |name: &str| after.iter().filter_map(Word::named).any(|(given, _)| given == name);
    action.params.iter().filter(|it| !is_given(&it.name)).map(|it| format!("{}=", it.name)).collect()
}

fn member(schema: &Schema, before: &[Word]) -> Vec<String> {
    let Some(profile) = before.get(1).and_then(|word| schema.profile(&word.text).ok()) else { return Vec::new() };
    match before.iter().position(|word| word.is("do") || word.is("=>")) {
        None if before.len() == 3 => vec!["do".to_owned()],
        Some(position) if position + 1 == before.len() => {
            let table = profile.table_ids.first().and_then(|&id| schema.table_by_id(id));
            let actions = table.map(|table| schema.actions_of(table)).unwrap_or_default();
            names_of(actions.iter().map(|(action, _)| &action.preamble))
        }
        Some(position) => match schema.profile_action(profile, &before[position + 1].text) {
            Ok(action) => params(action, &before[position + 1..]),
            Err(_) => Vec::new(),
        },
        None => Vec::new(),
    }
}
