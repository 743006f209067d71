//! Entries of random programs, in both forms: valid ones are read, invalid ones are refused, and no text causes a
//! panic.

use crate::mutate::mutated;
use base::{Bits, FieldMatch, Rng};
use control::api::Entity;
use control::api::entity::{Call, EntryAction};
use control::{Command, parse_entries};
use ir::{Entry, Program, TableId};
use testkit::random_ir::{Options, random_entries, random_program};

/// Words that occur in entries files.
const WORDS: [&str; 20] = [
    "=>",
    "/",
    "&&&",
    "->",
    "#",
    "\"",
    "'",
    "-1",
    "0x",
    "10.0.0.1",
    "::1",
    "00:00:00:00:00:01",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "table_add",
    "null",
];

pub(crate) fn run(rng: &mut Rng) -> Result<(), String> {
    let program = random_program(rng, &Options::default());
    let entries: Vec<(TableId, Entry)> = random_entries(rng, &program)
        .into_iter()
        .filter(|(table, entry)| is_allowed(&program, *table, entry))
        .collect();
    for text in [as_commands(&program, &entries), as_json(&program, &entries)] {
        check_right(&program, &entries, &text)?;
        for _ in 0..10 {
            // Whether the changed file is still valid does not matter; it must be accepted or refused without a
            // panic.
            let _verdict = parse_entries("fuzz", &mutated(rng, &text, &WORDS), &program);
        }
    }
    Ok(())
}

/// Whether the control plane may add this entry.
fn is_allowed(program: &Program, table: TableId, entry: &Entry) -> bool {
    let table = &program.tables[table];
    // A table may list an action twice; its name then denotes the first one.
    let named = table.actions[entry.call.action as usize].action;
    let Some(action) = table.actions.iter().find(|action| action.action == named) else { return false };
    // Priorities begin at 0 in commands, at 1 in JSON.
    !table.const_entries && !table.keys.is_empty() && !action.default_only && entry.priority >= 0
}

fn check_right(program: &Program, entries: &[(TableId, Entry)], text: &str) -> Result<(), String> {
    let commands = parse_entries("fuzz", text, program)
        .map_err(|errors| format!("right entries are refused: {}\n{text}", errors[0]))?;
    if commands.len() != entries.len() {
        return Err(format!("{} entries became {} commands\n{text}", entries.len(), commands.len()));
    }
    for ((command, origin), (wanted, entry)) in commands.iter().zip(entries) {
        let action = program.tables[*wanted].actions[entry.call.action as usize].action;
        let action = Some(EntryAction::Call(Call { action, args: entry.call.args.clone() }));
        let is_same = match command {
            Command::Write(update) => match &update.entity {
                Entity::TableEntry(read) => {
                    let key = read.name.as_ref().map(|name| &name.key);
                    read.table == *wanted && key == Some(&entry.key) && read.action == action
                }
                _ => false,
            },
            _ => false,
        };
        if !is_same {
            return Err(format!("{origin}: {entry:?} became {command:?}\n{text}"));
        }
    }
    Ok(())
}

fn as_commands(program: &Program, entries: &[(TableId, Entry)]) -> String {
    let mut text = String::new();
    for (id, entry) in entries {
        let table = &program.tables[*id];
        let action = &program.actions[table.actions[entry.call.action as usize].action];
        text += &format!("table_add {} {}", table.name, action.name);
        for key in &entry.key {
            text += &format!(" {}", key.text(["&&&", "->"], |value, _| value.to_string()));
        }
        text += " =>";
        for arg in &entry.call.args {
            text += &format!(" {arg}");
        }
        if has_priority(&entry.key) {
            text += &format!(" {}", entry.priority);
        }
        text += "\n";
    }
    text
}

fn has_priority(key: &[FieldMatch]) -> bool {
    key.iter().any(|key| key.kind().has_priority())
}

fn as_json(program: &Program, entries: &[(TableId, Entry)]) -> String {
    let quoted = |value: &Bits| format!("\"{value}\"");
    let mut elements = Vec::new();
    for (id, entry) in entries {
        let table = &program.tables[*id];
        let action = &program.actions[table.actions[entry.call.action as usize].action];
        let keys = table.keys.iter().zip(&entry.key).filter_map(|(key, value)| {
            let value = match value {
                FieldMatch::Exact(value) | FieldMatch::Optional(Some(value)) => quoted(value),
                FieldMatch::Lpm { value, prefix_len } => format!("[{}, {prefix_len}]", quoted(value)),
                FieldMatch::Ternary { value, mask } => format!("[{}, {}]", quoted(value), quoted(mask)),
                FieldMatch::Range { low, high } => format!("[{}, {}]", quoted(low), quoted(high)),
                FieldMatch::Optional(None) => return None,
            };
            Some(format!("\"{}\": {value}", key.name))
        });
        let keys: Vec<String> = keys.collect();
        let params = action.params.iter().zip(&entry.call.args);
        let params: Vec<String> = params
            .map(|(&var, value)| {
                format!("\"{}\": {}", control::names::last_part(&program.vars[var].name), quoted(value))
            })
            .collect();
        elements.push(format!(
            "{{\"table\": \"{}\", \"priority\": {}, \"match\": {{{}}}, \"action_name\": \"{}\", \"action_params\": {{{}}}}}",
            table.name,
            i64::from(entry.priority) + 1,
            keys.join(", "),
            action.name,
            params.join(", ")
        ));
    }
    format!("{{\"table_entries\": [\n{}\n]}}", elements.join(",\n"))
}
