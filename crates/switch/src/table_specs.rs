//! From the program's tables to what the match engines are told of them.

use ir::{Entry, EntryKey, Program, Table};
use tables::{ActionCall, ActionSpec, EntrySpec, InitialEntry, MatchValue, TableSpec};

/// The specifications of all tables, in the order of the program.
pub fn table_specs(program: &Program) -> Vec<TableSpec> {
    program.tables.iter().map(|table| table_spec(program, table)).collect()
}

fn table_spec(program: &Program, table: &Table) -> TableSpec {
    let action = |listed: &ir::TableAction| ActionSpec {
        name: program.actions[listed.action].name.clone(),
        param_widths_bits: cgen::param_widths_bits(program, listed),
        table_only: listed.table_only,
        default_only: listed.default_only,
    };
    let initial = |entry: &Entry| InitialEntry { entry: entry_spec(entry), is_const: table.const_entries };
    TableSpec {
        name: table.name.clone(),
        key: cgen::key_fields(table),
        actions: table.actions.iter().map(action).collect(),
        size: usize::try_from(table.size).unwrap_or(usize::MAX).min(base::limits::TABLE_ENTRIES_MAX),
        const_entries: table.const_entries,
        default_const: table.const_default,
        default_action: Some(ActionCall {
            action: table.default_action.action as usize,
            args: table.default_action.args.clone(),
        }),
        initial_entries: table.entries.iter().map(initial).collect(),
    }
}

fn entry_spec(entry: &Entry) -> EntrySpec {
    EntrySpec {
        key: entry.key.iter().map(match_value).collect(),
        priority: entry.priority,
        action: entry.call.action as usize,
        args: entry.call.args.clone(),
    }
}

/// The engine's word for what an entry says of a key.
pub fn match_value(key: &EntryKey) -> MatchValue {
    match key {
        EntryKey::Exact(value) => MatchValue::Exact(value.clone()),
        EntryKey::Lpm { value, prefix_len } => MatchValue::Lpm { value: value.clone(), prefix_len: *prefix_len },
        EntryKey::Ternary { value, mask } => MatchValue::Ternary { value: value.clone(), mask: mask.clone() },
        EntryKey::Range { low, high } => MatchValue::Range { low: low.clone(), high: high.clone() },
        EntryKey::Optional(value) => MatchValue::Optional(value.clone()),
    }
}
